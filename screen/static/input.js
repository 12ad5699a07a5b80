// @ts-check
import { CELL } from "./draw.js";
import { make } from "./scene.js";

/** @typedef {import("./board.js").Board} Board */

/** A finger moves this far, in pixels, before it drags. */
const SLOP = { mouse: 5, touch: 10, pen: 8 };

/** The magnifier's size on the screen in pixels, and how many points it shows. */
const LENS = 148, LENS_POINTS = 3.4;

/** Input lets pointers and the keyboard choose points of a board. */
export class Input {
	/**
	 * The press in progress. Its stamp is that of the board when it began: a
	 * press that began in another position has no effect.
	 * @type {{id: number, point: string|null, x: number, y: number, stamp: number, selected: boolean, aims: boolean, slop: number, carried: any}|null}
	 */
	#press = null;
	#pressed = -Infinity;

	/** @param {Board} board */
	constructor(board) {
		this.board = board;
		this.scene = board.scene;
		this.lens = make("div", "board-lens", { "aria-hidden": "true" });
		this.lens.hidden = true;
		const { box, grid } = this.scene;
		box.append(this.lens);
		box.addEventListener("pointerdown", (e) => this.#down(e));
		box.addEventListener("pointermove", (e) => this.#move(e));
		box.addEventListener("pointerup", (e) => this.#up(e));
		box.addEventListener("pointercancel", () => this.#abort());
		box.addEventListener("pointerleave", () => board.hover(null));
		box.addEventListener("contextmenu", (e) => board.may !== "none" && e.preventDefault());
		box.addEventListener("click", (e) => this.#click(e));
		grid.addEventListener("keydown", (e) => this.#key(e));
		grid.addEventListener("focusin", (e) => this.#focus(/** @type {HTMLElement} */ (e.target)));
	}

	/** @param {PointerEvent} e */
	#down(e) {
		this.#pressed = e.timeStamp;
		if (!e.isPrimary || this.#press) return this.#abort(); // a second finger: zooming
		if (e.button !== 0 || this.board.may === "none") return;
		const point = this.scene.pointAt(e.clientX, e.clientY);
		if (point === null) return this.board.cancel();
		const { board } = this, aims = board.mode === "aim";
		let selected = false;
		if (!aims && board.selectable(point) && (board.chosen.length === 0 || board.mode === "tap" && !board.legalNext(point)) && point !== board.chosen.at(-1)) {
			board.tap(point); // already on touching: it can be dragged from here
			selected = true;
		}
		this.#press = {
			id: e.pointerId, point, x: e.clientX, y: e.clientY, stamp: board.stamp, selected, aims, carried: null,
			slop: SLOP[/** @type {keyof typeof SLOP} */ (e.pointerType)] ?? 8,
		};
		this.scene.box.setPointerCapture(e.pointerId);
		if (aims) this.#aim(e);
	}

	/** @param {PointerEvent} e */
	#move(e) {
		const press = this.#press, { board } = this;
		if (!press) {
			if (e.pointerType === "mouse") board.hover(this.scene.pointAt(e.clientX, e.clientY));
			return;
		}
		if (e.pointerId !== press.id) return;
		if (press.stamp !== board.stamp) return this.#abort();
		if (press.aims) return this.#aim(e);
		if (!press.carried && Math.hypot(e.clientX - press.x, e.clientY - press.y) > press.slop && press.point === board.chosen[0] && board.chosen.length === 1 && board.aimed === null) {
			press.carried = this.scene.lift(/** @type {string} */ (press.point));
		}
		if (!press.carried) return;
		press.carried.move(e.clientX, e.clientY);
		this.scene.cursor(this.scene.pointAt(e.clientX, e.clientY)); // where it would land
	}

	/** @param {PointerEvent} e */
	#up(e) {
		this.#pressed = e.timeStamp; // a press may be long, and its click comes only now
		const press = this.#press, { board } = this;
		if (!press || e.pointerId !== press.id) return;
		this.#abort();
		if (press.stamp !== board.stamp) return;
		const point = this.scene.pointAt(e.clientX, e.clientY);
		if (press.aims) return point === null ? board.cancel() : board.tap(point);
		if (press.carried) {
			if (point !== null && point !== press.point) board.tap(point, { dragged: true });
		} else if (point !== null && point === press.point && !press.selected) {
			board.tap(point);
		}
	}

	/** abort ends a press without effect. */
	#abort() {
		this.#press?.carried?.drop();
		this.#press = null;
		this.lens.hidden = true;
		this.board.redrawCursor();
	}

	/** aim shows the crosshair at the point under the pointer, and for a finger the magnifier above it. @param {PointerEvent} e */
	#aim(e) {
		const { scene, lens } = this, point = scene.pointAt(e.clientX, e.clientY);
		scene.cursor(point);
		if (point === null || e.pointerType === "mouse") {
			lens.hidden = true;
			return;
		}
		if (lens.hidden) lens.replaceChildren(scene.copy());
		lens.hidden = false;
		lens.dataset.at = scene.name(point);
		const { x, y } = scene.geometry.place(point), size = LENS_POINTS * CELL;
		lens.firstElementChild?.setAttribute("viewBox", `${x - size / 2} ${y - size / 2} ${size} ${size}`);
		const box = scene.box.getBoundingClientRect(), above = e.clientY - LENS - 28 >= 0;
		const left = above ? e.clientX - LENS / 2 : e.clientX < innerWidth / 2 ? e.clientX + 48 : e.clientX - LENS - 48;
		lens.style.left = `${Math.max(0, Math.min(innerWidth - LENS, left)) - box.left}px`;
		lens.style.top = `${Math.max(0, above ? e.clientY - LENS - 28 : e.clientY - LENS / 2) - box.top}px`;
	}

	/** click is for assistive technology, which clicks without a pointer. @param {MouseEvent} e */
	#click(e) {
		const point = /** @type {HTMLElement} */ (e.target).dataset.point;
		if (point && e.timeStamp - this.#pressed > 1000) this.board.tap(point, { sure: this.board.mode === "aim" });
	}

	/** @param {KeyboardEvent} e */
	#key(e) {
		if (e.altKey || e.metaKey) return;
		const { scene, board } = this, { column, row } = scene.focus, { columns, rows } = scene.geometry;
		const go = (/** @type {number} */ c, /** @type {number} */ r) => scene.setFocus(c, r).focus();
		switch (e.key) {
			case "ArrowLeft": go(column - 1, row); break;
			case "ArrowRight": go(column + 1, row); break;
			case "ArrowUp": go(column, row - 1); break;
			case "ArrowDown": go(column, row + 1); break;
			case "Home": go(0, e.ctrlKey ? 0 : row); break;
			case "End": go(columns - 1, e.ctrlKey ? rows - 1 : row); break;
			case "PageUp": go(column, 0); break;
			case "PageDown": go(column, rows - 1); break;
			case "Escape": board.cancel(); break;
			case "Enter": case " ":
				// Keys do not slip: only who asked to confirm each move presses Enter twice.
				if (!e.repeat) board.tap(scene.geometry.name(column, row), { sure: board.mode === "aim" || board.aimed !== null });
				break;
			default: return;
		}
		e.preventDefault();
	}

	/** focus follows a click or a screen reader. @param {HTMLElement} cell */
	#focus(cell) {
		const { point } = cell.dataset;
		if (!point) return;
		const { column, row } = this.scene.geometry.cell(point);
		this.scene.setFocus(column, row);
	}
}

