// A page with one board, for the tests of the board. What the board says to its
// page is in the list "told".
import { Board } from "/static/board.js";

const query = new URLSearchParams(location.search);
const texts = await (await fetch(`/static/${query.get("lang") ?? "en"}.json`)).json();
const missing = (window.missing = []);
const t = (key, vars = {}) => {
	if (!(key in texts)) missing.push(key);
	return (texts[key] ?? key).replace(/\{(\w+)\}/g, (_, name) => vars[name]);
};

const told = (window.told = []);
const board = (window.board = new Board(document.getElementById("board"), { t, ...Object.fromEntries(query) }));
board.onmove = (move) => told.push(`move ${move}`);
board.onrefused = ({ from, to, kind }) => told.push(`refused ${[from, to, kind].filter(Boolean).join(" ")}`);
board.onpremove = (premove, lost) => told.push(`premove ${premove && premove.move}${lost ? " lost" : ""}`);

// show draws the position after the moves, as the server describes it.
window.show = async (rules, moves = "", position = "") => {
	const answer = await fetch(`/view?${new URLSearchParams({ rules, moves, position })}`);
	if (!answer.ok) throw new Error(await answer.text());
	board.show(await answer.json());
};
window.ready = true;
