// @ts-check
// The page's connection to its gateway: one WebSocket, replaced whenever it may be
// dead. What was asked and not answered is asked again with the same id.

import { ServerTime } from "./clock.js";

/** @typedef {import("./types.js").Request} Request */
/** @typedef {import("./types.js").Answer} Answer */
/** @typedef {import("./types.js").Connection} Connection */

const checkEvery = 500, pingEvery = 1000; // milliseconds
const silence = 2100; // without a word from the gateway for so long, and for as long as the last trip there and back took, the connection is lost
const slowestTrip = 6000; // a longer trip is one of a tab that was frozen
const opening = 5000; // a socket that has not opened by then is given up; the next ones get longer
const askAgain = 4000; // a request without an answer is sent again on the same socket
const slowest = 3000; // longest pause between attempts
const tooMany = 4029; // the gateway closes with this code when a person has too many tabs

/** newID makes an id of the protocol's form with 80 random bits. */
export function newID() {
	const letters = "abcdefghijklmnopqrstuvwxyz234567";
	return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => letters[b & 31]).join("");
}

/** Socket is the connection of this tab. */
export class Socket {
	/** @type {Connection} */
	state = "connecting";
	/** @type {import("./types.js").Welcome|null} */
	welcome = null;
	time = new ServerTime();

	/** @type {WebSocket|null} */
	#ws = null;
	#ready = false; // the welcome has come
	#made = 0; // when the socket was made, by performance.now()
	#heard = 0; // when the gateway was heard last
	#trip = 0; // how long the last ping took there and back; on a new socket, how long that took to open, which is longer
	#checked = performance.now();
	#pinged = 0;
	#n = 0;
	/** @type {Map<number, number>} when each ping was sent */
	#pings = new Map();
	#attempts = 0; // since a pong came
	/** @type {ReturnType<typeof setTimeout>|undefined} */
	#retry;
	/** @type {Map<string, Set<(message: any) => void>>} */
	#listeners = new Map();
	/** @type {Map<string, {message: Request, sent: number, done: (a: Answer) => void}>} */
	#pending = new Map();
	/** @type {Map<string, {request: Request, answered: (a: Answer) => void}>} */
	#followed = new Map();

