// @ts-check
// Links for friends: made, passed on, and accepted.

import { label } from "./clock.js";
import { note } from "./dialog.js";
import { fill, h, icon, put } from "./dom.js";
import { nameIn, refusal, rules } from "./i18n.js";

/** @typedef {import("./types.js").Page} Page */
/** @typedef {import("./types.js").Terms} Terms */

/**
 * share passes a link on: by what the device has for that, otherwise by the clipboard.
 * @param {string} url
 * @param {import("./types.js").Translate} t
 */
export async function share(url, t) {
	if (navigator.share && matchMedia("(pointer: coarse)").matches) {
		try {
			return await navigator.share({ url });
		} catch (e) {
			if (/** @type {Error} */ (e).name === "AbortError") return;
		}
	}
	await copy(url, t);
}

/** @param {string} url @param {import("./types.js").Translate} t */
async function copy(url, t) {
	try {
		await navigator.clipboard.writeText(url);
		note(t("invite.copied"));
	} catch {
		note(t("invite.not_copied"));
	}
}

const again = 3000; // milliseconds before an invitation is asked for again that could not be read now

const loopback = /^(127\.[\d.]+|\[::1\]|(.+\.)?localhost)$/; // names that mean another computer elsewhere

/**
 * link shows a link with its QR code.
 * @param {string} url
 * @param {string} label says whom it is for
 * @param {import("./types.js").Translate} t
 */
export function link(url, label, t) {
	const field = h("input", { type: "text", readonly: true, value: url, "aria-label": label, data: { link: "" }, onfocus: () => field.select() });
	return [
		h("img.qr", { src: `/api/qr?path=${encodeURIComponent(new URL(url).pathname)}`, alt: t("invite.qr"), width: 240, height: 240 }),
		field,
		loopback.test(new URL(url).hostname) && h("p.small.muted", null, t("invite.local")),
		h("div.row", null,
			h("button.main", { type: "button", data: { act: "copy" }, onclick: () => copy(url, t) }, icon("link"), t("invite.copy")),
			"share" in navigator && h("button", { type: "button", data: { act: "share" }, onclick: () => share(url, t) }, icon("up"), t("invite.share"))),
	];
}

/** @param {Terms} terms @param {import("./types.js").Translate} t */
export function describe(terms, t) {
	const row = (/** @type {string} */ key, /** @type {string} */ text) => [h("dt", null, t(key)), h("dd", null, text)];
	return h("dl.terms", null,
		row("start.game", t(`game.${terms.game}`)), row("start.rules", rules(terms.rules)), row("start.clock", label(terms.clock, t)),
		row("invite.kind", [t(terms.rated ? "game.rated" : "game.casual"), terms.strict && t("start.strict"), terms.position && t("invite.position")].filter(Boolean).join(" · ")));
}

/**
 * wait shows an own invitation's link until the friend has come.
 * @param {HTMLElement} root
 * @param {Page} page
 * @param {{token: string, url: string, terms: Terms}} waiting
 * @param {() => void} over is called when the invitation is not listed any more and no game has begun yet
 * @returns {() => void} ends it
 */
function wait(root, page, waiting, over) {
	const { t, socket } = page;
	/** @type {Set<string>|undefined} games that ran before */
	let known;
	let ended = false;
	const revoke = async () => {
		const answer = await socket.send({ t: "uninvite", token: waiting.token });
		if (ended) return;
		if (["accepted", "not-offered"].includes(answer.code)) page.go("/", true);
		else note(refusal(answer));
	};
	fill(
		root,
		h("h1", null, t("invite.title")), describe(waiting.terms, t), link(waiting.url, t("invite.link"), t),
		h("p.muted", { role: "status" }, h("span.dots", { "aria-hidden": "true" }, h("i"), h("i"), h("i")), " ", t("invite.waiting")),
		h("button", { type: "button", data: { act: "withdraw" }, onclick: revoke }, t("invite.revoke")),
	);
	const off = socket.on("lobby", (lobby) => {
		const mine = /** @type {import("./types.js").Mine[]} */ (lobby.mine ?? []);
		known ??= new Set(mine.map((g) => g.game));
		if (lobby.waiting?.some((/** @type {import("./types.js").Waiting} */ w) => w.token === waiting.token)) return;
		const fresh = mine.find((g) => !known?.has(g.game));
		if (fresh) page.go(`/game/${fresh.game}`, true);
		else over();
	});
	socket.follow("lobby", { t: "lobby", on: true });
	return () => {
		ended = true;
		off();
		socket.unfollow("lobby", { t: "lobby", on: false });
	};
}

/**
 * open shows an invitation: to the friend its terms, to who has made it the link.
 * @param {HTMLElement} root
 * @param {Page} page
 * @param {string} token
 * @returns {import("./types.js").Screen}
 */
export function open(root, page, token) {
	const { t, socket } = page;
	/** @type {ReturnType<typeof setTimeout>|undefined} */
	let later;
	/** @type {(() => void)|undefined} */
	let ends; // the waiting of who invites
	let closed = false, gone = false;
	const state = h("p", { role: "status" });
	const button = h("button.main", { type: "button", data: { act: "join" } }, t("invite.join"));
	button.onclick = async () => {
		button.disabled = true;
		clearTimeout(later);
		try {
			await page.session();
			const joined = await socket.send({ t: "join", token });
			if (closed) return;
			if (joined.game) return await page.go(`/game/${joined.game}`, true); // which may be slow to load
			put(state, refusal(joined));
			if (joined.reason === "absent") later = setTimeout(() => button.click(), 5000); // until who invites is back
		} finally {
			button.disabled = false;
		}
	};
	root.className = "waiting";
	fill(root, h("span.dots", { "aria-hidden": "true" }, h("i"), h("i"), h("i")), state);
	const look = async () => {
		later = undefined;
		const invitation = await socket.send({ t: "invited", token });
		if (closed) return;
		if (invitation.code === "unavailable" || invitation.code === "rate-limited") { // which says nothing of the invitation
			put(state, refusal(invitation));
			later = setTimeout(look, again);
			return;
		}
		put(state, "");
		const { terms, player, url = "" } = invitation;
		if (terms && player === page.me?.player) return void (ends ??= wait(root, page, { token, url, terms }, over));
		gone = !terms;
		if (!terms) return fill(root, h("h1", null, t("invite.gone")), h("p", null, t("invite.gone_about")), h("a.button", { href: "/" }, t("page.back")));
		const seat = invitation.seat ? t(`start.seat_${invitation.seat}_${terms.game}`) : t("start.seat_any");
		fill(root, h("h1", null, t("invite.from", { name: nameIn(invitation.name ?? "") })), describe(terms, t), h("p", null, t("invite.your_seat", { seat })), button, state);
	};
	const over = () => {
		if (!gone) later ??= setTimeout(look, again); // a game that is about to begin comes first
	};
	void look();
	return {
		close() {
			closed = true;
			clearTimeout(later);
			ends?.();
		},
		idle: true,
	};
}
