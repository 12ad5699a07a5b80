// @ts-check
// The review of a finished game: graph, mistakes, better lines, and the way to
// trying again.

import { onBack, stay } from "./back.js";
import { Board } from "./board.js";
import { note } from "./dialog.js";
import { points } from "./draw.js";
import { fill, h, icon, put, refill, say, still } from "./dom.js";
import { Graph, mistake } from "./graph.js";
import { refusal } from "./hint.js";
import { number, spell } from "./i18n.js";
import { load } from "./late.js";
import { notation, onchange, settings, written } from "./settings.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").View} View */
/** @typedef {import("./types.js").Seat} Seat */
/** @typedef {import("./graph.js").Reviewed} Reviewed */
/** @typedef {{t: "review", game: string, done: number, total: number, plies: (Reviewed|null)[], code?: string}} ReviewMessage */
/** @typedef {{id: string, state: State|null, positions?: import("./positions.js").Positions, review?: any}} GameScreen */

/** Signs of the classes, as in commented games. */
export const signs = { inaccuracy: "?!", mistake: "?", blunder: "??" };

const again = 3000; // milliseconds before a review is asked for again that can't be had now

/** @param {number} chance */
export const percent = (chance) => number(chance, { style: "percent" });

/**
 * open shows the review in place of the game's screen, until it is closed.
 * @param {HTMLElement} root
 * @param {{game: GameScreen, socket: import("./socket.js").Socket, t: import("./types.js").Translate, board: Board, go: (path: string) => void}} context
 */
export function open(root, context) {
	return new Review(root, context);
}

class Review {
	/** @type {(Reviewed|null)[]} */
	plies = [];
	#done = 0;
	#total = 1;
	#ply;
	/** @type {{ply: number, line: string[], names: string[], i: number}|null} a better line that is shown, and how far */
	#line = null;
	/** @type {import("./retry.js").Retry|null} */
	#retry = null;
	#turn = 0; // counts the positions asked for, so that a late answer is dropped
	/** @type {View|null} the position on the board */
	#view = null;
	#drawn = "";
	/** @type {ReturnType<typeof setTimeout>|undefined} until it is asked for again */
	#later;
	/** @type {(() => void)[]} */
	#ends = [];

