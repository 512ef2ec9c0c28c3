// The turns of an agent: the layers of its prompts, what was recalled for them and why, flushes and compactions.
import { agent, ago, announce, api, clean, count, day, errorBox, h, href, latest, noteHref, number, replace, seconds, svg, words } from "/static/app.js";

const view = document.getElementById("view");
const list = document.getElementById("sessions");

// Layers in the order of the prompt, with the class of their colour. Blocks of the caller are one more.
const layers = {
	identity: ["Identity", 1], soul: ["Soul", 2], tools: ["Tools", 3], skills: ["Skills", 4], memory: ["Memory", 5], bootstrap: ["Workspace files", 6],
	runtime: ["Runtime", 7], channel: ["Channel", 8], turn: ["This turn", 5],
};
const nameOf = (l) => layers[l.name]?.[0] || clean(l.name.replace(/^block: /, "")) || "Block";
const colourOf = (l) => `y${layers[l.name]?.[1] || 9}`;

let session = new URLSearchParams(location.search).get("session"), next = "", shown = [], kept = true;

const fetchTurns = latest((signal, token) => api("turns", { session, page_size: 30, page_token: token }, { signal }));

async function load() {
	try {
		const got = await fetchTurns("");
		if (!got) return;
		shown = got.turns;
		next = got.next_page_token;
		kept = got.kept;
		showSessions(got.sessions || [], got.messages_kept);
		show();
	} catch (err) {
		replace(view, err.code === "UNIMPLEMENTED" || err.code === "NOT_FOUND" ? none("No agent runs beside this memory", "The turns are those of kioku chat and of agents that ask kioku serve or kioku agent for their prompts.") : errorBox(err, load));
	}
}

async function more() {
	try {
		const got = await fetchTurns(next);
		if (!got) return;
		shown = shown.concat(got.turns);
		next = got.next_page_token;
		show();
		announce(`${count(got.turns.length, "earlier turn")}`);
	} catch (err) {
		view.append(errorBox(err, more));
	}
}

function showSessions(sessions, messages) {
	list.hidden = sessions.length < 1;
	const link = (name, title, about) => h("li", {}, h("a", {
		href: href("/turns", { session: name }), "aria-current": (session || "") === (name || "") ? "true" : undefined, "data-step": true,
	}, words("span", { class: "name" }, title), h("span", { class: "small muted" }, about)));
	const turns = sessions.reduce((n, s) => n + s.turn_count, 0);
	replace(list, h("h2", {}, "Conversations"), h("ul", {},
		link("", "All", count(turns, "turn")),
		sessions.filter((s) => s.session).map((s) => link(s.session, s.session, `${count(s.turn_count, "turn")}, ${ago(s.last_time)}`))),
	!messages && h("p", { class: "small muted" }, "Messages are recorded for kioku chat only."));
}

function none(title, ...text) {
	return h("div", { class: "empty" }, h("h2", {}, title), text.map((t) => (typeof t === "string" ? h("p", {}, t) : t)));
}

function show() {
	if (!shown.length) {
		return replace(view, kept
			? none("No turn is recorded yet", "A turn is recorded when an agent asks for its prompt, recalls, flushes or compacts. Try it:", h("pre", { class: "command" }, `kioku chat --agent ${agent || "main"}`))
			: none("Turns are not recorded", "They show what went into each prompt: eight layers with their tokens, what was recalled and why. The text of notes is never recorded. To switch it on, and then restart kioku serve:", h("pre", { class: "command" }, "kioku config set turns.keep true")));
	}
	const widest = Math.max(...shown.map((t) => Math.max(t.tokens || 0, Math.min(t.budget || 0, 2 * t.tokens || 0))), 1);
	let date = "";
	const rows = [];
	for (const t of shown) {
		const own = localDay(t.time);
		if (own !== date) rows.push(h("h2", { class: "date" }, day((date = own))));
		rows.push(t.kind === "flush" ? flush(t) : t.kind === "compaction" ? compaction(t) : turn(t, widest));
	}
	replace(view, rows, next && h("button", { type: "button", onclick: more }, "Earlier turns"));
}

// localDay returns the day of a time here, as YYYY-MM-DD.
function localDay(time) {
	const t = new Date(time);
	return `${t.getFullYear()}-${String(t.getMonth() + 1).padStart(2, "0")}-${String(t.getDate()).padStart(2, "0")}`;
}

const clock = (time) => h("time", { datetime: time, class: "num" }, new Date(time).toLocaleTimeString("en-GB"));

function turn(t, widest) {
	const title = t.kind === "recall" ? "Recall" : `${number(t.tokens)} tokens`;
	return h("article", { class: "panel turn", "aria-label": `${title}, ${new Date(t.time).toLocaleString("en-GB")}`, tabindex: -1, "data-step": true },
		h("header", {}, h("h3", {}, title), clock(t.time), t.channel && h("span", {}, clean(t.channel)), t.group && h("span", { class: "tag" }, "group"),
			t.model && h("span", {}, clean(t.model)), t.mode && t.mode !== "full" && h("span", { class: "tag" }, `${t.mode} prompt`),
			!session && t.session && words("a", { href: href("/turns", { session: t.session }) }, t.session),
			t.over && h("span", { class: "tag bad" }, "over budget")),
		t.message && words("p", { class: "said" }, t.message),
		t.layers?.length > 0 && stack(t, widest),
		t.cuts?.length > 0 && h("p", { class: "small cut" }, h("span", { class: "tag warn" }, "shortened"), " ",
			t.cuts.map((c) => `${clean(c.part)} from ${number(c.from)} to ${number(c.to)} tokens`).join("; "), t.budget ? ` (budget ${number(t.budget)})` : ""),
		recall(t.recall));
}

