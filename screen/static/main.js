// @ts-check
// The page: its connection, its addresses, and what stands in its head.

import { clear, enter, loadedHere, stay } from "./back.js";
import { fill, freshly, h, icon, live, say } from "./dom.js";
import { dismiss, note } from "./dialog.js";
import { load as dictionaries, nameIn, preferred, t, use } from "./i18n.js";
import { Missing, ahead, expire, incomplete, load } from "./late.js";
import { apply, change, choices, onchange, settings } from "./settings.js";
import { Socket } from "./socket.js";

/** @typedef {import("./types.js").Page} Page */
/** @typedef {import("./types.js").Screen} Screen */

const root = document.documentElement;
const main = /** @type {HTMLElement} */ (document.getElementById("app"));
const socket = new Socket();
const guestWithin = 20000; // milliseconds that making a guest may take
const again = 2000; // milliseconds before a dictionary is asked for again that could not be loaded
const quiet = 1000; // milliseconds after which a connection has nothing else to do than to load ahead

/** @type {Screen|null} */
let screen = null;
let address = ""; // of the screen
let visits = 0; // screens that were asked for: of several at a time, the last one is shown
let touched = performance.now();
let connected = false;
let outdated = false; // the server has other files than this page
/** @type {import("./types.js").Turns|undefined} */
let turns; // as the gateway said last

/** What an address shows: the module is loaded first, and opens the screen then. @type {[RegExp, (found: RegExpExecArray) => Promise<() => Screen>][]} */
const routes = [
	[/^\/$/, async () => {
		const { open } = await load("start");
		return () => open(main, page);
	}],
	[/^\/game\/([a-z0-9_-]{1,32})(?:\/(\d{1,5}))?$/, async ([, id, ply]) => {
		const { open } = await load("game");
		return () => open(main, page, id, ply === undefined ? null : Number(ply));
	}],
	[/^\/invite\/([\w-]+)$/, async ([, token]) => {
		const { open } = await load("invite");
		return () => open(main, page, token);
	}],
];

/** @type {Page} */
const page = {
	socket,
	t,
	go,
	get me() {
		return socket.welcome;
	},
	session,
	get seeking() {
		return turns?.seeking;
	},
	get idle() {
		return !screen || !!screen.idle;
	},
	renew,
	forget: (ends) => void person(!ends), // whoever ends the session need not be told that it has ended
	later: (f) => void (saving() || setTimeout(f, quiet)),
};

/** @param {string} path @param {boolean} [replace] */
async function go(path, replace) {
	if (outdated || (incomplete() && socket.state === "connected")) return location.assign(path); // a browser may remember what it could not load until the page is loaded anew
	if (await turnTo(path, () => enter(path, replace))) main.focus({ preventScroll: true });
}

let speaks = ""; // the language that the page has, or soon will
let headed = root.lang.slice(0, 2); // the language of the links in the head, which the server has written

/** speak makes a language that of the page, as soon as its dictionary can be loaded; false if another one was chosen meanwhile. @param {"en"|"zh"} language */
async function speak(language) {
	speaks = language;
	for (;;) {
		const words = await dictionaries(language).catch(() => null);
		if (speaks !== language) return false;
		if (words) {
			use(language, words);
			if (headed !== language) void load("preferences").then((m) => m.relabel(t)).then(() => (headed = language), () => {});
			return true;
		}
		await new Promise((done) => setTimeout(done, again));
	}
}

/** connect starts the socket, once: the pages that the server writes need it only for the news of a person. */
function connect() {
	if (!connected) socket.start();
	connected = true;
}

/** show opens the screen of the address; false if the server has written the page. */
async function show() {
	if (!routes.some(([form]) => form.test(location.pathname))) return false;
	if ((await turnTo(location.pathname)) === false && screen) stay(address);
	return true;
}

/**
 * turnTo shows the screen of a path once its module has come. Until then, and if it
 * can't be loaded, the present screen stays and works.
 * @param {string} path
 * @param {() => void} [arrive] is called before the screen opens
 * @returns {Promise<boolean|undefined>} false: it can't be loaded; undefined: the visitor has gone on in the meantime
 */
async function turnTo(path, arrive) {
	const route = routes.find(([form]) => form.test(path)), visit = ++visits;
	if (!route) throw new Error(path);
	connect();
	let open;
	try {
		open = await route[1](/** @type {RegExpExecArray} */ (route[0].exec(path)));
	} catch {
		if (visit !== visits || renew()) return;
		if (screen) note(t("error.missing"));
		else retry();
		return false;
	}
	if (visit !== visits) return;
	dismiss();
	await clear();
	if (visit !== visits) return;
	arrive?.();
	address = path;
	if (screen) freshly(main); // a game begins when the opponent is there, maybe under a finger
	screen?.close();
	screen = null;
	for (const key of ["game", "turn", "result", "screen"]) delete root.dataset[key];
	main.className = "";
	document.title = t("page.name");
	scrollTo(0, 0);
	for (const a of document.querySelectorAll(".site nav a")) {
		if (a.getAttribute("href") === address) a.setAttribute("aria-current", "page");
		else a.removeAttribute("aria-current");
	}
	screen = open();
	ready();
	if (news) void news.then((m) => m.show(t), () => {});
	else if (turns) void tell(turns);
	return true;
}

