// @ts-check
// The list of moves, stepping through it, and moves entered as text.

import { fill, h } from "./dom.js";
import { has } from "./i18n.js";
import { written } from "./settings.js";

/** @typedef {import("./types.js").View} View */

/**
 * spell writes a move of the list; what an opening procedure decides has words.
 * @param {string} move
 * @param {import("./types.js").Translate} t
 */
export function spell(move, t) {
	const fifths = /^fifths-(\d+)$/.exec(move);
	if (fifths) return t("move.fifths", { n: fifths[1] });
	const offer = /^offer:(.+)$/.exec(move);
	if (offer) return t("move.offer", { point: offer[1] });
	return has(`move.${move}`) ? t(`move.${move}`) : move;
}

/**
 * openingText is a text of the dictionaries about a step of an opening procedure.
 * @param {import("./types.js").Translate} t
 * @param {import("./types.js").Stage} stage
 * @param {string} what ".wait", ".swap", ...; "" for what the seat does itself
 * @param {string|number} [n] of a choice
 */
export const openingText = (t, stage, what, n = "") =>
	t(`open.${stage.procedure}.${stage.step}${what}`, { n, left: stage.left, stone: stage.stone, reach: stage.reach ?? "", fifths: stage.fifths ?? "" });

/** Moves is the list with its slider. */
export class Moves {
	#drawn = "";

	/**
	 * @param {import("./types.js").Translate} t
	 * @param {(ply: number) => void} go
	 */
	constructor(t, go) {
		this.t = t;
		this.go = go;
		this.list = h("ol.moves", { data: { moves: "" } });
		this.slider = h("input", { type: "range", min: 0, max: 0, step: 1, "aria-label": t("game.slider"), oninput: () => go(Number(this.slider.value)) });
		this.element = h("section.list", { "aria-label": t("game.moves") }, this.list, this.slider);
	}

	/**
	 * @param {View} view of the latest position
	 * @param {number} at the ply that is shown
	 */
	show(view, at) {
		const moves = written(view), text = moves.join();
		if (text !== this.#drawn) {
			this.#drawn = text;
			fill(this.list, moves.map((m, i) => [
				i % 2 === 0 && h("li.n", { "aria-hidden": "true" }, `${i / 2 + 1}.`),
				h("li", null, h("button", { type: "button", data: { ply: i + 1 }, onclick: () => this.go(i + 1) }, spell(m, this.t))),
			]));
		}
		this.slider.max = String(view.ply);
		this.slider.value = String(at);
		this.slider.setAttribute("aria-valuetext", at ? `${at}. ${spell(moves[at - 1] ?? "", this.t)}` : this.t("game.beginning"));
		for (const b of this.list.querySelectorAll("button")) {
			const current = Number(b.dataset.ply) === at;
			if (!current) b.removeAttribute("aria-current");
			else if (!b.hasAttribute("aria-current")) {
				b.setAttribute("aria-current", "true");
				this.list.scrollTop = b.offsetTop - this.list.offsetTop - this.list.clientHeight / 2;
			}
		}
	}
}

/**
 * typed finds the legal move that a text names in coordinates, "" for none.
 * @param {View} view
 * @param {string} text
 */
export function typed(view, text) {
	const plain = (/** @type {string} */ s) => s.toLowerCase().replace(/[^a-z0-9]/g, "");
	const wanted = plain(text);
	return [...view.moves, ...(view.choices ?? [])].find((m) => plain(m) === wanted || plain(m) === `offer${wanted}`) ?? "";
}
