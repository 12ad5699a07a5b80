// @ts-check
import { points } from "./draw.js";
import { Bar, Input } from "./input.js";
import { Scene, games, make } from "./scene.js";

/** @typedef {import("./types.js").View} View a position as the server describes it */
/** @typedef {Map<string, any>} Branch the points that may come next, each with its Branch; with the last point, the move's text */
/** @typedef {import("./types.js").Translate} Translate */
/** @typedef {{point: string, kind: string}} Marked */
/** @typedef {{move: string, ply: number, key: string}} Premove with the position in which it was chosen */

/** Points closer than this on the screen, in pixels, are aimed at. */
const SMALL = 32;

/** Legal points are shown up to this number; more would cover the board. */
const MOST_TARGETS = 60;

/**
 * Board draws a position and lets a person choose a move, by pointer or keyboard.
 * It knows no rules: what may be played is what the view lists.
 */
export class Board {
	/** @type {(move: string) => void} a move was decided; the board shows it as sent until show or pending(null) */
	onmove = () => {};
	/** @type {(refused: {from: string, to: string, kind?: string}) => void} the rules refuse what was tapped; kind is that of a forbidden point */
	onrefused = () => {};
	/** @type {(premove: Premove|null, lost: boolean) => void} a move for the next turn was chosen, or is none any more; lost: it can't be played */
	onpremove = () => {};
	/** @type {(point: string|null) => void} the point chosen last */
	onselect = () => {};

	/** @type {View|null} */ view = null;
	/** @type {string[]} points of the move, as far as chosen */
	chosen = [];
	/** @type {string|null} a move whose points are all chosen, to be confirmed */
	aimed = null;
	/** Counts what changes the meaning of a tap: positions, and whether one may move. */
	stamp = 0;

	/** @type {"move"|"premove"|"none"} */ #may = "none";
	/** @type {string|null} */ #sent = null;
	/** @type {Premove|null} the move for the next turn; set it before the first position is shown */ premove = null;
	/** @type {Branch|null} */ #tree = null;
	/** @type {Marked[]} */ #marks = [];
	/** @type {string[]} */ #arrows = [];
	/** @type {string|null} */ #hover = null;
	#flipped = false;