	/** start connects, and keeps connected for as long as the page lives. */
	start() {
		setInterval(() => this.#check(), checkEvery);
		document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.replace());
		addEventListener("pagehide", () => this.#drop()); // a page kept for going back to it would hold its socket
		addEventListener("pageshow", (e) => e.persisted && this.replace());
		addEventListener("online", () => this.replace());
		addEventListener("offline", () => this.#lost());
		this.replace();
	}

	/**
	 * on calls f with each message of a kind ("state", "lobby", ...); of the kind
	 * "status" with the connection's state.
	 * @param {string} kind
	 * @param {(message: any) => void} f
	 * @returns {() => void} stops it
	 */
	on(kind, f) {
		const set = this.#listeners.get(kind) ?? new Set();
		this.#listeners.set(kind, set.add(f));
		return () => set.delete(f);
	}

	/**
	 * send asks the gateway and resolves with its answer, however many sockets that takes.
	 * @param {Request} request
	 * @returns {Promise<Answer>}
	 */
	send(request) {
		const id = newID();
		return new Promise((done) => {
			this.#pending.set(id, { message: { ...request, id }, sent: 0, done });
			this.#flush();
		});
	}

	/**
	 * follow sends a request now and on each new socket, until unfollow.
	 * @param {string} key
	 * @param {Request} request
	 * @param {(a: Answer) => void} [answered] is called with the answer of each time
	 */
	follow(key, request, answered = () => {}) {
		this.#followed.set(key, { request, answered });
		this.#sendFollowed(key);
	}

	/** @param {string} key */
	#sendFollowed(key) {
		const followed = this.#followed.get(key);
		if (followed) void this.send(followed.request).then((a) => this.#followed.get(key) === followed && followed.answered(a));
	}

	/**
	 * unfollow stops to follow, and tells the gateway.
	 * @param {string} key
	 * @param {Request} last
	 */
	unfollow(key, last) {
		if (this.#followed.delete(key)) this.send(last);
	}

	/** replace makes a new socket, whatever the state of the present one says. */
	replace() {
		clearTimeout(this.#retry);
		this.#drop();
		const ws = new WebSocket(new URL("/ws", location.href.replace(/^http/, "ws")));
		this.#ws = ws;
		this.#made = this.#heard = performance.now();
		this.time.doubt();
		ws.onmessage = (e) => ws === this.#ws && this.#receive(String(e.data));
		ws.onclose = (e) => {
			if (ws !== this.#ws) return;
			if (e.code === tooMany) this.#emit("crowded", null);
			this.#lost();
		};
		if (this.state === "connected") this.#set("connecting");
	}

	/** #drop closes the present socket and listens to it no more. */
	#drop() {
		const ws = this.#ws;
		this.#ws = null;
		this.#ready = false;
		this.#pings.clear();
		if (!ws) return;
		ws.onmessage = ws.onclose = null;
		ws.close();
	}

	#lost() {
		this.#drop();
		this.#set("lost");
		clearTimeout(this.#retry);
		const pause = Math.min(slowest, 250 * 2 ** this.#attempts++);
		this.#retry = setTimeout(() => this.replace(), pause * (0.75 + Math.random() / 2));
	}

	/** @param {Connection} state */
	#set(state) {
		if (this.state === state) return;
		this.state = state;
		this.#emit("status", state);
	}

	#check() {
		const now = performance.now();
		const held = now - this.#checked > 2 * silence; // the timers stood still: nothing is known of the time since
		this.#checked = now;
		if (!this.#ws) return;
		if (!this.#ready) {
			if (now - this.#made > opening * Math.min(4, 1 + this.#attempts)) this.#lost();
			else if (now - this.#made > silence) this.#set("lost");
			return;
		}
		if (held) this.#heard = now;
		if (now - this.#heard > silence + Math.min(this.#trip, slowestTrip)) return this.#lost();
		if (now - this.#pinged >= pingEvery - 50) this.#ping(now);
		for (const p of this.#pending.values()) if (now - p.sent > askAgain) this.#transmit(p, now);
	}

	/** @param {number} now */
	#ping(now) {
		this.#pinged = now;
		this.#pings.set(++this.#n, now);
		this.#ws?.send(JSON.stringify({ t: "ping", id: newID(), n: this.#n }));
	}

	/** @param {string} text */
	#receive(text) {
		const now = performance.now();
		this.#heard = now;
		const m = JSON.parse(text);
		switch (m.t) {
			case "welcome":
				return this.#open(m, now);
			case "pong": {
				const sent = this.#pings.get(m.n);
				if (sent === undefined) return;
				for (const n of this.#pings.keys()) if (n <= m.n) this.#pings.delete(n);
				this.#attempts = 0;
				this.#trip = now - sent;
				this.time.sample(Date.parse(m.server_time), sent, now);
				return;
			}
			case "call": // the gateway asks whether the scripts run
				return this.#ping(now);
			case "answer": {
				const p = this.#pending.get(m.id);
				this.#pending.delete(m.id);
				p?.done(m);
				return;
			}
		}
		this.#emit(m.t, m);
	}

	/** @param {import("./types.js").Welcome} m @param {number} now */
	#open(m, now) {
		this.#ready = true;
		this.#trip = now - this.#made;
		this.welcome = m;
		this.time.sample(Date.parse(m.server_time), this.#made, now);
		this.#ping(now);
		const waiting = [...this.#pending.values()];
		for (const [key, { request }] of this.#followed) {
			if (!waiting.some((p) => p.message.t === request.t && p.message.game === request.game)) this.#sendFollowed(key);
		}
		for (const p of waiting) p.sent = 0;
		this.#flush();
		this.#set("connected");
		this.#emit("welcome", m);
	}

	#flush() {
		if (!this.#ready) return;
		for (const p of this.#pending.values()) if (!p.sent) this.#transmit(p, performance.now());
	}

	/** @param {{message: Request, sent: number}} p @param {number} now */
	#transmit(p, now) {
		if (this.#ws?.readyState !== WebSocket.OPEN) return;
		p.sent = now;
		this.#ws.send(JSON.stringify(p.message));
	}

	/** @param {string} kind @param {any} message */
	#emit(kind, message) {
		for (const f of [...(this.#listeners.get(kind) ?? [])]) f(message);
	}
}
