// @ts-check
// The page's texts in the visitor's language.

/** @type {Record<string, string>} */
let words = {};

/** The language of the page: "en" or "zh". */
export let lang = "en";

let late = ""; // the language whose words for what is not a game are there, too

/** @param {string} name @returns {Promise<Record<string, string>>} */
async function fetched(name) {
	const answer = await fetch(new URL(`./${name}.json`, import.meta.url), { signal: AbortSignal.timeout(20000) });
	if (!answer.ok) throw new Error(`${name}.json: ${answer.status}`);
	return answer.json();
}

/**
 * load fetches the dictionaries of a language: that of a game and, once it was needed,
 * that of all else.
 * @param {"en"|"zh"} language
 */
export const load = (language) => Promise.all([language, ...(late ? [`${language}.late`] : [])].map(fetched));

/**
 * use makes the dictionaries of a language those of the page.
 * @param {"en"|"zh"} language
 * @param {Record<string, string>[]} dictionaries as load fetched them
 */
export function use(language, dictionaries) {
	words = Object.assign({}, ...dictionaries);
	late = dictionaries.length > 1 ? language : "";
	lang = language;
	document.documentElement.lang = language === "zh" ? "zh-Hans" : "en";
}

/** more adds the words for what is not a game, once. */
export async function more() {
	while (late !== lang) {
		const language = lang, found = await fetched(`${language}.late`);
		if (language === lang) {
			Object.assign(words, found);
			late = language;
		}
	}
}

/**
 * preferred is the language that the browser asks for.
 * @returns {"en"|"zh"}
 */
export function preferred() {
	for (const l of navigator.languages ?? [navigator.language]) {
		if (/^zh\b/i.test(l)) return "zh";
		if (/^en\b/i.test(l)) return "en";
	}
	return "en";
}

/** @param {string} key */
export const has = (key) => Object.hasOwn(words, key);

/**
 * t returns the text of a key, with {name} replaced by what vars has of that name,
 * and {name|one|many} by one of two words, as its number asks.
 * @type {import("./types.js").Translate}
 */
export function t(key, vars) {
	const text = Object.hasOwn(words, key) ? words[key] : key;
	return vars ? text.replace(/\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g, (whole, name, one, many) => String(one === undefined ? vars[name] ?? whole : Number(vars[name]) === 1 ? one : many)) : text;
}

/**
 * rules names a rule set. Parameters without a name of their own are shown as they are.
 * @param {string} name
 */
export function rules(name) {
	const parts = name.split("+"), base = parts.map((_, i) => parts.slice(0, parts.length - i).join("+")).find((b) => has(`rules.${b}`));
	return base ? t(`rules.${base}`) + name.slice(base.length) : name;
}

/**
 * spell writes a move of the list; what an opening procedure decides has words.
 * @param {string} move
 * @param {import("./types.js").Translate} t
 */
export function spell(move, t) {
	const fifths = /^fifths-(\d+)$/.exec(move);
	if (fifths) return t("move.fifths", { n: fifths[1] });
	const offer = /^offer:(.+)$/.exec(move);
	if (offer) return t("move.offer", { point: offer[1] });
	return has(`move.${move}`) ? t(`move.${move}`) : move;
}

/**
 * refusal returns the sentence for an answer that refuses a request.
 * @param {{code: string, reason?: string, name?: string}} answer
 */
export function refusal(answer) {
	const keys = [`error.${answer.reason}`, `error.${answer.code}`];
	return t(keys.find(has) ?? "error.unavailable", { name: nameIn(answer.name ?? "") });
}

/**
 * number writes a number as the language does.
 * @param {number} n
 * @param {Intl.NumberFormatOptions} [options]
 */
export const number = (n, options) => new Intl.NumberFormat(lang, options).format(n);

/** nameIn is a name as the page's language has it: whole, unless it is a level's or that of a guest, which has a number. Others may call themselves like a level, and are not taken for one. @param {string} name @param {boolean} [level] */
export function nameIn(name, level) {
	const [, english, chinese] = /^(.+) · (.*\p{Script=Han}.*)$/u.exec(name) ?? [];
	const number = (/** @type {string} */ text) => /\d+$/.exec(text)?.[0];
	return chinese && (level || (number(english) && number(english) === number(chinese))) ? (lang === "zh" ? chinese : english) : name;
}
