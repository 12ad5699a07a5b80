// @ts-check
// Helpers to build the page's elements.

/** @typedef {Node|string|number|null|undefined|false|any[]} Child */

/**
 * h makes an element. A property that starts with "on" is an event's listener,
 * "data" an object of data attributes, true an empty attribute; false, null and
 * undefined are left out.
 * @param {string} tag with classes: "button.plain"
 * @param {Record<string, any>|null} [props]
 * @param {...Child} children
 * @returns {any}
 */
export function h(tag, props, ...children) {
	const [name, ...classes] = tag.split(".");
	const e = document.createElement(name || "div");
	if (classes.length) e.className = classes.join(" ");
	for (const [key, value] of Object.entries(props ?? {})) {
		if (value === false || value == null) continue;
		if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
		else if (key === "data") Object.assign(e.dataset, value);
		else if (key === "value" || key === "checked" || key === "disabled") /** @type {any} */ (e)[key] = value;
		else e.setAttribute(key, value === true ? "" : String(value));
	}
	add(e, children);
	return e;
}

/** @param {Element} e @param {Child[]} children */
function add(e, children) {
	for (const c of children) {
		if (Array.isArray(c)) add(e, c);
		else if (c != null && c !== false) e.append(c instanceof Node ? c : String(c));
	}
}

/** What tells that a new element does what an old one did. */
const marks = ["data-move", "data-ply", "data-act", "name", "href"];

/**
 * refocus remembers what has the focus. Called later, what it returns gives the focus to what
 * does the same, if the first is not there any more.
 * @param {ParentNode & Node} within
 * @param {string} [instead] selects what gets it if nothing does the same
 */
export function refocus(within, instead = "none") {
	const had = document.activeElement, mark = had && within.contains(had) && marks.find((m) => had.hasAttribute(m));
	if (!mark) return () => {};
	const same = () => /** @type {HTMLElement[]} */ ([...within.querySelectorAll(`[${mark}=${JSON.stringify(had.getAttribute(mark))}]`)]);
	const were = same(), i = were.indexOf(/** @type {HTMLElement} */ (had));
	return () => {
		// Of fewer, none need be the one.
		const are = same();
		if (document.activeElement === document.body) /** @type {HTMLElement|null} */ ((are.length === were.length && are[i]) || within.querySelector(instead))?.focus({ preventScroll: true });
	};
}

/**
 * hide hides or shows what stands over or below the board. The focus that it had goes to the board.
 * @param {HTMLElement} e
 * @param {boolean} hidden
 */
export function hide(e, hidden) {
	const left = hidden && e.contains(document.activeElement);
	e.hidden = hidden;
	if (left) /** @type {HTMLElement|null} */ (document.querySelector('.board-point[tabindex="0"]'))?.focus({ preventScroll: true });
}

/**
 * fill replaces an element's children. The focus stays on what does the same.
 * @param {Element} e
 * @param {...Child} children
 */
export const fill = (e, ...children) => replace(e, children);

/**
 * refill is fill for buttons that give way to others: the first one gets the focus then.
 * @param {Element} e
 * @param {...Child} children
 */
export const refill = (e, ...children) => replace(e, children, "select, button");

/** @param {Element} e @param {Child[]} children @param {string} [instead] */
function replace(e, children, instead) {
	const restore = refocus(e, instead);
	e.replaceChildren();
	add(e, children);
	restore();
}

/**
 * put sets an element's text if it differs: an unchanged live region stays silent,
 * and an unchanged node is not painted again.
 * @param {Element} e
 * @param {string} text
 */
export function put(e, text) {
	if (e.textContent !== text) e.textContent = text;
}

// In milliseconds: within which a click follows the end of a touch, and after which the end
// of a press has gone to another window.
const clicking = 300;
const longest = 5000;
// How long something stays pressed after an event.
const presses = { pointerdown: longest, pointerup: clicking, pointercancel: 0, keydown: longest, keyup: 0, click: 0 };
let pressed = false;
/** @type {Map<string, () => void>} what is drawn after the press, by part of the page */
const held = new Map();
/** @type {ReturnType<typeof setTimeout>|undefined} */
let released;

function release() {
	pressed = false;
	for (const [part, draw] of held) {
		held.delete(part);
		draw();
	}
}

for (const [kind, after] of Object.entries(presses)) {
	addEventListener(kind, (e) => {
		// Other keys click as they go down.
		if ((/** @type {KeyboardEvent} */ (e).key ?? " ") !== " ") return;
		// What a click does itself is drawn at once.
		pressed = after > 0;
		clearTimeout(released);
		released = setTimeout(release, after);
	}, { capture: true, passive: true });
}

