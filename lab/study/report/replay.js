// @ts-check
// The script of a report: a game of the list is replayed on a board, with its clocks,
// winning chance and mistakes. Addresses are #g3 for the third game and #g3-24 for its
// position after 24 plies.

import { Board } from "../../../screen/static/board.js";
import { parse, show } from "../../../screen/static/clock.js";
import { fill, h, icon, put, say } from "../../../screen/static/dom.js";
import { points } from "../../../screen/static/draw.js";
import { Graph, mistake } from "../../../screen/static/graph.js";
import { number, spell, t, use } from "../../../screen/static/i18n.js";
import { Moves } from "../../../screen/static/list.js";

/** @typedef {{class: "inaccuracy"|"mistake"|"blunder", lost: number, line?: string[], text?: string[]}} Note */
/**
 * Data is a game as the report has it, see board in boards.go.
 * @typedef {{id: string, game: string, about: string, columns: number, rows: number, first_row: number, names: [string, string], sides: [string, string],
 *   clock: string, result: string, start: string, moves: string[], seats: string, written: string[], changes: string[], check?: Record<string, string>,
 *   row?: string[], used?: number[], left?: number[], depth?: number[], chance?: number[], notes?: Record<string, Note>, reviewed?: boolean}} Data
 */

const lang = document.documentElement.lang.startsWith("zh") ? "zh" : "en";
const json = (/** @type {string} */ id) => JSON.parse(document.getElementById(id)?.textContent ?? "null");
use(lang, [json("words")]);

const signs = { inaccuracy: "?!", mistake: "?", blunder: "??" };
const percent = (/** @type {number} */ permille) => number(permille / 1000, { style: "percent" });

/** changed makes the changes of a move on pieces. @param {Record<string, string>} pieces @param {string} text */
function changed(pieces, text) {
	const after = { ...pieces };
	for (const [, point, code] of text.matchAll(/([a-z]\d+)(\D)(?: |$)/g)) {
		if (code === "-") delete after[point];
		else after[point] = code;
	}
	return after;
}

/** Replay shows one game at a time. */
class Replay {
	/** @type {Data|null} */ data = null;
	/** @type {Record<string, string>[]} */ #pieces = [];
	/** @type {string[]} */ #names = [];
	#number = 0;
	#at = 0;
	#told = false; // the better move is shown on the board

