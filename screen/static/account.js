// @ts-check
// Who the visitor is: the name that others see, and the way to another device.

import { ask, dialog, note } from "./dialog.js";
import { fill, h, put } from "./dom.js";
import { nameIn, refusal } from "./i18n.js";
import { load } from "./late.js";

/** @typedef {import("./types.js").Page} Page */

const within = 20000; // milliseconds that an answer may take: on a connection that has died none comes

/** @param {string} path @param {object} [body] */
async function post(path, body = {}) {
	const answer = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal: AbortSignal.timeout(within) }).catch(() => null);
	const content = await answer?.json().catch(() => null);
	return { ok: !!answer?.ok, ...content };
}

/**
 * open shows the dialog of the visitor's account.
 * @param {Page} page
 */
export function open(page) {
	const { t, me } = page;
	return dialog(t("account.title"), (close) => {
		const known = nameIn(me?.name ?? "");
		const name = h("input", { type: "text", name: "name", value: known, maxlength: 24, autocomplete: "nickname", required: true });
		const wrong = h("p.error", { role: "alert" });
		const device = h("div.waiting", { hidden: true });
		const rename = async (/** @type {Event} */ e) => {
			e.preventDefault();
			if (name.value === known) return close(); // a guest's stays one that each reads in their language
			const answer = await post("/api/name", { name: name.value });
			if (!answer.ok) return put(wrong, refusal(answer));
			page.socket.replace(); // the next welcome has the new name
			close();
			note(t("account.renamed", { name: answer.name }));
		};
		const move = async () => {
			const answer = await post("/api/link");
			if (!answer.ok) return put(wrong, refusal(answer));
			const { link } = await load("invite");
			device.hidden = false;
			fill(device, h("p", null, t("account.link_about")), link(answer.url, t("account.link"), t));
			device.scrollIntoView({ block: "end" });
		};
		const others = async () => {
			const answer = await post("/api/logout", { others: true });
			if (!answer.ok) return put(wrong, refusal(answer));
			note(t("account.others_done"));
		};
		const erase = async () => {
			if (!(await ask(t("account.erase_ask"), t("account.erase_about"), { yes: t("account.erase"), act: "erase", danger: true }))) return;
			page.forget(true);
			const answer = await post("/api/erase");
			if (!answer.ok) {
				page.forget(false);
				return put(wrong, refusal(answer));
			}
			await dialog(t("account.erased"), (close) => h("div.row", null, h("button.main", { type: "button", "data-act": "erased", onclick: () => close() }, t("page.back"))), { act: "erased" });
			location.assign("/");
		};
		return [
			h("form", { onsubmit: rename }, h("label", null, t("account.name"), name), h("p.id", null, me?.player),
				h("div.row", null, h("button.main", { type: "submit", "data-act": "rename" }, t("account.rename")))),
			wrong,
			me?.player && h("p", null, h("a", { href: `/player/${me.player}` }, t("player.yours"))),
			h("h3", null, t("account.device")), h("p.small.muted", null, t("account.device_about")),
			h("button", { type: "button", "data-act": "device-link", onclick: move }, t("account.device_link")), device,
			h("h3", null, t("account.leave")),
			h("div.row", null,
				h("button", { type: "button", "data-act": "sign-out-others", onclick: others }, t("account.others")),
				h("button.danger", { type: "button", "data-act": "erase", onclick: erase }, t("account.erase"))),
		];
	}, { act: "account" });
}