/** ready says that the first load is complete: until then the page offers to try again. A screen has nothing to show without a connection. */
function ready() {
	if (!screen || socket.welcome) root.dataset.ready = "";
}

let retrying = false;

/** retry says that there is nothing to show, unless the server has written it, and tries again. A browser may remember what it could not load: once a lost connection is back, the page is loaded anew. */
function retry() {
	const visit = visits;
	setTimeout(() => !screen && visit === visits && void show(), again);
	if (retrying) return;
	retrying = true;
	if (main.querySelector("article")) note(t("error.missing"));
	else {
		fill(main, h("p", null, t("error.missing")), h("button.main", { type: "button", data: { act: "again" }, onclick: () => location.reload() }, t("page.again")));
		say(t("error.missing"));
	}
	let gone = socket.state === "lost";
	socket.on("status", (state) => {
		if (gone && state === "connected" && !screen) location.reload();
		gone ||= state === "lost";
	});
}

/** @type {Promise<typeof import("./news.js")>|undefined} */
let news;

/** tell tells of the person's other games. @param {import("./types.js").Turns|import("./types.js").Notice} m */
async function tell(m) {
	if (m.t === "turns" && !news && !m.seeking && (!m.next || (m.count === 1 && location.pathname.split("/")[2] === m.next.game))) return; // nothing but what is on the screen
	news ??= load("news");
	try {
		(await news).tell(m, t);
	} catch {
		news = undefined; // no connection: the next ones try again
	}
}

/** onLadder follows the ladder for somebody who waits for a game there. */
const onLadder = () => void load("ladder").then((m) => m.follow(page));

/** person reports whether this browser had a session when it was here last, and remembers whether it has one. @param {boolean} [is] */
function person(is) {
	try {
		if (is) localStorage.setItem("person", "1");
		else if (is === false) localStorage.removeItem("person");
		return !!localStorage.getItem("person");
	} catch {
		return false;
	}
}

/** @type {Promise<void>|undefined} of the guest that is being made */
let guest;

/** session makes a guest of a visitor without a session, one for all who ask at the same time. */
async function session() {
	if (!socket.welcome?.player) await (guest ??= makeGuest().finally(() => (guest = undefined)));
}

/** makeGuest makes a guest, on a new socket that knows it. */
async function makeGuest() {
	const answer = await fetch("/api/session", { method: "POST", signal: AbortSignal.timeout(guestWithin) }).catch(() => null);
	if (!answer?.ok) {
		const refusal = await answer?.json().catch(() => null);
		throw new Refused(refusal?.code ?? "unavailable");
	}
	const known = new Promise((/** @type {(v?: any) => void} */ done, failed) => {
		const off = socket.on("welcome", (m) => {
			off();
			if (m.player) done();
			else failed(new Refused("no-cookie")); // the browser keeps none
		});
	});
	socket.replace();
	await known;
}

/** Refused is a request that the server refused, by its code. */
class Refused extends Error {
	/** @param {string} code */
	constructor(code) {
		super(code);
		this.code = code;
	}
}

let lost = false; // as those who use a screen reader were told

/** announce speaks that the connection is lost, and that it is back. @param {import("./types.js").Connection} state */
function announce(state) {
	if (state === "connecting" || lost === (state === "lost")) return;
	lost = state === "lost";
	say(t(lost ? "page.lost" : "page.back_online"));
}

let offered = ""; // in the head, as it is written

/** head writes what the head of the page offers to those with scripts, where a new connection has changed that. */
function head() {
	const tools = document.getElementById("tools"), name = nameIn(socket.welcome?.name ?? ""), offers = JSON.stringify([name, t("page.lost")]);
	if (!tools || offers === offered) return;
	offered = offers;
	fill(
		tools,
		h("span.connection", null, t("page.lost")),
		name && h("button.plain", { type: "button", "data-act": "account", title: t("page.account", { name }), onclick: () => load("account").then((m) => m.open(page)) }, icon("person")),
		h("button.plain.square", { type: "button", "data-act": "settings", title: t("settings.title"), onclick: () => load("preferences").then((m) => m.open(t)) }, icon("settings")),
	);
}

