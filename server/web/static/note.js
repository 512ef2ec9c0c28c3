// What the reader adds to a note on request: the borders of its chunks, and what a search matched in it.
import { api, clean, count, errorBox, h, inPath, replace } from "/static/app.js";
import { changing, isPinned, pinning } from "/static/forget.js";
import { markIn, termsOf } from "/static/highlight.js";
import { bar, legend, trace } from "/static/score.js";

const note = document.querySelector(".note");
const text = document.getElementById("text");
const { path, query } = note.dataset;

// Elements of the text with the range of their lines, in order.
const blocks = [...text.querySelectorAll("[data-line]")].map((el) => {
	const [first, last] = el.dataset.line.split("-").map(Number);
	return { el, first, last };
});

// Chunk borders.

const button = document.getElementById("chunks");

// borderOf returns the element that tells of a chunk.
function borderOf(c, i, all) {
	const overlap = i > 0 ? all[i - 1].end_line - c.start_line + 1 : 0;
	const parts = [
		`Passage ${i + 1} of ${all.length}`, `lines ${c.start_line}–${c.end_line}`, `about ${count(c.tokens, "token")}`, c.embedded ? "vector" : "no vector",
		overlap > 0 && `repeats ${count(overlap, "line")}`, c.date, c.language && `words as in “${c.language}”`,
	];
	return h("div", { class: "chunk-border", role: "note" }, parts.filter(Boolean).join(" · "));
}

// place puts a border before the first block that begins at a line, outside of lists and tables as far as the border fits there.
function place(border, line) {
	const at = blocks.find((b) => b.first >= line) || blocks.find((b) => b.last >= line);
	if (!at) {
		text.prepend(border);
		return;
	}
	let el = at.el;
	while (el.parentElement !== text && !(el.tagName === "LI" && el.previousElementSibling)) el = el.parentElement;
	if (el.tagName === "LI") border = h("li", { class: "chunk-item" }, border);
	el.before(border);
}

async function showChunks() {
	if (button.getAttribute("aria-pressed") === "true") {
		text.querySelectorAll(".chunk-item, .chunk-border").forEach((el) => el.remove());
		button.setAttribute("aria-pressed", "false");
		return;
	}
	button.disabled = true;
	try {
		const { chunks, skipped } = await api(`chunks/${inPath(path)}`);
		const first = blocks[0]?.first || 1, last = blocks.at(-1)?.last || Infinity;
		chunks.forEach((c, i) => c.start_line <= last && c.end_line >= first && place(borderOf(c, i, chunks), c.start_line));
		if (!chunks.length) text.prepend(h("div", { class: "chunk-border" }, skipped ? `No passages: ${clean(skipped)}` : "No passages: the note has no text."));
		button.setAttribute("aria-pressed", "true");
	} catch (err) {
		text.before(errorBox(err));
	} finally {
		button.disabled = false;
	}
}

button.addEventListener("click", showChunks);

// Forget, correct and pin: what is selected in the text is proposed.

document.getElementById("pin").hidden = isPinned(path);
const change = document.getElementById("change"), done = () => location.reload();
const asks = { pin: (text) => pinning(change, text), correct: (text) => changing(change, { correct: true, text, done }), forget: (text) => changing(change, { text, done }) };
for (const [id, ask] of Object.entries(asks)) {
	const open = document.getElementById(id);
	open.addEventListener("pointerdown", (event) => event.preventDefault()); // keeps the selection
	open.addEventListener("click", () => ask(String(getSelection()).trim().slice(0, 300)));
}

// What matched.

async function showMatch() {
	const panel = document.getElementById("matched");
	const line = Number(note.dataset.first) || 1;
	panel.hidden = false;
	try {
		const e = await api("explain", {}, { body: { query, path, line } });
		markIn(text, e.passage ? termsOf(e.passage.trace) : e.terms);
		const p = e.passage;
		replace(panel,
			h("p", { class: "row small" }, h("span", {}, "For ", h("strong", { dir: "auto" }, clean(query))),
				p && h("a", { href: `#L${firstBlock(p.startLine)}` }, `lines ${p.startLine}–${p.endLine}`), p && h("span", { class: "score num" }, p.score.toFixed(2)), p && bar(p)),
			p ? [legend([p]), h("details", {}, h("summary", { class: "small muted" }, "Why this score"), trace(p))] : h("p", { class: "small" }, clean(e.text || "This passage was no candidate.")));
	} catch (err) {
		replace(panel, errorBox(err));
	}
}

// firstBlock returns the first line of the block that contains a line.
const firstBlock = (line) => (blocks.find((b) => b.last >= line) || { first: line }).first;

if (query) showMatch();
if (!location.hash && Number(note.dataset.first)) document.querySelector(".hit")?.scrollIntoView({ block: "center" });
else if (/^#L\d+$/.test(location.hash) && !document.querySelector(location.hash)) {
	// The line is within a block that begins before it.
	document.getElementById(`L${firstBlock(Number(location.hash.slice(2)))}`)?.scrollIntoView();
}
