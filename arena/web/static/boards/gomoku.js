// @ts-check
import { CELL, path, svg } from "../draw.js";

/** @typedef {import("../draw.js").Geometry} Geometry */
/** @typedef {import("../board.js").View} View */

/** Gomoku: stones on the crossings of lines. A move has one point. */
export const gomoku = {
	steps: 1,
	sides: /** @type {Object<string, string>} */ ({ x: "black", o: "white" }),
	turns: false, // the board looks the same from both seats

	/** text writes the move. @param {string[]} chosen */
	text: (chosen) => chosen[0],

	/**
	 * after makes the move on the pieces.
	 * @param {View} view @param {string} move @param {string[]} chosen
	 */
	after(view, move, chosen) {
		return { ...view.pieces, [chosen[0]]: move.startsWith("offer:") ? "?" : gomoku.stone(view) };
	},

	/** stone is the code of the stone that is put next. In an opening procedure a seat may put both colours, in turn. @param {View} view */
	stone(view) {
		if (!view.stage) return view.turn && view.sides[view.turn === "first" ? 0 : 1] === "white" ? "o" : "x";
		const codes = Object.values(view.pieces);
		return codes.filter((c) => c === "x").length > codes.filter((c) => c === "o").length ? "o" : "x";
	},

	/** ground draws the board. @param {Geometry} g */
	ground(g) {
		const n = g.columns, a = g.middle(0, 0), b = g.middle(n - 1, g.rows - 1);
		let lines = "";
		for (let i = 0; i < n; i++) lines += `M${a.x + i * CELL} ${a.y}V${b.y}`;
		for (let i = 0; i < g.rows; i++) lines += `M${a.x} ${a.y + i * CELL}H${b.x}`;
		const edge = n < 13 ? 2 : 3, middle = (n - 1) / 2;
		const stars = [edge, n - 1 - edge, ...(n % 2 ? [middle] : [])];
		const dots = stars.flatMap((c) => stars.filter((r) => n > 15 || (c === middle) === (r === middle))
			.map((r) => g.middle(c, r))).map(({ x, y }) => svg("circle", { class: "star", cx: x, cy: y, r: 4 }));
		return [svg("rect", { class: "wood", width: g.width, height: g.height }), path("line", lines), ...dots];
	},

	/** margin is the room for the coordinates; where the points are small they lie on the board's edge instead. @param {boolean} small */
	margin: (small) => (small ? { left: 0, right: 0, top: 0, bottom: 0 } : { left: 14, right: 6, top: 6, bottom: 14 }),

	/** coordinates lists the labels with their places. @param {Geometry} g @param {string} _notation @param {boolean} small */
	coordinates(g, _notation, small) {
		const labels = [], out = small ? 6 : 8;
		for (let c = 0; c < g.columns; c++) labels.push({ x: g.middle(c, 0).x, y: g.height - out, text: g.name(c, 0)[0] });
		for (let r = 0; r < g.rows; r++) labels.push({ x: out + 1, y: g.middle(0, r).y, text: g.name(0, r).slice(1) });
		return labels;
	},
};
