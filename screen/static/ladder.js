// @ts-check
// Waiting for a rated game of the ladder: on the start screen, and behind every other
// screen. The gateway keeps a person on the ladder as long as a page that asked for it is
// there.

import { label, whole } from "./clock.js";
import { note } from "./dialog.js";
import { freshly, h, put, refill, say, still } from "./dom.js";
import { refusal, rules, t } from "./i18n.js";
import { load } from "./late.js";
import { ratingOf } from "./players.js";
import { settings, store, stored } from "./settings.js";

/** @typedef {import("./types.js").Page} Page */
/** @typedef {import("./types.js").Terms} Terms */
/** @typedef {import("./types.js").LadderPool} LadderPool */

const longest = 120000; // milliseconds: a page that was away for longer waits no more
const again = 2000; // milliseconds until what was refused for now is asked again
const key = "ladder"; // of the session storage: a page that is loaded again goes on waiting

/** @type {Page} */
let page;
/** What this tab waits for; since is the gateway's time of it, "" until that is known. @type {{terms: Terms, since: string}|null} */
let wish = null;
let confirmed = false; // this socket's gateway knows that this tab waits
let asking = false;
let left = ""; // since of the wish that was left here
let alive = 0; // the server's time when the scripts ran last and the gateway was there: the clock of this device may be set meanwhile
/** @type {Set<() => void>} */
const listeners = new Set();

/** follow begins to follow the person's place on the ladder, once. @param {Page} p */
export function follow(p) {
	if (page) return;
	page = p;
	const kept = stored(key, "sessionStorage");
	if (kept.terms) wish = { terms: kept.terms, since: kept.since };
	alive = Number(kept.alive) || 0;
	const { socket } = page;
	socket.on("welcome", (m) => {
		confirmed = false;
		if (m.player) void assert();
		else set(null);
	});
	socket.on("status", changed);
	socket.on("turns", (m) => hear(m.seeking));
	socket.on("notice", (n) => n.kind === "started" && n.ladder && n.game && begin(n.game));
	setInterval(tick, 1000);
	addEventListener("pagehide", keep);
	if (page.seeking) hear(page.seeking);
	else if (socket.welcome?.player) void assert();
}

/** waiting is what this person waits for, null if nothing. */
export const waiting = () => wish;

/** @param {() => void} f is called when that changes @returns {() => void} stops it */
export function onchange(f) {
	listeners.add(f);
	return () => listeners.delete(f);
}

function changed() {
	for (const f of [...listeners]) f();
}

/** @param {typeof wish} to */
function set(to) {
	if (to) alive = page.socket.time.now();
	wish = to;
	keep();
	changed();
}

/** keep remembers the wish for this tab, for the time that loading it again takes. */
function keep() {
	store(key, wish && { ...wish, alive }, "sessionStorage");
}

function tick() {
	if (!wish || page.socket.state !== "connected") return;
	if (gone()) return away();
	alive = page.socket.time.now();
	keep();
}

/** gone reports whether this page was away for too long, now that the server's time is known again. */
const gone = () => page.socket.time.now() - alive > longest;

/** away ends the wish of a page that was frozen, as in a pocket, or without a connection: nobody who opens it hours later expects a game at once. */
function away() {
	left = wish?.since ?? left;
	set(null);
	void page.socket.send({ t: "ladder", on: false, what: "page" }); // another one may wait
	note(t("ladder.away"));
}

/** hear takes what the gateway says that the person waits for, by whichever tab. @param {import("./types.js").Seeking} [seeking] */
function hear(seeking) {
	if (seeking && seeking.since !== left) {
		const other = !wish || wish.terms.rules !== seeking.terms.rules || wish.terms.clock !== seeking.terms.clock;
		if (!other && wish?.since === seeking.since) return;
		if (other) confirmed = false;
		set(seeking);
		if (!confirmed) void assert();
	} else if (wish && confirmed) gone() ? away() : set(null);
}

/** assert asks the gateway to go on waiting. */
async function assert() {
	if (!wish || asking) return;
	if (gone()) return away();
	asking = true;
	const asked = wish, answer = await page.socket.send({ t: "ladder", on: true, terms: asked.terms, ...(asked.since && { since: asked.since }) });
	asking = false;
	if (wish?.terms !== asked.terms) return void assert(); // another choice has been made meanwhile
	if (answer.game) return begin(answer.game);
	if (answer.code === "accepted" || answer.code === "duplicate") confirmed = true;
	else if (answer.code === "rate-limited" || answer.code === "unavailable") {
		if (!asked.since && answer.reason) refuse(answer);
		else setTimeout(assert, again);
	} else if (answer.code === "over") set(null); // it was left in another tab
	else refuse(answer);
}

/** @param {import("./types.js").Answer} answer */
function refuse(answer) {
	set(null);
	note(refusal(answer));
}

