// @ts-check
// What a seat chooses in an opening procedure. The board stays in sight: it is what
// the choice is about.

import { fill, h, say } from "./dom.js";
import { has } from "./i18n.js";
import { spell } from "./moves.js";

/** @typedef {import("./types.js").State} State */

/**
 * chooser makes the dialog of an opening's choices.
 * @param {import("./types.js").Translate} t
 * @param {(move: string) => void} choose
 */
export function chooser(t, choose) {
	const title = h("h2", { id: "opening-title", tabindex: "-1" });
	const follows = h("p");
	const choices = h("div.row");
	const element = h("section.opening", { role: "dialog", "aria-labelledby": "opening-title", hidden: true, data: { dialog: "opening" } }, title, follows, choices);
	let drawn = "";

	/** show offers the choices of the state's view; null hides them. @param {State|null} state */
	function show(state) {
		const stage = state?.view.stage, key = state && stage ? `${state.moves.length} ${stage.step}` : "";
		if (key === drawn) return;
		drawn = key;
		element.hidden = !key;
		if (!state || !stage) return;
		const vars = { n: stage.left, stone: stage.stone, fifths: stage.fifths ?? 0 };
		const about = `open.${stage.step}_about`;
		fill(title, t(`open.${stage.step}`, vars));
		fill(follows, has(about) ? t(about, vars) : "");
		fill(choices, (state.view.choices ?? []).map((move) => {
			const what = `open.choice.${move.replace(/-\d+$/, "")}`;
			const n = /-(\d+)$/.exec(move)?.[1];
			return h("button.choice", { type: "button", data: { act: "choose", move }, onclick: () => choose(move) },
				h("b", null, spell(move, t)), has(what) && !(n && stage.step !== "choose-colour") && h("small", null, t(what, { n: n ?? "" })));
		}));
		say(title.textContent ?? "");
		title.focus({ preventScroll: true });
	}

	return { element, show };
}
