// @ts-check
// The players of a game: who they are, whether they are there, their clocks, and what
// they can do beside moving: buttons and offers.

import { read, show, slow, whole } from "./clock.js";
import { ask, note } from "./dialog.js";
import { fill, freshly, h, hide, icon, put, refill, say } from "./dom.js";
import { nameIn } from "./i18n.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Seat} Seat */
/** @typedef {import("./dom.js").IconName} IconName */

/** @type {Map<string, {level: number, rating?: number}>} levels of bots that the lobby has told */
const levels = new Map();

/** learn keeps what the lobby says of the bots. @param {import("./types.js").Opponent[]|null} bots */
export function learn(bots) {
	for (const b of bots ?? []) if (b.level) levels.set(b.player, { level: b.level, rating: b.rating });
}

/** @param {import("./types.js").Holder} holder its level, as the lobby or its engine says */
export const levelOf = (holder) => levels.get(holder.player)?.level ?? Number(/ level (\d+)$/.exec(holder.build ?? "")?.[1] ?? 0);

/**
 * nameOf is the name of a player. The levels are named in both languages: "Level 3 · 3 级".
 * @param {import("./types.js").Holder} holder
 */
export const nameOf = (holder) => nameIn(holder.display || holder.player, /^[^-]+-level-[1-9]\d*$/.test(holder.player));

/** ratingOf writes a rating: below a hundred it says no more than that somebody is a beginner. @param {number} n */
export const ratingOf = (n) => (n < 100 ? "<100" : n);

const low = 10000; // milliseconds from which a clock is low

/** Strip is the strip of one seat. */
export class Strip {
	/** @type {State|null} */
	#state = null;
	#warned = "";

	/**
	 * @param {"top"|"bottom"} place
	 * @param {import("./types.js").Translate} t
	 * @param {() => number} now the server's time
	 */
	constructor(place, t, now) {
		this.t = t;
		this.now = now;
		/** @type {Seat} */
		this.seat = "first";
		this.colour = h("span.side", { "aria-hidden": "true" });
		this.name = h("a.name");
		this.id = h("span.id");
		this.about = h("span");
		this.away = h("span.away"); // counts: the screen speaks when somebody leaves or comes back
		this.first = h("span.first"); // how much time is left for the first move, where nothing else says it
		this.clock = h("span");
		this.periods = h("small");
		this.time = h("div.time.num", { role: "timer", hidden: true }, this.clock, this.periods);
		this.element = h(`section.seat.${place}`, null, this.colour,
			h("div.who", null, h("div.name", null, this.name), h("div.more", null, this.about, this.first, this.away, this.id)), this.time);
	}

	/** @param {State} state @param {Seat} seat */
	show(state, seat) {
		const t = this.t, i = seat === "first" ? 0 : 1, holder = state.holders[i], name = nameOf(holder);
		this.#state = state;
		this.seat = seat;
		this.element.dataset.seat = seat;
		this.time.dataset.clock = seat;
		const side = state.view.sides[i];
		this.colour.dataset.side = side;
		put(this.name, name);
		if (state.status === "finished" || !state.you) this.name.href = `/player/${holder.player}`; // whoever plays might tap it in place of the board
		else this.name.removeAttribute("href");
		this.name.title = holder.player;
		put(this.id, nameOf(state.holders[1 - i]) === name ? holder.player : ""); // who is who, if both call themselves the same
		const level = levelOf(holder), named = t("level.name", { n: level }), rating = levels.get(holder.player)?.rating;
		const score = state.view.score ? ` · ${t("game.points", { n: state.view.score[i] })}` : "";
		put(this.about, (rating ? t("game.rating", { n: ratingOf(rating) }) : level && named !== name ? named : holder.rating ? t("game.rating", { n: ratingOf(holder.rating) }) : t(`side.${side}`)) + score);
		this.element.setAttribute("aria-label", t("game.seat", { name, side: t(`side.${side}`) }));
		this.tick();
	}

	/** tick shows the clock as it is now. It returns the reading. */
	tick() {
		const state = this.#state;
		if (!state) return null;
		const now = this.now();
		const elapsed = state.status === "playing" ? now - Date.parse(state.server_time) : 0;
		const r = read(state.terms.clock, state.clocks, this.seat, elapsed);
		this.time.hidden = !r.limited;
		put(this.clock, show(r.ms, this.t));
		put(this.periods, r.periods ? `×${r.periods}` : "");
		this.time.toggleAttribute("data-running", r.running && state.status === "playing");
		this.time.toggleAttribute("data-low", r.limited && r.ms < low && state.status !== "finished");
		this.#showAway(state, now);
		return r;
	}

