// What the search shows before a question: what was remembered today, and the last notes.
import { agent, api, clean, count, day, h, href, inPath, noteHref, titleOf, words } from "/static/app.js";
import { rendered } from "/static/snippet.js";

const shown = 8, excerptLines = 30; // the last notes, and the lines of those of today

// home promises the elements.
export async function home() {
	const [st, { days, today }] = await Promise.all([api("status"), api("activity")]);
	if (!st.index.fileCount && !st.skipped?.length) return emptyIndex(st);
	const [now, recent] = await Promise.all([remembered(today), last(days)]);
	const lacking = st.degraded.length || st.health.error;
	return [
		lacking && h("p", { class: "notice warn small" }, clean(st.degraded[0]?.text || "The model does not answer."), " ", h("a", { href: href("/state") }, "What to do")),
		h("div", { class: "columns home" },
			h("section", {}, h("h2", {}, "Remembered today"), now),
			h("section", {}, h("h2", {}, "Last notes"), h("ul", { class: "newest" }, recent.map((f) => h("li", {},
				words("a", { href: noteHref(f.path), "data-step": true }, titleOf(f.path, f.title)), h("span", { class: "small muted num" }, f.date && day(f.date) !== titleOf(f.path, f.title) ? day(f.date) : "")))),
			h("p", { class: "small" }, h("a", { href: href("/notes") }, `All ${count(st.index.fileCount, "note")}`)))),
	];
}

// remembered shows the notes of today.
async function remembered(today) {
	const { files } = await api("files", { since: today, until: today, page_size: 5 });
	const texts = await Promise.all(files.map((f) => api(`notes/${inPath(f.path)}`, { from: 1, lines: excerptLines }).catch(() => ({ text: "" }))));
	if (!files.length) return h("p", { class: "muted" }, "Nothing yet. What an agent remembers, or you write, shows up here.");
	return files.map((f, i) => h("article", { class: "excerpt" }, h("div", { class: "words" }, rendered(texts[i].text.replace(new RegExp(`^# ${today}\\s*`), ""), [], 1)),
		h("p", { class: "small" }, words("a", { href: noteHref(f.path), "data-step": true }, titleOf(f.path, f.title)))));
}

// last returns the last notes: those with the latest days, then those changed last.
async function last(days) {
	let since = "", notes = 0;
	for (const d of days.toReversed()) {
		if (notes >= shown) break;
		notes += d.notes;
		if (d.notes) since = d.date;
	}
	const dated = since ? (await api("files", { since, page_size: 10000 })).files.filter((f) => f.date).sort((a, b) => (a.date < b.date ? 1 : -1)) : [];
	if (dated.length >= shown) return dated.slice(0, shown);
	const known = new Set(dated.map((f) => f.path));
	const others = (await api("files", { page_size: 2000 })).files.filter((f) => !known.has(f.path)).sort((a, b) => String(b.modification_time).localeCompare(String(a.modification_time)));
	return [...dated, ...others].slice(0, shown);
}

// emptyIndex says what to do where there are no notes.
export function emptyIndex(st) {
	return h("section", { class: "empty" }, h("h1", {}, st.sync.syncing ? "The index is being made" : "Nothing to remember yet"),
		h("p", {}, st.sync.syncing ? "Your notes appear as they are indexed." : ["The folder ", h("span", { class: "path" }, clean(st.workspace)), " has no notes that the settings include."]),
		!st.sync.syncing && [h("p", {}, "Tell it something:"), h("pre", { class: "command" }, `kioku append --agent ${agent} "Lena is allergic to walnuts."`)]);
}