/** Bar has the buttons that confirm and take back, in a fixed place below the board. */
export class Bar {
	/** needed is false for those who only watch. */
	needed = false;
	/** over says that no move is made any more: the bar's place stays, so that nothing jumps, and is empty. */
	over = false;

	/** @param {Board} board */
	constructor(board) {
		this.board = board;
		this.back = make("button", "board-back", { type: "button", "data-act": "cancel" }, board.t("board.cancel"));
		this.play = make("button", "board-play", { type: "button", "data-act": "confirm" });
		this.back.addEventListener("click", () => board.cancel());
		this.play.addEventListener("click", () => board.confirm());
		this.ask = make("span", "board-ask");
		this.element = make("div", "board-bar", {}, this.back, this.ask, this.play);
		this.element.hidden = true;
	}

	draw() {
		// What was aimed at before a phone was turned waits still.
		const { board, back, play, ask } = this, tap = board.mode === "tap" && board.aimed === null;
		this.element.hidden = !this.needed || (tap && board.game.steps < 3);
		this.element.classList.toggle("over", this.over);
		back.toggleAttribute("disabled", board.chosen.length === 0);
		play.hidden = tap;
		ask.hidden = !tap;
		play.toggleAttribute("disabled", board.aimed === null);
		play.textContent = board.aimed !== null && board.game.steps === 1 ? board.t("board.play.point", { point: board.chosen[0] }) : board.t("board.play");
		ask.textContent = board.may === "move" && tap ? board.t(`board.ask.${["amazon", "target", "arrow"][board.chosen.length]}`) : "";
	}
}
