// @ts-check
// What a seat chooses in an opening procedure. The board stays in sight: it is what
// the choice is about.

import { fill, freshly, h, hide, say } from "./dom.js";

/** @typedef {import("./types.js").State} State */

/**
 * openingText is a text of the dictionaries about a step of an opening procedure.
 * @param {import("./types.js").Translate} t
 * @param {import("./types.js").Stage} stage
 * @param {string} what ".wait", ".swap", ...; "" for what the seat does itself
 * @param {string|number} [n] of a choice
 */
const openingText = (t, stage, what, n = "") => {
	const centre = stage.reach === 0 && stage.left === 1 ? ".centre" : ""; // rather than no steps from it
	return t(`open.${stage.procedure}.${stage.step}${centre}${what}`, { n, left: stage.left, stone: stage.stone, reach: stage.reach ?? "", fifths: stage.fifths ?? "" });
};

/**
 * chooser makes the dialog of an opening's choices.
 * @param {import("./types.js").Translate} t
 * @param {(move: string) => void} choose
 */
export function chooser(t, choose) {
	const title = h("h2", { id: "opening-title", tabindex: "-1" });
	const follows = h("p");
	const choices = h("div.choices");
	const element = h("section.opening", { role: "dialog", "aria-labelledby": "opening-title", hidden: true, data: { dialog: "opening" } }, title, follows, choices);
	let drawn = "";

	/** show offers the choices of the state's view; null hides them. @param {State|null} state */
	function show(state) {
		const stage = state?.view.stage, key = state && stage ? `${state.moves.length} ${stage.step}` : "";
		if (key === drawn) return;
		drawn = key;
		hide(element, !key);
		if (!state || !stage) return;
		fill(title, t(`open.${stage.procedure}.name`));
		fill(follows, openingText(t, stage, ""));
		const moves = state.view.choices ?? [], many = moves.length > 4; // numbers of fifth moves: the sentence above says what they are
		choices.classList.toggle("many", many);
		fill(choices, moves.map((move) => {
			const [, what, n] = /** @type {RegExpExecArray} */ (/^(.+?)(?:-(\d+))?$/.exec(move));
			const label = t(`open.choice.${what}`, { n: n ?? "" });
			return h("button.choice", { type: "button", data: { act: "choose", move }, "aria-label": many && label, onclick: () => choose(move) },
				h("b", null, many ? n ?? label : label), !many && h("small", null, openingText(t, stage, `.${what}`, n)));
		}));
		freshly(element);
		say(follows.textContent ?? ""); // the focus says the title
		title.focus({ preventScroll: true });
	}

	/** line says what is to be done at a step. @param {import("./types.js").Stage} stage @param {boolean} mine whether it is this seat that does it */
	const line = (stage, mine) => openingText(t, stage, mine ? "" : ".wait");

	return { element, show, line };
}
