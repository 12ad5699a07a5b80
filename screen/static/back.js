// @ts-check
// The browser's history: the address of what is shown, and what Back closes before it
// leaves a screen.

const most = 20, span = 8000; // changes of the address in so many milliseconds: Safari refuses more than 100 in half a minute

/** @type {{close: () => void}[]} what lies over the screen that a CloseWatcher does not watch: each has an entry of its own, from which Back leads to what lies below */
const over = [];
let shown = location.pathname; // the address of what is shown
let leaving = false; // the history is on its way to the entry of what is shown
/** @type {(() => void)[]} */
const arrived = [];
/** @type {number[]} when the address was changed, the last times */
const changes = [];
/** @type {ReturnType<typeof setTimeout>|undefined} */
let later;

/** depth is how many things lay over the screen at the present entry. @returns {number} */
const depth = () => history.state?.over ?? 0;

/** screen is the part of an address that names a screen. @param {string} path */
const screen = (path) => path.split("/", 3).join("/");

/** level gives the history as many entries above that of the screen as things lie over it. */
function level() {
	if (leaving) return;
	for (let n = depth(); n < over.length; n++) history.pushState({ over: n + 1 }, "", shown);
	if (depth() === over.length) return;
	leaving = true;
	history.go(over.length - depth());
}

addEventListener("popstate", (e) => {
	const at = depth(), here = screen(location.pathname) === screen(shown) && (leaving || at !== over.length);
	leaving = false;
	if (here) {
		e.stopImmediatePropagation(); // no other screen
		for (const { close } of over.splice(at).reverse()) close();
		stay(shown);
		level(); // Forward leads to nothing: what was closed stays closed
	} else {
		clearTimeout(later);
		over.length = 0;
		shown = location.pathname;
		if (at) history.replaceState(null, "", location.href);
	}
	if (!leaving) for (const go of arrived.splice(0)) go();
});

/** loadedHere reports whether the document is that of the address: Back may have led on before its scripts were there. */
export const loadedHere = () => new URL(performance.getEntriesByType("navigation")[0].name).pathname === location.pathname;

if (history.state?.top && loadedHere()) { // the page of a list, which is loaded again when somebody comes back from a game
	history.scrollRestoration = "manual"; // the browser would go to where the game was scrolled
	scrollTo(0, history.state.top);
	history.replaceState(null, "");
	addEventListener("load", () => setTimeout(() => (history.scrollRestoration = "auto")));
}
level(); // what lay over the screen when the page was loaded again is not there any more

/** stay changes the address of what is shown; the last of many changes comes a little later. @param {string} path */
export function stay(path) {
	shown = path;
	clearTimeout(later);
	const now = performance.now(), wait = changes.length < most ? 0 : changes[0] + span - now;
	if (wait > 0) {
		later = setTimeout(() => stay(shown), wait);
		return;
	}
	changes.push(now);
	if (changes.length > most) changes.shift();
	history.replaceState(history.state, "", path);
}

/** enter gives another screen its address. @param {string} path @param {boolean} [replace] that of the present one */
export function enter(path, replace) {
	clearTimeout(later);
	shown = path;
	if (!replace && scrollY) history.replaceState({ ...history.state, top: scrollY }, "");
	history[replace ? "replaceState" : "pushState"](null, "", path);
}

/** clear takes what lies over the screen out of the history, since another screen follows. */
export async function clear() {
	over.length = 0;
	level();
	if (leaving) await new Promise((/** @type {(v?: any) => void} */ done) => arrived.push(done));
}

/**
 * onBack calls close when the visitor wants to be rid of what lies over a screen: Back on a
 * phone, or Escape where the browser tells of that.
 * @param {() => void} close
 * @param {"dialog"|"page"} [kind] a dialog, which a browser with CloseWatcher closes by itself; or what looks like a page of its own, from which
 *   the Back of a computer leads, too: a CloseWatcher does not see that
 * @returns {() => void} ends it: Back is for what lies below again
 */
export function onBack(close, kind) {
	const Watcher = /** @type {{new (): EventTarget & {destroy: () => void}}|undefined} */ (/** @type {any} */ (window).CloseWatcher);
	if (Watcher && kind !== "page") {
		if (kind === "dialog") return () => {};
		const watcher = new Watcher();
		watcher.addEventListener("close", close);
		return () => watcher.destroy();
	}
	const layer = { close };
	over.push(layer);
	level();
	return () => {
		const i = over.indexOf(layer);
		if (i < 0) return;
		over.splice(i, 1);
		level();
	};
}