// stack draws the layers of a prompt, in order, as wide as their tokens. All bars of the page have the same scale.
function stack(t, widest) {
	const scale = 1000 / widest;
	let x = 0;
	const bars = t.layers.map((l) => {
		const width = l.tokens * scale;
		const rect = svg("rect", { x, width: Math.max(width - 1.5, 1), y: 0, height: 24, class: colourOf(l) }, svg("title", {}, `${nameOf(l)}: ${count(l.tokens, "token")}`));
		x += width;
		return rect;
	});
	const budget = t.budget > 0 && t.budget <= widest && svg("line", { x1: t.budget * scale, x2: t.budget * scale, y1: 0, y2: 24, stroke: "currentColor", "stroke-width": 3 });
	const label = t.layers.map((l) => `${nameOf(l)} ${l.tokens}`).join(", ");
	return [
		svg("svg", { class: "stack", viewBox: "0 0 1000 24", preserveAspectRatio: "none", role: "img", "aria-label": `Tokens by layer: ${label}` }, bars, budget),
		h("ul", { class: "layers" }, t.layers.map((l) => h("li", {}, h("span", { class: `sw ${colourOf(l)}` }), nameOf(l), h("span", { class: "num" }, number(l.tokens))))),
	];
}

function recall(r) {
	if (!r) return null;
	if (r.skipped) return h("p", { class: "small muted" }, `Nothing was recalled: ${clean(r.skipped)}.`);
	const { searches = [], in: used = [], out = [] } = r;
	const failed = searches.filter((s) => s.failed);
	const lacking = [...new Set(searches.flatMap((s) => (s.degraded || []).map((code) => code.replaceAll("_", " "))))];
	return [
		h("h4", {}, recallTitle(used, out, milliseconds(r.took))),
		failed.map((s) => h("p", { class: "notice warn small" }, `The memory of ${clean(s.agent)} gave no answer in time.`)),
		lacking.length > 0 && h("p", { class: "small muted" }, `The search lacked something: ${lacking.join(", ")}.`),
		used.length > 0 && h("ul", { class: "found" }, used.map(found)),
		out.length > 0 && h("details", {}, h("summary", {}, `${number(out.length)} found but left out`), h("ul", { class: "found" }, out.map(found))),
	];
}

function recallTitle(used, out, took) {
	if (used.length) return `Recalled, in ${took}`;
	return out.length ? "What was found is not in the prompt" : `Nothing was good enough to recall; searched for ${took}`;
}

function milliseconds(took) {
	const ms = seconds(took) * 1000;
	return ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`;
}

// found shows a passage: its score, where it is, and what made the score or why it was left out.
function found(m) {
	const place = `${m.path}:${m.start}${m.end > m.start ? `–${m.end}` : ""}`;
	const why = [
		m.reason && `left out: ${clean(m.reason)}`, m.vector > 0 && `meaning ${m.vector.toFixed(2)}`, m.words > 0 && `words ${m.words.toFixed(2)}`,
		m.date && `of ${m.date}`, m.shared && `shared by ${clean(m.agent)}`, m.flags?.length && `marked: ${m.flags.join(", ")}`,
	].filter(Boolean).join(" · ");
	return h("li", {}, h("span", { class: "score" }, m.score.toFixed(2)),
		m.shared ? words("span", { class: "path" }, place) : words("a", { class: "path", href: noteHref(m.path, m.start, m.end) }, place),
		why && h("span", { class: "why" }, why));
}

function flush(t) {
	const f = t.flush, notes = f.notes || [];
	const stored = notes.filter((n) => n.path), refused = notes.filter((n) => n.refused);
	const title = { done: "Flushed", skipped: "Flush skipped", failed: "Flush failed" }[f.outcome] || clean(f.outcome);
	return h("article", { class: `panel turn slim ${f.outcome}`, tabindex: -1, "data-step": true },
		h("strong", {}, title), h("span", { class: "small" }, f.outcome === "done" ? `${count(stored.length, "note")} of ${count(f.covered, "message")}` : clean(f.reason || "")),
		f.uncovered > 0 && h("span", { class: "small muted" }, `${count(f.uncovered, "message")} not covered yet`), clock(t.time),
		notes.length > 0 && h("ul", {}, stored.map((n) => h("li", {}, words("a", { class: "path", href: noteHref(n.path, n.line) }, `${n.path}:${n.line}`), n.deduplicated && h("span", { class: "muted" }, " was there before"))),
			refused.map((n) => h("li", { class: "muted" }, `refused: ${clean(n.refused)}`))));
}

function compaction(t) {
	const c = t.compaction;
	return h("article", { class: `panel turn slim compaction ${c.reason ? "failed" : ""}`, tabindex: -1, "data-step": true },
		h("strong", {}, c.reason ? "Compaction failed" : "Compacted"),
		h("span", { class: "small num" }, c.reason ? clean(c.reason) : `${number(c.before)} → ${number(c.after)} tokens`), clock(t.time));
}

load();
