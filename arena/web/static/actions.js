// @ts-check
// What a player can do beside moving: the buttons below the board, and offers.

import { ask } from "./dialog.js";
import { fill, h, icon, say } from "./dom.js";
import { nameOf } from "./players.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./dom.js").IconName} IconName */

const settling = 500; // milliseconds in which a new button takes no tap that was meant for what stood there

/**
 * freshly keeps new buttons from taking a tap that was on its way.
 * @param {HTMLElement} e
 */
export function freshly(e) {
	e.classList.add("fresh");
	setTimeout(() => e.classList.remove("fresh"), settling);
}

/** Actions are the buttons of a game. */
export class Actions {
	#drawn = "";
	#offer = "";

	/**
	 * @param {import("./types.js").Translate} t
	 * @param {{send: (request: import("./types.js").Request) => void, act: (name: string) => void}} game
	 */
	constructor(t, game) {
		this.t = t;
		this.game = game;
		this.bar = h("div.bar", { role: "toolbar", "aria-label": t("game.actions") });
		this.hints = h("span.hints");
		this.offered = h("div.offered", { role: "alertdialog", "aria-label": t("game.offer"), hidden: true });
	}

	/** @param {string} act @param {IconName} name @param {string} [kind] */
	#button(act, name, kind = "") {
		const text = this.t(`game.${act.replace("-", "_")}`);
		return h(`button${kind}`, { type: "button", data: { act }, onclick: () => this.#press(act) }, icon(name), h("span", null, text));
	}

	/** @param {State} state */
	show(state) {
		const may = new Set(state.may ?? []), over = state.status === "finished";
		const you = state.you, bot = !!you && state.holders[you === "first" ? 1 : 0].kind === "bot";
		const key = JSON.stringify([over, [...may], bot]);
		if (key !== this.#drawn) {
			const changed = !!this.#drawn;
			this.#drawn = key;
			const list = h("button.opens-sheet", { type: "button", data: { act: "list" }, onclick: () => this.game.act("list") }, icon("list"), h("span", null, this.t("game.more")));
			fill(this.bar, over ? this.#after(may, !!you, bot) : this.#during(may), list);
			if (changed) freshly(this.bar);
		}
		this.#showOffer(state);
	}

	/** @param {Set<string>} may */
	#during(may) {
		return [
			may.has("resign") && this.#button("resign", "resign"), may.has("draw") && this.#button("draw", "draw"),
			may.has("takeback") && this.#button("takeback", "takeback"), this.hints, this.#button("flip", "flip"),
		];
	}

	/** @param {Set<string>} may @param {boolean} playing @param {boolean} bot */
	#after(may, playing, bot) {
		return [
			may.has("rematch") && this.#button("rematch", "rematch", ".main"),
			may.has("review") && this.#button("review", "review", ".wide"),
			playing && bot && h("button.wide", { type: "button", hidden: true, data: { act: "next-level" } }, icon("up"), h("span")),
			may.has("takeback") && this.#button("takeback", "takeback"),
			this.#button("flip", "flip"),
		];
	}

	/**
	 * suggest offers a game against the next level, after the end of one.
	 * @param {number} level 0 for none
	 * @param {() => void} play
	 */
	suggest(level, play) {
		const b = this.bar.querySelector('[data-act="next-level"]');
		if (!b) return;
		b.hidden = !level;
		b.onclick = play;
		b.lastChild.textContent = this.t("game.next_level", { n: level });
	}

	/** @param {string} act */
	async #press(act) {
		const t = this.t;
		if (act === "resign" && !(await ask(t("game.resign_ask"), null, { yes: t("game.resign"), act, danger: true }))) return;
		if (act === "draw" && !(await ask(t("game.draw_ask"), null, { yes: t("game.draw"), act }))) return;
		this.game.act(act);
	}

	/** #showOffer puts an offer of the opponent over the line below the board, where nothing else is tapped. @param {State} state */
	#showOffer(state) {
		const { you, t } = { you: state.you, t: this.t };
		/** @type {[string, import("./types.js").Seat|undefined][]} */
		const open = [["draw", state.draw_by], ["takeback", state.takeback_by], ["rematch", state.next ? undefined : state.rematch_by]];
		const found = open.find(([, by]) => by);
		const key = you && found ? `${found[0]} ${found[1]} ${state.moves.length}` : "";
		if (key === this.#offer) return;
		this.#offer = key;
		this.offered.hidden = !key;
		if (!found || !you || !key) return fill(this.offered);
		const [what, by] = found, mine = by === you;
		const words = mine ? t(`game.${what}_offered`) : t(`game.${what}_by`, { name: nameOf(state.holders[by === "first" ? 0 : 1]) });
		const step = (/** @type {string} */ s) => () => this.game.send({ t: what, step: s });
		fill(this.offered, h("p", null, words),
			!mine && h("button.main", { type: "button", data: { act: `${what}-accept` }, onclick: step("accept") }, t("game.accept")),
			h("button", { type: "button", data: { act: `${what}-decline` }, onclick: step("decline") }, t(mine ? "game.withdraw" : "game.decline")));
		freshly(this.offered);
		if (!mine) say(words);
	}
}
