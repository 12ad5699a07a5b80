// @ts-check
// The start screen: choose a game and play, or go on with one that is running.

import { label, parse, whole } from "./clock.js";
import { note } from "./dialog.js";
import { fill, freshly, h, put, still } from "./dom.js";
import { has, nameIn, number, refusal } from "./i18n.js";
import { load } from "./late.js";
import { learn, ratingOf } from "./players.js";
import { accepts, choice, clocks, games, handicapsOf, lastGame, pick, remember, suggested, termsOf, usualClock } from "./terms.js";

/** @typedef {import("./types.js").Page} Page */
/** @typedef {import("./types.js").Lobby} Lobby */
/** @typedef {import("./types.js").Opponent} Opponent */
/** @typedef {import("./terms.js").GameName} GameName */

/** A picture of each game; the colours are those of the page. */
const pictures = {
	xiangqi: '<svg viewBox="0 0 48 48" aria-hidden="true"><g fill="none" stroke="var(--edge)"><path d="M4 14h40M4 34h40M14 4v40M34 4v40M14 14l20 20M34 14L14 34"/></g><circle cx="24" cy="24" r="12" fill="var(--paper)" stroke="var(--red)" stroke-width="2"/><circle cx="24" cy="24" r="9" fill="none" stroke="var(--red)"/><text x="24" y="28.5" text-anchor="middle" font-size="12" font-weight="700" font-family="Sparring Xiangqi, serif" fill="var(--red)">帥</text></svg>',
	gomoku: '<svg viewBox="0 0 48 48" aria-hidden="true"><g fill="none" stroke="var(--edge)"><path d="M2 10h44M2 24h44M2 38h44M10 2v44M24 2v44M38 2v44"/></g><g stroke="var(--edge)"><circle cx="10" cy="38" r="6" fill="#1b1a18"/><circle cx="24" cy="24" r="6" fill="#1b1a18"/><circle cx="38" cy="10" r="6" fill="#1b1a18"/><circle cx="10" cy="24" r="6" fill="#fbfaf5"/><circle cx="24" cy="10" r="6" fill="#fbfaf5"/></g></svg>',
	amazons: '<svg viewBox="0 0 48 48" aria-hidden="true"><path d="M2 2h15v15H2zM31 2h15v15H31zM17 17h14v14H17zM2 31h15v15H2zM31 31h15v15H31z" fill="var(--edge)" opacity=".25"/><path d="M12 36l24-24" stroke="var(--accent)" stroke-width="2" stroke-dasharray="3 3"/><g stroke="var(--edge)" stroke-width="1.2"><path d="M5 43l-1-9 4 3 2-6 2 6 4-3-1 9z" fill="#fbfaf5" transform="translate(-.5 -.5)"/><path d="M34 15l-1-9 4 3 2-6 2 6 4-3-1 9z" fill="#1b1a18"/></g><circle cx="24" cy="24" r="3.5" fill="var(--accent)"/></svg>',
};

/**
 * open shows the start screen.
 * @param {HTMLElement} root
 * @param {Page} page
 * @returns {import("./types.js").Screen}
 */
export function open(root, page) {
	return new Start(root, page);
}

class Start {
	idle = true;
	/** @type {Lobby|null} */
	#lobby = null;
	/** @type {GameName} */
	#game = lastGame();
	#choice = choice(this.#game);
	#starting = false;
	/** @type {ReturnType<typeof import("./ladder.js").panel>|undefined} */
	#panel;
	#closed = false;
	#ready = () => {};
	/** @type {(() => void)[]} */
	#ends = [];
	/** @type {import("./terms.js").Handicap[]} those of the rules */
	#offered = [];
	#drawn = new Map(); // what each part was drawn from: a part is drawn again only when that changes

