// @ts-check
// What goes on in the person's other games: one has begun, or waits for a move. A
// link in the head of the page leads there, and the tab's title says it.

import { freshly, h, put, say, still } from "./dom.js";
import { nameIn } from "./i18n.js";

/** @typedef {import("./types.js").Turns} Turns */
/** @typedef {import("./types.js").Translate} Translate */

const settle = 1000; // milliseconds in which the page may open the game by itself
const fresh = 30000; // milliseconds for which a game has just begun

/** @type {Turns} */
let turns = { t: "turns", count: 0 };
let begun = ""; // the game that has just begun
let said = "";
let own = document.title; // as the screen has it
/** @type {ReturnType<typeof setTimeout>|undefined} */
let timer;

const text = h("span");
const link = h("a.news", { hidden: true, href: "/", data: { news: "" } }, text);
document.getElementById("tools")?.before(link);
new MutationObserver(() => {
	if (document.title === titled()) return;
	own = document.title;
	document.title = titled();
}).observe(/** @type {Node} */ (document.querySelector("title")), { childList: true });

const titled = () => (said && said !== own ? `${said} · ${own}` : own);

/** tell takes news. @param {Turns|import("./types.js").Notice} m @param {Translate} t */
export function tell(m, t) {
	if (m.t === "turns") turns = m;
	else if (m.game) {
		const game = (begun = m.game);
		setTimeout(() => {
			if (begun === game) begun = "";
			show(t);
		}, fresh);
	}
	if (!link.hidden || !pending(t)) return show(t);
	clearTimeout(timer);
	timer = setTimeout(() => show(t), settle);
}

/** pending is what there is to tell. @param {Translate} t @returns {{path: string, text: string}|null} */
function pending(t) {
	const here = (/** @type {string} */ game) => location.pathname.split("/")[2] === game;
	if (here(begun)) begun = "";
	if (begun) return { path: `/game/${begun}`, text: t("news.started") };
	const { count, next } = turns;
	if (!next || (count === 1 && here(next.game))) return turns.seeking && location.pathname !== "/" ? { path: "/", text: t("news.seeking") } : null;
	return { path: `/game/${next.game}`, text: count > 1 ? t("news.turns", { n: count }) : t("news.turn", { name: nameIn(next.opponent, next.level) }) };
}

/** show writes what there is to tell, in the language of now. @param {Translate} t */
export const show = (t) => still("news", () => draw(t));

/** @param {Translate} t */
function draw(t) {
	const what = pending(t), words = what?.text ?? "", changed = words !== said;
	said = words;
	document.title = titled();
	if (what) link.href = what.path;
	put(text, words);
	if (changed && what) say(words);
	if (link.hidden !== !what) {
		const main = /** @type {HTMLElement} */ (document.querySelector("main")), { offsetTop } = main;
		link.hidden = !what;
		freshly(/** @type {HTMLElement} */ (link.parentElement)); // a tap was meant for what stood there
		if (main.offsetTop !== offsetTop) freshly(main);
	}
}
