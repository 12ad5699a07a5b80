// @ts-check
// What the page does without at first: modules that somebody may never need, and the words
// for them. They come when they are needed, or before that, while the connection has
// nothing else to do, so that they are there when it is lost.

import { more } from "./i18n.js";

/**
 * @typedef {object} Modules
 * @property {typeof import("./game.js")} game
 * @property {typeof import("./start.js")} start
 * @property {typeof import("./invite.js")} invite
 * @property {typeof import("./moves.js")} moves
 * @property {typeof import("./opening.js")} opening
 * @property {typeof import("./hint.js")} hint
 * @property {typeof import("./next.js")} next
 * @property {typeof import("./news.js")} news
 * @property {typeof import("./preferences.js")} preferences
 * @property {typeof import("./sound.js")} sound
 * @property {typeof import("./ladder.js")} ladder
 * @property {typeof import("./account.js")} account
 * @property {typeof import("./review.js")} review
 * @property {typeof import("./retry.js")} retry
 * @property {typeof import("./onward.js")} onward
 */

/** In the order in which they are loaded ahead. @type {(keyof Modules)[]} */
const order = ["game", "moves", "opening", "hint", "next", "news", "start", "invite", "preferences", "sound", "ladder", "account", "review", "retry", "onward"];

/** Modules that a game's dictionary has the words for. */
const spelled = new Set(["game", "moves"]);

/** Missing is what load fails with where something can't be loaded now. */
export class Missing extends Error {}

const within = 20000; // milliseconds that a module may take: on a connection that has died none comes

let stale = false;

/** expire says whether the server has other files than this page, which shall be loaded anew then: what it would load now need not go with what it has. @param {boolean} is */
export const expire = (is) => void (stale = is);

/** @type {Map<string, Promise<any>>} */
const modules = new Map();
/** @type {Map<string, number>} how often a module could not be loaded */
const failures = new Map();

/**
 * load loads a module and the words for it, once. After a failure it can be tried again.
 * @template {keyof Modules} K
 * @param {K} name
 * @returns {Promise<Modules[K]>}
 */
export async function load(name) {
	const [module] = await Promise.all([modules.get(name) ?? fetched(name), !spelled.has(name) && words()]);
	return module;
}

/** words loads the words that a game does without. */
export const words = () => more().catch(() => Promise.reject(new Missing("words")));

/** @param {string} name */
function fetched(name) {
	if (stale) return Promise.reject(new Missing(name));
	const n = failures.get(name) ?? 0;
	const late = new Promise((_, fail) => setTimeout(fail, within, "too late"));
	const module = Promise.race([import(`./${name}.js${n ? `?${n}` : ""}`), late]).catch((e) => { // a browser may remember that it could not load an address
		console.warn(e);
		modules.delete(name);
		failures.set(name, n + 1);
		throw new Missing(name);
	});
	modules.set(name, module);
	return module;
}

/** incomplete reports whether a module that could not be loaded is still not there. */
export const incomplete = () => [...failures.keys()].some((name) => !modules.has(name));

/** ahead loads all modules, one after the other, up to one that can't be loaded now. One that was given up may come at a second attempt. */
export async function ahead() {
	for (const name of order) await load(name).catch(() => load(name));
}