/** seek asks for a game of the ladder. @param {Terms} terms */
export async function seek(terms) {
	if (wish && wish.terms.rules === terms.rules && wish.terms.clock === terms.clock) return;
	await page.session();
	confirmed = false;
	set({ terms, since: "" });
	say(t("ladder.waiting"));
	void assert();
}

/** leave leaves the ladder, in all tabs. */
export async function leave() {
	left = wish?.since ?? "";
	set(null);
	await page.socket.send({ t: "ladder", on: false });
}

/** begin shows the game that has begun, unless a game is played here. @param {string} game */
function begin(game) {
	const waited = !!wish;
	left = wish?.since ?? left;
	set(null);
	if (!waited) return;
	if (settings.sound || settings.vibration) void load("sound").then((m) => m.signal("check"), () => {}); // or silence
	if (!page.idle || location.pathname.split("/")[2] === game) return; // a link in the head of the page leads there
	page.go(`/game/${game}`);
}

/**
 * panel is the ladder's part of the start screen.
 * @param {Page} p
 * @returns {{element: HTMLElement, show: (pools: LadderPool[], game: string) => void, close: () => void}}
 */
export function panel(p) {
	follow(p);
	/** @type {LadderPool[]} */
	let pools = [];
	let game = "", drawn = "", chosen = "";
	const now = () => page.socket.time.now();
	const clock = h("span.num", { role: "timer", data: { waited: "" } });
	const status = h("p.muted", { role: "status" });
	const present = h("span");
	const element = h("section.card.setup", { "aria-labelledby": "ladder", data: { ladder: "" } });
	const name = (/** @type {Terms} */ terms) => `${rules(terms.rules)} · ${label(terms.clock, t)}`;
	const same = (/** @type {Terms} */ x, /** @type {Terms} */ y) => x.rules === y.rules && x.clock === y.clock;
	/** @param {LadderPool} pool */
	const who = (pool) => (pool.here ? t(pool.bots ? "ladder.here" : "ladder.here_people", { n: pool.here }) : t("ladder.nobody"));
	const count = () => wish && put(clock, whole(wish.since ? Math.max(0, now() - Date.parse(wish.since)) : 0, t));

	/** @param {LadderPool[]} own those of the chosen game @param {LadderPool} pool */
	const offer = (own, pool) => [
		own.length > 1
			? h("label", null, t("ladder.which"), h("select", { name: "ladder", onchange: (/** @type {any} */ e) => ((chosen = e.target.value), draw()) },
				own.map((x) => h("option", { value: name(x.terms), selected: x === pool }, name(x.terms)))))
			: h("p", null, name(pool.terms)),
		h("p.small.muted", null, pool.rating ? t("ladder.rating", { n: ratingOf(pool.rating.rating), error: pool.rating.error }) : t("ladder.unrated"), " ", present),
		h("button.main", { type: "button", data: { act: "ladder" }, onclick: () => void seek(pool.terms).then(() => element.scrollIntoView({ block: "nearest" })) }, t("ladder.play")),
	];

	/** @param {Terms} terms @param {LadderPool|undefined} pool */
	const wait = (terms, pool) => [
		h("p", null, h("b", null, t(`game.${terms.game}`)), " · ", name(terms)),
		h("div.row", null, h("span.dots", { "aria-hidden": "true" }, h("i"), h("i"), h("i")), h("span", null, t("ladder.waiting")), clock),
		status,
		h("button", { type: "button", data: { act: "ladder-leave" }, onclick: () => leave() }, t("ladder.leave")),
		pool && h("p.small.muted", null, t("ladder.while")),
	];

	const draw = () => {
		const terms = wish?.terms, own = pools.filter((x) => x.terms.game === game);
		const pool = terms ? pools.find((x) => same(x.terms, terms)) : own.find((x) => name(x.terms) === chosen) ?? own[0];
		element.hidden = !terms && !pool;
		const text = JSON.stringify([terms, !terms && [own.map((x) => ({ ...x, here: 0, bots: false })), chosen]]); // who is there changes often, and moves nothing
		if (text !== drawn) {
			drawn = text;
			refill(element, h("h2", { id: "ladder" }, t("ladder.title")), terms ? wait(terms, pool) : pool && offer(own, pool));
			element.toggleAttribute("data-seeking", !!terms);
			freshly(element);
		}
		if (terms) put(status, page.socket.state === "lost" ? t("ladder.lost") : pool ? who(pool) : "");
		else if (pool) put(present, who(pool));
		count();
	};
	const off = onchange(() => still("ladder", draw)), timer = setInterval(count, 500);
	return {
		element,
		show(all, chosenGame) {
			pools = all;
			game = chosenGame;
			draw();
		},
		close() {
			off();
			clearInterval(timer);
		},
	};
}
