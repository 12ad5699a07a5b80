// @ts-check
// Trying own mistakes again, one after the other. Until a better move is found or
// asked for, nothing on the page tells it.

import { onBack } from "./back.js";
import { note } from "./dialog.js";
import { points } from "./draw.js";
import { freshly, h, refill, say, still } from "./dom.js";
import { number } from "./i18n.js";

/** @typedef {{ply: number, played: string, best: string, line: string[], class: "inaccuracy"|"mistake"|"blunder"}} Task */
/** @typedef {{t: "tried", game: string, ply: number, move: string, lost: number, class?: string, reply?: string[], code?: string}} Tried */

const slowest = 25000; // milliseconds after which no judgment is expected any more
const again = 3000; // milliseconds before a position is asked for again that could not be shown

export class Retry {
	/** @type {Task[]} */
	#tasks;
	#i = 0;
	#found = 0;
	#tried = ""; // the move that is being judged
	#shown = false; // the answer of this task was shown
	#turn = 0;
	/** @type {ReturnType<typeof setTimeout>|undefined} */
	#timer;

	/** @param {{socket: import("./socket.js").Socket, t: import("./types.js").Translate, board: import("./board.js").Board, positions: import("./positions.js").Positions, names: string[], moves: string[], game: string, tasks: Task[], done: (ply: number) => void}} context */
	constructor({ socket, t, board, positions, names, moves, game, tasks, done }) {
		this.socket = socket;
		this.t = t;
		this.board = board;
		this.positions = positions;
		this.names = names;
		this.moves = moves;
		this.game = game;
		this.done = done;
		this.#tasks = tasks;
		this.title = h("h2", { tabindex: -1 });
		this.text = h("p", { data: { retry: "" } });
		this.acts = h("div.row.acts");
		this.element = h("section.retry", { "aria-label": t("retry.title") }, this.title, this.text, this.acts);
		board.onmove = (move) => void this.#try(move);
		board.onrefused = (r) => void this.#refused(r);
		this.offBack = onBack(() => this.leave(), "page");
		this.off = socket.on("tried", (/** @type {Tried} */ m) => m.game === game && this.#judged(m));
		void this.#ask();
	}

	close() {
		this.#turn++;
		this.#drop();
		this.off();
		this.offBack();
		this.board.onmove = () => {};
		this.board.onrefused = () => {};
	}

	/** #drop waits no more for what becomes of the move that was tried. */
	#drop() {
		clearTimeout(this.#timer);
		if (this.#tried) void this.socket.send({ t: "cancel", what: "try" });
		this.#tried = "";
	}

	/** leave ends the trying: the review goes on where the player was. */
	leave() {
		this.done(this.#i < this.#tasks.length ? this.#task.ply + 1 : this.moves.length);
	}

	get #task() {
		return this.#tasks[this.#i];
	}

	get #before() {
		return this.moves.slice(0, this.#task.ply);
	}

	/** #put shows a position as soon as the server can be asked for it; false: another one is to be shown meanwhile. @param {string[]} moves @param {boolean} playing */
	async #put(moves, playing) {
		const turn = ++this.#turn;
		let view = await this.positions.view(moves);
		if (!view && turn === this.#turn) note(this.t("error.unavailable"));
		while (!view && turn === this.#turn) {
			await new Promise((done) => setTimeout(done, again));
			view = await this.positions.view(moves);
		}
		if (!view || turn !== this.#turn) return false;
		const { board } = this;
		board.pending(null);
		board.show(view);
		board.mark([]);
		board.arrow([]);
		board.may = playing ? "move" : "none";
		return true;
	}

	/** #buttons shows what may be done now. @param {string[]} names the first one is the usual one, unless it gives the answer away */
	#buttons(...names) {
		/** @type {Record<string, () => void>} */
		const acts = { undo: () => void this.#ask(true), show: () => void this.#answer(), next: () => this.#next(), again: () => this.#restart(), "retry-close": () => this.leave() };
		still("retry", () => {
			refill(this.acts, names.map((name, i) => h(i || name === "show" ? "button" : "button.main", { type: "button", data: { act: name }, onclick: acts[name] }, this.t(`retry.act.${name}`))));
			freshly(this.acts); // they come when the server has answered, maybe under a finger
		});
	}

	/** @param {string} state for those who look at the page from outside @param {string} text */
	#say(state, text) {
		this.element.dataset.retryState = state;
		this.text.textContent = text;
		say(text);
	}

	/** #ask puts the position before the mistake. @param {boolean} [again] after a try */
	async #ask(again = false) {
		const { t } = this, task = this.#task;
		this.#tried = "";
		this.title.textContent = t("retry.count", { n: this.#i + 1, of: this.#tasks.length });
		if (!(await this.#put(this.#before, true))) return;
		this.board.mark(points(task.played).slice(-1).map((point) => ({ point, kind: "mistake" })));
		this.#say("ask", t("retry.ask", { n: task.ply + 1, move: this.names[task.ply] ?? task.played, class: t(`retry.${task.class}`) }));
		this.#buttons("show", "next", "retry-close");
		if (!again) this.title.focus();
	}

	/** @param {string} move */
	async #try(move) {
		const { t } = this, task = this.#task;
		if (move === task.played) {
			this.board.pending(null);
			return this.#say("ask", t("retry.same"));
		}
		this.#tried = move;
		this.board.may = "none";
		this.#say("judging", t("retry.judging"));
		this.#buttons("show", "next", "retry-close");
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => this.#failed(), slowest);
		const answer = await this.socket.send({ t: "try", game: this.game, ply: task.ply, move });
		if (answer.code !== "accepted" && answer.code !== "duplicate" && this.#tried === move) this.#failed();
	}

	/** #refused says why the rules refuse what was tapped. @param {{from: string, to: string, kind?: string}} r */
	async #refused({ from, to, kind }) {
		if (kind) return note(this.t(`forbidden.${kind}`));
		const why = await this.positions.why(this.#before, [from, to].filter(Boolean));
		note(this.t(why || "error.illegal"));
	}

	#failed() {
		clearTimeout(this.#timer);
		void this.#ask(true).then(() => note(this.t("retry.failed")));
	}

	/** @param {Tried} m */
	async #judged(m) {
		const { t } = this, task = this.#task;
		if (!task || m.ply !== task.ply || m.move !== this.#tried) return;
		if (m.code) return this.#failed();
		clearTimeout(this.#timer);
		this.#tried = "";
		const last = points(m.move).slice(-1), lost = number(m.lost, { style: "percent" });
		const after = [...this.#before, m.move], before = this.#turn;
		const [name] = await this.positions.names(this.#before, [m.move], t);
		if (before !== this.#turn || !(await this.#put(after, false))) return; // the player has gone on
		if (!m.class) {
			if (!this.#shown) this.#found++;
			this.board.mark(last.map((point) => ({ point, kind: "good" })));
			this.#say("good", t(m.move === task.best ? "retry.best" : "retry.good", { move: name, lost }));
			return this.#buttons("next", ...(m.move === task.best ? [] : ["show"]), "retry-close");
		}
		this.board.mark(last.map((point) => ({ point, kind: "mistake" })));
		const turn = this.#turn, reply = m.reply?.length ? await this.positions.names(after, m.reply.slice(0, 3), t) : [];
		if (turn !== this.#turn) return;
		if (m.reply?.length) this.board.arrow(m.reply.slice(0, 1));
		this.#say("wrong", [t("retry.wrong", { move: name, lost }), reply.length ? t("retry.reply", { line: reply.join(" ") }) : ""].join(" "));
		this.#buttons("undo", "show", "next", "retry-close");
	}

	/** #answer shows the better move, which ends this task. */
	async #answer() {
		const { t } = this, task = this.#task;
		this.#shown = true;
		this.#drop();
		if (!(await this.#put(this.#before, false))) return;
		this.board.arrow(task.line.slice(0, 3));
		this.board.mark(points(task.best).slice(-1).map((point) => ({ point, kind: "best" })));
		const turn = this.#turn, names = await this.positions.names(this.#before, task.line, t);
		if (turn !== this.#turn) return;
		this.#say("shown", t("retry.shown", { move: names[0], line: names.join(" ") }));
		this.#buttons("next", "retry-close");
	}

	#next() {
		this.#drop();
		this.#shown = false;
		this.#turn++;
		this.#i++;
		if (this.#i < this.#tasks.length) return void this.#ask();
		this.board.may = "none";
		this.board.mark([]);
		this.board.arrow([]);
		this.title.textContent = this.t("retry.title");
		this.#say("end", this.t("retry.end", { n: this.#found, of: this.#tasks.length }));
		this.#buttons("retry-close", "again");
		this.title.focus();
	}

	#restart() {
		this.#i = this.#found = 0;
		void this.#ask();
	}
}
