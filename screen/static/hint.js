// @ts-check
// Hints in three steps: the piece, the move, the line.

import { note } from "./dialog.js";
import { points } from "./draw.js";
import { put } from "./dom.js";
import { has, refusal as refused } from "./i18n.js";
import { Positions } from "./positions.js";
import { games } from "./scene.js";
import { notation } from "./settings.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {{t: "hint", game: string, ply: number, level: number, from?: string, move?: string, line?: string[], code?: string}} HintMessage */

const slowest = 25000; // milliseconds after which no hint is expected any more

/**
 * attach lets a game's button for hints ask for them.
 * @param {HTMLElement} button
 * @param {{game: {id: string, state: State|null}, socket: import("./socket.js").Socket, t: import("./types.js").Translate, board: import("./board.js").Board}} context
 */
export const attach = (button, context) => new Hints(button, context);

/** refusal is the sentence for an answer that refuses help. @param {import("./types.js").Answer} answer @param {import("./types.js").Translate} t */
export function refusal(answer, t) {
	const text = `review.refused.${answer.reason}`;
	return has(text) ? t(text) : refused(answer);
}

class Hints {
	#ply = -1; // of the position that the shown hint is for
	#shown = 0; // level of the shown hint
	#asked = 0; // level that was asked for; 0 for none
	/** @type {ReturnType<typeof setTimeout>|undefined} */
	#timer;

	/** @param {any} button @param {any} context */
	constructor(button, { game, socket, t, board }) {
		this.button = button;
		this.label = button.lastChild;
		this.game = game;
		this.socket = socket;
		this.t = t;
		this.board = board;
		/** @type {(() => void)[]} */
		this.ends = [
			socket.on("hint", (/** @type {HintMessage} */ m) => m.game === game.id && this.#show(m)),
			socket.on("state", (/** @type {State} */ s) => s.game === game.id && this.#turn(s)),
		];
		this.#turn(game.state);
	}

	/** #turn follows the game: a hint is for one position. @param {State|null} s */
	#turn(s) {
		const ply = s?.moves.length ?? 0;
		if (ply !== this.#ply) {
			this.#ply = ply;
			this.#shown = 0;
			this.#expect(0);
		}
		if (s?.status === "finished") this.close();
	}

	close() {
		clearTimeout(this.#timer);
		for (const end of this.ends.splice(0)) end();
	}

	/** #expect notes that a hint of a level is on its way, 0 for none. @param {number} level */
	#expect(level) {
		clearTimeout(this.#timer);
		this.#asked = level;
		this.button.toggleAttribute("aria-busy", level > 0);
		put(this.label, this.t(level ? "hint.thinking" : this.#shown ? `hint.ask.${Math.min(this.#shown + 1, 3)}` : "game.hint"));
		if (level) this.#timer = setTimeout(() => this.#failed(this.t("hint.none")), slowest);
	}

	async press() {
		if (this.#asked) return;
		const level = Math.min(this.#shown + 1, 3), ply = this.#ply;
		this.#expect(level);
		const answer = await this.socket.send({ t: "hint", game: this.game.id, ply, level });
		if (answer.code !== "accepted" && answer.code !== "duplicate" && ply === this.#ply) this.#failed(refusal(answer, this.t));
	}

	/** @param {string} text */
	#failed(text) {
		this.#expect(0);
		note(text);
	}

	/** @param {HintMessage} m */
	async #show(m) {
		if (m.ply !== this.#ply || m.level !== this.#asked) return;
		if (m.code) return this.#failed(this.t("hint.none"));
		this.#shown = m.move && m.level === 1 ? 2 : m.level; // a choice has no piece to show first
		this.#expect(0);
		const { board, t } = this;
		if (m.line) board.arrow(m.line.slice(0, 4));
		else if (m.move) board.arrow([m.move]);
		const seen = m.move ? points(m.move) : corners(m.from ?? "");
		board.mark(seen.map((point) => ({ point, kind: "hint" })));
		const ply = this.#ply, text = await this.#text(m);
		if (ply === this.#ply) note(text || t("hint.none"));
	}

	/** @param {HintMessage} m @returns {Promise<string>} */
	async #text(m) {
		const { t } = this, s = /** @type {State} */ (this.game.state);
		if (!m.move) {
			const ends = points(m.from ?? "");
			if (ends.length > 1) return t("hint.region", { from: ends[0], to: ends[1] });
			const code = s.view.pieces[ends[0]], piece = t(`board.piece.${s.view.game}.${code}`);
			const file = games[s.view.game].file?.(ends[0], notation(), code === code.toLowerCase());
			return file ? t("hint.piece_file", { piece, file }) : t("hint.piece", { piece, point: ends[0] });
		}
		const names = await new Positions(s.terms).names(s.moves, m.line ?? [m.move], t);
		return t(m.line ? "hint.line" : "hint.move", { move: names[0], line: names.join(" ") });
	}
}

/** corners are the corners of a region "a1:e5", or the point of a piece. @param {string} text */
function corners(text) {
	const [from, to] = points(text);
	if (!to) return from ? [from] : [];
	return [from, `${from[0]}${to.slice(1)}`, `${to[0]}${from.slice(1)}`, to];
}