	/** @param {number} games that have a board */
	constructor(games) {
		this.games = games;
		const button = (/** @type {string} */ act, /** @type {any} */ content, /** @type {() => void} */ onclick, css = "") =>
			h(`button.plain${css}`, { type: "button", "aria-label": t(`replay.${act}`), title: t(`replay.${act}`), data: { act }, onclick }, content);
		this.title = h("h2", { tabindex: -1, id: "replayed" });
		this.tops = [this.#seat("top"), this.#seat("bottom")];
		this.frame = h("div.board-frame");
		this.graph = new Graph({ label: "", go: (ply) => this.to(ply), describe: (ply) => this.#describe(ply) });
		this.steps = h("div.row.steps", { role: "group", "aria-label": t("review.steps") },
			button("first", "«", () => this.to(0)), button("back", icon("back"), () => this.to(this.#at - 1)),
			button("forward", icon("forward"), () => this.to(this.#at + 1)), button("last", "»", () => this.to(this.#last)),
			button("mistake", "?›", () => this.#toMistake(1)), button("flip", icon("flip"), () => this.board.flip()));
		this.verdict = h("div.verdict", { data: { verdict: "" } });
		this.list = new Moves(t, (ply) => this.to(ply));
		this.dialog = h("dialog.replay", { "aria-labelledby": "replayed", onkeydown: (/** @type {KeyboardEvent} */ e) => this.#key(e), onclose: () => this.#closed() },
			h("div.inside", null,
				h("header", null, button("close", icon("close"), () => this.dialog.close(), ".square"), this.title,
					button("previous", icon("back"), () => this.open(this.#number - 1), ".square"), button("next", icon("forward"), () => this.open(this.#number + 1), ".square")),
				this.tops[0].element, this.frame, this.tops[1].element,
				h("div.beside", null, this.steps, this.verdict, this.graph.element, this.list.element, h("p.keys.small.muted", null, t("replay.keys")))));
		document.body.append(this.dialog);
		this.board = new Board(this.frame, { t, notation: lang === "zh" ? "native" : "coordinates" });
		this.board.may = "none";
		this.frame.addEventListener("mousedown", (/** @type {MouseEvent} */ e) => e.preventDefault()); // a click leaves the arrow keys to the game
	}

	/** @param {"top"|"bottom"} place */
	#seat(place) {
		const side = h("i.side"), name = h("bdi.name"), colour = h("span"), time = h("span.time");
		return { side, name, colour, time, element: h(`div.seat.${place}`, null, side, h("div.who", null, name, " ", h("small.muted", null, colour)), time) };
	}

	get #last() { return this.data?.moves.length ?? 0; }

	/** open shows a game, from 1. @param {number} n @param {number} [ply] */
	open(n, ply = 0) {
		if (n < 1 || n > this.games) return;
		if (n !== this.#number) this.#load(n);
		if (!this.dialog.open) {
			this.dialog.showModal();
			this.title.focus();
		}
		this.#told = false;
		this.to(ply, true);
	}

	/** @param {number} n */
	#load(n) {
		const d = /** @type {Data} */ (this.data = json(`game-${n}`));
		this.#number = n;
		this.#pieces = [changed({}, d.start)];
		for (const change of d.changes) this.#pieces.push(changed(this.#pieces[this.#pieces.length - 1], change));
		this.#names = d.written.map((m) => spell(m, t));
		fill(this.title, h("bdi", null, d.names[0]), " – ", h("bdi", null, d.names[1]), h("small", null, `${n}/${this.games} · ${d.result} · ${d.about}`));
		this.dialog.classList.toggle("graphed", !!d.chance);
		this.graph.element.hidden = !d.chance;
		this.graph.element.setAttribute("aria-label", t("review.graph", { side: t(`side.${d.sides[0]}`) }));
		this.steps.querySelector('[data-act="mistake"]').disabled = !Object.keys(d.notes ?? {}).length;
		for (const [act, at] of [["previous", n - 1], ["next", n + 1]]) this.dialog.querySelector(`[data-act="${act}"]`).disabled = at < 1 || at > this.games;
		[1, 0].forEach((seat, i) => {
			const s = this.tops[i];
			s.side.dataset.side = d.sides[seat];
			put(s.name, d.names[seat]);
			put(s.colour, t(`side.${d.sides[seat]}`));
		});
		this.list.show(d.written, 0);
		for (const b of this.list.list.querySelectorAll("button")) {
			const found = d.notes?.[String(Number(b.dataset.ply) - 1)];
			if (found) b.append(h("span.sign", null, signs[found.class]));
		}
	}

	/** to shows the position after so many plies. @param {number} ply @param {boolean} [still] nothing is said */
	to(ply, still = false) {
		const d = this.data;
		if (!d) return;
		const animate = !still && Math.abs(ply - this.#at) === 1;
		this.#at = Math.min(Math.max(ply, 0), this.#last);
		if (animate) this.#told = false;
		history.replaceState(null, "", `#g${this.#number}${this.#at ? `-${this.#at}` : ""}`);
		this.board.show(this.#view(d, this.#at), { animate });
		const box = this.frame.querySelector("svg")?.viewBox.baseVal;
		if (box?.height) this.dialog.style.setProperty("--aspect", String(box.width / box.height));
		this.#draw(d);
		if (!still) say(this.#describe(this.#at));
	}

	/** @param {Data} d @param {number} at @returns {any} */
	#view(d, at) {
		return { game: d.game, columns: d.columns, rows: d.rows, first_row: d.first_row, ply: at, key: `${this.#number}/${at}`, pieces: this.#pieces[at], sides: d.sides,
			moves: [], last: d.moves[at - 1], check: d.check?.[at], row: at === this.#last ? d.row : undefined, outcome: { result: "none" } };
	}

	/** @param {Data} d */
	#draw(d) {
		const at = this.#at, found = d.notes?.[at - 1], next = d.notes?.[at];
		this.board.mark(found ? points(d.moves[at - 1]).slice(-1).map((point) => ({ point, kind: "mistake" })) : []);
		this.board.arrow(this.#told && next?.line ? next.line.slice(0, 1) : []);
		if (d.chance) this.graph.show(d.chance.map((c, i) => ({ turn: d.seats[i] === "1" ? "second" : "first", depth: 0, ...(c >= 0 ? { chance: c / 1000 } : {}), class: d.notes?.[i]?.class })), at);
		this.list.show(d.written, at);
		[1, 0].forEach((seat, i) => this.#clock(d, seat, this.tops[i].time));
		fill(this.verdict, h("span", null, this.#describe(at, false)),
			found && h(`p.found.${found.class}`, null, `${signs[found.class]} `, t(`review.${found.class}`, { lost: percent(found.lost) })),
			found?.text && !this.#same(d, at - 1) && h("p", null, t("report.better"), " ", found.text.map((m) => spell(m, t)).join(" "), " ",
				h("button.plain", { type: "button", data: { act: "better" }, onclick: () => this.#better(at - 1) }, t("replay.better"))),
			this.#told && next?.text && h("p", null, t("report.better"), " ", next.text.map((m) => spell(m, t)).join(" ")),
			at === this.#last && h("p", null, h("b", null, d.result)));
	}

	/** same reports whether the line begins with the move that was played. @param {Data} d @param {number} ply */
	#same(d, ply) { return d.notes?.[ply]?.line?.[0] === d.moves[ply]; }

	/** better shows the better move in the position before a mistake. @param {number} ply */
	#better(ply) {
		this.#told = true;
		this.to(ply, true);
		this.title.focus();
	}

	/** clock shows what a seat has left after its last move. @param {Data} d @param {number} seat @param {HTMLElement} time */
	#clock(d, seat, time) {
		let i = this.#at - 1;
		while (i >= 0 && Number(d.seats[i]) !== seat) i--;
		const control = parse(d.clock), limited = control && control.kind !== "unlimited";
		const ms = i >= 0 ? d.left?.[i] : limited ? control.initial : undefined;
		time.hidden = !d.left || ms === undefined;
		if (ms !== undefined) put(time, show(ms, t));
		time.toggleAttribute("data-on", this.#at > 0 && i === this.#at - 1);
	}

	/** describe says in words what stands at a ply. @param {number} ply @param {boolean} [whole] */
	#describe(ply, whole = true) {
		const d = this.data;
		if (!d) return "";
		const parts = [ply ? `${ply}. ${this.#names[ply - 1]}` : t("game.beginning")], used = d.used?.[ply - 1], depth = d.depth?.[ply - 1], chance = d.chance?.[ply];
		if (used) parts.push(t("replay.used", { n: number(used / 1000, { maximumFractionDigits: used < 100 ? 3 : used < 1000 ? 2 : 1 }) }));
		if (depth) parts.push(t("replay.depth", { n: depth }));
		if (chance !== undefined && chance >= 0) parts.push(t("review.chance", { side: t(`side.${d.sides[0]}`), chance: percent(chance) }));
		const found = d.notes?.[ply - 1];
		if (whole && found) parts.push(t(`review.${found.class}`, { lost: percent(found.lost) }));
		return parts.join(" · ");
	}

	/** @param {1|-1} step */
	#toMistake(step) {
		const d = /** @type {Data} */ (this.data);
		const all = /** @type {any[]} */ (Array.from({ length: this.#last + 1 }, (_, i) => d.notes?.[i] ?? null));
		const ply = mistake(all, this.#at, step) ?? (step > 0 ? mistake(all, 0, 1) : undefined);
		if (ply !== undefined) this.to(ply);
	}

	/** @param {KeyboardEvent} e */
	#key(e) {
		const from = /** @type {HTMLElement} */ (e.target);
		if (e.ctrlKey || e.metaKey || e.altKey || from.closest("input, [role=slider]")) return;
		/** @type {Record<string, () => void>} */
		const keys = { ArrowLeft: () => this.to(this.#at - 1), ArrowRight: () => this.to(this.#at + 1), Home: () => this.to(0), End: () => this.to(this.#last),
			PageUp: () => this.#toMistake(-1), PageDown: () => this.#toMistake(1), f: () => this.board.flip(), n: () => this.open(this.#number + 1), p: () => this.open(this.#number - 1) };
		const act = keys[e.key];
		if (!act || (from.closest("[role=grid]") && e.key.length > 1)) return; // on the board the arrows go from point to point
		e.preventDefault();
		act();
	}

	#closed() {
		history.replaceState(null, "", "#");
		const link = /** @type {HTMLElement|null} */ (document.querySelector(`.games-list a[href="#g${this.#number}"]`));
		link?.focus();
	}
}

/** @type {Replay|undefined} */
let replay;

/** follow opens what the address names. */
function follow() {
	const found = /^#g(\d+)(?:-(\d+))?$/.exec(location.hash), games = document.querySelectorAll('script[id^="game-"]').length;
	if (!found || !games) return;
	replay ??= new Replay(games);
	replay.open(Number(found[1]), Number(found[2] ?? 0));
}
addEventListener("hashchange", follow);
follow();

for (const input of document.querySelectorAll("[data-filter]")) {
	const box = /** @type {HTMLInputElement} */ (input), paragraph = /** @type {HTMLElement} */ (box.closest("p"));
	const rows = [...(paragraph.nextElementSibling?.querySelectorAll("tbody tr") ?? [])];
	paragraph.hidden = rows.length < 20;
	box.addEventListener("input", () => {
		const words = box.value.toLowerCase().split(/\s+/);
		for (const row of rows) /** @type {HTMLElement} */ (row).hidden = !words.every((w) => row.textContent?.toLowerCase().includes(w));
	});
}
