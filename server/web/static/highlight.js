// Marks the terms of a query in a text. The engine compares stems; here a word matches a term that begins alike, which marks the
// same words in nearly all cases. Texts without spaces between words match by their characters.
import { h, clean } from "/static/app.js";

const spaceless = /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f]/;
const word = /[\p{L}\p{M}\p{N}_]+(?:['’.\-][\p{L}\p{N}_]+)*/gu;

// fold takes case and accents from a text without changing its length where that is possible.
function fold(text) {
	const folded = text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
	return folded;
}

// termsOf returns the terms that a result matched; "lighthuose ~ lighthouse" matched the second. Without a trace, all of the query.
export function termsOf(trace, query = "") {
	if (trace?.terms?.length) return trace.terms.map((t) => t.term.split(" ~ ").pop());
	return query.split(/\s+/).filter((t) => t.length > 1 || spaceless.test(t));
}

// alike reports whether a word is a form of a term.
function alike(a, b) {
	if (a === b) return true;
	let same = 0;
	while (same < a.length && same < b.length && a[same] === b[same]) same++;
	const short = Math.min(a.length, b.length), long = Math.max(a.length, b.length);
	return same >= 3 && same >= short - 1 && long - same <= 4 && !/\d/.test(a + b);
}

// ranges returns the parts of a text that match terms, as [start, end] in order, without overlaps.
export function ranges(text, terms) {
	const found = [];
	const folded = terms.map(fold);
	const plain = folded.filter((t) => t && !spaceless.test(t)), dense = terms.filter((t) => spaceless.test(t)).map((t) => t.toLowerCase());
	const parts = new Set(plain.flatMap((t) => t.match(word) || []));
	for (const m of text.matchAll(word)) {
		const w = fold(m[0]);
		const pieces = w.match(/[\p{L}\p{N}_]+/gu) || [];
		if ([...parts].some((t) => alike(w, t) || (pieces.length > 1 && pieces.some((p) => alike(p, t))))) found.push([m.index, m.index + m[0].length]);
	}
	const lower = text.toLowerCase();
	for (const t of lower.length === text.length ? dense : []) {
		for (let at = lower.indexOf(t); at >= 0; at = lower.indexOf(t, at + 1)) found.push([at, at + t.length]);
	}
	found.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
	const merged = [];
	for (const r of found) {
		const last = merged.at(-1);
		if (last && r[0] <= last[1]) last[1] = Math.max(last[1], r[1]);
		else merged.push([...r]);
	}
	return merged;
}

// marked returns a text as nodes in which terms are marked.
export function marked(text, terms) {
	const nodes = [];
	let at = 0;
	text = clean(text);
	for (const [start, end] of ranges(text, terms)) {
		nodes.push(text.slice(at, start), h("mark", {}, text.slice(start, end)));
		at = end;
	}
	return [...nodes, text.slice(at)];
}

// markIn marks terms in all texts within an element.
export function markIn(el, terms) {
	const walker = document.createTreeWalker(el, NodeFilter.SHOW_TEXT);
	const texts = [];
	while (walker.nextNode()) texts.push(walker.currentNode);
	for (const text of texts) {
		if (text.data.trim() && ranges(text.data, terms).length) text.replaceWith(...marked(text.data, terms));
	}
}
