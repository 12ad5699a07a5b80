// @ts-check
// The screen of a game: played, watched, or stepped through.

import { loadedHere, stay } from "./back.js";
import { Board } from "./board.js";
import { read, whole } from "./clock.js";
import { ask, dismiss, note } from "./dialog.js";
import { fill, freshly, h, icon, put, say, still } from "./dom.js";
import { has, lang, number, refusal, spell } from "./i18n.js";
import { load, words } from "./late.js";
import { Actions, Strip, nameOf, ratingOf } from "./players.js";
import { Positions } from "./positions.js";
import { notation, onchange, settings, store, stored, written } from "./settings.js";

/** @typedef {import("./types.js").Page} Page */
/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").View} View */
/** @typedef {import("./types.js").Seat} Seat */

const dataset = document.documentElement.dataset;
const again = 800; // milliseconds before a move that the platform could not take now is sent again
const rewound = 5000; // milliseconds: a state with a lower number that comes so much later is none that was under way, but of a platform that has lost the end of the game
const given = 2000; // milliseconds from which it is said that a clock has been given time
const reopen = 3000; // milliseconds before what could not be loaded or shown now is asked for again

/** Endings by a rule that a player may not have in mind; a move that brings one about is asked about first. */
const surprising = new Set(["perpetual-check", "perpetual-chase", "repetition", "move-limit", "insufficient-material", "board-full", "forbidden"]);

/**
 * open shows a game.
 * @param {HTMLElement} root
 * @param {Page} page
 * @param {string} id
 * @param {number|null} ply to show; null follows the game
 * @returns {import("./types.js").Screen}
 */
export function open(root, page, id, ply) {
	return new Game(root, page, id, ply);
}

class Game {
	/** @type {State|null} */
	state = null;
	/** @type {Board|null} */
	board = null;
	/** @type {{move: string, ply: number}|null} a move that was sent */
	#pending = null;
	/** @type {Promise<void>|undefined} until that was answered */
	#moving;
	/** @type {number|null} the ply that is shown; null follows the game */
	#at;
	/** @type {View|null} the view of that ply */
	#past = null;
	#flipped = false;
	/** @type {ReturnType<typeof import("./opening.js").chooser>|undefined} */
	#chooser;
	#expecting = false; // it is being loaded
	/** @type {(() => void)[]} */
	#ends = [];
	#closed = false;
	#open = false; // what was said before has come
	/** @type {{said: import("./types.js").Notice, earlier: boolean}[]} chat that has come before the sheet */
	#said = [];
	/** @type {ReturnType<typeof import("./hint.js").attach>|undefined} */
	#hints;
	#withdrew = ""; // the kind of the own offer that was taken back here
	/** @type {{kind: string, seq: number, ply: number}|null} an own offer that no state has shown yet */
	#offered = null;
	/** @type {{text: string, ply: number}|null} what the opponent declined in this position */
	#declined = null;
	#asked = 0; // counts what was asked about the position, so that a late answer is dropped

