// @ts-check
// The boards and pieces of the three games: how each is drawn, and how its moves are made of points.
import { CELL, path, svg } from "./draw.js";

/** @typedef {import("./draw.js").Geometry} Geometry */
/** @typedef {import("./types.js").View} View */

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
	 * file is the file of a point as a side counts them, from its right; "" where the points
	 * are named by letters and numbers, as the board's edges have them.
	 * @param {string} point @param {string} notation @param {boolean} black the side
	 */
	file(point, notation, black) {
		if (notation === "coordinates") return "";
		const file = black ? point.charCodeAt(0) - 96 : 106 - point.charCodeAt(0);
		return notation === "native" && !black ? numerals[file - 1] : String(file);
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

/** The pieces of all games, drawn around the origin in a square of 40 units. */

/** Characters of Xiangqi, by the letters of FEN. The font xiangqi.woff2 has them. */
const characters = /** @type {Object<string, string>} */ ({
	K: "帥", A: "仕", B: "相", N: "傌", R: "俥", C: "炮", P: "兵",
	k: "將", a: "士", b: "象", n: "馬", r: "車", c: "砲", p: "卒",
});

/** Pictures of Xiangqi, by the letters of FEN: crown, scholar's hat, elephant, horse, chariot, cannon, soldier. */
const pictures = /** @type {Object<string, string>} */ ({
	K: "M-9.5 6L-11 -5.5L-5.2 -1L0 -9.5L5.2 -1L11 -5.5L9.5 6ZM-9 7.7H9V10.5H-9Z",
	A: "M-5.5 -.8V-4A5.5 5.5 0 0 1 5.5 -4V-.8ZM-11.5 .6H11.5A1.7 1.7 0 0 1 11.5 4H-11.5A1.7 1.7 0 0 1 -11.5 .6ZM-5.5 5.4H5.5V6A5.5 5.2 0 0 1 -5.5 6Z",
	B: "M-11 9.5V1C-11 -4 -8 -7 -3 -7H1C2 -8.5 4 -9.3 6 -9C9.5 -8.5 11.6 -6 11.6 -2.5V6.5C11.6 8.6 10.2 10 8.4 10C6.9 10 5.9 9 5.9 7.6H8C8 8.1 8.2 8.2 8.5 8.2C9 8.2 9.2 7.7 9.2 7V2.5L5 3.2V9.5H.6V5H-5.2V9.5ZM6.6 -4.4A1.2 1.2 0 1 0 9 -4.4A1.2 1.2 0 1 0 6.6 -4.4Z",
	N: "M-7.5 10.5C-7.5 4 -3.5 2 -2.5 -.8C-4.5 .2 -6 1.8 -8 3C-9.6 3.8 -11 2.2 -10.2 .6L-6.2 -6.2C-4.6 -8.4 -3 -9.4 -.8 -9.8L1 -12L2.6 -9.2C7.5 -7 9.6 -1.5 9.2 10.5ZM-4.6 -5.2A1.2 1.2 0 1 0 -2.2 -5.2A1.2 1.2 0 1 0 -4.6 -5.2Z",
	R: "M-10.5 -4.5C-8 -10 -3 -11.5 0 -11.5C3 -11.5 8 -10 10.5 -4.5ZM-1 -4.5H1V-1.5H-1ZM-6.6 5A6.6 6.6 0 1 0 6.6 5A6.6 6.6 0 1 0 -6.6 5ZM-4.6 4L-1.8 4A2 2 0 0 1 -1 3.2L-1 .5A4.7 4.7 0 0 0 -4.6 4ZM4.6 4A4.7 4.7 0 0 0 1 .5L1 3.2A2 2 0 0 1 1.8 4ZM-4.6 6A4.7 4.7 0 0 0 -1 9.6V6.8A2 2 0 0 1 -1.8 6ZM4.6 6H1.8A2 2 0 0 1 1 6.8V9.6A4.7 4.7 0 0 0 4.6 6Z",
	C: "M-10.2 -4.6L-7.6 .8L-5.2 -.2A7 7 0 0 1 5.8 -3L11.8 -6.2L9.4 -11.4L-6.5 -6.6C-7 -7.8 -8.6 -8 -9.4 -7.2C-10.2 -6.4 -10.2 -5.4 -10.2 -4.6ZM-5.2 4.5A5.7 5.7 0 1 0 6.2 4.5A5.7 5.7 0 1 0 -5.2 4.5ZM-2.2 4.5A2.7 2.7 0 1 1 3.2 4.5A2.7 2.7 0 1 1 -2.2 4.5Z",
	P: "M0 -11L10 -2.8H-10ZM-4.2 -1.4H4.2V.6A4.2 4.2 0 0 1 -4.2 .6ZM-8.6 10.5C-8.6 7 -5.6 5.6 -3 5.6L0 8.4L3 5.6C5.6 5.6 8.6 7 8.6 10.5Z",
});

const queen = "M-10 7.5L-13 -5.5L-6.8 -.6L-5 -9.6L0 -2L5 -9.6L6.8 -.6L13 -5.5L10 7.5ZM-9.5 9.5H9.5V13H-9.5Z";

/**
 * piece draws a piece: the code of a view, in the style "characters" or "pictures".
 * @param {string} game @param {string} code @param {string} style
 * @returns {SVGElement}
 */
export function piece(game, code, style) {
	switch (game) {
		case "xiangqi": {
			const red = code !== code.toLowerCase(), kind = code.toUpperCase();
			return svg("g", { class: `piece disc ${red ? "red" : "black"}` }, svg("circle", { r: 18 }), svg("circle", { class: "ring", r: 15.6 }),
				style === "pictures" ? svg("path", { class: "picture", d: pictures[kind], "fill-rule": "evenodd", transform: "scale(1.02)" })
					: svg("text", { class: "glyph", y: 8.4 }, characters[code] ?? code));
		}
		case "gomoku":
			switch (code) {
				case "#": return svg("g", { class: "piece dead" }, svg("circle", { r: 17 }), path("", "M-7 -7L7 7M7 -7L-7 7"));
				case "?": return svg("g", { class: "piece offered" }, svg("circle", { r: 15.5 }), svg("circle", { r: 4 }));
			}
			return svg("g", { class: `piece stone ${code === "x" ? "black" : "white"}` }, svg("circle", { r: 17.5 }));
		default:
			if (code === "*") return svg("g", { class: "piece arrowed" }, svg("rect", { x: -15, y: -15, width: 30, height: 30, rx: 5 }), path("", "M-7 7L6 -6M-2 -7H7V2"));
			return svg("g", { class: `piece queen ${code === "Q" ? "white" : "black"}` }, path("", queen));
	}
}
