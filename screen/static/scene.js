// @ts-check
import { amazons, gomoku, piece, xiangqi } from "./boards.js";
import { CELL, Geometry, arrow, at, crosshair, forbiddenMark, mark, points, svg } from "./draw.js";

/** @typedef {import("./types.js").View} View */
/** @typedef {import("./board.js").Translate} Translate */
/** @typedef {import("./board.js").Marked} Marked */

/**
 * What a scene shows.
 * @typedef {Object} Shown
 * @property {View} view
 * @property {Object<string, string>} pieces those of the view, or as they stand after what is chosen or sent
 * @property {{point: string, kind: string}[]} forbidden only for who is to move
 * @property {string} [last] the last move
 * @property {boolean} sent the last move is not accepted yet
 * @property {string[]} chosen
 * @property {string[]} targets
 * @property {string|null} aimed
 * @property {string|null} premove
 * @property {string|null} hover a point with the shadow of a stone
 * @property {Marked[]} marks
 * @property {string[]} arrows
 */

export const games = /** @type {Object<string, any>} */ ({ xiangqi, gomoku, amazons });

const stillness = matchMedia("(prefers-reduced-motion: reduce)");

/** make makes an HTML element. @param {string} tag @param {string} css @param {Object<string, string>} [attributes] @param {...(Node|string)} children */
export function make(tag, css, attributes = {}, ...children) {
	const e = document.createElement(tag);
	if (css) e.className = css;
	for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
	e.append(...children);
	return e;
}

/** Scene draws a board, and lays a grid of points over it for pointers, keyboards and screen readers. */
export class Scene {
	/** @type {Geometry} */ geometry = new Geometry({ columns: 0, rows: 0, first_row: 0 }, false, { left: 0, right: 0, top: 0, bottom: 0 });
	/** @type {{column: number, row: number}} the point that has the keyboard's focus, as seen */
	focus = { column: 0, row: 0 };
	/** @type {Map<string, HTMLElement>} */ cells = new Map();

	/** name is a point's as the board's edges and the moves have it. */
	name = (/** @type {string} */ point) => point;

	/** @type {Map<string, {code: string, element: SVGElement}>} */ #drawn = new Map();
	#layers = { ground: svg("g"), under: svg("g"), pieces: svg("g"), over: svg("g"), cursor: svg("g", { class: "cursor" }), air: svg("g") };
	#laid = "";

