// @ts-check
import { CELL, path, svg } from "../draw.js";

/** @typedef {import("../draw.js").Geometry} Geometry */
/** @typedef {import("../board.js").View} View */

const numerals = "一二三四五六七八九";

/** Xiangqi: pieces on the crossings of lines. A move has two points. */
export const xiangqi = {
	steps: 2,
	sides: Object.fromEntries([..."KABNRCP"].flatMap((c) => [[c, "red"], [c.toLowerCase(), "black"]])),
	turns: true,

	/** text writes the move. @param {string[]} chosen */
	text: (chosen) => chosen.join(""),

	/**
	 * after makes as much of a move on the pieces as is chosen.
	 * @param {View} view @param {string} _move @param {string[]} chosen
	 */
	after(view, _move, [from, to]) {
		const pieces = { ...view.pieces };
		if (to) {
			delete pieces[from];
			pieces[to] = view.pieces[from];
		}
		return pieces;
	},

	/** ground draws the board; it looks the same when turned. @param {Geometry} g */
	ground(g) {
		const a = g.middle(0, 0), b = g.middle(8, 9), x = (/** @type {number} */ c) => a.x + c * CELL, y = (/** @type {number} */ r) => a.y + r * CELL;
		let lines = "";
		for (let r = 0; r < 10; r++) lines += `M${a.x} ${y(r)}H${b.x}`;
		for (let c = 1; c < 8; c++) lines += `M${x(c)} ${a.y}V${y(4)}M${x(c)} ${y(5)}V${b.y}`;
		lines += `M${a.x} ${a.y}V${b.y}M${b.x} ${a.y}V${b.y}`;
		for (const r of [0, 7]) lines += `M${x(3)} ${y(r)}L${x(5)} ${y(r + 2)}M${x(5)} ${y(r)}L${x(3)} ${y(r + 2)}`;
		const marked = [[1, 2], [7, 2], [1, 7], [7, 7]];
		for (let c = 0; c < 9; c += 2) marked.push([c, 3], [c, 6]);
		let ticks = "";
		for (const [c, r] of marked) {
			for (const dx of c === 0 ? [1] : c === 8 ? [-1] : [-1, 1]) {
				for (const dy of [-1, 1]) ticks += `M${x(c) + dx * 3} ${y(r) + dy * 9}v${-dy * 6}h${dx * 6}`;
			}
		}
		const river = (/** @type {number} */ at, /** @type {string} */ text) => svg("text", { class: "river", x: at, y: y(4.5) + 9 }, text);
		return [svg("rect", { class: "wood", width: g.width, height: g.height }),
			svg("rect", { class: "edge", x: a.x - 4, y: a.y - 4, width: 8 * CELL + 8, height: 9 * CELL + 8 }),
			path("line", lines), path("line", ticks), river(x(2), "楚河"), river(x(6), "漢界")];
	},

	/** margin is the room for the coordinates. @param {boolean} _small @param {string} notation */
	margin(_small, notation) {
		return notation === "coordinates" ? { left: 8, right: 0, top: 0, bottom: 8 } : { left: 0, right: 0, top: 8, bottom: 8 };
	},

	/**
	 * coordinates lists the labels with their places: letters and numbers, or the
	 * files as each side counts them, from its right.
	 * @param {Geometry} g @param {string} notation
	 */
	coordinates(g, notation) {
		const labels = [], bottom = g.height - 5;
		if (notation === "coordinates") {
			for (let c = 0; c < 9; c++) labels.push({ x: g.middle(c, 0).x, y: bottom, text: g.name(c, 0)[0] });
			for (let r = 0; r < 10; r++) labels.push({ x: 5, y: g.middle(0, r).y, text: g.name(0, r).slice(1) });
			return labels;
		}
		const chinese = notation === "native", red = (/** @type {number} */ file) => (chinese ? numerals[file - 1] : String(file));
		for (let c = 0; c < 9; c++) {
			const x = g.middle(c, 0).x, left = c + 1, right = 9 - c; // files from either side, as seen
			labels.push({ x, y: 5, text: g.turned ? red(left) : String(left) }, { x, y: bottom, text: g.turned ? String(right) : red(right) });
		}
		return labels;
	},
};