	/** @param {HTMLElement} root @param {Page} page @param {string} id @param {number|null} ply */
	constructor(root, page, id, ply) {
		Object.assign(this, { root, page, id });
		this.root = root;
		this.page = page;
		this.id = id;
		this.t = page.t;
		this.#at = ply;
		const served = !dataset.screen && !!root.querySelector("article"); // a finished game that the server has written, until the script has it
		dataset.screen = "game";
		this.message = h("p", { role: "status", data: { waiting: "" } }, this.t("game.opening"));
		this.cancel = h("button", { type: "button", hidden: true, data: { act: "withdraw" }, onclick: () => this.#withdraw() }, this.t("page.cancel"));
		if (!served) root.className = "waiting";
		this.dots = h("span.dots", { "aria-hidden": "true" }, h("i"), h("i"), h("i"));
		this.back = h("a.button", { href: "/", hidden: true }, this.t("page.back"));
		if (!served) fill(root, h("h1.sr", null, this.t("page.name")), this.dots, this.message, this.cancel, this.back);
		const on = (/** @type {string} */ kind, /** @type {(m: any) => void} */ f) => this.#ends.push(page.socket.on(kind, f));
		on("state", (s) => s.game === id && this.#receive(s));
		on("notice", (n) => n.game === id && this.#notice(n));
		on("status", (state) => {
			this.#draw();
			if (state === "connected") page.later(() => this.board && this.#expectSheet()); // if it could not be loaded before
		});
		this.#ends.push(onchange(() => this.#liked()));
		const key = (/** @type {KeyboardEvent} */ e) => this.#key(e);
		document.addEventListener("keydown", key);
		const timer = setInterval(() => this.#tick(), 100);
		this.#ends.push(() => (document.removeEventListener("keydown", key), clearInterval(timer)));
		this.#follow();
	}

	#follow() {
		this.page.socket.follow(`game ${this.id}`, { t: "open", game: this.id }, (a) => this.#opened(a));
	}

	get idle() {
		return !this.state || this.state.status === "finished" || !this.state.you;
	}

	/** address is the path of what is shown. */
	get address() {
		return `/game/${this.id}` + (this.#at === null ? "" : `/${this.#at}`);
	}

	close() {
		this.#closed = true;
		for (const end of this.#ends) end();
		this.page.socket.unfollow(`game ${this.id}`, { t: "close", game: this.id });
		const { review } = this;
		this.review = undefined;
		review?.close();
		this.sheet?.toggle(false);
	}

	/** @param {import("./types.js").Answer} answer to the request to open the game, of this socket */
	#opened(answer) {
		this.#open = true;
		if (answer.code === "unavailable" || answer.code === "rate-limited") setTimeout(() => this.#closed || this.#follow(), reopen);
		if (this.state || this.#closed) return;
		if (answer.code === "accepted" || answer.code === "duplicate") this.#waits(this.t("game.waiting"), !!this.page.me?.player);
		else if (answer.code === "no-game" && !loadedHere()) location.reload(); // of an old game there may be a record, which the server shows
		else this.#gone(refusal(answer));
	}

	/** #waits says what the person waits for. @param {string} text @param {boolean} mine it may be withdrawn */
	#waits(text, mine) {
		put(this.message, text);
		this.dots.hidden = false;
		this.cancel.hidden = !mine;
		this.back.hidden = true;
	}

	/** #gone says why there is no game. @param {string} text */
	#gone(text) {
		put(this.message, text);
		this.dots.hidden = this.cancel.hidden = true;
		this.back.hidden = false;
	}

	/** @param {import("./types.js").Notice} n */
	#notice(n) {
		if (n.kind === "chat") return this.#hear(n, !this.#open);
		if (this.state) return;
		const text = n.kind === "declined" ? `declined.${n.reason}` : `game.notice_${n.kind}`;
		const said = this.t(has(text) ? text : "game.waiting");
		if (n.kind === "expired" || n.kind === "declined") this.#gone(said);
		else this.#waits(said, true);
	}

	/** @param {import("./types.js").Notice} said @param {boolean} earlier before the page was opened */
	#hear(said, earlier) {
		if (this.sheet) return this.sheet.chat(this.state, said, earlier);
		this.#said.push({ said, earlier });
		if (this.board) this.#expectSheet();
	}

	async #withdraw() {
		const answer = await this.page.socket.send({ t: "withdraw", game: this.id });
		if (this.#closed) return;
		const gone = ["accepted", "duplicate", "not-offered"].includes(answer.code);
		if (!this.state && gone) this.page.go("/", true);
		else if (answer.code !== "accepted") note(refusal(answer));
	}

	/** @param {State} s */
	#receive(s) {
		const old = this.state;
		if (this.#closed || (old && s.seq < old.seq && Date.parse(s.server_time) - Date.parse(old.server_time) < rewound)) return;
		if (s.next && s.you && old && !old.next) return this.page.go(`/game/${s.next}`);
		this.state = s;
		this.#catchUp(old, s);
		if (!this.board) this.#build();
		this.positions?.know(s.moves, s.view);
		if (this.#pending && (s.moves.length !== this.#pending.ply || s.status === "finished")) this.#pending = null;
		this.#findDeclined();
		if (s.status === "finished" && old?.status !== "finished") dismiss('[data-dialog="resign"], [data-dialog="draw"], [data-dialog="ending"]'); // what is said in a dialog goes with it
		if (old) this.#announce(old, s); // before what the move asks for
		this.#draw(old);
		if (!old) say(`${this.title?.textContent}. ${this.line?.textContent}`);
		if (s.status === "finished" && s.you && old?.status !== "finished") void this.#ended();
	}

	/** #catchUp follows the game again where the ply that is shown was taken back, or is now the last one, and to play a premove. @param {State|null} old @param {State} s */
	#catchUp(old, s) {
		if (this.#at === null) return;
		const kept = old?.moves.findIndex((m, i) => m !== s.moves[i]) ?? -1;
		const plays = this.board?.premove && s.status === "playing" && s.turn === s.you;
		if (!plays && this.#at <= s.moves.length && (kept < 0 || this.#at < kept)) return;
		this.#at = null;
		stay(this.address);
	}

	/** #build makes the screen once the game is known. */
	#build() {
		const { t, page } = this, s = /** @type {State} */ (this.state);
		const now = () => page.socket.time.now();
		this.positions = new Positions(s.terms);
		this.strips = [new Strip("top", t, now), new Strip("bottom", t, now)];
		this.beside = h("aside.sheet", { "aria-label": t("game.beside") });
		this.actions = new Actions(t, { send: (r) => this.#send(r), act: (name) => this.#act(name), uncover: () => this.sheet?.toggle(false) });
		this.line = h("div.line", { data: { status: "" } });
		this.earlier = h("button.plain.square", { type: "button", "aria-label": t("game.earlier"), data: { act: "back" }, onclick: () => this.step((this.#at ?? this.#latest()) - 1) }, icon("back"));
		this.later = h("button.plain.square", { type: "button", "aria-label": t("game.later"), data: { act: "forward" }, onclick: () => this.step((this.#at ?? this.#latest()) + 1) }, icon("forward"));
		this.title = h("h1.sr");
		const frame = h("div.board-frame");
		this.frame = frame;
		fill(this.root, this.title, this.strips[0].element, frame, this.strips[1].element,
			h("div.status", null, this.earlier, this.line, this.later, this.actions.offered), this.actions.bar, this.beside);
		this.root.className = "play";
		page.later(() => this.#expectSheet());
		this.board = new Board(frame, { t, seat: s.you ?? "first", pieces: settings.pieces, input: settings.input, notation: notation() });
		this.board.bar.needed = !!s.you && s.status !== "finished"; // its place is kept from the start: nothing moves at the first turn
		this.board.onmove = (m) => this.#decided(m);
		this.board.onrefused = (r) => this.#refused(r);
		const key = `premove ${this.id}`, kept = stored(key, "sessionStorage"); // phones throw pages away that are not looked at
		if (settings.premove && s.you && typeof kept.move === "string") this.board.premove = kept;
		this.board.onpremove = (premove, lost) => {
			store(key, premove, "sessionStorage");
			if (lost) note(t("game.premove_gone"));
		};
	}

	/** #makeSheet makes what lies beside the game, or slides over it: there nobody misses it at first. */
	async #makeSheet() {
		const { t, page } = this, { Sheet } = await load("moves");
		if (this.sheet || this.#closed) return this.sheet;
		this.sheet = new Sheet(this.beside, t, {
			step: (ply) => this.step(ply), type: (text) => this.#typed(text), url: `${location.origin}/game/${this.id}`, me: () => page.me?.player ?? "",
			say: async (text) => ["accepted", "duplicate"].includes((await this.#send({ t: "chat", text })).code), // it comes back as a notice, to all tabs
			opener: () => this.actions?.bar.querySelector('[data-act="list"]'),
		});
		for (const { said, earlier } of this.#said.splice(0)) this.sheet.chat(this.state, said, earlier);
		this.#draw();
		return this.sheet;
	}

	/** #expectSheet makes the sheet though nobody has asked for it. */
	#expectSheet() {
		if (!this.sheet) void this.#makeSheet().catch(() => {}); // whoever asks for it is told
	}

	/** #hint asks for a hint. */
	async #hint() {
		const { attach } = await load("hint");
		const { actions } = this;
		if (!actions || this.#closed) return;
		if (!this.#hints) {
			const hints = (this.#hints = attach(actions.hint, { game: this, socket: this.page.socket, t: this.t, board: /** @type {Board} */ (this.board) }));
			this.#ends.push(() => hints.close());
		}
		this.#hints.press();
	}

	#latest() {
		return this.state?.view.ply ?? 0;
	}

	/** #view is the position on the screen. */
	#view() {
		return (this.#at !== null && this.#past) || /** @type {State} */ (this.state).view;
	}

	/** @param {State|null} [old] */
	#draw(old) {
		const s = this.state, { t, board } = this;
		if (!s || !board || !this.strips) return;
		if (this.#at !== null && this.#past?.ply !== this.#at) void this.step(this.#at, true);
		const view = this.#view(), live = view === s.view, bottom = this.#bottom();
		/** @type {Seat} */
		const top = bottom === "first" ? "second" : "first";
		const waits = s.you && s.status !== "finished" && view.turn !== s.you; // forbidden points are marked for the seat concerned
		board.bar.over = s.status === "finished";
		if (!live) board.may = "none"; // before another position is shown: a premove is not for that
		board.show(waits ? { ...view, forbidden: [] } : view, { animate: !!old && live });
		const box = this.frame.querySelector("svg")?.viewBox.baseVal;
		if (box?.height) this.root.style.setProperty("--aspect", String(box.width / box.height));
		if (live) board.pending(this.#pending?.move ?? null);
		board.may = this.#may(live);
		this.strips[0].show(s, top);
		this.strips[1].show(s, bottom);
		if (this.#said.length || getComputedStyle(this.beside).visibility === "visible") this.#expectSheet();
		still("game", () => {
			this.sheet?.show(s, view.ply, board.may === "move");
			this.actions?.show(s);
			this.#drawLine(live);
			this.earlier.disabled = view.ply === 0;
			this.later.disabled = view.ply >= s.view.ply;
			this.#openings(s, live);
		});
		this.#title(s);
		dataset.game = s.game;
		if (s.view.turn && s.status !== "finished") dataset.turn = s.turn;
		else delete dataset.turn;
		if (s.status === "finished") dataset.result = s.outcome.result;
		else delete dataset.result;
	}

	/** @param {State} s */
	#title(s) {
		const t = this.t, names = s.holders.map(nameOf);
		put(this.title, t("game.title", { game: t(`game.${s.terms.game}`), first: names[0], second: names[1] }));
		const mine = s.status === "playing" && s.turn === s.you;
		document.title = mine ? `${t("game.your_turn")} · ${t("page.name")}` : `${names[0]} – ${names[1]} · ${t("page.name")}`;
	}

	/** #bottom is the seat at the bottom. @returns {Seat} */
	#bottom() {
		const own = this.state?.you ?? "first";
		return this.#flipped ? (own === "first" ? "second" : "first") : own;
	}

	/** @param {boolean} live @returns {"move"|"premove"|"none"} */
	#may(live) {
		const s = /** @type {State} */ (this.state);
		if (!live || !s.you || s.status === "finished" || this.#pending) return "none"; // while a game is halted, a premove waits
		if (s.turn === s.you) return s.may?.includes("move") ? "move" : "none";
		return settings.premove && !s.view.stage ? "premove" : "none";
	}

	/** #drawLine writes the line below the board: what goes on. @param {boolean} live */
	#drawLine(live) {
		const s = /** @type {State} */ (this.state), t = this.t, view = this.#view();
		const list = written(s.view), last = list[view.ply - 1] && `${view.ply}. ${spell(list[view.ply - 1], t)}`;
		const parts = [];
		const first = this.actions?.offered.hidden ? "" : this.#firstMove(s); // an offer lies over the line
		for (const strip of this.strips ?? []) put(strip.first, first && strip.seat === s.you ? t("game.first_move_left", { time: first }) : "");
		if (!live) parts.push(h("span", null, last || t("game.beginning"), " · ", t("game.of", { n: view.ply, of: s.view.ply }), " "), h("button.plain", { type: "button", data: { act: "latest" }, onclick: () => this.step(this.#latest()) }, t("game.latest")));
		else if (s.status === "finished") parts.push(this.#result(s));
		else if (s.status === "halted") parts.push(t("game.halted"));
		else parts.push(h("b", null, this.#toDo(s)), last && !s.view.stage && ` ·\u00a0${last.replaceAll(" ", "\u00a0")}`, this.#declined?.ply === s.moves.length && ` · ${this.#declined.text}`);
		const text = parts.map((p) => (p instanceof Node ? p.textContent : p || "")).join("");
		if (this.line.textContent === text) return;
		fill(this.line, ...parts);
		this.line.classList.toggle("long", text.length > (lang === "zh" ? 32 : 50));
	}

	/** #toDo says whose turn it is, and for what. @param {State} s */
	#toDo(s) {
		const t = this.t, stage = s.view.stage, holder = s.holders[s.turn === "first" ? 0 : 1];
		const mine = s.turn === s.you;
		if (this.#pending && this.page.socket.state === "lost") return t("game.unsent");
		if (stage && s.you && this.#chooser) return this.#chooser.line(stage, mine);
		if (stage && !mine) return t("game.opens", { name: nameOf(holder) });
		const first = this.#firstMove(s);
		if (first) return t("game.first_move_by", { time: first });
		if (mine) return t(s.view.check ? "game.in_check" : "game.your_turn");
		return t(holder.kind === "bot" ? "game.thinking" : "game.their_turn", { name: nameOf(holder) });
	}

	/** #firstMove is how much time is left for the visitor's first move; "" where only the clock bounds it. @param {State} s */
	#firstMove(s) {
		if (!s.first_move_by || s.status === "finished" || s.turn !== s.you) return "";
		const now = this.page.socket.time.now(), first = Date.parse(s.first_move_by) - now;
		const left = read(s.terms.clock, s.clocks, s.turn, now - Date.parse(s.server_time));
		return first > 0 && !(left.limited && left.total < first) ? whole(first, this.t) : "";
	}

	/** #result says how a game ended, with a link to the rule. @param {State} s */
	#result(s) {
		const t = this.t, { result, reason } = s.outcome, names = s.holders.map(nameOf);
		const won = result === "first" || result === "second";
		const [winner, loser] = result === "second" ? [names[1], names[0]] : names;
		const said = reason === "no-start" ? "result.late" : reason === "abandoned" && !won ? "result.left" : `reason.${reason}`;
		const why = reason && has(said) ? t(said, { winner, loser, name: names[s.turn === "first" ? 0 : 1] }) : "";
		const head = won && s.you ? t(result === s.you ? "result.won" : "result.lost") : why ? "" : t(won ? "result.wins" : result === "draw" ? "result.draw" : "result.none", { name: winner });
		return h("span", null, head && h("b", null, head, " "), why && h("a", { href: `/rules/${s.terms.game}#${reason}` }, why), this.#rated(s));
	}

	/** #rated says what a game has done to the player's rating. @param {State} s */
	#rated(s) {
		const change = s.you && s.ratings?.[s.you === "first" ? 0 : 1];
		if (!change) return null;
		const by = number(change.rating - change.before, { signDisplay: "always" });
		return h("span.rated.num", { data: { rated: change.rating - change.before } }, this.t("game.rated_now", { n: ratingOf(change.rating), error: change.error, by }));
	}

	/** step shows a ply; the latest one follows the game. @param {number} ply @param {boolean} [quietly] keeps the address */
	async step(ply, quietly) {
		const s = this.state;
		if (!s || ply < 0 || ply > s.view.ply) return;
		const turn = ++this.#asked;
		if (ply === s.view.ply && !(quietly && s.status === "finished")) {
			this.#at = this.#past = null;
		} else {
			const view = await this.positions?.view(s.moves.slice(0, ply));
			if (turn !== this.#asked || this.#closed) return;
			if (!view) return quietly ? undefined : note(this.t("error.unavailable"));
			this.#at = ply;
			this.#past = view;
		}
		if (!quietly) stay(this.address);
		this.#draw();
		const list = written(s.view);
		if (!quietly) say(ply ? `${ply}. ${spell(list[ply - 1] ?? "", this.t)}` : this.t("game.beginning"));
	}

	/** @param {KeyboardEvent} e */
	#key(e) {
		const from = /** @type {HTMLElement} */ (e.target);
		if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || from.closest("input, select, textarea, dialog, [role=grid]") || !this.state) return;
		const at = this.#at ?? this.#latest();
		const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: this.#latest() }[e.key];
		if (to !== undefined) {
			e.preventDefault();
			void this.step(to);
		} else if (e.key === "f") this.#act("flip");
		else if (e.key === "/") {
			e.preventDefault();
			void this.#makeSheet().then((sheet) => sheet?.write());
		}
	}

	#tick() {
		if (document.visibilityState === "hidden" || !this.strips) return;
		for (const strip of this.strips) {
			const reading = strip.tick();
			if (strip.seat === this.state?.you && strip.warn(reading)) this.#signal("low");
		}
		if (this.state?.first_move_by) this.#drawLine(this.#view() === this.state.view);
	}

	/** @param {string} event */
	#signal(event) {
		if (settings.sound || settings.vibration) void load("sound").then((m) => m.signal(event), () => {}); // or silence
	}

	/** #announce tells of what has changed since the last state. @param {State} old @param {State} s */
	#announce(old, s) {
		const t = this.t;
		if (s.moves.length > old.moves.length) {
			const list = written(s.view), by = old.turn;
			if (by !== s.you && settings.spoken) say(t("game.moved", { name: nameOf(s.holders[by === "first" ? 0 : 1]), move: spell(list.at(-1) ?? "", t) }) + (s.view.check ? ` ${t("game.check")}` : ""));
			if (s.status !== "finished") this.#signal(s.view.check ? "check" : by === s.you ? "own" : "move");
		} else if (s.moves.length < old.moves.length) say(t("game.taken_back"));
		this.#unanswered(old, s);
		this.#sayGiven(old, s);
		this.#presence(old, s);
		if (s.ratings && !old.ratings) say(this.#rated(s)?.textContent ?? "");
		if (s.status === "finished" && old.status !== "finished") {
			say(this.#result(s).textContent ?? "", true);
			this.#signal("end");
		}
	}

	/** #presence tells that the other player, or one of those watched, has left or is back. @param {State} old @param {State} s */
	#presence(old, s) {
		if (s.status === "finished") return;
		for (const i of [0, 1]) {
			const gone = !!s.away?.[i], own = s.you === (i ? "second" : "first");
			if (!own && gone !== !!old.away?.[i]) say(this.t(gone ? "game.went_away" : "game.came_back", { name: nameOf(s.holders[i]) }));
		}
	}

	/** #unanswered tells that an own offer is gone that was neither accepted nor taken back. @param {State} old @param {State} s */
	#unanswered(old, s) {
		const added = s.moves.length - old.moves.length;
		if (!s.you || s.status !== "playing" || added < 0 || added > 1 || (added === 1 && old.turn === s.you)) return;
		if (old.draw_by === s.you && !s.draw_by) this.#sayDeclined("draw");
		else if (old.takeback_by === s.you && !s.takeback_by) this.#sayDeclined("takeback");
	}

	/** #sayDeclined says that an own offer was declined, and keeps it below the board until the next move. @param {string} kind */
	#sayDeclined(kind) {
		if (this.#withdrew === kind) return;
		const text = this.t(kind === "draw" ? "game.draw_declined" : "game.takeback_declined");
		this.#declined = { text, ply: this.state?.moves.length ?? 0 };
		note(text);
	}

	/** #findDeclined finds an own offer that was declined before a state had it: a program answers at once. */
	#findDeclined() {
		const offered = this.#offered, s = /** @type {any} */ (this.state);
		if (!offered || s.seq < offered.seq) return;
		this.#offered = null;
		if (s.seq === offered.seq || s[`${offered.kind}_by`] || s.status !== "playing" || s.moves.length < offered.ply) return; // a move was taken back
		this.#sayDeclined(offered.kind);
		this.#draw();
	}

	/** #sayGiven says that a clock has been given time: what was lost to the connection or the platform, or what a takeback gives. @param {State} old @param {State} s */
	#sayGiven(old, s) {
		const t = this.t, moved = s.moves.length - old.moves.length;
		for (const seat of /** @type {Seat[]} */ (["first", "second"])) {
			const holder = s.holders[seat === "first" ? 0 : 1], elapsed = old.status === "playing" ? Date.parse(s.server_time) - Date.parse(old.server_time) : 0;
			const was = read(s.terms.clock, old.clocks, seat, elapsed), is = read(s.terms.clock, s.clocks, seat, 0);
			const more = moved <= 0 && is.limited ? is.total - was.total : moved === 1 && old.turn === seat ? s.receipt?.lag_ms ?? 0 : 0;
			if (more >= given && s.status !== "finished") note(t(moved < 0 ? "game.time_taken_back" : "game.time_given", { name: nameOf(holder), time: whole(more, t) }));
		}
	}

	/** #decided is called with a move that was chosen on the board. @param {string} move */
	async #decided(move) {
		const s = /** @type {State} */ (this.state), end = s.view.ends?.[move];
		if (end?.reason && surprising.has(end.reason)) {
			const t = this.t, lost = end.result !== s.you && end.result !== "draw";
			this.board?.pending(null);
			const yes = await ask(t(lost ? "game.warn_lose" : "game.warn_draw"), t(`ends.${end.reason}`), { yes: t("game.warn_play"), no: t("game.warn_other"), act: "ending", danger: lost });
			if (!yes || this.state?.moves.length !== s.moves.length) return this.board?.pending(null);
		}
		await (this.#moving = this.#move(move));
	}

	/** #move sends a move until it is taken, refused or out of date. @param {string} move */
	async #move(move) {
		const s = /** @type {State} */ (this.state), { socket } = this.page;
		if (this.#pending) return;
		const pending = { move, ply: s.moves.length };
		this.#pending = pending;
		this.#draw();
		while (this.#pending === pending && !this.#closed) {
			const { code } = await socket.send({ t: "move", game: this.id, ply: pending.ply, move, lag_ms: socket.time.lag() });
			if (code === "accepted" || this.#pending !== pending || this.#closed) return;
			if (code === "duplicate") await socket.send({ t: "open", game: this.id }); // with the state of now: the move may have been taken back since, by another device
			if (this.#pending !== pending || this.#closed) return;
			if (!["unavailable", "paused", "rate-limited", "unknown-peer"].includes(code)) {
				this.#pending = null;
				if (!["duplicate", "stale", "over"].includes(code)) note(this.t(`error.${code}`));
				return this.#draw();
			}
			await new Promise((done) => setTimeout(done, again));
		}
	}

	/** #refused says why the rules refuse what was tapped. @param {{from?: string, to?: string, kind?: string}} what */
	async #refused({ from = "", to = "", kind }) {
		const t = this.t;
		if (kind) return note(t(`forbidden.${kind}`));
		// Now, and not some time later.
		if (this.page.socket.state === "lost") return note(t("error.illegal"));
		const { reason } = await this.page.socket.send({ t: "why", game: this.id, from, to });
		await words().catch(() => {}); // the sentence for any move has come with the page
		note(t(reason && has(reason) ? reason : "error.illegal"));
	}

	/** #typed plays a move entered as text; false if there is none of that name. @param {string} text */
	async #typed(text) {
		const s = this.state;
		if (!s) return false;
		const move = this.board?.may === "move" && (await this.positions?.typed(s.moves, s.view, text));
		if (move === false) note(this.t("error.not-your-turn"));
		else if (move) void this.#decided(move);
		else note(this.t(move === null ? "error.unavailable" : "game.no_such_move", { text }));
		return !!move;
	}

	/** @param {import("./types.js").Request} request */
	async #send(request) {
		if (request.step) this.#withdrew = request.step === "decline" ? request.t : "";
		if (this.page.socket.state === "lost") note(this.t("game.unsent_act"));
		if (request.step === "offer") await this.#moving; // after an own move that is under way, it is about the position then
		const s = /** @type {State} */ (this.state);
		const answer = await this.page.socket.send({ game: this.id, ply: s.moves.length + (this.#pending ? 1 : 0), ...request });
		if (answer.code === "accepted" && request.step === "offer" && answer.seq && ["draw", "takeback"].includes(request.t)) {
			this.#offered = { kind: request.t, seq: answer.seq, ply: s.moves.length };
			this.#findDeclined();
		}
		if (!["accepted", "duplicate", "over"].includes(answer.code) && !this.#done(request, answer)) note(refusal(answer));
		return answer;
	}

	/** #done reports whether what was refused had been done before, while its answer was slow to come: people tap again, or a move has ended the offer that is declined. @param {import("./types.js").Request} request @param {import("./types.js").Answer} answer */
	#done({ t, step }, { code }) {
		const s = /** @type {any} */ (this.state);
		return step === "decline" ? code === "stale" || code === "not-offered" : code === "not-offered" && step === "offer" && s[`${t}_by`] === s.you;
	}

	/** @param {string} name */
	async #act(name) {
		const t = this.t;
		switch (name) {
			case "resign":
				return void this.#send({ t: "resign" });
			case "draw": case "takeback": case "rematch":
				return void this.#send({ t: name, step: "offer" });
			case "flip":
				this.#flipped = !this.#flipped;
				this.board?.flip();
				return this.#draw();
			case "list":
				return (await this.#makeSheet())?.toggle();
			case "hint":
				return this.#hint();
			case "review":
				return this.#openReview();
			case "ladder-next":
				return void (await load("next")).nextRated(this.page, /** @type {State} */ (this.state).terms);
		}
		throw new Error(t("error.unknown-verb"));
	}

	async #openReview() {
		const { open } = await load("review");
		if (this.#closed || this.review) return; // or tapped again meanwhile
		this.review = open(this.root, { game: this, socket: this.page.socket, t: this.t, board: /** @type {Board} */ (this.board), go: this.page.go });
	}

	/** #expectChoices loads what shows an opening's choices: as soon as there is an opening, since it must be there when the clock runs, whatever the connection does then. */
	async #expectChoices() {
		this.#expecting = true;
		while (!this.#chooser && !this.#closed) {
			const module = await load("opening").catch(() => null);
			if (module) this.#chooser = module.chooser(this.t, (move) => this.#decided(move));
			else if (this.page.renew()) return;
			else await new Promise((done) => setTimeout(done, reopen));
		}
		if (!this.#closed) this.#draw();
	}

	/** #openings shows what a seat chooses in an opening procedure. @param {State} s @param {boolean} live */
	#openings(s, live) {
		const shown = live && s.status === "playing" && !this.#pending && !!s.view.stage && s.turn === s.you && !!s.view.choices?.length;
		if (!this.#chooser) { // they are shown as soon as it is there
			if (s.you && s.view.stage && !this.#expecting) void this.#expectChoices();
			return;
		}
		if (!this.#chooser.element.isConnected) this.root.append(this.#chooser.element);
		if (shown === this.#chooser.element.hidden && this.actions) freshly(this.actions.bar); // it moves below the dialog, or back
		this.#chooser.show(shown ? s : null);
	}

	/** #ended asks for what the next game may be. */
	async #ended() {
		this.sheet?.toggle(false);
		const next = await load("next").catch(() => null);
		if (!next || this.#closed) return;
		this.#ends.push(next.follow(this.page, () => /** @type {State} */ (this.state), (level, play) => still("next", () => this.actions?.suggest(level, play))));
	}

	/** #liked follows a change of the settings. */
	#liked() {
		if (!settings.premove && this.board?.premove) this.board.cancel();
		this.board?.set({ pieces: settings.pieces, input: settings.input, notation: notation() });
		this.#draw();
	}
}
