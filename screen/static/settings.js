// @ts-check
// What the visitor likes, kept on this device. Without storage the page works, and forgets.

/**
 * @typedef {object} Settings
 * @property {"auto"|"en"|"zh"} language
 * @property {"auto"|"light"|"dark"} theme
 * @property {"characters"|"pictures"} pieces
 * @property {"auto"|"native"|"wxf"|"coordinates"} notation
 * @property {"auto"|"tap"|"aim"|"confirm"} input
 * @property {boolean} premove
 * @property {boolean} sound
 * @property {boolean} vibration
 * @property {boolean} spoken speaks the moves by the live region
 */

/** Choices by setting, in the order of the dialog; the first is the usual one. */
export const choices = {
	language: ["auto", "zh", "en"],
	theme: ["auto", "light", "dark"],
	pieces: ["characters", "pictures"],
	notation: ["auto", "native", "wxf", "coordinates"],
	input: ["auto", "tap", "confirm", "aim"],
};

/** @type {Settings} */
const usual = {
	language: "auto", theme: "auto", pieces: "characters", notation: "auto", input: "auto",
	premove: false, sound: false, vibration: false, spoken: true,
};

/**
 * stored reads an object kept under a name; what is missing or broken is empty.
 * @param {string} name
 * @param {"localStorage"|"sessionStorage"} [where] for this device, or for this tab alone
 * @returns {any}
 */
export function stored(name, where = "localStorage") {
	try {
		const value = JSON.parse(window[where].getItem(name) ?? "{}");
		return value && typeof value === "object" ? value : {};
	} catch {
		return {};
	}
}

/**
 * store keeps an object under a name, or nothing any more, if this device lets it.
 * @param {string} name
 * @param {object|null} value
 * @param {"localStorage"|"sessionStorage"} [where]
 */
export function store(name, value, where = "localStorage") {
	try {
		if (value) window[where].setItem(name, JSON.stringify(value));
		else window[where].removeItem(name);
	} catch {
		// No storage, or none left: the choice holds until the page is closed.
	}
}

/**
 * kept reads the settings. Another version of the page may have stored choices that
 * this one lacks: those are as usual.
 * @returns {Settings}
 */
function kept() {
	const read = /** @type {any} */ ({ ...usual });
	const values = /** @type {Record<string, string[]>} */ (choices);
	for (const [key, value] of Object.entries(stored("settings"))) {
		if (!Object.hasOwn(usual, key)) continue;
		if (Object.hasOwn(values, key) ? values[key].includes(value) : typeof value === typeof read[key]) read[key] = value;
	}
	return read;
}

/** @type {Settings} */
export const settings = kept();

/** @type {Set<() => void>} */
const listeners = new Set();

/**
 * onchange calls f after each change of a setting.
 * @param {() => void} f
 * @returns {() => void} stops it
 */
export function onchange(f) {
	listeners.add(f);
	return () => listeners.delete(f);
}

/**
 * change sets a setting and keeps it.
 * @template {keyof Settings} K
 * @param {K} key
 * @param {Settings[K]} value
 */
export function change(key, value) {
	settings[key] = value;
	store("settings", settings);
	tell();
	apply();
	for (const f of listeners) f();
}

/** tell lets the server write its own pages in the language and colours that were chosen. */
function tell() {
	for (const [name, value] of [["lang", settings.language], ["theme", settings.theme]]) {
		document.cookie = `${name}=${value}; path=/; samesite=lax; max-age=${value === "auto" ? 0 : 34560000}`;
	}
}

/** apply sets what the style sheet depends on. */
export function apply() {
	const root = document.documentElement;
	if (settings.theme === "auto") delete root.dataset.theme;
	else root.dataset.theme = settings.theme;
}

// Another tab has changed them.
addEventListener("storage", (e) => {
	if (e.key !== "settings") return;
	Object.assign(settings, kept());
	apply();
	for (const f of listeners) f();
});

/**
 * notation is the notation that the visitor likes; unless chosen, that of the page's
 * language.
 * @returns {"native"|"wxf"|"coordinates"}
 */
export function notation() {
	if (settings.notation !== "auto") return settings.notation;
	return document.documentElement.lang.startsWith("zh") ? "native" : "wxf";
}

/**
 * written is a view's move list in the notation that the visitor likes.
 * @param {import("./types.js").View} view
 * @returns {string[]}
 */
export function written(view) {
	const all = view.written ?? {};
	const order = { native: ["chinese"], wxf: ["wxf"], coordinates: ["iccs", "slash"] }[notation()];
	for (const name of order) if (all[name]) return all[name];
	return all.iccs ?? all.slash ?? Object.values(all)[0] ?? [];
}
