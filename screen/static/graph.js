// @ts-check
// The graph of a game's winning chance.

import { svg } from "./draw.js";
import { h } from "./dom.js";

/** @typedef {"inaccuracy"|"mistake"|"blunder"} Class */
/** @typedef {{turn: import("./types.js").Seat, chance?: number, depth: number, best?: string, line?: string[], lost?: number, class?: Class}} Reviewed */

const height = 72, pad = 6;

/** Shapes of the classes, which differ without colour. */
const shapes = { inaccuracy: "M0 -4A4 4 0 1 1 0 4A4 4 0 1 1 0 -4Z", mistake: "M0 -5L5 4H-5Z", blunder: "M-4.5 -4.5H4.5V4.5H-4.5Z" };

/** Graph shows the chance of seat first over the game, and lets people choose a ply. */
export class Graph {
	/** @type {(Reviewed|null)[]} */
	#plies = [];
	#at = 0;
	#width = 0;

	/**
	 * @param {{label: string, go: (ply: number) => void, describe: (ply: number) => string}} options describe says what a screen reader speaks of a ply
	 */
	constructor({ label, go, describe }) {
		this.go = go;
		this.describe = describe;
		this.drawing = svg("svg", { "aria-hidden": "true", height: String(height) });
		this.element = h("div.graph", { role: "slider", tabindex: 0, "aria-label": label, "aria-valuemin": 0, data: { graph: "" },
			onkeydown: (/** @type {KeyboardEvent} */ e) => this.#key(e) });
		this.element.append(this.drawing);
		for (const kind of ["pointerdown", "pointermove"]) this.element.addEventListener(kind, (/** @type {PointerEvent} */ e) => this.#point(e));
		new ResizeObserver(([entry]) => {
			this.#width = entry.contentRect.width;
			this.#draw();
		}).observe(this.element);
	}

	/** @param {(Reviewed|null)[]} plies @param {number} at the ply that is shown */
	show(plies, at) {
		this.#plies = plies;
		this.#at = at;
		this.element.setAttribute("aria-valuemax", String(this.#last()));
		this.element.setAttribute("aria-valuenow", String(at));
		this.element.setAttribute("aria-valuetext", this.describe(at));
		this.#draw();
	}

	#last() {
		return Math.max(this.#plies.length - 1, 1);
	}

	/** @param {number} ply */
	#x(ply) {
		return pad + (ply * (this.#width - 2 * pad)) / this.#last();
	}

	#draw() {
		if (!this.#width) return;
		this.drawing.setAttribute("width", String(this.#width));
		const y = (/** @type {number} */ chance) => pad + (1 - chance) * (height - 2 * pad);
		/** @type {[number, number][][]} */
		const runs = [[]];
		this.#plies.forEach((p, i) => {
			if (p?.chance === undefined) runs.push([]);
			else runs[runs.length - 1].push([this.#x(i), y(p.chance)]);
		});
		const parts = [];
		for (const run of runs.filter((r) => r.length)) {
			const [left, right] = [run[0], run[run.length - 1]].map(([x]) => (x === pad ? 0 : x > this.#width - pad - 1 ? this.#width : x));
			const text = run.map(([x, v]) => `${x.toFixed(1)} ${v.toFixed(1)}`).join("L");
			parts.push(svg("path", { class: "second", d: `M${left} 0H${right}V${height}H${left}Z` }), svg("path", { class: "first", d: `M${left} ${height}V${run[0][1]}L${text}H${right}V${height}Z` }), svg("path", { class: "chance", d: `M${text}` }));
		}
		parts.push(svg("path", { class: "even", d: `M0 ${height / 2}H${this.#width}` }), svg("path", { class: "here", d: `M${this.#x(this.#at)} 0V${height}` }));
		this.#plies.forEach((p, i) => {
			const next = this.#plies[i + 1];
			if (p?.class && next?.chance !== undefined) parts.push(svg("path", { class: `sign ${p.class}`, d: shapes[p.class], transform: `translate(${this.#x(i + 1)} ${y(next.chance)})` }));
		});
		this.drawing.replaceChildren(...parts);
	}

	/** @param {PointerEvent} e */
	#point(e) {
		if (e.type === "pointermove" && !e.buttons) return;
		const x = e.clientX - this.element.getBoundingClientRect().left;
		const ply = Math.round(((x - pad) * this.#last()) / Math.max(this.#width - 2 * pad, 1));
		this.#choose(ply);
	}

	/** @param {number} ply */
	#choose(ply) {
		const to = Math.min(Math.max(ply, 0), this.#plies.length - 1);
		if (to !== this.#at) this.go(to);
	}

	/** @param {KeyboardEvent} e */
	#key(e) {
		const to = { ArrowLeft: this.#at - 1, ArrowDown: this.#at - 1, ArrowRight: this.#at + 1, ArrowUp: this.#at + 1, Home: 0, End: this.#last(),
			PageUp: mistake(this.#plies, this.#at, -1), PageDown: mistake(this.#plies, this.#at, 1) }[e.key];
		if (to === undefined) return;
		e.preventDefault();
		e.stopPropagation();
		this.#choose(to);
	}
}

/**
 * mistake is the ply after the next mistake in a direction; undefined for none.
 * @param {(Reviewed|null)[]} plies @param {number} at @param {1|-1} step
 */
export function mistake(plies, at, step) {
	for (let i = at + step; i > 0 && i < plies.length; i += step) if (plies[i - 1]?.class) return i;
	return undefined;
}
