// @ts-check
// What stands beside a game, or slides over it on a phone: terms, the list of moves,
// moves entered as text, and chat.

import { onBack } from "./back.js";
import { label } from "./clock.js";
import { note } from "./dialog.js";
import { fill, h, icon, put } from "./dom.js";
import { rules } from "./i18n.js";
import { load } from "./late.js";
import { Moves } from "./list.js";
import { nameOf } from "./players.js";
import { written } from "./settings.js";

/** @typedef {import("./types.js").State} State */

/** Sheet is that side of the screen. */
export class Sheet {
	/** @type {Set<string>} chat messages that are shown: a new socket tells the latest again */
	#heard = new Set();
	#saying = false; // what was written is on its way
	#offBack = () => {};

	/**
	 * @param {HTMLElement} element that is filled
	 * @param {import("./types.js").Translate} t
	 * @param {{step: (ply: number) => void, type: (text: string) => Promise<boolean>, say: (text: string) => Promise<boolean>, opener: () => HTMLElement|null|undefined, url: string, me: () => string}} game
	 */
	constructor(element, t, game) {
		this.element = element;
		this.t = t;
		this.game = game;
		this.moves = new Moves(t, game.step);
		this.about = h("p.small.muted", { data: { terms: "" } });
		this.entry = h("input", { name: "move", type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false", maxlength: 40, enterkeyhint: "send" });
		this.typing = h("form.inline", { onsubmit: (/** @type {Event} */ e) => this.#type(e) },
			h("label", null, t("game.type_move"), this.entry), h("button", { type: "submit", data: { act: "move" } }, t("game.move")));
		this.said = h("ul.chat", { "aria-live": "polite" });
		new ResizeObserver(() => (this.said.scrollTop = this.said.scrollHeight)).observe(this.said); // it makes room for the rest: what was said last stays in sight
		this.words = h("input", { name: "chat", type: "text", maxlength: 300, autocomplete: "off" });
		this.talk = h("form.talk", { hidden: true, onsubmit: (/** @type {Event} */ e) => this.#talk(e) }, this.said,
			h("div.inline", null, h("label", null, t("game.chat"), this.words), h("button", { type: "submit", data: { act: "chat" } }, t("game.say"))));
		element.addEventListener("keydown", (e) => e.key === "Escape" && this.toggle(false));
		fill(element,
			h("header", null, h("h2", null, t("game.moves")),
				h("button.plain.square", { type: "button", "aria-label": t("page.close"), data: { act: "close-list" }, onclick: () => this.toggle(false) }, icon("close"))),
			this.about, this.moves.element, this.typing, this.talk,
			h("div.row", null, h("button.plain", { type: "button", data: { act: "share" }, onclick: () => load("invite").then((m) => m.share(game.url, t)) }, icon("link"), t("game.share"))));
	}

	/** toggle opens or closes it where it slides, and moves the focus with it. @param {boolean} [on] */
	toggle(on) {
		const was = this.element.classList.contains("open");
		const opened = this.element.classList.toggle("open", on);
		if (opened === was) return;
		this.#offBack();
		if (opened && getComputedStyle(this.element).position === "fixed") this.#offBack = onBack(() => this.toggle(false));
		/** @type {HTMLElement|null|undefined} */ (opened ? this.element.querySelector("button") : this.game.opener())?.focus();
	}

	/** write opens the field for a typed move. */
	write() {
		this.toggle(true);
		this.entry.focus();
	}

	/** @param {State} s @param {number} ply that is shown @param {boolean} moving whether a move may be typed */
	show(s, ply, moving) {
		const t = this.t;
		this.moves.show(written(s.view), ply);
		put(this.about, [t(`game.${s.terms.game}`), rules(s.terms.rules), label(s.terms.clock, t), t(s.terms.rated ? "game.rated" : "game.casual"),
			s.terms.strict && t("start.strict"), s.private && t("game.private"), s.watchers && t("game.watchers", { n: s.watchers })].filter(Boolean).join(" · "));
		this.typing.hidden = s.status === "finished" || !s.you;
		for (const e of this.typing.querySelectorAll("input, button")) e.disabled = !moving && !this.typing.contains(document.activeElement); // its place is kept; whoever types all moves stays there
		this.talk.hidden = !s.may?.includes("chat") && !this.said.children.length;
		this.words.disabled = !s.may?.includes("chat");
	}

	/** @param {Event} e */
	async #type(e) {
		e.preventDefault();
		const text = this.entry.value.trim();
		if (!text || !(await this.game.type(text))) return;
		this.entry.value = "";
		this.toggle(false);
	}

	/** @param {Event} e */
	async #talk(e) {
		e.preventDefault();
		const text = this.words.value.trim();
		if (!text || this.#saying) return;
		this.#saying = true;
		const said = await this.game.say(text);
		this.#saying = false;
		if (said && this.words.value.trim() === text) this.words.value = ""; // else it is the next message
	}

	/** chat adds what a player has said, once, where it belongs by its time: after a pause the connection brings it in any order. @param {State|null} state @param {import("./types.js").Notice} said @param {boolean} earlier before the page was opened */
	chat(state, { id, from = "", text = "", said = 0 }, earlier) {
		const known = `${from} ${id}`;
		if (id && this.#heard.has(known)) return;
		this.#heard.add(known);
		const holder = state?.holders.find((x) => x.player === from), name = holder ? nameOf(holder) : from;
		const later = [.../** @type {NodeListOf<HTMLElement>} */ (this.said.querySelectorAll("li"))].find((e) => Number(e.dataset.said) > said);
		this.said.insertBefore(h("li", { data: { said: String(said) } }, h("b", null, h("bdi", null, name)), h("bdi", null, text)), later ?? null);
		this.said.scrollTop = this.said.scrollHeight;
		this.talk.hidden = false;
		if (!earlier && from !== this.game.me() && getComputedStyle(this.element).visibility === "hidden") note(`\u2068${name}\u2069: ${text}`, true);
	}
}
