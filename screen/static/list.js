// @ts-check
// The list of a game's moves, and stepping through it.

import { fill, h } from "./dom.js";
import { spell } from "./i18n.js";

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
		new ResizeObserver(() => this.#reveal()).observe(this.list); // what comes below it takes its room
		this.element = h("section.list", { "aria-label": t("game.moves") }, this.list, this.slider);
	}

	/**
	 * @param {string[]} moves of the game, as they are written
	 * @param {number} at the ply that is shown
	 */
	show(moves, at) {
		const text = moves.join();
		if (text !== this.#drawn) {
			this.#drawn = text;
			fill(this.list, moves.map((m, i) => // numbered as everywhere on the page, and in its addresses
				h("li", null, h("button", { type: "button", data: { ply: i + 1 }, onclick: () => this.go(i + 1) }, h("span.n", null, `${i + 1}.`), " ", spell(m, this.t)))));
		}
		this.slider.max = String(moves.length);
		this.slider.value = String(at);
		this.slider.setAttribute("aria-valuetext", at ? `${at}. ${spell(moves[at - 1] ?? "", this.t)}` : this.t("game.beginning"));
		for (const b of this.list.querySelectorAll("button")) {
			const current = Number(b.dataset.ply) === at;
			if (!current) b.removeAttribute("aria-current");
			else if (!b.hasAttribute("aria-current")) {
				b.setAttribute("aria-current", "true");
				this.#reveal();
			}
		}
	}

	/** #reveal scrolls the list to the move that is shown. */
	#reveal() {
		const b = /** @type {HTMLElement|null} */ (this.list.querySelector("[aria-current]"));
		if (b) this.list.scrollTop = b.offsetTop - (this.list.clientHeight - b.offsetHeight) / 2;
	}
}
