// @ts-check
// The boards of the three games: how each is drawn, and how its moves are made of points.
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