	/** @param {HTMLElement} root @param {Page} page */
	constructor(root, page) {
		this.root = root;
		this.page = page;
		const t = page.t;
		document.documentElement.dataset.screen = "start";
		root.className = "start";
		this.news = h("div", { hidden: true });
		this.level = h("div");
		this.wait = h("p.muted", { role: "status", "data-busy": "", hidden: true });
		this.button = h("button.main", { type: "submit", "data-act": "play" });
		this.friend = h("button", { type: "button", "data-act": "invite", onclick: () => this.#invite() }, t("start.friend"));
		this.begin = h("div.row", null, this.button, this.friend);
		this.more = h("div.fields");
		this.clock = h("div");
		this.mine = h("section", { hidden: true, "aria-labelledby": "mine" });
		this.watch = h("section", null);
		this.ladder = h("div", { hidden: true });
		this.rules = h("a", null, t("page.rules"));
		fill(
			root,
			h("h1", null, t("start.title")),
			h("form.setup", { onsubmit: (/** @type {Event} */ e) => (e.preventDefault(), this.#play()) },
				h("fieldset", null, h("legend.sr", null, t("start.game")), h("div.games", null, Object.keys(games).map((g) => this.#card(/** @type {GameName} */ (g))))),
				this.news,
				h("div.card.setup", null, this.level, this.clock, this.wait,
					this.begin,
					h("details", { data: { more: "" } }, h("summary", null, t("start.more")), this.more))),
			h("div.aside", null, this.ladder, this.mine, this.watch),
			h("footer.foot.small", null, this.rules),
		);
		this.#draw();
		this.#ends.push(page.socket.on("lobby", (m) => still("lobby", () => this.#closed || this.#update(m))));
		this.#ends.push(page.socket.on("welcome", () => this.#draw()));
		const timer = setInterval(() => this.#tick(), 1000);
		this.#ends.push(() => clearInterval(timer));
		page.socket.follow("lobby", { t: "lobby", on: true });
	}

	close() {
		this.#closed = true;
		for (const end of this.#ends) end();
		this.page.socket.unfollow("lobby", { t: "lobby", on: false });
	}

	/** @param {GameName} game */
	#card(game) {
		const picture = h("span", null);
		picture.innerHTML = pictures[game];
		return h("label", { data: { choose: game } },
			h("input", { type: "radio", name: "game", value: game, checked: game === this.#game, onchange: () => this.#choose(game) }),
			picture.firstChild, this.page.t(`game.${game}`));
	}

	/** @param {GameName} game */
	#choose(game) {
		this.#game = game;
		this.#choice = choice(game);
		this.#draw();
	}

	/** @param {Partial<import("./terms.js").Choice>} change */
	#set(change) {
		Object.assign(this.#choice, change);
		if (this.#choice.rated && this.#choice.clock === "unlimited") this.#choice.clock = usualClock; // a rated game has a clock
		remember(this.#game, this.#choice);
		this.#draw();
	}

	/** @param {Lobby} lobby */
	#update(lobby) {
		this.#lobby = lobby;
		learn(lobby.opponents);
		this.#ready();
		const { offsetTop } = this.button;
		this.#draw();
		if (this.button.offsetTop !== offsetTop) freshly(this.begin); // they have moved, maybe under a finger
	}

	/** #part draws a part of the screen if what it shows has changed. @param {string} name @param {any} from @param {() => void} draw */
	#part(name, from, draw) {
		const text = JSON.stringify(from);
		if (this.#drawn.get(name) === text) return;
		this.#drawn.set(name, text);
		draw();
	}

	/** #levels are the levels of the game's bots, with the one that stands for each. */
	#levels() {
		const terms = termsOf(this.#game, this.#choice);
		/** @type {Map<number, {bot: Opponent, free: boolean, takes: boolean, rests: boolean}>} */
		const levels = new Map();
		for (const bot of this.#lobby?.opponents ?? []) {
			if (bot.game !== this.#game || !bot.level) continue;
			const old = levels.get(bot.level), takes = accepts(bot, terms);
			const free = takes && !bot.busy;
			levels.set(bot.level, { bot: !old || takes ? bot : old.bot, free: free || !!old?.free, takes: takes || !!old?.takes, rests: !!bot.resting && (old?.rests ?? true) });
		}
		return [...levels].sort((a, b) => a[0] - b[0]).map(([level, of]) => ({ level, ...of }));
	}

	#draw() {
		const levels = this.#levels(), c = this.#choice;
		this.rules.href = `/rules/${this.#game}`;
		if (levels.length && !levels.some((l) => l.level === c.level && l.takes)) {
			const near = levels.filter((l) => l.takes).sort((a, b) => Math.abs(a.level - c.level) - Math.abs(b.level - c.level))[0];
			if (near) c.level = near.level;
		}
		this.#part("level", [this.#game, levels, c.level], () => this.#drawLevels(levels));
		this.#part("clock", [this.#game, c.clock], () => this.#drawClock());
		this.#part("more", [this.#game, c.rules, c.rated], () => this.#drawMore());
		this.#showMore();
		this.#drawPlay(levels);
		const l = this.#lobby;
		const next = l ? suggested(l.results, this.#game, l.opponents ?? []) : 0;
		this.#part("news", [this.#game, next], () => this.#drawNews(next));
		if (l?.ladder && !this.#panel) void this.#openLadder();
		this.#panel?.show(l?.ladder ?? [], this.#game);
		this.#part("mine", [l?.mine, l?.waiting], () => this.#drawMine());
		this.#part("watch", [l?.running, this.page.me?.player], () => this.#drawWatch());
	}

	/** @param {any[]} levels */
	#drawLevels(levels) {
		const t = this.page.t, c = this.#choice;
		const chosen = levels.find((l) => l.level === c.level);
		const rating = chosen?.bot.rating;
		fill(
			this.level,
			h("fieldset", null, h("legend.label", null, t("start.level")),
				h("div.levels", null, levels.map((l) =>
					h("label", { data: { level: l.level, ...(l.rests && { rests: "" }) } },
						h("input", { type: "radio", name: "level", value: l.level, checked: l.level === c.level, disabled: !l.takes, "aria-label": t("level.name", { n: l.level }), onchange: () => this.#set({ level: l.level }) }), l.level)))),
			h("p.about", null, chosen && [h("b", null, t("level.name", { n: c.level })), " ",
				rating && h("span.num.muted", { data: { rating } }, t("game.rating", { n: ratingOf(rating) })), h("br"),
				has(`level.${c.level}`) && t(`level.${c.level}`)]),
		);
	}

	#drawClock() {
		const t = this.page.t, c = this.#choice;
		const list = clocks.includes(c.clock) ? clocks : [c.clock, ...clocks];
		fill(this.clock,
			h("label", null, t("start.clock"),
				h("select", { name: "clock", onchange: (/** @type {any} */ e) => this.#set({ clock: e.target.value }) },
					list.map((text) => h("option", { value: text, selected: text === c.clock }, label(text, t))))));
	}

	#drawMore() {
		const t = this.page.t, c = this.#choice;
		const select = (/** @type {string} */ key, /** @type {string[]} */ values, /** @type {(v: string) => string} */ name) =>
			h("label", null, t(`start.${key}`),
				h("select", { name: key, onchange: (/** @type {any} */ e) => this.#set({ [key]: e.target.value }) },
					values.map((v) => h("option", { value: v, selected: v === /** @type {any} */ (c)[key] }, name(v)))));
		const check = (/** @type {"rated"|"strict"} */ key) =>
			h("label.check", null, h("input", { type: "checkbox", name: key, checked: c[key], onchange: (/** @type {any} */ e) => this.#set({ [key]: e.target.checked, ...(e.target.checked && key === "rated" && c.position && { position: "", seat: "" }) }) }),
				h("span", null, t(`start.${key}`), h("small", null, t(`start.${key}_about`))));
		fill(
			this.more,
			select("rules", games[this.#game], (v) => t(`rules.${v}`)),
			select("seat", ["", "first", "second"], (v) => t(v ? `start.seat_${v}_${this.#game}` : "start.seat_any")),
			this.#ownClock(),
			!c.rated && this.#handicaps(),
			!c.rated && h("label", null, t("start.position"), h("input", { name: "position", type: "text", value: c.position, maxlength: 500, autocomplete: "off", spellcheck: "false", onchange: (/** @type {any} */ e) => this.#set({ position: e.target.value.trim() }) })),
			h("div", null, check("rated"), check("strict")),
		);
	}

	/** #showMore shows what was chosen in fields that stay: with the end of typing in one, another may just be being tapped. */
	#showMore() {
		const c = this.#choice, handicap = this.#offered.find((x) => x.position === c.position)?.name ?? "";
		for (const [name, value] of [["seat", c.seat], ["position", c.position], ["handicap", handicap]]) {
			const field = this.more.querySelector(`[name="${name}"]`);
			if (field && field.value !== value) field.value = value;
		}
	}

	/** #handicaps offers the handicaps of the rules: each is a position, and the seat that it helps. */
	#handicaps() {
		const t = this.page.t, rules = this.#choice.rules;
		const list = h("select", { name: "handicap" }, h("option", { value: "" }, t("start.handicap_none")));
		const field = h("label", { hidden: true }, t("start.handicap"), list);
		this.#offered = [];
		void handicapsOf(rules).then((all) => {
			if (!all.length || rules !== this.#choice.rules) return;
			field.hidden = false;
			this.#offered = all;
			list.append(...all.map((x) => h("option", { value: x.name }, t(`handicap.${x.name}`))));
			this.#showMore();
			list.onchange = () => {
				const chosen = all.find((x) => x.name === list.value);
				this.#set(chosen ? { position: chosen.position, seat: chosen.weaker } : { position: "", seat: "" });
			};
		});
		return field;
	}

	/** #ownClock enters a clock freely, in the numbers that people say. */
	#ownClock() {
		const t = this.page.t, now = parse(this.#choice.clock);
		const field = (/** @type {string} */ name, /** @type {number} */ value, /** @type {number} */ max) =>
			h("label", null, t(`start.own_${name}`), h("input", { type: "number", name: `own_${name}`, inputmode: "decimal", min: 0, max, step: name === "minutes" ? "any" : 1, value }));
		const fields = [
			field("minutes", (now?.initial ?? 0) / 60000, 10080), field("increment", (now?.increment ?? 0) / 1000, 3600),
			field("periods", now?.periods ?? 0, 100), field("period", (now?.period ?? 0) / 1000, 86400),
		];
		const wrong = h("p.error", { role: "alert" });
		const use = () => {
			const [minutes, increment, periods, period] = fields.map((f) => Number(f.querySelector("input").value) || 0);
			const initial = Math.round(minutes * 60 * 1000) / 1000;
			const text = periods ? `${initial}/${periods}x${period}` : period && !initial && !increment ? `${period}/move` : increment ? `${initial}+${increment}` : String(initial);
			const left = increment && (periods || period || !initial) || period && initial && !periods; // a number that the clock would not have, or no time for the first move
			const right = !left && parse(text);
			fill(wrong, !right && t("start.own_wrong"));
			if (right) this.#set({ clock: text });
		};
		return h("details", null, h("summary", null, t("start.own")), h("div.fields", null, fields), wrong,
			h("button", { type: "button", "data-act": "own-clock", onclick: use }, t("start.own_use")));
	}

	/** @param {any[]} levels */
	#drawPlay(levels) {
		const t = this.page.t, chosen = levels.find((l) => l.level === this.#choice.level);
		const connected = !!this.#lobby;
		const busy = connected && !!chosen?.takes && !chosen.free;
		const none = connected && !levels.some((l) => l.takes);
		this.wait.hidden = !busy && !none;
		const words = none ? t("start.none") : busy ? t(chosen.rests ? "start.rests" : levels.some((l) => l.free) ? "start.busy" : "start.all_busy") : "";
		if (this.wait.textContent !== words) this.wait.textContent = words;
		this.button.disabled = this.#starting || none;
		this.button.textContent = this.#starting ? t("start.starting") : busy ? t("start.wait") : t("start.play");
		this.friend.disabled = this.#starting;
	}

	/** @param {number} level */
	#drawNews(level) {
		const t = this.page.t;
		this.news.hidden = !level;
		if (!level) return fill(this.news);
		const up = level > Number(this.#lobby?.results?.filter((r) => r.game === this.#game).at(-1)?.level);
		fill(this.news, h("div.offer", null, h("p", null, t(up ? "start.won_twice" : "start.lost_twice")),
			h("button.main", { type: "button", "data-act": "next-level", onclick: () => (this.#set({ level }), this.#play()) }, t("start.try_level", { n: level }))));
	}

	/** #openLadder adds the ladder, where there is one. */
	async #openLadder() {
		const { panel } = await load("ladder");
		if (this.#panel || this.#closed) return;
		const made = (this.#panel = panel(this.page));
		this.#ends.push(() => made.close());
		fill(this.ladder, made.element);
		this.ladder.hidden = false;
		this.#draw();
	}

	#drawMine() {
		const t = this.page.t, mine = this.#lobby?.mine ?? [], waiting = this.#lobby?.waiting ?? [];
		this.mine.hidden = !mine.length && !waiting.length;
		fill(
			this.mine, h("h2", { id: "mine" }, t("start.mine")),
			h("ul.lines", null,
				mine.map((g) => h("li", { data: { mine: g.game } },
					h("div.grow", null, h("a", { href: `/game/${g.game}` }, t(`game.${g.rules.split("/")[0]}`), " · ", nameIn(g.opponent, g.level)), h("div.small.muted", null, t("start.ply", { n: g.ply }), " · ", label(g.clock, t))),
					h(g.my_turn ? "span.tag.on" : "span.tag", null, this.#turn(g)))),
				waiting.map((w) => h("li", { data: { waiting: w.invite ?? w.game } },
					h("div.grow", null, t(w.invite ? "start.waiting_friend" : "start.waiting_bot"), h("div.small.muted", null, t(`game.${w.terms.game}`), " · ", label(w.terms.clock, t))),
					w.token && h("a.button", { href: `/invite/${w.token}`, "data-act": "show-link" }, t("start.link")),
					w.game && h("a.button", { href: `/game/${w.game}` }, t("start.link")),
					h("button.plain", { type: "button", "data-act": "withdraw", onclick: () => this.#cancel(w) }, t("page.cancel"))))),
		);
	}

	/** #turn says whose turn it is and, if it is the visitor's, how much time is left. @param {import("./types.js").Mine} g */
	#turn(g) {
		const t = this.page.t;
		if (!g.my_turn) return t("start.their_turn");
		if (!g.left_ms) return t("start.my_turn");
		const spent = g.running ? this.page.socket.time.now() - Date.parse(g.since) : 0;
		return t("start.my_turn_left", { time: whole(Math.max(0, g.left_ms - Math.max(0, spent)), t) });
	}

	#tick() {
		for (const g of this.#lobby?.mine ?? []) {
			const tag = this.mine.querySelector(`[data-mine="${g.game}"] .tag`);
			if (tag) put(tag, this.#turn(g));
		}
	}

	/** #cancel takes back what waits. @param {import("./types.js").Waiting} w */
	async #cancel(w) {
		const answer = await this.page.socket.send(w.invite ? { t: "uninvite", token: w.invite } : { t: "withdraw", game: w.game });
		if (answer.code !== "accepted" && answer.code !== "duplicate") note(refusal(answer));
	}

	#drawWatch() {
		const t = this.page.t, n = this.#lobby?.running ?? 0, me = this.page.me?.player;
		fill(this.watch, h("h2", null, t("start.watch")), h("p.muted", null, n ? t("start.running", { n: number(n) }) : t("start.running_none")), n > 0 && h("a.button", { href: "/games" }, t("start.live")),
			me && h("p", null, h("a", { href: `/player/${me}` }, t("player.yours"))));
	}

	/**
	 * #ask sends a request of the setup as this visitor, and says why it was refused. A screen that
	 * follows may be slow to load: until then nothing else can be asked for.
	 * @param {import("./types.js").Request} request @param {(answer: import("./types.js").Answer) => any} then
	 */
	async #ask(request, then) {
		this.#starting = true;
		this.#draw();
		try {
			await this.page.session();
			if (this.#closed) return;
			const answer = await this.page.socket.send(request);
			if (answer.code === "accepted" || answer.code === "duplicate") await then(answer);
			else note(refusal(answer));
		} finally {
			this.#starting = false;
			this.#draw();
		}
	}

	async #play() {
		if (!this.#lobby) await new Promise((/** @type {(v?: any) => void} */ done) => (this.#ready = done));
		const c = this.#choice, terms = termsOf(this.#game, c);
		const bot = pick(this.#lobby?.opponents ?? [], terms, c.level);
		if (!bot || this.#starting) return;
		remember(this.#game, c);
		await this.#ask({ t: "play", terms, opponent: bot.player, ...(c.seat && { seat: c.seat }) },
			({ game }) => game && !this.#closed && this.page.go(`/game/${game}`)); // else the news of the page tell of it
	}

	async #invite() {
		const c = this.#choice, terms = termsOf(this.#game, c);
		remember(this.#game, c);
		await this.#ask({ t: "invite", terms, ...(c.seat && { seat: c.seat }) },
			({ token }) => token && (this.#closed ? note(this.page.t("invite.made")) : this.page.go(`/invite/${token}`)));
	}
}
