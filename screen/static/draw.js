// @ts-check

/**
 * Drawing: SVG elements, the places of points, and the marks on a board.
 * A point takes CELL units of the drawing in each direction.
 */

export const CELL = 40;

const SVG = "http://www.w3.org/2000/svg";

/**
 * svg makes an SVG element.
 * @param {string} tag
 * @param {Object<string, string|number>} [attributes]
 * @param {...(Node|string)} children
 * @returns {SVGElement}
 */
export function svg(tag, attributes = {}, ...children) {
	const e = /** @type {SVGElement} */ (document.createElementNS(SVG, tag));
	for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, String(value));
	e.append(...children);
	return e;
}

/** path makes a path. @param {string} css its class @param {string} d */
export const path = (css, d) => svg("path", { class: css, d });

/** at makes a group whose origin is a place. @param {{x: number, y: number}} place @param {string} css @param {...Node} children */
export const at = (place, css, ...children) => svg("g", { class: css, transform: `translate(${place.x} ${place.y})` }, ...children);

/** points reads the points off a move's text, in order. @param {string} move @returns {string[]} */
export const points = (move) => move.match(/[a-z]\d+/g) ?? [];

/** Geometry says where points are on the screen. */
export class Geometry {
	/**
	 * @param {{columns: number, rows: number, first_row: number}} view
	 * @param {boolean} turned the top row is at the bottom, the last column on the left
	 * @param {{left: number, right: number, top: number, bottom: number}} margin around the points' cells, in units
	 */
	constructor(view, turned, margin) {
		this.columns = view.columns;
		this.rows = view.rows;
		this.firstRow = view.first_row;
		this.turned = turned;
		this.margin = margin;
		this.width = margin.left + view.columns * CELL + margin.right;
		this.height = margin.top + view.rows * CELL + margin.bottom;
	}

	/** name names the point in a column from the left and a row from the top, as seen. @param {number} column @param {number} row */
	name(column, row) {
		if (this.turned) column = this.columns - 1 - column;
		else row = this.rows - 1 - row;
		return String.fromCharCode(97 + column) + (row + this.firstRow);
	}

	/** cell is the column from the left and the row from the top of a point, as seen. @param {string} point */
	cell(point) {
		const column = point.charCodeAt(0) - 97, row = Number(point.slice(1)) - this.firstRow;
		return this.turned ? { column: this.columns - 1 - column, row } : { column, row: this.rows - 1 - row };
	}

	/** place is the middle of a point's cell. @param {string} point */
	place(point) {
		const { column, row } = this.cell(point);
		return this.middle(column, row);
	}

	/** middle is the middle of the cell in a column and a row, as seen. @param {number} column @param {number} row */
	middle(column, row) {
		return { x: this.margin.left + (column + 0.5) * CELL, y: this.margin.top + (row + 0.5) * CELL };
	}
}

/** corners draws the four corners of a square. @param {number} r half of its side @param {number} l of each line */
const corners = (r, l) => [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([x, y]) => `M${x * r} ${y * (r - l)}V${y * r}H${x * (r - l)}`).join("");

/** Forbidden points: as many corners as the rows that are forbidden have stones. */
const forbidden = /** @type {Object<string, {d: string, text: string}>} */ ({
	"double-three": { d: "M0 -16L16 12H-16Z", text: "33" },
	"double-four": { d: "M-14 -14H14V14H-14Z", text: "44" },
	"overline": { d: "M-8.5 -15H8.5L17 0L8.5 15H-8.5L-17 0Z", text: "6" },
});

/** forbiddenMark marks a point on which a stone would lose. @param {string} kind */
export function forbiddenMark(kind) {
	const m = forbidden[kind];
	return svg("g", { class: "forbidden" }, path("", m.d), svg("text", { y: kind === "double-three" ? 9 : 5.5 }, m.text));
}

/** Signs of the kinds of marks, drawn at a corner of the point. */
const signs = { best: "M-4 0L-1 3.5L4.5 -3.5", good: "M-4 0L-1 3.5L4.5 -3.5", mistake: "M-3.5 -3.5L3.5 3.5M3.5 -3.5L-3.5 3.5", hint: "M0 -4.5V1M0 4V4.5" };

/** mark draws a mark around a point. @param {string} kind */
export function mark(kind) {
	switch (kind) {
		case "stone": return svg("circle", { class: "last-stone", r: 6.5 });
		case "last": return path("last", corners(18.5, 8));
		case "origin": return path("last", corners(12, 6));
		case "selected": return svg("rect", { class: "selected", x: -19, y: -19, width: 38, height: 38, rx: 6 });
		case "target": return svg("circle", { class: "target", r: 6 });
		case "capture": return svg("circle", { class: "capture", r: 18.5 });
		case "premove": return path("premove", corners(17, 34));
		case "check": return svg("g", { class: "check" }, svg("circle", { r: 19 }), at({ x: 13, y: -13 }, "badge", svg("circle", { r: 7 }), path("", signs.hint)));
		case "won": return svg("circle", { class: "won", r: 18 });
		case "dropped": return svg("circle", { class: "dropped", r: 18 });
	}
	const sign = signs[/** @type {keyof typeof signs} */ (kind)];
	return svg("g", { class: `told ${kind}` }, svg("circle", { r: 18.5 }), at({ x: 13, y: -13 }, "badge", svg("circle", { r: 7.5 }), path("", sign)));
}

/**
 * arrow draws an arrow from a place to another.
 * @param {{x: number, y: number}} from @param {{x: number, y: number}} to @param {string} css
 */
export function arrow(from, to, css) {
	const dx = to.x - from.x, dy = to.y - from.y, length = Math.hypot(dx, dy) || 1;
	const turn = (Math.atan2(dy, dx) * 180) / Math.PI, tip = length - 8, neck = tip - 13;
	return svg("path", {
		class: `arrow ${css}`, transform: `translate(${from.x} ${from.y}) rotate(${turn})`,
		d: `M12 -3.5H${neck}V-9L${tip} 0L${neck} 9V3.5H12Z`,
	});
}

/** crosshair draws lines through a place, across the board. @param {Geometry} geometry @param {{x: number, y: number}} place */
export function crosshair(geometry, { x, y }) {
	const { margin: m, width, height } = geometry;
	return svg("g", { class: "crosshair" }, path("", `M${m.left} ${y}H${x - 17}M${x + 17} ${y}H${width - m.right}M${x} ${m.top}V${y - 17}M${x} ${y + 17}V${height - m.bottom}`),
		svg("circle", { cx: x, cy: y, r: 17 }));
}