	/** @param {HTMLElement} root @param {any} context */
	constructor(root, { game, socket, t, go }) {
		this.root = root;
		this.game = game;
		this.socket = socket;
		this.t = t;
		this.go = go;
		/** @type {State} */
		this.state = game.state;
		this.moves = this.state.moves;
		this.names = written(this.state.view).map((/** @type {string} */ m) => spell(m, t));
		/** @type {import("./positions.js").Positions} */
		this.positions = game.positions; // which has those of the game, without a connection too
		this.side = t(`side.${this.state.view.sides[0]}`);
		this.#ply = this.moves.length;
		const step = (/** @type {number} */ n) => () => this.#step(n);
		const button = (/** @type {string} */ act, /** @type {string} */ label, /** @type {any} */ content, /** @type {() => void} */ onclick) =>
			h("button.plain", { type: "button", title: label, data: { act }, onclick }, content);
		const sign = (/** @type {string} */ text) => h("span", { "aria-hidden": "true" }, text);
		this.heading = h("h1", { tabindex: -1 }, t("review.title"));
		this.progress = h("progress", { max: 1, value: 0, "aria-label": t("review.progress_label") });
		this.status = h("span.small.muted", { data: { progress: "" } }); // counts: what comes of the review is spoken
		this.frame = h("div.board-frame");
		this.graph = new Graph({ label: t("review.graph", { side: this.side }), go: (ply) => this.#to(ply), describe: (ply) => this.#describe(ply) });
		this.verdict = h("div.verdict", { data: { verdict: "" } });
		this.nav = h("div.row.steps", { role: "group", "aria-label": t("review.steps") },
			button("earlier-mistake", t("review.earlier_mistake"), sign("‹?"), () => this.#toMistake(-1)), button("back", t("game.earlier"), icon("back"), step(-1)),
			button("forward", t("game.later"), icon("forward"), step(1)), button("later-mistake", t("review.later_mistake"), sign("?›"), () => this.#toMistake(1)));
		this.acts = h("div.row.acts");
		this.list = h("ol.mistakes", { "aria-label": t("review.mistakes") });
		this.summary = h("p.small.muted");
		this.aside = h("div.beside");
		this.element = h("section.review", { "aria-label": t("review.title"), data: { review: "" } },
			h("header", null, button("review-close", t("review.close"), icon("back"), () => this.close()), this.heading, this.progress, this.status), this.frame, this.aside);
		this.hidden = [...this.root.children].filter((c) => !(/** @type {HTMLElement} */ (c).hidden));
		for (const c of this.hidden) /** @type {HTMLElement} */ (c).hidden = true;
		this.was = this.root.className;
		this.root.className = "reviewing";
		this.root.append(this.element);
		fill(this.aside, this.graph.element, this.nav, this.verdict, this.acts, this.summary, this.list);
		this.board = new Board(this.frame, { t, seat: this.state.you ?? "first", pieces: settings.pieces, input: settings.input, notation: notation() });
		this.#ends.push(
			socket.on("review", (/** @type {ReviewMessage} */ m) => m.game === game.id && this.#receive(m)),
			onchange(() => this.board.set({ pieces: settings.pieces, input: settings.input, notation: notation() })),
		);
		const key = (/** @type {KeyboardEvent} */ e) => this.#key(e);
		addEventListener("keydown", key, { capture: true });
		this.#ends.push(() => removeEventListener("keydown", key, { capture: true }), onBack(() => this.close(), "page"));
		this.#follow();
		void this.#show();
		this.heading.focus();
	}

	#follow() {
		this.socket.follow(`review ${this.game.id}`, { t: "review", game: this.game.id }, (/** @type {import("./types.js").Answer} */ a) => this.#asked(a));
	}

	close() {
		clearTimeout(this.#later);
		for (const end of this.#ends.splice(0)) end();
		this.#retry?.close();
		this.socket.unfollow(`review ${this.game.id}`, { t: "cancel", what: "review", game: this.game.id });
		if (!this.element.isConnected) return;
		this.element.remove();
		for (const c of this.hidden) /** @type {HTMLElement} */ (c).hidden = false;
		this.root.className = this.was;
		if (this.game.review === this) { // else another screen comes
			this.game.review = undefined;
			stay(this.game.address);
		}
		/** @type {HTMLElement|null} */ (this.root.querySelector('[data-act="review"]'))?.focus();
	}

	/** @param {import("./types.js").Answer} answer */
	#asked(answer) {
		if (answer.code === "accepted" || answer.code === "duplicate") return;
		if (answer.code === "unavailable") this.#later = setTimeout(() => this.#follow(), again);
		else this.socket.unfollow(`review ${this.game.id}`, { t: "cancel", what: "review", game: this.game.id });
		this.#tell(refusal(answer, this.t));
		this.progress.hidden = true;
	}

	/** #tell says why there is no review, or no whole one. @param {string} text */
	#tell(text) {
		if (this.status.textContent !== text) say(text);
		put(this.status, text);
	}

	/** @param {ReviewMessage} m */
	#receive(m) {
		const before = this.#done;
		this.plies = m.plies;
		this.#done = m.done;
		this.#total = m.total;
		const complete = m.done === m.total;
		this.progress.max = m.total;
		this.progress.value = m.done;
		this.progress.hidden = complete;
		if (m.code) this.#tell(this.t(m.code === "denied" ? "review.refused.same" : "review.broken"));
		else put(this.status, complete ? this.t("review.complete") : this.t("review.progress", { n: m.done, of: m.total }));
		this.element.dataset.complete = String(complete);
		this.element.toggleAttribute("data-broken", !!m.code);
		if (complete && before !== m.done) say(this.#counted());
		still("review", () => this.#retry || this.#draw());
	}

	/** #own is the seat whose mistakes can be tried again. @returns {Seat} */
	get #own() {
		return this.state.you ?? "first";
	}

	/** tasks are the mistakes of a seat. @param {Seat} seat */
	#tasks(seat) {
		return this.plies.flatMap((p, ply) => (p?.class && p.best && p.turn === seat ? [{ ply, played: this.moves[ply], best: p.best, line: p.line ?? [p.best], class: p.class }] : []));
	}

	#counted() {
		const n = { inaccuracy: 0, mistake: 0, blunder: 0 };
		for (const task of this.#tasks(this.#own)) n[task.class]++;
		return this.t(this.state.you ? "review.counted_own" : "review.counted", { side: this.side, ...n });
	}

	/** #to shows a ply of the game. @param {number} ply */
	#to(ply) {
		this.#line = null;
		this.#ply = Math.min(Math.max(ply, 0), this.moves.length);
		stay(`/game/${this.game.id}/${this.#ply}`);
		void this.#show(true);
	}

	/** #step goes through the game, or through the better line. @param {number} n */
	#step(n) {
		const l = this.#line;
		if (!l) return this.#to(this.#ply + n);
		const i = l.i + n;
		if (i < 0 || i > l.line.length) return;
		l.i = i;
		void this.#show(true);
	}

	/** @param {1|-1} step */
	#toMistake(step) {
		const ply = mistake(this.plies, this.#ply, step);
		if (ply === undefined) return note(this.t("review.no_more"));
		this.#to(ply);
	}

	/** #openLine shows the better line of the move that led to this ply. */
	async #openLine() {
		const ply = this.#ply - 1, p = this.plies[ply];
		if (!p?.line) return;
		const turn = this.#turn, names = await this.positions.names(this.moves.slice(0, ply), p.line, this.t);
		if (turn !== this.#turn || this.#retry || !this.element.isConnected) return; // the visitor has gone on
		this.#line = { ply, line: p.line, names, i: 1 };
		await this.#show(true);
	}

	/** #show puts the position of the ply, or of the line, on the board. @param {boolean} [spoken] */
	async #show(spoken) {
		const l = this.#line, turn = ++this.#turn;
		const moves = l ? [...this.moves.slice(0, l.ply), ...l.line.slice(0, l.i)] : this.moves.slice(0, this.#ply);
		const view = await this.positions.view(moves);
		if (turn !== this.#turn || this.#retry || !this.element.isConnected) return;
		if (!view) return note(this.t("error.unavailable"));
		this.#view = view;
		this.board.show(view);
		const box = this.frame.querySelector("svg")?.viewBox.baseVal;
		if (box?.height) this.element.style.setProperty("--aspect", String(box.width / box.height));
		this.#draw();
		if (spoken) say(l ? this.verdict.textContent ?? "" : this.#describe(this.#ply));
	}

	/** #draw draws everything beside the position. */
	#draw() {
		const view = this.#view;
		this.graph.show(this.plies, this.#ply);
		if (!view) return;
		const l = this.#line, judged = l || !this.#ply ? null : this.plies[this.#ply - 1];
		const last = this.moves[this.#ply - 1];
		this.board.mark(judged?.class && last ? points(last).slice(-1).map((point) => ({ point, kind: "mistake" })) : []);
		this.board.arrow(l ? l.line.slice(l.i, l.i + 1) : []);
		const key = JSON.stringify([this.#ply, l?.ply, l?.i, judged, this.plies[this.#ply]?.chance, this.#done]);
		if (key === this.#drawn) return;
		this.#drawn = key;
		this.#drawVerdict(judged);
		this.#drawActs(judged);
		this.#drawList();
	}

	/** @param {Reviewed|null} judged the move that led here */
	#drawVerdict(judged) {
		const { t } = this, l = this.#line;
		if (l) {
			const done = l.names.map((name, i) => h(i < l.i ? "b" : "span", null, `${name} `));
			return fill(this.verdict, h("p", null, t("review.line_of", { n: l.ply + 1 }), " ", done));
		}
		const words = [h("span", null, this.#describe(this.#ply, false))];
		if (judged?.class) words.push(h("p", { class: `found ${judged.class}` }, h("span.sign", { "aria-hidden": "true" }, signs[judged.class]), t(`review.${judged.class}`, { lost: percent(judged.lost ?? 0) })));
		fill(this.verdict, ...words);
	}

	/** #describe says in words what stands at a ply. @param {number} ply @param {boolean} [whole] */
	#describe(ply, whole = true) {
		const { t } = this, p = this.plies[ply], before = ply ? this.plies[ply - 1] : null;
		const parts = [ply ? `${ply}. ${this.names[ply - 1] ?? this.moves[ply - 1]}` : t("game.beginning")];
		if (p?.chance !== undefined) parts.push(t("review.chance", { side: this.side, chance: percent(p.chance) }));
		else if (this.plies.length) parts.push(t(p ? "review.opening" : "review.not_yet"));
		if (whole && before?.class) parts.push(t(`review.${before.class}`, { lost: percent(before.lost ?? 0) }));
		return parts.join(" · ");
	}

	/** @param {Reviewed|null} judged */
	#drawActs(judged) {
		const { t } = this, view = /** @type {View} */ (this.#view);
		const act = (/** @type {string} */ name, /** @type {() => void} */ onclick, kind = "", text = t(`review.act.${name}`)) => h(`button${kind}`, { type: "button", data: { act: name }, onclick }, text);
		const tasks = this.#tasks(this.#own);
		refill(this.acts,
			this.#line && act("line-close", () => this.#to(/** @type {any} */ (this.#line).ply + 1)),
			!this.#line && judged?.class && judged.line && act("line", () => void this.#openLine()),
			!this.#line && tasks.length > 0 && act("retry", () => void this.#begin(tasks), ".main", this.state.you ? undefined : t("review.act.retry-of", { side: this.side })),
			this.element.hasAttribute("data-broken") && act("resume", () => this.#resume()),
			view.turn && !view.stage && act("onward", () => void this.#onward(view)));
	}

	#resume() {
		void this.socket.send({ t: "review", game: this.game.id }).then((/** @type {import("./types.js").Answer} */ a) => this.#asked(a));
	}

	/** @param {View} view */
	async #onward(view) {
		const { onward } = await load("onward");
		await onward({ socket: this.socket, t: this.t, go: this.go, view, watching: !this.state.you });
	}

	#drawList() {
		const { t } = this;
		put(this.summary, this.#done === this.#total ? this.#counted() : "");
		const rows = this.plies.flatMap((p, i) => (p?.class ? [h("li", null, h("button", { type: "button", "aria-current": this.#ply === i + 1 ? "true" : false, data: { ply: i + 1, class: p.class }, onclick: () => this.#to(i + 1) },
			h("span.sign", { "aria-hidden": "true" }, signs[p.class]), h("span", null, `${i + 1}. ${this.names[i] ?? this.moves[i]}`),
			h("span.small.muted", null, t(`review.${p.class}`, { lost: percent(p.lost ?? 0) }))))] : []));
		fill(this.list, ...rows);
	}

	/** #begin lets the player try own mistakes again: nothing that shows the answer stays on the page. @param {import("./retry.js").Task[]} tasks */
	async #begin(tasks) {
		const { Retry } = await load("retry");
		if (this.#retry || !this.element.isConnected) return; // tapped again meanwhile, or the review is closed
		this.#line = null;
		const { socket, t, board, positions, names, moves, game } = this;
		this.#retry = new Retry({ socket, t, board, positions, names, moves, game: game.id, tasks, done: (ply) => this.#ended(ply) });
		fill(this.aside, this.#retry.element);
		this.#drawn = "";
		this.graph.show([], 0);
		fill(this.verdict);
		fill(this.list);
	}

	/** @param {number} ply to show after trying again */
	#ended(ply) {
		this.#retry?.close();
		this.#retry = null;
		this.board.may = "none";
		fill(this.aside, this.graph.element, this.nav, this.verdict, this.acts, this.summary, this.list);
		this.#to(ply);
		this.heading.focus();
	}

	/** @param {KeyboardEvent} e */
	#key(e) {
		const from = /** @type {HTMLElement} */ (e.target);
		if (e.ctrlKey || e.metaKey || e.altKey || from.closest("input, select, textarea, dialog, [role=grid], [role=slider]")) return;
		const known = ["ArrowLeft", "ArrowRight", "Home", "End", "PageUp", "PageDown", "Escape"].includes(e.key);
		if (!known && !["f", "/"].includes(e.key)) return;
		e.preventDefault();
		e.stopPropagation(); // the game's screen below listens, too
		if (e.key === "f") return this.board.flip();
		if (this.#retry) return e.key === "Escape" ? this.#retry.leave() : undefined;
		switch (e.key) {
			case "ArrowLeft": return this.#step(-1);
			case "ArrowRight": return this.#step(1);
			case "Home": return this.#to(0);
			case "End": return this.#to(this.moves.length);
			case "PageUp": return this.#toMistake(-1);
			case "PageDown": return this.#toMistake(1);
			case "Escape": return this.#line ? this.#to(this.#line.ply + 1) : this.close();
		}
	}
}