	/** @param {State} state @param {number} now */
	#showAway(state, now) {
		const since = state.away?.[this.seat === "first" ? 0 : 1];
		if (!since || state.status === "finished") return put(this.away, "");
		const gone = Math.max(0, now - Date.parse(since));
		const left = (state.forfeit_ms ?? 0) - gone, t = this.t;
		put(this.away, state.forfeit_ms && !slow(state.terms.clock) ? t("game.away_forfeit", { left: whole(left, t) }) : t("game.away", { time: whole(gone, t) }));
	}

	/**
	 * warn speaks, once a turn, that the clock is low; true if it did.
	 * @param {import("./clock.js").Reading|null} r
	 */
	warn(r) {
		const state = this.#state;
		if (!state || !r?.running || !r.limited || r.ms >= low || r.ms <= 0 || state.status !== "playing") return false;
		const turn = `${state.moves.length} ${r.periods}`;
		if (this.#warned === turn) return false;
		this.#warned = turn;
		say(this.t("game.low_time", { n: Math.ceil(r.ms / 1000) }), true);
		return true;
	}
}

/** The buttons that may come and go. */
const buttons = ["resign", "draw", "takeback", "rematch", "review"];

/** Actions are the buttons of a game. */
export class Actions {
	#drawn = "";
	#offer = "";

	/**
	 * @param {import("./types.js").Translate} t
	 * @param {{send: (request: import("./types.js").Request) => void, act: (name: string) => void, uncover: () => void}} game
	 */
	constructor(t, game) {
		this.t = t;
		this.game = game;
		this.bar = h("div.bar", { role: "group", "aria-label": t("game.actions") });
		this.hint = this.#button("hint", "hint");
		this.hint.hidden = true;
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
		const ladder = !!you && !!state.pool?.startsWith("ladder.");
		if (may.has("hint") || !you) this.hint.hidden = !you; // nobody plays here any more who has been signed out elsewhere
		this.hint.disabled = !may.has("hint") || state.turn !== you;
		const key = JSON.stringify([over, buttons.filter((b) => may.has(b)), bot]); // not what changes with each turn
		if (key !== this.#drawn) {
			const changed = !!this.#drawn;
			this.#drawn = key;
			const list = h("button.opens-sheet", { type: "button", data: { act: "list" }, onclick: () => this.game.act("list") }, icon("list"), h("span", null, this.t("game.more")));
			refill(this.bar, over ? this.#after(may, !!you, bot, ladder) : this.#during(may), list);
			if (changed) freshly(this.bar);
		}
		this.#showOffer(state);
	}

	/** @param {Set<string>} may */
	#during(may) {
		return [
			may.has("resign") && this.#button("resign", "resign"), may.has("draw") && this.#button("draw", "draw"),
			may.has("takeback") && this.#button("takeback", "takeback"), this.hint, this.#button("flip", "flip"),
		];
	}

	/** @param {Set<string>} may @param {boolean} playing @param {boolean} bot @param {boolean} ladder */
	#after(may, playing, bot, ladder) {
		return [
			ladder && this.#button("ladder-next", "play", ".main"),
			may.has("rematch") && this.#button("rematch", "rematch", ladder ? "" : ".main"),
			may.has("review") && this.#button("review", "review", ".wide"),
			playing && bot && !ladder && h("button.wide", { type: "button", hidden: true, data: { act: "next-level" } }, icon("up"), h("span")),
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
		if (b.hidden !== !level) freshly(this.bar); // the others make room for it
		b.hidden = !level;
		b.onclick = play;
		b.lastChild.textContent = this.t("game.next_level", { n: level });
	}

	/** @param {string} act */
	async #press(act) {
		const t = this.t;
		if (act === "resign" && !(await ask(t("game.resign_ask"), null, { yes: t("game.resign"), act, danger: true }))) return;
		if (act === "draw" && !(await ask(t("game.draw_ask"), null, { yes: t("game.draw_yes"), act }))) return;
		this.game.act(act);
	}

	/** #showOffer puts an offer of the opponent over the line below the board, where nothing else is tapped. @param {State} state */
	#showOffer(state) {
		const you = state.you, t = this.t;
		/** @type {[string, import("./types.js").Seat|undefined][]} */
		const open = [["draw", state.draw_by], ["takeback", state.takeback_by], ["rematch", state.next ? undefined : state.rematch_by]];
		const found = open.find(([, by]) => by);
		const key = you && found ? `${found[0]} ${found[1]} ${state.moves.length}` : "";
		if (key === this.#offer) return;
		this.#offer = key;
		hide(this.offered, true); // another offer must not get its focus
		this.offered.hidden = !key;
		if (!found || !you || !key) return fill(this.offered);
		const [what, by] = found, mine = by === you;
		const words = mine ? t(`game.${what}_offered`) : t(`game.${what}_by`, { name: nameOf(state.holders[by === "first" ? 0 : 1]) });
		const step = (/** @type {string} */ s) => () => this.game.send({ t: what, step: s });
		fill(this.offered, h("p", null, words),
			!mine && h("button.main", { type: "button", data: { act: `${what}-accept` }, onclick: step("accept") }, t("game.accept")),
			h("button", { type: "button", data: { act: `${what}-decline` }, onclick: step("decline") }, t(mine ? "game.withdraw" : "game.decline")));
		this.offered.classList.toggle("long", words.length > 30);
		freshly(this.offered);
		if (!mine) this.game.uncover();
		if (!mine) (this.bar.offsetParent ? say : note)(words); // a review hides the buttons
	}
}
