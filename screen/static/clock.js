// @ts-check
// Time: the server's, as far as this device can know it, and the clocks of a game.

/** @typedef {import("./types.js").Clocks} Clocks */
/** @typedef {import("./types.js").Seat} Seat */

/**
 * ServerTime follows the server's clock by the monotonic clock of this device,
 * whose own time of day may be wrong or be set. Of the last samples the one with
 * the shortest way there and back is the best.
 */
export class ServerTime {
	/** @type {{offset: number, trip: number}[]} */
	#samples = [];
	#offset = Date.now() - performance.now();
	#doubted = false;

	/** doubt tests the next sample against the last ones: in a sleep the monotonic clock may have stood still. */
	doubt() {
		this.#doubted = true;
	}

	/**
	 * sample takes note of what the server's time was between two moments of this device.
	 * @param {number} server milliseconds since 1970
	 * @param {number} sent by performance.now()
	 * @param {number} got by performance.now()
	 */
	sample(server, sent, got) {
		const s = { offset: server - (sent + got) / 2, trip: got - sent };
		if (this.#doubted && Math.abs(s.offset - this.#offset) > s.trip / 2 + 50) this.#samples = [];
		this.#doubted = false;
		this.#samples.push(s);
		if (this.#samples.length > 8) this.#samples.shift();
		this.#offset = this.#samples.reduce((a, b) => (b.trip < a.trip ? b : a)).offset;
	}

	/** now is the server's time in milliseconds since 1970. */
	now() {
		return performance.now() + this.#offset;
	}

	/** lag is the usual way there and back in milliseconds, which moves claim. */
	lag() {
		const trips = this.#samples.map((s) => s.trip).sort((a, b) => a - b);
		return trips.length ? Math.round(trips[trips.length >> 1]) : 0;
	}
}

/**
 * Control is a time control in milliseconds.
 * @typedef {{kind: "unlimited"|"sudden"|"fischer"|"byo-yomi"|"move", initial: number, increment: number, periods: number, period: number}} Control
 */

/**
 * parse reads the protocol's text of a clock, null if it is none.
 * @param {string} text
 * @returns {Control|null}
 */
export function parse(text) {
	const c = { initial: 0, increment: 0, periods: 0, period: 0 };
	if (text === "unlimited") return { ...c, kind: "unlimited" };
	const m = /^(\d{1,6}(?:\.\d{1,3})?)(?:\+(\d{1,6}(?:\.\d{1,3})?)|\/(\d{1,3})x(\d{1,6}(?:\.\d{1,3})?)|(\/move))?$/.exec(text);
	if (!m) return null;
	const first = Number(m[1]) * 1000;
	if (m[5]) return first ? { ...c, kind: "move", period: first } : null;
	if (m[3]) {
		const periods = Number(m[3]), period = Number(m[4]) * 1000;
		return periods >= 1 && periods <= 100 && period ? { ...c, kind: "byo-yomi", initial: first, periods, period } : null;
	}
	const increment = Number(m[2] ?? 0) * 1000;
	if (!first && !increment) return null;
	return { ...c, kind: m[2] ? "fischer" : "sudden", initial: first, increment };
}

const minute = 60000;

/**
 * speed classifies a clock as the ratings do: by the time expected for 40 moves.
 * @param {string} text
 */
export function speed(text) {
	const c = parse(text);
	if (!c || c.kind === "unlimited") return "correspondence";
	const expected = c.initial + 40 * (c.increment + c.period);
	if (expected < 3 * minute) return "bullet";
	if (expected < 8 * minute) return "blitz";
	if (expected < 25 * minute) return "rapid";
	return expected < 24 * 60 * minute ? "classical" : "correspondence";
}

/** slow reports whether a game may last for days: nobody is expected to be there. @param {string} text */
export const slow = (text) => speed(text) === "correspondence";

/**
 * Reading is what a seat's clock shows: the time left, of the main time or of the
 * current period, and the byo-yomi periods left. Total is what is left until the flag falls.
 * @typedef {{ms: number, total: number, periods: number, running: boolean, limited: boolean}} Reading
 */

/**
 * read computes a seat's clock, elapsed milliseconds after the server wrote it.
 * @param {string} text the time control
 * @param {Clocks} clocks
 * @param {Seat} seat
 * @param {number} elapsed
 * @returns {Reading}
 */
export function read(text, clocks, seat, elapsed) {
	const control = parse(text);
	const at = clocks.seats[seat === "first" ? 0 : 1];
	const running = clocks.running === seat;
	if (!control || control.kind === "unlimited") return { ms: 0, total: 0, periods: 0, running, limited: false };
	let left = at.left_ms, used = running ? clocks.used_ms ?? 0 : 0;
	let periods = control.kind === "move" ? 1 : at.periods ?? 0;
	const spent = running ? Math.max(0, elapsed) : 0;
	if (!control.period) {
		left = Math.max(0, left - spent);
		return { ms: left, total: left, periods: 0, running, limited: true };
	}
	used += Math.max(0, spent - left);
	left = Math.max(0, left - spent);
	const gone = Math.min(Math.floor(used / control.period), periods - 1);
	if (gone > 0) {
		periods -= gone;
		used -= gone * control.period;
	}
	const ofPeriod = Math.max(0, control.period - used);
	const total = left + ofPeriod + (periods - 1) * control.period;
	return { ms: left > 0 ? left : ofPeriod, total: Math.max(0, total), periods: control.kind === "move" ? 0 : periods, running, limited: true };
}

/**
 * show writes a time: tenths below 10 s, otherwise whole seconds as long as any part
 * of one is left; days and hours from one day up.
 * @param {number} ms
 * @param {import("./types.js").Translate} t
 */
export function show(ms, t) {
	if (ms < 10000) return (Math.floor(ms / 100) / 10).toFixed(1);
	const s = Math.ceil(ms / 1000);
	const two = (/** @type {number} */ n) => String(n).padStart(2, "0");
	if (s >= 86400) return s % 86400 < 3600 ? t("clock.day_count", { n: Math.floor(s / 86400) }) : t("clock.days", { d: Math.floor(s / 86400), h: Math.floor((s % 86400) / 3600) });
	if (s >= 3600) return `${Math.floor(s / 3600)}:${two(Math.floor((s % 3600) / 60))}:${two(s % 60)}`;
	return `${Math.floor(s / 60)}:${two(s % 60)}`;
}

/**
 * whole writes a time in whole seconds, for what is no clock of a game.
 * @param {number} ms
 * @param {import("./types.js").Translate} t
 */
export const whole = (ms, t) => (ms < 10000 ? `0:0${Math.max(0, Math.floor(ms / 1000))}` : show(ms, t));

/**
 * label describes a time control in words.
 * @param {string} text
 * @param {import("./types.js").Translate} t
 */
export function label(text, t) {
	const c = parse(text);
	if (!c) return text;
	const main = c.initial % minute ? t("clock.seconds", { n: c.initial / 1000 }) : t("clock.minutes", { n: c.initial / minute });
	const seconds = (/** @type {number} */ ms) => t("clock.seconds", { n: ms / 1000 });
	switch (c.kind) {
		case "unlimited":
			return t("clock.unlimited");
		case "sudden":
			return main;
		case "fischer":
			return t("clock.fischer", { main, more: seconds(c.increment) });
		case "byo-yomi":
			return t("clock.byoyomi", { main, n: c.periods, period: seconds(c.period) });
	}
	const day = 1440 * minute;
	return t("clock.per_move", { period: c.period % day ? (c.period % minute ? seconds(c.period) : t("clock.minutes", { n: c.period / minute })) : t("clock.day_count", { n: c.period / day }) });
}
