// @ts-check
// Keeps the list of the games being played up to date, until somebody stops that.

import { freshly, still } from "./dom.js";

const every = 10_000; // milliseconds; a request that takes longer is given up
const list = /** @type {HTMLElement|null} */ (document.querySelector("[data-list]"));
const button = /** @type {HTMLButtonElement|null} */ (document.querySelector("[data-act=pause]"));
const old = /** @type {HTMLElement|null} */ (document.querySelector("[data-old]"));
let paused = false, asking = false;

/** links of a list, by their addresses. @param {Element} of @returns {Map<string|null, Element>} */
const links = (of) => new Map([...of.querySelectorAll("li > a")].map((a) => [a.getAttribute("href"), a]));

/** show takes over what has changed, so that the focus stays where it is. @param {Element} next */
function show(next) {
	const old = links(/** @type {HTMLElement} */ (list));
	const rows = [...links(next)].map(([address, a]) => {
		const here = old.get(address);
		if (!here) return /** @type {Element} */ (a.parentElement);
		if (here.innerHTML !== a.innerHTML) here.replaceChildren(...a.childNodes);
		return /** @type {Element} */ (here.parentElement);
	});
	const ul = list?.querySelector("ul");
	if (!ul || rows.length !== old.size || rows.some((row, i) => ul.children[i] !== row)) {
		const shown = next.querySelector("ul");
		if (!ul || !shown) return list?.replaceChildren(...next.childNodes);
		for (const row of [...ul.children]) if (!rows.includes(row)) row.remove();
		rows.forEach((row, i) => ul.children[i] !== row && ul.insertBefore(row, ul.children[i] ?? null));
	}
}

async function update() {
	if (paused || asking || document.hidden) return;
	asking = true;
	const text = await fetch(location.href, { signal: AbortSignal.timeout(every) })
		.then((answer) => (answer.ok ? answer.text() : ""))
		.catch(() => "");
	asking = false;
	const next = new DOMParser().parseFromString(text, "text/html").querySelector("[data-list]");
	if (paused) return;
	still("live", () => {
		if (next) show(next);
		if (old && !!old.textContent === !!next) {
			old.textContent = next ? "" : old.dataset.old ?? "";
			freshly(/** @type {HTMLElement} */ (list)); // it has moved
		}
	});
}

if (list && button) {
	button.hidden = false;
	button.onclick = () => {
		paused = !paused;
		button.setAttribute("aria-pressed", String(paused));
		if (!paused) void update();
	};
	setInterval(update, every);
	document.addEventListener("visibilitychange", update);
	addEventListener("online", update);
}