/**
 * still draws a part of the page at once or, while something is pressed, after that: a button
 * that is replaced or moved under a finger, or while Space is down, gets no click.
 * @param {string} part
 * @param {() => void} draw what is drawn; of several times during a press, the last
 */
export function still(part, draw) {
	held.delete(part);
	if (pressed) held.set(part, draw);
	else draw();
}

// Milliseconds in which a new button takes no tap that was meant for what stood there.
const settling = 500;
/** @type {WeakMap<HTMLElement, ReturnType<typeof setTimeout>>} */
const fresh = new WeakMap();

/**
 * freshly keeps new buttons from taking a tap that was on its way.
 * @param {HTMLElement} e
 */
export function freshly(e) {
	e.toggleAttribute("data-fresh", true);
	clearTimeout(fresh.get(e));
	fresh.set(e, setTimeout(() => e.removeAttribute("data-fresh"), settling));
}

/** Outlines of the icons, in a square of 24. */
const paths = {
	back: "M15 5l-7 7 7 7",
	forward: "M9 5l7 7-7 7",
	resign: "M6 21V4m0 1h11l-2 4 2 4H6",
	draw: "M7 9h10M7 15h10",
	takeback: "M9 7L4 12l5 5M4 12h10a5 5 0 0 1 0 10h-2",
	hint: "M9.5 17.5h5M10 21h4M12 3a6 6 0 0 0-3.5 10.9V15h7v-1.1A6 6 0 0 0 12 3z",
	flip: "M7 4v16m0 0l-3-3m3 3l3-3M17 20V4m0 0l-3 3m3-3l3 3",
	list: "M5 7h14M5 12h14M5 17h9",
	settings: "M4 8h9m4 0h3M4 16h3m4 0h9M15 5.5v5M9 13.5v5",
	close: "M6 6l12 12M18 6L6 18",
	rematch: "M5 12a7 7 0 0 1 12-5l2 2m0-5v5h-5M19 12a7 7 0 0 1-12 5l-2-2m0 5v-5h5",
	review: "M4 18l5-6 4 3 7-9",
	up: "M12 19V6m0 0l-5 5m5-5l5 5",
	person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zm-7 8c1-4 4-5 7-5s6 1 7 5",
	link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
	eye: "M3 12s3-6 9-6 9 6 9 6-3 6-9 6-9-6-9-6zm9 2.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z",
	play: "M8 5l11 7-11 7z",
};

/** @typedef {keyof typeof paths} IconName */

/**
 * icon draws an icon; the text beside it says what it means.
 * @param {IconName} name
 */
export function icon(name) {
	const space = "http://www.w3.org/2000/svg";
	const svg = document.createElementNS(space, "svg");
	svg.setAttribute("viewBox", "0 0 24 24");
	svg.setAttribute("class", "icon");
	svg.setAttribute("aria-hidden", "true");
	const path = document.createElementNS(space, "path");
	path.setAttribute("d", paths[name]);
	svg.append(path);
	return svg;
}

/** above is what lies over the rest of the page: the dialog that was opened last, which makes the rest unreachable and silent, or the page itself. @returns {HTMLElement} */
export const above = () => /** @type {HTMLElement} */ ([...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body);

/** @type {WeakMap<HTMLElement, {polite: HTMLElement, urgent: HTMLElement}>} */
const regions = new WeakMap();

/** live are the live regions of the page or of a dialog. They must be there before something is said in them. @param {HTMLElement} of */
export function live(of) {
	let found = regions.get(of);
	if (!found) {
		found = { polite: h("div.sr", { "aria-live": "polite", "data-live": "polite" }), urgent: h("div.sr", { "aria-live": "assertive", "data-live": "urgent" }) };
		regions.set(of, found);
		of.append(found.polite, found.urgent);
	}
	return found;
}

/** @type {Set<HTMLElement>} regions in which something is said just now */
const speaking = new Set();

/**
 * say speaks a text to people who use a screen reader, after what else is said at the
 * same moment.
 * @param {string} text
 * @param {boolean} [now] interrupts what is being spoken
 */
export function say(text, now) {
	const region = live(above())[now ? "urgent" : "polite"];
	if (!speaking.has(region)) region.replaceChildren();
	speaking.add(region);
	setTimeout(() => speaking.delete(region));
	// A new node, so that a repeated text is spoken again.
	region.append(h("p", null, text));
}