	/**
	 * @param {HTMLElement} element is filled with the board
	 * @param {{t: Translate, seat?: string, pieces?: string, input?: string, notation?: string}} options seat is the one at the bottom
	 */
	constructor(element, { t, ...options }) {
		this.t = t;
		this.element = element;
		this.options = { seat: "first", pieces: "characters", input: "auto", notation: "coordinates", ...options };
		this.scene = new Scene(t);
		this.bar = new Bar(this);
		this.live = make("div", "board-live", { "aria-live": "polite" });
		element.classList.add("board");
		element.append(this.scene.box, this.bar.element, this.live);
		new Input(this);
		new ResizeObserver(() => this.#draw()).observe(this.scene.box);
	}

	/** may says whether taps choose a move, a move for the next turn, or nothing. */
	get may() { return this.#may; }

	set may(may) {
		if (may === this.#may) return;
		this.#may = may;
		this.stamp++;
		this.#drop();
		this.element.dataset.may = may;
		if (may !== "none") this.bar.needed = true;
		this.#draw();
		this.#settle();
	}

	/** mode is how moves are made: "tap", "aim" (with a magnifier) or "confirm". */
	get mode() {
		const { input } = this.options;
		if (input === "tap" || input === "aim") return input;
		if (this.view && this.scene.spacing(this.view) < SMALL) return "aim";
		return input === "confirm" ? "confirm" : "tap";
	}

	/** game is what the board knows of the game on it. */
	get game() { return games[this.view?.game ?? "xiangqi"]; }

	/**
	 * show draws a position. What was chosen for another one is dropped.
	 * @param {View} view @param {{animate?: boolean}} [how]
	 */
	show(view, { animate = true } = {}) {
		const old = this.view;
		if (!old || old.key !== view.key || old.ply !== view.ply) {
			this.stamp++;
			this.#drop();
			this.#sent = null;
			this.#marks = [];
			this.#arrows = [];
		}
		this.view = view;
		this.#tree = null;
		this.#draw(animate);
		this.#settle();
	}

	/** pending shows a move as sent but not yet accepted; null takes it back. @param {string|null} move */
	pending(move) {
		if (move === this.#sent) return;
		this.stamp++;
		this.#sent = move;
		this.chosen = [];
		this.aimed = null;
		this.#draw(true);
	}

	/** mark puts marks on points: "hint", "best", "mistake" or "good". They go with the position. @param {Marked[]} marks */
	mark(marks) {
		this.#marks = marks;
		this.#draw();
	}

	/** arrow draws a line of moves. It goes with the position. @param {string[]} moves */
	arrow(moves) {
		this.#arrows = moves;
		this.#draw();
	}

	/** cancel takes back the last point chosen, or else the premove. */
	cancel() {
		if (this.chosen.length > 0) this.#choose(this.chosen.slice(0, -1));
		else this.#setPremove(null);
	}

	/** confirm plays the move that was aimed at. */
	confirm() {
		if (this.aimed !== null) this.#decide(this.aimed);
	}

	/** flip turns the board round. */
	flip() {
		this.#flipped = !this.#flipped;
		this.#draw();
	}

	/** set changes options: seat, pieces, input, notation. @param {Object<string, string>} options */
	set(options) {
		Object.assign(this.options, options);
		this.#draw();
	}

	/** say lets a screen reader say a text. @param {string} text */
	say(text) {
		this.live.replaceChildren(make("p", "", {}, text));
	}

	/** hover shows where a stone would go. @param {string|null} point */
	hover(point) {
		const hover = point && this.game.steps === 1 && this.#may === "move" && this.#sent === null && this.aimed === null && this.tree.has(point) ? point : null;
		if (hover === this.#hover) return;
		this.#hover = hover;
		this.#draw();
	}

	/** selectable reports whether a move can begin with a point and goes on to others. @param {string} point */
	selectable(point) {
		if (!this.view || this.game.steps === 1 || this.#sent !== null) return false;
		return this.#may === "move" ? this.tree.has(point) : this.#may === "premove" && this.#own(point);
	}

	/** legalNext reports whether a point may follow those chosen. @param {string} point */
	legalNext(point) { return this.#may === "move" && this.#next().has(point); }

	/** redrawCursor shows the crosshair where the person aims. */
	redrawCursor() { this.scene.cursor(this.aimed === null ? null : this.chosen.at(-1) ?? null); }

	/**
	 * tap chooses a point: the next one of a move, another piece, or, if it fits
	 * nothing, the end of the choice.
	 * @param {string} point
	 * @param {{sure?: boolean, dragged?: boolean}} [how] sure: with no need to confirm; dragged: a piece was carried there
	 */
	tap(point, { sure = false, dragged = false } = {}) {
		if (!this.view || this.#sent !== null || this.#may === "none") return;
		if (this.aimed !== null) {
			if (point === this.chosen.at(-1)) return sure ? this.confirm() : undefined;
			this.chosen = this.chosen.slice(0, -1);
			this.aimed = null;
		}
		if (this.#may === "premove") return this.#tapPremove(point, sure, dragged);
		const kind = this.game.steps === 1 && this.view.forbidden?.find((f) => f.point === point)?.kind;
		if (kind) return this.#refuse("", point, kind);
		const next = this.#next().get(point);
		if (next !== undefined) {
			if (typeof next === "string") this.#complete([...this.chosen, point], next, sure, dragged);
			else this.#choose([...this.chosen, point], dragged);
		} else if (point === this.chosen.at(-1)) {
			this.#choose(this.chosen.slice(0, -1));
		} else if (this.game.steps > 1 && this.tree.has(point)) {
			this.#choose([point]);
		} else if (this.game.steps === 1) {
			this.#refuse("", point);
		} else if (this.chosen.length > 0) {
			const from = this.chosen[0];
			this.#choose(this.chosen.slice(0, -1));
			this.#refuse(from, point);
		} else if (this.view.pieces[point]) {
			this.#refuse(point, "");
		}
	}

	/** @param {string} point @param {boolean} sure @param {boolean} dragged */
	#tapPremove(point, sure, dragged) {
		this.#setPremove(null);
		const { steps } = this.game;
		if (point === this.chosen.at(-1)) return this.#choose(this.chosen.slice(0, -1));
		const vacated = this.chosen.length === 2 && point === this.chosen[0]; // by the amazon, which may shoot there
		if (steps > 1 && (this.chosen.length === 0 || (this.#own(point) && !dragged && !vacated))) return this.#choose(this.#own(point) ? [point] : []);
		if (steps === 1 && this.view?.pieces[point]) return this.#refuse("", point);
		const chosen = [...this.chosen, point];
		if (chosen.length === steps) this.#complete(chosen, this.game.text(chosen), sure, dragged);
		else this.#choose(chosen);
	}

	/** own reports whether a piece of the seat that is not to act stands on a point. @param {string} point */
	#own(point) {
		const view = /** @type {View} */ (this.view), side = this.game.sides[view.pieces[point]];
		return side !== undefined && side === view.sides[view.turn === "first" ? 1 : 0];
	}

	/** tree has the legal moves, point by point. @returns {Branch} */
	get tree() {
		if (this.#tree) return this.#tree;
		this.#tree = new Map();
		for (const move of this.view?.moves ?? []) {
			let branch = this.#tree;
			const path = points(move), end = path.pop();
			for (const p of path) {
				if (!branch.has(p)) branch.set(p, new Map());
				branch = branch.get(p);
			}
			branch.set(end ?? "", move);
		}
		return this.#tree;
	}

	/** next has what may follow the points chosen. @returns {Branch} */
	#next() {
		return this.chosen.reduce((branch, p) => branch.get(p) ?? new Map(), this.tree);
	}

	/** @param {string[]} chosen @param {boolean} [dragged] the piece is already there */
	#choose(chosen, dragged = false) {
		this.chosen = chosen;
		this.aimed = null;
		this.#draw(!dragged);
		this.#askNext();
		this.onselect(chosen.at(-1) ?? null);
	}

	/** #askNext speaks what was chosen, and what is chosen next: who does not see the board gets no other answer. */
	#askNext() {
		const { chosen, game, t } = this, point = chosen.at(-1);
		if (game.steps === 1 || (!point && game.steps === 2)) return;
		const taken = point ? [this.scene.name(point), t("board.point.selected")].join(t("board.comma")) : "";
		this.say([taken, t(`board.ask.${["amazon", "target", "arrow"][chosen.length]}`)].filter(Boolean).join(t("board.then")));
	}

	/** complete ends the choice of a move: it is decided, or waits to be confirmed. @param {string[]} chosen @param {string} move @param {boolean} sure @param {boolean} dragged */
	#complete(chosen, move, sure, dragged) {
		if (this.mode === "tap" || sure) return this.#decide(move, !dragged);
		this.chosen = chosen;
		this.aimed = move;
		this.#draw(!dragged);
		this.onselect(chosen.at(-1) ?? null);
	}

	/** @param {string} move @param {boolean} [animate] */
	#decide(move, animate = true) {
		this.chosen = [];
		this.aimed = null;
		this.#hover = null;
		if (this.#may === "premove") return this.#setPremove(move);
		this.stamp++;
		this.#sent = move;
		this.#draw(animate);
		this.onmove(move);
	}

	/** @param {string} from @param {string} to @param {string} [kind] */
	#refuse(from, to, kind) {
		this.scene.flash([to || from]);
		this.onrefused({ from, to, kind });
	}

	/** drop shows that what was chosen no longer counts. */
	#drop() {
		if (this.chosen.length === 0) return;
		this.scene.flash(this.chosen);
		this.chosen = [];
		this.aimed = null;
		this.say(this.t("board.dropped"));
		this.onselect(null);
	}

	/** @param {string|null} move @param {boolean} [lost] */
	#setPremove(move, lost = false) {
		if (move === (this.premove?.move ?? null)) return;
		this.premove = move === null || !this.view ? null : { move, ply: this.view.ply, key: this.view.key };
		this.#draw();
		this.onpremove(this.premove, lost);
	}

	/**
	 * settle plays the premove once it is the person's turn, unless it has become illegal or loses
	 * at once. It is for the next turn only: none later, as when another device has moved, and none
	 * after a takeback.
	 */
	#settle() {
		const premove = this.premove, view = this.view;
		if (!premove || !view || this.#may === "none") return;
		const { move, ply, key } = premove, next = view.ply === ply + 1;
		if (view.key === key || (this.#may === "premove" && next)) return; // a position is shown before it may be played in
		const result = view.ends?.[move]?.result;
		const loses = result === "first" || result === "second" ? result !== view.turn : view.forbidden?.some((f) => f.point === move);
		const playable = this.#may === "move" && next && view.moves.includes(move) && !loses;
		this.#setPremove(null, !playable);
		if (playable) this.#decide(move);
		else this.scene.flash(points(move));
	}

	/** @param {boolean} [motion] */
	#draw(motion = false) {
		const view = this.view;
		if (!view) return;
		const turned = (this.options.seat === "second" && this.game.turns) !== this.#flipped;
		if (this.scene.layout(view, turned, this.options)) motion = false;
		const made = this.#sent ?? (this.#may === "move" ? this.aimed : null);
		const path = this.#sent !== null ? points(this.#sent) : this.#may === "move" ? this.chosen : [];
		const next = this.#may === "move" && this.#sent === null && this.aimed === null && (this.chosen.length > 0 || view.stage) ? [...this.#next().keys()] : [];
		this.scene.draw({
			view, chosen: this.chosen, aimed: this.aimed, hover: this.#hover,
			pieces: path.length > 0 && (path.length > 1 || made) ? this.game.after(view, made ?? "", path) : view.pieces,
			forbidden: this.#may === "move" ? view.forbidden ?? [] : [],
			last: this.#sent ?? view.last, sent: this.#sent !== null,
			targets: next.length <= MOST_TARGETS && (this.chosen.length > 0 || this.game.steps === 1) ? next : [],
			premove: (this.#may === "premove" && this.premove?.move) || null, marks: this.#marks, arrows: this.#arrows,
		}, motion);
		this.redrawCursor();
		this.bar.draw();
	}
}