/** renewable reports whether the page's files have changed, and it was not loaded anew for that: where servers of two versions run, it could be so for ever. */
function renewable() {
	try {
		return outdated && sessionStorage.getItem("reloaded") !== socket.welcome?.version;
	} catch {
		return false; // there is no memory of it
	}
}

/** renew loads the page anew if its files have changed; false if that does not help. */
function renew() {
	if (!renewable()) return false;
	sessionStorage.setItem("reloaded", socket.welcome?.version ?? "");
	location.reload();
	return true;
}

/** refresh loads the page anew once its files have changed and nobody is using it, reads a review, or passes on a link that it shows. */
function refresh() {
	if (socket.state !== "connected" || !screen?.idle || document.querySelector("dialog[open], [data-link], [data-review]") || performance.now() - touched < 10000) return;
	renew();
}

/** saving reports whether the visitor wants nothing to be loaded that may not be needed. */
const saving = () => !!(/** @type {any} */ (navigator).connection?.saveData);

/** @type {ReturnType<typeof setTimeout>|undefined} */
let idle;

/** prepare loads ahead what the screen may need later. What can't be loaded comes with the next connection. @param {import("./types.js").Connection} state */
function prepare(state) {
	clearTimeout(idle);
	if (state === "connected" && !saving()) idle = setTimeout(() => screen && ahead().catch(() => {}), quiet);
}

/** @param {MouseEvent} e */
function follow(e) {
	const link = /** @type {HTMLElement} */ (e.target).closest?.("a");
	if (!link || e.defaultPrevented || e.button || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey || link.target || link.origin !== location.origin) return;
	if (link.matches(".skip")) { // as an address it would be another place of the same screen, to be opened anew
		e.preventDefault();
		return main.focus();
	}
	if (!routes.some(([form]) => form.test(link.pathname)) || link.hash) return;
	if (main.querySelector("article.read")) return; // a game that the server has written, maybe of an old record: only the server can show its positions
	e.preventDefault();
	go(link.pathname);
}

/** choose takes a language that the address names, as links at the foot of the server's pages do, for the one that the visitor likes. */
function choose() {
	const address = new URL(location.href), language = address.searchParams.get("lang") ?? "auto";
	if (language === "auto" || !choices.language.includes(language)) return;
	address.searchParams.delete("lang");
	history.replaceState(null, "", address); // a language that is chosen in the settings comes after it
	change("language", /** @type {"en"|"zh"} */ (language));
}

async function boot() {
	choose();
	apply();
	live(document.body);
	root.dataset.state = "connecting";
	socket.on("status", (state) => (root.dataset.state = state));
	socket.on("crowded", () => note(t("page.too_many_tabs")));
	const served = root.dataset.version;
	socket.on("welcome", (m) => {
		outdated = !!m.version && !!served && m.version !== served;
		expire(renewable());
		const ended = !m.player && person(); // elsewhere, or long ago
		person(!!m.player);
		head();
		if (screen) ready();
		if (ended) void spoken.then(() => note(t("error.no-session")));
	});
	socket.on("turns", (m) => {
		turns = m;
		if (m.seeking) onLadder();
		void tell(m);
	});
	socket.on("notice", (n) => n.kind === "started" && tell(n));
	if (person() || routes.some(([form]) => form.test(location.pathname))) connect();
	const spoken = speak(settings.language === "auto" ? (root.lang.startsWith("zh") ? "zh" : "en") : settings.language);
	await spoken;
	head();
	socket.on("status", announce);
	socket.on("status", prepare);
	prepare(socket.state);
	try {
		if (sessionStorage.getItem("ladder")) onLadder();
	} catch {
		// Without storage nobody waited before.
	}
	addEventListener("popstate", () => {
		if (location.pathname === address) visits++; // no other screen any more
		else void show().then((ours) => ours || location.reload()); // the server writes that page
	});
	document.addEventListener("click", follow);
	for (const kind of ["pointerdown", "keydown", "wheel"]) addEventListener(kind, () => (touched = performance.now()), { passive: true, capture: true });
	setInterval(refresh, 5000);
	onchange(async () => {
		const wanted = settings.language === "auto" ? preferred() : settings.language;
		if (wanted === speaks || !(await speak(wanted))) return;
		head();
		if (!(await show())) location.reload(); // the server writes this page in the new language
	});
	addEventListener("unhandledrejection", (e) => {
		const { reason } = e, missing = reason instanceof Missing; // what a button needs
		if (!missing && !(reason instanceof Refused)) return;
		e.preventDefault();
		if (!missing || !renew()) note(t(missing ? "error.missing" : `error.${reason.code}`));
	});
	if (await show()) return;
	if (!loadedHere()) location.reload();
	ready();
}

boot();
