// @ts-check
// Which terms the start screen offers, and who would accept them.

import { speed } from "./clock.js";
import { stored, store } from "./settings.js";

/** @typedef {import("./types.js").Terms} Terms */
/** @typedef {import("./types.js").Opponent} Opponent */

/** The games, and the rule sets that are offered, the usual one first. */
export const games = {
	xiangqi: ["xiangqi/wxf", "xiangqi/cxa", "xiangqi/simple"],
	gomoku: [
		"gomoku/freestyle-15", "gomoku/standard-15", "gomoku/renju-15", "gomoku/freestyle-15+swap2", "gomoku/standard-15+swap2",
		"gomoku/renju-15+swap2", "gomoku/renju-15+soosyrv-8", "gomoku/renju-15+taraguchi-10", "gomoku/renju-15+yamaguchi-12", "gomoku/caro-15",
	],
	amazons: ["amazons/10x10", "amazons/8x8", "amazons/6x6"],
};

/** @typedef {keyof typeof games} GameName */

export const usualClock = "600+5";

/** Clocks that are offered. */
export const clocks = ["60+1", "180+2", "300+3", "600+5", "900+10", "1800+20", "600/3x30", "1200/3x30", "86400/move", "259200/move", "unlimited"];

/**
 * Handicap is a start position that helps the weaker seat.
 * @typedef {{name: string, position: string, weaker: "first"|"second"}} Handicap
 */

/** @type {Promise<any[]>|undefined} */
let listed;

/**
 * handicapsOf asks the server for the handicaps of a rule set.
 * @param {string} rules
 * @returns {Promise<Handicap[]>}
 */
export async function handicapsOf(rules) {
	listed ??= fetch("/api/games", { signal: AbortSignal.timeout(20000) }).then((a) => (a.ok ? a.json() : Promise.reject(a.status)));
	const rows = await listed.catch(() => ((listed = undefined), []));
	for (const row of rows) for (const set of row.sets) if (set.rules === rules) return set.handicaps ?? [];
	return [];
}

/**
 * What a visitor chose last.
 * @typedef {{level: number, clock: string, rules: string, seat: ""|"first"|"second", rated: boolean, strict: boolean, position: string}} Choice
 */

/**
 * choice is what the visitor chose last for a game, or something sensible.
 * @param {GameName} game
 * @returns {Choice}
 */
export function choice(game) {
	const last = stored("start")[game] ?? {};
	/** @type {Choice} */
	const usual = { level: 3, clock: usualClock, rules: games[game][0], seat: "", rated: false, strict: false, position: "" };
	for (const key of /** @type {(keyof Choice)[]} */ (Object.keys(usual))) {
		if (typeof last[key] === typeof usual[key]) /** @type {any} */ (usual)[key] = last[key];
	}
	if (!games[game].includes(usual.rules)) usual.rules = games[game][0];
	return { ...usual, position: "", ...(last.position && { seat: "" }) }; // the seat of a handicap goes with it
}

/** @param {GameName} game @param {Choice} c */
export function remember(game, c) {
	store("start", { ...stored("start"), game, [game]: c });
}

/** lastGame is the game that was chosen last. @returns {GameName} */
export function lastGame() {
	const last = stored("start").game;
	return last in games ? last : "xiangqi";
}

/** termsOf is a choice as the protocol has it. @param {GameName} game @param {Choice} c @returns {Terms} */
export function termsOf(game, c) {
	/** @type {Terms} */
	const terms = { game, rules: c.rules, clock: c.clock, rated: c.rated };
	if (c.position) terms.position = c.position;
	if (c.strict) terms.strict = true;
	return terms;
}

/** accepts reports whether an opponent would accept the terms. @param {Opponent} o @param {Terms} terms */
export function accepts(o, terms) {
	return o.game === terms.game
		&& (!o.rules?.length || o.rules.includes(terms.rules))
		&& (!o.speeds?.length || o.speeds.includes(speed(terms.clock)))
		&& (terms.rated ? o.rated : o.casual);
}

/**
 * suggested is the level after two wins or two losses in a row against bots in a
 * game, 0 for none.
 * @param {import("./types.js").PastResult[]|undefined} results
 * @param {string} game
 * @param {Opponent[]} opponents
 */
export function suggested(results, game, opponents) {
	const last = (results ?? []).filter((r) => r.game === game && r.level).slice(-2);
	if (last.length < 2 || last[0].result !== last[1].result || last[0].result === "drawn") return 0;
	const level = Number(last[1].level) + (last[1].result === "won" ? 1 : -1);
	return opponents.some((o) => o.game === game && o.level === level) ? level : 0;
}

/** pick chooses an opponent of a level, a free one if there is one. @param {Opponent[]} opponents @param {Terms} terms @param {number} level */
export function pick(opponents, terms, level) {
	const all = opponents.filter((o) => o.level === level && accepts(o, terms));
	return all.find((o) => !o.busy) ?? all[0];
}
