// @ts-check
import { path, svg } from "./draw.js";

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