	/** @param {Translate} t */
	constructor(t) {
		this.t = t;
		this.drawing = svg("svg", { "aria-hidden": "true", focusable: "false" }, ...Object.values(this.#layers));
		this.grid = make("div", "board-grid", { role: "grid" });
		this.box = make("div", "board-box", {}, this.drawing, this.grid);
	}

	/** spacing is the distance of two points on the screen, in pixels. @param {View} view */
	spacing(view) { return this.box.clientWidth / view.columns; }

	/**
	 * layout draws what stays: lines and coordinates. It returns whether anything changed.
	 * @param {View} view @param {boolean} turned @param {{pieces: string, notation: string, seat: string}} options
	 */
	layout(view, turned, { pieces, notation, seat }) {
		const spacing = this.spacing(view), small = spacing < 32, size = small ? " small" : spacing > 52 ? " large" : "";
		const laid = [view.game, view.columns, view.rows, turned, pieces, notation, seat, size].join();
		if (laid === this.#laid) return false;
		this.#laid = laid;
		const game = games[view.game], g = new Geometry(view, turned, game.margin(small, notation));
		this.geometry = g;
		this.name = (/** @type {string} */ point) => {
			const black = seat === "second", file = game.file?.(point, notation, black);
			return file ? this.t("board.point.at", { file, row: black ? g.rows - Number(point.slice(1)) : Number(point.slice(1)) + 1 }) : point;
		};
		this.style = pieces;
		this.drawing.setAttribute("viewBox", `0 0 ${g.width} ${g.height}`);
		this.drawing.setAttribute("class", `board-drawing ${view.game}${size}`);
		this.#layers.ground.replaceChildren(...game.ground(g), ...game.coordinates(g, notation, small)
			.map((/** @type {{x: number, y: number, text: string}} */ l) => svg("text", { class: "coordinate", x: l.x, y: l.y }, l.text)));
		this.#layers.pieces.replaceChildren();
		this.#drawn.clear();
		this.#layGrid(view, g);
		return true;
	}

	/** @param {View} view @param {Geometry} g */
	#layGrid(view, g) {
		const { style } = this.grid;
		style.left = `${(100 * g.margin.left) / g.width}%`;
		style.top = `${(100 * g.margin.top) / g.height}%`;
		style.width = `${(100 * g.columns * CELL) / g.width}%`;
		style.height = `${(100 * g.rows * CELL) / g.height}%`;
		this.grid.setAttribute("aria-label", this.t(`board.grid.${view.game}`));
		if (this.grid.childElementCount !== g.rows || this.grid.firstElementChild?.childElementCount !== g.columns) {
			this.grid.replaceChildren(...Array.from({ length: g.rows }, () => make("div", "board-row", { role: "row" },
				...Array.from({ length: g.columns }, () => make("div", "board-point", { role: "gridcell", tabindex: "-1" })))));
			this.focus = { column: g.columns >> 1, row: g.rows >> 1 };
		}
		this.cells.clear();
		for (let row = 0; row < g.rows; row++) {
			for (let column = 0; column < g.columns; column++) {
				const cell = this.#cellAt(column, row);
				cell.dataset.point = g.name(column, row);
				this.cells.set(cell.dataset.point, cell);
			}
		}
		this.setFocus(this.focus.column, this.focus.row);
	}

	/** @param {number} column @param {number} row */
	#cellAt(column, row) { return /** @type {HTMLElement} */ (this.grid.children[row].children[column]); }

	/** setFocus makes a point the one that Tab reaches. It returns its element. @param {number} column @param {number} row as seen */
	setFocus(column, row) {
		this.#cellAt(this.focus.column, this.focus.row).tabIndex = -1;
		this.focus = { column: Math.max(0, Math.min(this.geometry.columns - 1, column)), row: Math.max(0, Math.min(this.geometry.rows - 1, row)) };
		const cell = this.#cellAt(this.focus.column, this.focus.row);
		cell.tabIndex = 0;
		return cell;
	}

	/** pointAt is the point at a place on the screen, if any. @param {number} x @param {number} y @returns {string|null} */
	pointAt(x, y) {
		const r = this.grid.getBoundingClientRect(), g = this.geometry;
		const column = Math.floor(((x - r.left) / r.width) * g.columns), row = Math.floor(((y - r.top) / r.height) * g.rows);
		return column < 0 || row < 0 || column >= g.columns || row >= g.rows ? null : g.name(column, row);
	}

	/** @param {Shown} shown @param {boolean} motion pieces slide to where they go */
	draw(shown, motion) {
		this.#drawPieces(shown, motion && !stillness.matches);
		const { view, chosen, premove } = shown, g = this.geometry;
		const on = (/** @type {string} */ point, /** @type {string} */ kind) => at(g.place(point), "", mark(kind));
		const under = /** @type {Node[]} */ ([]), over = /** @type {Node[]} */ ([]);
		const last = shown.last ? points(shown.last) : [];
		last.forEach((p, i) => (view.game === "gomoku" || i === last.length - 1 && i !== 1 ? over : under).push(on(p, view.game === "gomoku" ? "stone" : i === 0 ? "origin" : "last")));
		if (view.check && !shown.sent) over.push(on(view.check, "check"));
		for (const p of view.row ?? []) over.push(on(p, "won"));
		for (const f of shown.forbidden) if (!shown.pieces[f.point]) over.push(at(g.place(f.point), "", forbiddenMark(f.kind)));
		chosen.forEach((p) => under.push(on(p, "selected")));
		for (const p of shown.targets) (shown.pieces[p] ? over : under).push(on(p, shown.pieces[p] ? "capture" : "target"));
		if (premove) {
			for (const p of points(premove)) over.push(on(p, "premove"));
			over.push(...this.#line([premove], "premoved"));
		}
		for (const m of shown.marks) over.push(on(m.point, m.kind));
		over.push(...this.#line(shown.arrows, "told"));
		this.#layers.under.replaceChildren(...under);
		this.#layers.over.replaceChildren(...over);
		this.#label(shown);
	}

	/** line draws moves: arrows, or numbers on points. @param {string[]} moves @param {string} css */
	#line(moves, css) {
		const g = this.geometry;
		return moves.flatMap((move, i) => {
			const at_ = points(move).map((p) => g.place(p)), later = i > 0 ? " later" : "";
			if (at_.length === 1) return css === "told" ? [at(at_[0], `number${later}`, svg("circle", { r: 11 }), svg("text", { y: 5 }, String(i + 1)))] : [];
			return at_.slice(1).map((to, j) => arrow(at_[j], to, `${css}${later}${j > 0 ? " shot" : ""}`));
		});
	}

	/** @param {Shown} shown @param {boolean} motion */
	#drawPieces({ view, pieces, chosen, aimed, hover }, motion) {
		const g = this.geometry, left = new Map(/** @type {[string, string][]} */ ([]));
		for (const [point, { code, element }] of this.#drawn) {
			if (pieces[point] === code) continue;
			element.remove();
			this.#drawn.delete(point);
			left.set(code, point);
		}
		const layer = this.#layers.pieces;
		for (const [point, code] of Object.entries(pieces)) {
			if (this.#drawn.has(point)) continue;
			const place = g.place(point), element = at(place, "", piece(view.game, code, this.style ?? ""));
			layer.append(element);
			this.#drawn.set(point, { code, element });
			const from = left.get(code);
			if (motion && from) slide(element, g.place(from), place);
		}
		for (const [point, { element }] of this.#drawn) element.classList.toggle("shadow", aimed !== null && point === chosen.at(-1));
		layer.querySelector(".hover")?.remove();
		if (hover && !pieces[hover]) layer.append(at(g.place(hover), "shadow hover", piece(view.game, gomoku.stone(view), "")));
	}

	/** label says on each point what stands there and what it means now. @param {Shown} shown */
	#label({ view, pieces, forbidden, last, chosen, targets, premove, marks }) {
		/** @type {Map<string, string[]>} */
		const notes = new Map();
		const note = (/** @type {string} */ point, /** @type {string} */ text) => notes.set(point, [...(notes.get(point) ?? []), text]);
		for (const [point, code] of Object.entries(pieces)) note(point, this.t(`board.piece.${view.game}.${code}`));
		if (view.check) note(view.check, this.t("board.point.check"));
		for (const p of view.row ?? []) note(p, this.t("board.point.won"));
		for (const f of forbidden) note(f.point, this.t(`board.forbidden.${f.kind}`));
		for (const p of chosen) note(p, this.t("board.point.selected"));
		for (const p of targets) note(p, this.t("board.point.target"));
		for (const p of premove ? points(premove) : []) note(p, this.t("board.point.premove"));
		for (const m of marks) note(m.point, this.t(`board.mark.${m.kind}`));
		const to = last ? points(last).at(-1) : undefined;
		if (to) note(to, this.t("board.point.last"));
		for (const [point, cell] of this.cells) {
			const label = [this.name(point), ...(notes.get(point) ?? [])].join(this.t("board.comma"));
			if (cell.getAttribute("aria-label") !== label) cell.setAttribute("aria-label", label);
			const selected = String(chosen.includes(point));
			if (cell.getAttribute("aria-selected") !== selected) cell.setAttribute("aria-selected", selected);
		}
	}

	/** copy is the drawing as it is now, without the crosshair */
	copy() {
		const copy = /** @type {SVGElement} */ (this.drawing.cloneNode(true));
		copy.querySelector(".cursor")?.remove();
		return copy;
	}

	/** cursor shows or hides the crosshair at a point. @param {string|null} point */
	cursor(point) {
		this.#layers.cursor.replaceChildren(...(point ? [crosshair(this.geometry, this.geometry.place(point))] : []));
	}

	/** lift takes a piece off the board; move carries it to a place on the screen, drop puts it back. @param {string} point */
	lift(point) {
		const drawn = this.#drawn.get(point);
		if (!drawn) return null;
		const carried = /** @type {SVGElement} */ (drawn.element.cloneNode(true));
		drawn.element.classList.add("lifted");
		this.#layers.air.replaceChildren(carried);
		return {
			move: (/** @type {number} */ x, /** @type {number} */ y) => {
				const r = this.drawing.getBoundingClientRect(), scale = this.geometry.width / r.width;
				carried.setAttribute("transform", `translate(${(x - r.left) * scale} ${(y - r.top) * scale}) scale(1.5)`);
			},
			drop: () => {
				drawn.element.classList.remove("lifted");
				carried.remove();
			},
		};
	}

	/** flash marks points for a moment, to show that they are not chosen any more. @param {string[]} chosen */
	flash(chosen) {
		const group = svg("g", { class: "flash" }, ...chosen.map((p) => at(this.geometry.place(p), "", mark("dropped"))));
		this.#layers.air.append(group);
		setTimeout(() => group.remove(), 1200);
	}
}

/** slide moves a piece that has been drawn in its new place there from its old one. @param {SVGElement} element @param {{x: number, y: number}} from @param {{x: number, y: number}} to */
function slide(element, from, to) {
	element.parentNode?.append(element);
	element.animate([{ transform: `translate(${from.x}px, ${from.y}px)` }, { transform: `translate(${to.x}px, ${to.y}px)` }], { duration: 160, easing: "ease-out" });
}
