// Search as you type. The address has the state of the search, so that it can be shared.
import { agent, announce, api, clean, count, day, debounce, errorBox, h, langOf, latest, noteHref, replace, titleOf, url, words } from "/static/app.js";
import { changing, isPinned, pinning } from "/static/forget.js";
import { termsOf } from "/static/highlight.js";
import { home } from "/static/home.js";
import { bar, legend, trace } from "/static/score.js";
import { rendered } from "/static/snippet.js";
import { decide, knownHref, period } from "/static/unit.js";

const form = document.getElementById("search");
const field = form.elements.q;
const answer = document.getElementById("answer");
const said = document.getElementById("said");
const why = document.getElementById("why");
// took is how long the last answer took, and typed when the key was pressed that it answers.
let shown = 10, took = 20, typed = 0, composing = false;

// state returns the search that the form describes.
function state() {
	const f = form.elements;
	return { q: field.value.trim(), since: f.since.value, until: f.until.value, folder: f.folder.value.trim(), tags: f.tags.value.trim(), n: shown > 10 ? shown : "" };
}

// request returns the search as a request.
function request(s) {
	const tags = s.tags.split(/[\s,]+/).map((t) => t.replace(/^#/, "")).filter(Boolean);
	return { query: s.q, since: s.since, until: s.until, path_prefix: s.folder, max_results: shown, explain: true, max_snippet_chars: 500,
		filter: tags.length ? [{ field: "tags", op: "in", values: tags }] : [] };
}

// ask answers a search; of several at a time only the last.
const ask = latest((signal, s) => api("search", {}, { signal, body: request(s) }));

// asked is the number of searches without an answer.
let asked = 0;

async function search() {
	const s = state();
	const { q, ...rest } = s;
	history.replaceState(null, "", url(location.pathname, { agent: new URLSearchParams(location.search).get("agent"), q, ...rest }));
	document.title = q ? `${q} · Kioku` : "Search · Kioku";
	if (!q) {
		showStart();
		return;
	}
	const begun = performance.now();
	try {
		asked++;
		answer.setAttribute("aria-busy", "true");
		const response = await ask(s);
		if (!response) return;
		took = performance.now() - begun;
		showAnswer(s, response);
		showTime(performance.now() - (typed || begun));
		typed = 0;
		showKnown(s.q);
	} catch (err) {
		replace(said);
		replace(answer, errorBox(err, search));
	} finally {
		if (--asked === 0) answer.removeAttribute("aria-busy");
	}
}

const known = document.getElementById("known");
const askKnown = latest((signal, query) => api("units", { query, limit: 3 }, { signal }));
// derived promises whether derivation is on.
const derived = api("derive/status").then((s) => s.enabled, () => false);

// showKnown shows what is derived about a query, beside the passages. An answer without it lacks nothing.
async function showKnown(query) {
	if (!await derived) return;
	try {
		const got = await askKnown(query);
		if (got && query === field.value.trim()) {
			replace(known, got.units.length > 0 && h("ul", { class: "panel" }, got.units.map((u) => h("li", {},
				words("a", { href: knownHref({ unit: u.id }), "data-step": true }, u.summary ? u.summary.text.slice(0, 200) : u.text),
				h("span", { class: "small muted" }, [{ loop: "open", summary: "summary" }[u.kind], u.fact && period(u.fact), u.state === "conflict" && "in conflict"].filter(Boolean).join(" · ")),
				h("button", { type: "button", class: "act", "aria-pressed": String(u.pinned), onclick: () => pin(u, query) }, u.pinned ? "Unpin" : "Pin")))));
		}
	} catch {
		replace(known);
	}
}

// pin pins what is derived, or no longer.
async function pin(u, query) {
	try {
		await decide(u.id, u.pinned ? "unpin" : "pin");
		announce(u.pinned ? "No longer pinned" : "Pinned");
		showKnown(query);
	} catch (err) {
		known.append(errorBox(err));
	}
}

function showStart() {
	replace(known);
	replace(said);
	replace(answer);
	why.hidden = true;
	if (agent) home().then((shown) => field.value.trim() || replace(answer, shown), (err) => replace(answer, errorBox(err, showStart)));
}

// channels says in words how an answer was found.
const channels = { hybrid: "by words and meaning", vector: "by meaning", keyword: "by words" };

function showAnswer(s, response) {
	const results = response.results;
	const strong = results.filter((r) => !r.weak).length;
	const found = results.length ? count(strong, "result") + (strong < results.length ? ` and ${count(results.length - strong, "weak one")}` : "") : "Nothing found";
	const summary = `${found} ${channels[response.mode] || ""}`;
	replace(said, h("span", {}, summary));
	announce(summary);
	replace(answer,
		response.degraded.map((d) => h("p", { class: /provider|index|space|unavailable|damaged/.test(d.code) ? "notice warn small" : "small muted" }, d.text)),
		results.length > 0 && legend(results),
		h("ol", { class: "results" }, results.map((r, i) => card(s, r, i))),
		results.length >= shown && shown < 100 && h("button", { type: "button", onclick: more }, "More results"),
		!results.length && h("p", { class: "muted" }, s.since || s.until || s.folder || s.tags ? "The filters may leave out what you look for." : "Try other words, or fewer."));
	why.hidden = false;
	replace(document.getElementById("outcome"));
}

// showTime shows how long it took from the key to the answer.
function showTime(ms) {
	said.append(h("span", { class: "num", id: "took", "data-ms": ms, title: "From the key to the answer" }, `${Math.max(1, Math.round(ms))} ms`));
}

function more() {
	shown = Math.min(100, shown * 3);
	search();
}

// saidBy returns whose words a result is, if not the owner's.
function saidBy({ authors = [{}], channel }) {
	const name = (a) => a.name || a.id || (a.isOwner ? "" : "somebody");
	const who = authors.map((a) => [name(a), a.isOwner && "(the owner)"].filter(Boolean).join(" "));
	return `said by ${who.join(", ")}${channel ? ` in ${channel}` : ""}`;
}

// card returns a result.
function card(s, r, i) {
	const terms = termsOf(r.trace, s.q);
	const headings = (r.heading || "").split(" > ").map((x) => clean(x)).filter(Boolean);
	const title = /^#\s/.test(headings[0] || "") ? headings.shift() : "";
	const below = h("div", {});
	const change = (correct) => changing(below, { correct, text: about(r, terms), done: search });
	const body = rendered(snippetOf(r), terms, r.startLine);
	const lines = r.startLine === r.endLine ? `line ${r.startLine}` : `lines ${r.startLine}–${r.endLine}`;
	return h("li", { class: r.weak ? "result weak" : "result" },
		h("div", { class: "result-head" },
			h("a", { class: "result-link", href: noteHref(r.path, r.startLine, r.endLine, s.q), "data-step": true, dir: "auto" }, titleOf(r.path, title.replace(/^#+\s*/, "")), headings.length > 0 && h("span", { class: "under" }, ` › ${headings.map((x) => x.replace(/^#+\s*/, "")).join(" › ")}`)),
			h("span", { class: "score num", title: "Score, between 0 and 1" }, r.score.toFixed(2)), bar(r)),
		h("p", { class: "small muted result-at" }, h("span", { class: "path", dir: "auto" }, clean(r.path)), h("span", { class: "num" }, lines), r.date && h("span", { class: "num" }, day(r.date)),
			r.origin && h("span", { class: "tag" }, clean(saidBy(r.origin))),
			r.weak && h("span", { class: "tag weak", title: "Below the minimum score, but better than chance" }, "weak")),
		h("div", { class: "words snippet", dir: "auto", lang: langOf(r.snippet) }, body.length ? body : h("p", { class: "muted" }, "The properties of the note match.")),
		h("div", { class: "row acts" }, h("details", {}, h("summary", { class: "small" }, "Why this score"), r.trace && trace(r)),
			!isPinned(r.path) && h("button", { type: "button", class: "act", title: "Begin each session with it", onclick: () => pinning(below, about(r, terms)) }, "Pin…"),
			h("button", { type: "button", class: "act", onclick: () => change(true) }, "Correct…"), h("button", { type: "button", class: "act", onclick: () => change(false) }, "Forget…")),
		below);
}

// about returns the line of a result with the most terms: what somebody may want to forget.
function about(r, terms) {
	const lines = rendered(snippetOf(r), terms, r.startLine).flatMap((el) => (el.tagName === "UL" ? [...el.children] : [el]));
	const marks = (el) => el.querySelectorAll("mark").length;
	return lines.reduce((best, el) => (best && marks(best) >= marks(el) ? best : el), undefined)?.textContent.slice(0, 300) || "";
}

// snippetOf returns the snippet of a result without the headings at its start, which its link shows, and without blank lines.
function snippetOf(r) {
	const lines = r.snippet.trim().split("\n").filter((l) => l.trim());
	while (lines.length > 1 && /^#{1,6}\s/.test(lines[0]) && (r.heading || "").includes(lines[0].trim())) lines.shift();
	return lines.join("\n");
}

// Why not this note?

const outcomes = {
	returned: "It is among the results", not_indexed: "It is not in the index", skipped: "It is not indexed", filtered: "A filter leaves it out",
	not_a_candidate: "Nothing in it matched", below_threshold: "Its score is too low", covered: "A better passage shows it already",
	dropped_by_mmr: "It is too much like a better result", file_limit: "Better passages of the same note took its places", beyond_max_results: "Other results were better",
};

const suggest = latest(async (signal, text) => {
	const glob = text ? `**/*${text.replace(/[\\*?[\]{}]/g, "\\$&")}*` : "";
	return api("files", { glob, include_skipped: true, page_size: 20 }, { signal });
});

async function complete() {
	const input = document.getElementById("why-path");
	const list = await suggest(input.value.split("/").pop().trim()).catch(() => undefined);
	if (list) replace(document.getElementById("paths"), list.files.map((f) => h("option", { value: f.path }, f.title)));
}

const explainPath = latest(async (signal, s, path) => {
	// The passage of the note that fits best is the one that a reader means.
	const best = await api("search", {}, { signal, body: { ...request(s), path_prefix: path, max_results: 1, min_score: 0, explain: false } });
	const line = best.results.find((r) => r.path === path)?.startLine || 1;
	return api("explain", {}, { signal, body: { ...request(s), path, line } });
});

async function explain(event) {
	event?.preventDefault();
	const out = document.getElementById("outcome");
	const path = document.getElementById("why-path").value.trim();
	if (!path) return;
	replace(out, h("p", { class: "muted" }, "Looking…"));
	try {
		const e = await explainPath(state(), path);
		if (!e) return;
		replace(out, h("div", { class: "panel" },
			h("p", {}, h("strong", {}, outcomes[e.outcome] || e.outcome), ". ", clean(e.text || "")),
			e.passage && h("div", { class: "row small" }, h("a", { href: noteHref(path, e.passage.startLine, e.passage.endLine, state().q) }, `Lines ${e.passage.startLine} to ${e.passage.endLine}`), h("span", { class: "score num" }, e.passage.score.toFixed(2)), bar(e.passage)),
			e.passage && trace(e.passage),
			!e.passage && h("p", { class: "small" }, h("a", { href: noteHref(path) }, "Read it"), " · looked for ", words("span", { class: "muted" }, e.terms.join(", ")))));
	} catch (err) {
		replace(out, errorBox(err, explain));
	}
}

// Set-up.

const params = new URLSearchParams(location.search);
field.value = params.get("q") || "";
for (const name of ["since", "until", "folder", "tags"]) form.elements[name].value = params.get(name) || "";
shown = Math.min(100, Math.max(10, Number(params.get("n")) || 10));
form.querySelector("details").open = ["since", "until", "folder", "tags"].some((n) => params.get(n));

// A key is answered at once where answers are fast; where they are slow, keys are collected for up to 100 ms.
const soon = debounce(search, () => Math.min(100, Math.max(0, took - 30)));
const changed = () => {
	shown = 10;
	typed = performance.now();
	if (!composing) soon();
};
form.addEventListener("input", (event) => !event.isComposing && changed());
form.addEventListener("compositionstart", () => (composing = true));
form.addEventListener("compositionend", () => {
	composing = false;
	changed();
});
form.addEventListener("submit", (event) => {
	event.preventDefault();
	search();
});
field.addEventListener("keydown", (event) => {
	if (event.key !== "ArrowDown") return;
	document.querySelector(".result-link")?.focus();
	event.preventDefault();
});
document.getElementById("why-form").addEventListener("submit", explain);
document.getElementById("why-path").addEventListener("input", debounce(complete, () => 100));
document.getElementById("why-path").addEventListener("focus", complete);
if (!field.value && location.pathname !== "/") field.focus();
search();
