// @ts-check
// What may follow the end of a game against a bot: one against the next level.

import { note } from "./dialog.js";
import { refusal } from "./i18n.js";
import { load } from "./late.js";
import { learn, levelOf } from "./players.js";
import { choice, pick, remember, suggested, termsOf } from "./terms.js";

/** @typedef {import("./types.js").State} State */

/**
 * nextRated asks for the next game of the ladder, on the start screen.
 * @param {import("./types.js").Page} page
 * @param {import("./types.js").Terms} terms of the last one
 */
export async function nextRated(page, terms) {
	const ladder = await load("ladder");
	ladder.follow(page);
	page.go("/");
	await ladder.seek(terms);
}

/**
 * follow asks the lobby for what comes next.
 * @param {import("./types.js").Page} page
 * @param {() => State} state of the finished game
 * @param {(level: number, play: () => void) => void} suggest is called with a level, 0 for none
 * @returns {() => void} ends it
 */
export function follow(page, state, suggest) {
	const { socket, t } = page;
	let ended = false, asking = false;
	const off = socket.on("lobby", (/** @type {import("./types.js").Lobby} */ lobby) => {
		const s = state(), opponents = lobby.opponents ?? [];
		learn(opponents);
		const bot = s.holders[s.you === "first" ? 1 : 0];
		const level = bot.kind === "bot" && levelOf(bot) ? suggested(lobby.results, s.terms.game, opponents) : 0;
		suggest(level, async () => {
			const game = /** @type {import("./terms.js").GameName} */ (s.terms.game), c = { ...choice(game), level };
			const terms = { ...termsOf(game, c), ...s.terms }, opponent = pick(opponents, terms, level);
			if (!opponent) return note(t("start.none"));
			if (asking) return; // tapped again, while the answer or the next game is slow to come
			asking = true;
			remember(game, c);
			const answer = await socket.send({ t: "play", terms, opponent: opponent.player });
			if (!answer.game) note(refusal(answer));
			else if (!ended) await page.go(`/game/${answer.game}`); // else the news of the page tell of it
			asking = false;
		});
	});
	void socket.follow("lobby", { t: "lobby", on: true });
	return () => {
		ended = true;
		off();
		socket.unfollow("lobby", { t: "lobby", on: false });
	};
}
