// @ts-check
// Playing on from a position of a reviewed game, against a level.

import { dialog, note } from "./dialog.js";
import { h } from "./dom.js";
import { refusal } from "./i18n.js";
import { accepts, choice, pick } from "./terms.js";

/** @typedef {import("./types.js").View} View */
/** @typedef {import("./types.js").Lobby} Lobby */

/**
 * onward asks for a level and begins a casual game from a position. The player
 * takes the side to move.
 * @param {{socket: import("./socket.js").Socket, t: import("./types.js").Translate, go: (path: string) => void, view: View, watching: boolean}} context
 */
export async function onward({ socket, t, go, view, watching }) {
	const game = /** @type {import("./terms.js").GameName} */ (view.game), last = choice(game);
	const terms = { game, rules: view.rules, position: view.position, clock: last.clock, rated: false };
	/** @type {import("./types.js").Opponent[]} */
	let opponents = [];
	const levels = h("select", { name: "level" });
	const play = h("button.main", { type: "submit", disabled: true, data: { act: "play" } }, t("review.onward_play"));
	const off = socket.on("lobby", (/** @type {Lobby} */ lobby) => {
		opponents = (lobby.opponents ?? []).filter((o) => o.level && accepts(o, terms)).sort((a, b) => Number(a.level) - Number(b.level));
		const chosen = Number(levels.value) || last.level;
		levels.replaceChildren(...[...new Set(opponents.map((o) => o.level))].map((n) => h("option", { value: n }, t("level.name", { n: Number(n) }))));
		if ([...levels.options].some((o) => Number(o.value) === chosen)) levels.value = String(chosen);
		play.disabled = !opponents.length;
	});
	void socket.send({ t: "lobby", on: true });
	const side = t(`side.${view.sides[view.turn === "first" ? 0 : 1]}`);
	const level = await dialog(t("review.onward"), (close) => h("form", { onsubmit: (/** @type {Event} */ e) => (e.preventDefault(), close(Number(levels.value))) },
		h("p", null, t("review.onward_about", { side })), h("label", null, t("review.onward_level"), levels), h("div.row", null, play)), { act: "onward" });
	off();
	if (watching) void socket.send({ t: "lobby", on: false });
	if (!level) return;
	const opponent = pick(opponents, terms, level);
	if (!opponent) return note(t("start.none"));
	const answer = await socket.send({ t: "play", terms, opponent: opponent.player, seat: view.turn });
	if (answer.game) go(`/game/${answer.game}`);
	else note(refusal(answer));
}
