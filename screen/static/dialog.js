// @ts-check
// Dialogs and short notes.

import { onBack } from "./back.js";
import { above, fill, h, icon, live, refocus, say } from "./dom.js";
import { t } from "./i18n.js";

/**
 * dialog opens a modal dialog: the browser keeps the focus inside, closes it on
 * Escape, and returns the focus to where it was, or to what has taken the place of that.
 * One that is open already is not opened again: what it needs may have been slow to load, and
 * the button was tapped twice.
 * @param {string} title
 * @param {(close: (value?: any) => void) => (import("./dom.js").Child)} content
 * @param {{act?: string, closable?: boolean}} [options]
 * @returns {Promise<any>} what close was called with; undefined when it was dismissed
 */
export function dialog(title, content, { act, closable = true } = {}) {
	return new Promise((done) => {
		if (act && document.querySelector(`dialog[open][data-dialog="${act}"]`)) return done(undefined);
		/** @type {HTMLDialogElement} */
		const box = h("dialog", { "aria-label": title, "data-dialog": act ?? "" }); // not by its heading: it may lie on another dialog
		/** @type {any} */
		let value;
		const close = (/** @type {any} */ v) => {
			value = v;
			box.close();
		};
		fill(
			box,
			h("header", null, h("h2", null, title),
				closable && h("button.plain.square", { type: "button", "aria-label": t("page.close"), "data-act": "close", onclick: () => close(undefined) }, icon("close"))),
			content(close),
		);
		if (!closable) box.addEventListener("cancel", (e) => e.preventDefault());
		// On a phone, the tap that has opened the dialog ends with a click on what is there now.
		const opened = performance.now();
		const beside = (/** @type {MouseEvent} */ e) => {
			const r = box.getBoundingClientRect();
			return e.target === box && (e.clientX < r.left || e.clientX > r.right || e.clientY < r.top || e.clientY > r.bottom);
		};
		let pressed = false, pressedBeside = false;
		box.addEventListener("pointerdown", (e) => {
			pressed = true;
			pressedBeside = beside(e);
		}, true);
		box.addEventListener("click", (e) => {
			if (pressed || !e.detail || performance.now() - opened > 500) return; // a key makes a click, too, without a detail
			e.preventDefault();
			e.stopPropagation();
		}, true);
		box.addEventListener("click", (e) => closable && pressedBeside && beside(e) && close(undefined)); // not where a text was selected from inside
		const offBack = onBack(() => closable && close(undefined), "dialog");
		// The button that has opened this may be drawn anew.
		const restore = refocus(document);
		box.addEventListener("close", () => {
			offBack();
			if (shown && box.contains(shown)) above().append(shown); // it may not have been read yet
			box.remove();
			restore();
			done(value);
		});
		document.body.append(box);
		live(box);
		box.showModal();
	});
}

/**
 * ask puts a question with two answers.
 * @param {string} title
 * @param {string|null} text
 * @param {{yes: string, no?: string, act: string, danger?: boolean}} answers
 * @returns {Promise<boolean>}
 */
export const ask = (title, text, { yes, no, act, danger }) =>
	dialog(title, (close) => [
		text && h("p", null, text),
		h("div.row", null,
			h("button", { type: "button", "data-act": "no", autofocus: true, onclick: () => close(false) }, no ?? t("page.cancel")),
			h(danger ? "button.danger" : "button.main", { type: "button", "data-act": `yes-${act}`, onclick: () => close(true) }, yes)),
	], { act, closable: true }).then(Boolean);

/**
 * dismiss closes the open dialogs: what they were about is not on the screen any more.
 * @param {string} [only] a selector, of those that are meant
 */
export function dismiss(only = "*") {
	for (const box of document.querySelectorAll("dialog[open]")) if (box.matches(only)) /** @type {HTMLDialogElement} */ (box).close();
}

/** @type {HTMLElement|undefined} */
let shown;
/** @type {ReturnType<typeof setTimeout>|undefined} */
let timer;

/**
 * note shows a sentence for a while, above what is there, an open dialog, too, and speaks it.
 * @param {string} text
 * @param {boolean} [brief] shows no more than two lines: it is somebody else's, who may have written any length
 */
export function note(text, brief) {
	shown?.remove();
	clearTimeout(timer);
	shown = above().appendChild(h("div.note", { "data-note": "", "aria-hidden": "true" }, brief ? h("div.brief", null, text) : text));
	say(text);
	timer = setTimeout(() => shown?.remove(), 2500 + 60 * Math.min(text.length, brief ? 80 : Infinity));
}

// Whoever goes on has read it; what it covers must not stay covered.
addEventListener("pointerdown", () => shown?.remove(), { capture: true, passive: true });
