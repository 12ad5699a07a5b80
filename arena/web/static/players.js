// @ts-check
// The strips of the two players: who they are, whether they are there, and their clocks.

import { read, show, slow, whole } from "./clock.js";
import { h, put, say } from "./dom.js";
import { lang, number } from "./i18n.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Seat} Seat */

/** @type {Map<string, {level: number, elo?: number}>} levels of bots that the lobby has told */
const levels = new Map();

/** learn keeps what the lobby says of the bots. @param {import("./types.js").Opponent[]|null} bots */
export function learn(bots) {
	for (const b of bots ?? []) if (b.level) levels.set(b.player, { level: b.level, elo: b.elo });
}

/** @param {import("./types.js").Holder} holder its level, as the lobby or its engine says */
export const levelOf = (holder) => levels.get(holder.player)?.level ?? Number(/ level (\d+)$/.exec(holder.build ?? "")?.[1] ?? 0);

/**
 * nameOf is the name of a player. The shipped bots are named in both languages: "Level 3 · 3 级".
 * @param {import("./types.js").Holder} holder
 */
export function nameOf(holder) {
	const [english, chinese] = (holder.display ?? "").split(" · ");
	if (holder.kind === "bot" && chinese) return lang === "zh" ? chinese : english;
	return holder.display || holder.player;
}

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
		this.name = h("span.name");
		this.id = h("span.id");
		this.about = h("span");
		this.away = h("span.away", { role: "status" });
		this.clock = h("span");
		this.periods = h("small");
		this.time = h("div.time.num", { role: "timer", hidden: true }, this.clock, this.periods);
		this.element = h(`section.seat.${place}`, null, this.colour,
			h("div.who", null, h("div.name", null, this.name), h("div.more", null, this.about, this.away, this.id)), this.time);
	}

	/** @param {State} state @param {Seat} seat */
	show(state, seat) {
		const t = this.t, i = seat === "first" ? 0 : 1, holder = state.holders[i];
		this.#state = state;
		this.seat = seat;
		this.element.dataset.seat = seat;
		this.time.dataset.clock = seat;
		const side = state.view.sides[i];
		this.colour.dataset.side = side;
		put(this.name, nameOf(holder));
		put(this.id, holder.player);
		this.id.title = holder.player;
		const level = levelOf(holder), elo = levels.get(holder.player)?.elo;
		const score = state.view.score ? ` · ${t("game.points", { n: state.view.score[i] })}` : "";
		put(this.about, (elo !== undefined ? t("level.elo_only", { elo: number(Math.round(elo), { signDisplay: "always" }) }) : level ? t("level.name", { n: level }) : holder.rating ? t("game.rating", { n: holder.rating }) : t(`side.${side}`)) + score);
		this.element.setAttribute("aria-label", t("game.seat", { name: nameOf(holder), side: t(`side.${side}`) }));
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
		put(this.away, state.forfeit_ms && !slow(state.terms.clock) ? t("game.away_forfeit", { time: whole(gone, t), left: whole(left, t) }) : t("game.away", { time: whole(gone, t) }));
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
