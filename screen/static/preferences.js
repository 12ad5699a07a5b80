// @ts-check
// The dialog of the settings.

import { dialog } from "./dialog.js";
import { h, put } from "./dom.js";
import { change, choices, settings } from "./settings.js";
import { signal } from "./sound.js";

/** @typedef {import("./settings.js").Settings} Settings */

const switches = /** @type {const} */ (["sound", "vibration", "premove", "spoken"]);

/**
 * relabel writes the links in the head of the page in a language that was chosen since.
 * @param {import("./types.js").Translate} t
 */
export function relabel(t) {
	const nav = /** @type {HTMLElement} */ (document.querySelector(".site nav"));
	nav.setAttribute("aria-label", t("page.nav"));
	put(/** @type {HTMLElement} */ (document.querySelector(".skip")), t("page.skip"));
	for (const [path, text] of [["/", t("page.play")], ["/games", t("page.nav_games")], ["/ladder", t("page.ladder")]]) {
		put(/** @type {HTMLElement} */ (nav.querySelector(`[href="${path}"]`)), text);
	}
}

/**
 * open shows the settings; each takes effect at once.
 * @param {import("./types.js").Translate} t
 */
export async function open(t) {
	const before = settings.language;
	await dialog(t("settings.title"), (close) => [
		h("div.fields", null, Object.entries(choices).map(([key, values]) =>
			h("label", null, t(`settings.${key}`),
				h("select", { name: key, onchange: (/** @type {any} */ e) => {
					change(/** @type {any} */ (key), e.target.value);
					if (key === "language" && settings.language !== before) close();
				} },
				values.map((v) => h("option", { value: v, selected: v === /** @type {any} */ (settings)[key] }, t(`settings.${key}_${v}`))))))),
		h("div", null, switches.map((key) =>
			(key !== "vibration" || "vibrate" in navigator) && h("label.check", null,
				h("input", { type: "checkbox", name: key, checked: settings[key], onchange: (/** @type {any} */ e) => {
					change(key, e.target.checked);
					if (e.target.checked && (key === "sound" || key === "vibration")) signal("move");
				} }),
				h("span", null, t(`settings.${key}`), h("small", null, t(`settings.${key}_about`)))))),
	], { act: "settings" });
}
