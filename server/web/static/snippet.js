// Text of notes as people read it: Markdown without its signs, without front matter and comments.
import { h, langOf } from "/static/app.js";
import { marked } from "/static/highlight.js";

const inlines = /(`+)(.+?)\1|!\[([^\]]*)\]\([^)]*\)|\[\[([^\]|]+)(?:\|([^\]]+))?\]\]|\[([^\]]+)\]\([^)]*\)|(\*\*|__)(?=\S)(.+?)\7|\*(?=\S)([^*]+?)\*|~~(.+?)~~/g;

// inline returns the nodes of a line: strong and emphasised words, code, and links by their text; terms are marked.
function inline(text, terms) {
	const nodes = [];
	let at = 0;
	for (const m of text.matchAll(inlines)) {
		const [, , code, image, target, alias, label, , strong, emphasis, struck] = m;
		nodes.push(marked(text.slice(at, m.index), terms));
		if (code !== undefined) nodes.push(h("code", {}, marked(code, terms)));
		else if (strong !== undefined) nodes.push(h("strong", {}, inline(strong, terms)));
		else if (emphasis !== undefined) nodes.push(h("em", {}, inline(emphasis, terms)));
		else if (struck !== undefined) nodes.push(h("s", {}, inline(struck, terms)));
		else nodes.push(marked(image ?? alias ?? target ?? label, terms));
		at = m.index + m[0].length;
	}
	return [...nodes, marked(text.slice(at), terms)];
}

// withoutFrontMatter takes the front matter, or what a snippet has of it, from the beginning of a note.
function withoutFrontMatter(text) {
	return text.replace(/^\s*(?:---[ \t]*\n)?(?:[\w-]+:(?: .*)?\n|[ \t]+\S.*\n|- .*\n)*---[ \t]*(?:\n|$)/, "").replace(/^---[ \t]*\n(?:[\w-]+:(?: .*)?(?:\n|$)|[ \t]+\S.*(?:\n|$)|- .*(?:\n|$))*$/, "");
}

// blocks are the kinds of lines by how they begin.
const heading = /^#{1,6}\s+(.*?)\s*#*$/, item = /^\s*(?:[-*+]|\d+[.)])\s+(?:\[([ xX])\]\s+)?(.*)$/, rule = /^\s*([-*_]\s*){3,}$/, row = /^\s*\|(.*)\|\s*$/;

// rendered returns the elements of a text of a note. A text from the first line of a note may begin with front matter.
export function rendered(text, terms = [], firstLine = 0) {
	if (firstLine === 1) text = withoutFrontMatter(text);
	const out = [];
	let list, fenced = false;
	for (const line of text.replace(/<!--[\s\S]*?(?:-->|$)/g, "").split("\n")) {
		const add = (cls, body) => { list = undefined; out.push(h("p", { class: cls, dir: "auto", lang: langOf(body) }, inline(body, terms))); };
		let m;
		if (/^\s*(```|~~~)/.test(line)) fenced = !fenced;
		else if (fenced) out.push(h("p", { class: "line" }, h("code", {}, marked(line, terms))));
		else if (!line.trim() || rule.test(line) || /^\s*\|[\s|:-]+\|\s*$/.test(line)) continue;
		else if ((m = heading.exec(line))) m[1] && add("hd", m[1]);
		else if ((m = item.exec(line))) {
			if (!list) out.push((list = h("ul", {})));
			list.append(h("li", { dir: "auto", lang: langOf(m[2]) }, m[1] && h("span", { role: "img", "aria-label": m[1] === " " ? "open" : "done" }, m[1] === " " ? "☐ " : "☑ "), inline(m[2], terms)));
		} else if ((m = row.exec(line))) add("line", m[1].split("|").map((c) => c.trim()).filter(Boolean).join(" · "));
		else add(undefined, line.replace(/^\s*(>\s*)+/, ""));
	}
	return out;
}
