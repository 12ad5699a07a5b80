// @ts-check
import { CELL, svg } from "../draw.js";

/** @typedef {import("../draw.js").Geometry} Geometry */
/** @typedef {import("../board.js").View} View */

/** Amazons: queens and arrows on squares. A move has three points: the amazon, where it goes, where it shoots. */
export const amazons = {
	steps: 3,
	sides: /** @type {Object<string, string>} */ ({ Q: "white", q: "black" }),
	turns: true,

	/** text writes the move. @param {string[]} chosen */
	text: (chosen) => `${chosen[0]}${chosen[1]}/${chosen[2]}`,

	/**
	 * after makes as much of a move on the pieces as is chosen.
	 * @param {View} view @param {string} _move @param {string[]} chosen
	 */
	after(view, _move, [from, to, arrow]) {
		const pieces = { ...view.pieces };
		if (to) {
			delete pieces[from];
			pieces[to] = view.pieces[from];
		}
		if (arrow) pieces[arrow] = "*";
		return pieces;
	},

	/** ground draws the board. @param {Geometry} g */
	ground(g) {
		const squares = [svg("rect", { class: "light", width: g.width, height: g.height })];
		for (let r = 0; r < g.rows; r++) {
			for (let c = 0; c < g.columns; c++) {
				const { x, y } = g.middle(c, r), point = g.name(c, r);
				if ((point.charCodeAt(0) + Number(point.slice(1))) % 2 === 0) {
					squares.push(svg("rect", { class: "dark", x: x - CELL / 2, y: y - CELL / 2, width: CELL, height: CELL }));
				}
			}
		}
		return squares;
	},

	margin: () => ({ left: 0, right: 0, top: 0, bottom: 0 }),

	/** coordinates lists the labels with their places, in the corners of the squares. @param {Geometry} g */
	coordinates(g) {
		const labels = [];
		for (let c = 0; c < g.columns; c++) labels.push({ x: g.middle(c, 0).x + 15, y: g.height - 6, text: g.name(c, 0)[0] });
		for (let r = 0; r < g.rows; r++) labels.push({ x: 6, y: g.middle(0, r).y - 13, text: g.name(0, r).slice(1) });
		return labels;
	},
};
