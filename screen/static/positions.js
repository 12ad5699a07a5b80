// @ts-check
// Positions of a game and of lines beside it, as the server describes them.

import { spell } from "./i18n.js";
import { written } from "./settings.js";

/** @typedef {import("./types.js").View} View */

const within = 10000; // milliseconds that an answer may take: on a connection that has died none comes

/** Positions asks the server for views and keeps them. */
export class Positions {
	/** @type {Map<string, Promise<View|null>>} */
	#views = new Map();

	/** @param {import("./types.js").Terms} terms */
	constructor(terms) {
		this.terms = terms;
	}

	/** know keeps a view that came with the game. @param {string[]} moves @param {View} view */
	know(moves, view) {
		this.#views.set(moves.join(), Promise.resolve(view));
	}

	/** view is the position after some moves; null without a connection. @param {string[]} moves @returns {Promise<View|null>} */
	view(moves) {
		const key = moves.join();
		let found = this.#views.get(key);
		if (!found) {
			found = this.#ask({ moves }).catch(() => (this.#views.delete(key), null));
			this.#views.set(key, found);
		}
		return found;
	}

	/**
	 * why says why the rules refuse a move, as a key of the dictionaries.
	 * @param {string[]} moves @param {string[]} touched
	 * @returns {Promise<string>}
	 */
	why(moves, touched) {
		return this.#ask({ moves, touched }).then((a) => a.why, () => "");
	}

	/** typed is the move that a text names in any notation of the game, "" for none; null without a connection. @param {string[]} moves @param {View} view after them @param {string} text @returns {Promise<string|null>} */
	async typed(moves, view, text) {
		const plain = (/** @type {string} */ s) => s.toLowerCase().replace(/[^a-z0-9]/g, "");
		const wanted = plain(text), named = [...view.moves, ...(view.choices ?? [])].find((m) => plain(m) === wanted || plain(m) === `offer${wanted}`);
		return named ?? this.#ask({ moves, typed: text }).then((a) => a.last ?? "", (e) => (e.refused ? "" : null));
	}

	/** names writes the moves of a line that follows some moves. @param {string[]} moves @param {string[]} line @param {import("./types.js").Translate} t */
	async names(moves, line, t) {
		const view = await this.view([...moves, ...line]);
		const all = view ? written(view).slice(moves.length) : line;
		return all.map((m) => spell(m, t));
	}

	/** @param {object} more */
	async #ask(more) {
		const body = JSON.stringify({ rules: this.terms.rules, position: this.terms.position, ...more });
		const answer = await fetch("/api/position", { method: "POST", headers: { "Content-Type": "application/json" }, body, signal: AbortSignal.timeout(within) });
		if (!answer.ok) throw Object.assign(new Error(`position: ${answer.status}`), { refused: answer.status === 422 }); // by the rules
		return answer.json();
	}
}
