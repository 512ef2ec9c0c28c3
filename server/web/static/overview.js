// The state: what the memory of an agent has, how fresh it is, and what is wrong with it.
import { agent, ago, api, bytes, clean, count, errorBox, h, href, number, replace, seconds, svg } from "/static/app.js";
import { emptyIndex } from "/static/home.js";

const view = document.getElementById("view");

// What to do about what searches lack, by its code.
const advice = {
	provider_down: "Searches use words until it answers again. Check the provider, its key and its limits; kioku doctor tests them.",
	vectors_missing: "They are being embedded in the background; until then these notes are found by their words.",
	index_stale: "Run kioku index, so that notes are cut in the way that the settings say.",
	index_empty: "Write a note, or check with kioku doctor that the settings include your files.",
	space_changed: "Run kioku index --force to embed with the model of the settings.",
	workspace_unavailable: "Check that the folder is there and can be read. Nothing is removed from the index meanwhile.",
	index_damaged: "Run kioku index --force. Your notes are not affected.",
	files_skipped: "The list below says why, for each file.",
};

function fact(name, value, about, tone) {
	return h("div", { class: "fact" }, h("dt", {}, name), h("dd", { class: tone }, h("span", { class: "num" }, value)), about && h("dd", { class: "small muted" }, about));
}

function facts(st) {
	const x = st.index, by = st.space;
	const share = x.chunkCount ? Math.floor((100 * st.embedded) / x.chunkCount) : 0;
	const lag = x.pendingFileCount ? count(x.pendingFileCount, "change") : "none";
	const model = (st.active.model || by.model).split("/").pop();
	return h("dl", { class: "facts-grid" },
		fact("Notes", number(x.fileCount), st.skipped?.length ? h("a", { href: "#skipped" }, `${number(skippedCount(st))} skipped`) : "all indexed"),
		fact("Passages", number(x.chunkCount), by.provider ? `${share}% with a vector` : "found by words"),
		fact("Not indexed yet", lag, `synced ${ago(x.lastSyncTime)}`, x.pendingFileCount ? "warn" : ""),
		fact("Meaning", by.provider ? clean(model || by.provider) : "off", meaningOf(st), st.health.error ? "warn" : ""),
		fact("Watching", watching(st.sync), clean(st.sync.watch_note || (st.sync.watch_mode === "off" ? "once the first sync is done" : "")), st.sync.watch_mode === "off" && st.sync.watch_note ? "warn" : ""),
		fact("Index", bytes(st.sizes.database_bytes + st.sizes.wal_bytes), st.sizes.resident_bytes > 0 ? `${bytes(st.sizes.resident_bytes)} in memory` : "on disk"));
}

// watching says how the folder is watched. A daemon watches it after its first sync, unless a note says why not.
const watching = (sync) => ({ inotify: "live", polling: "by polling", off: sync.watch_note ? "off" : "not yet" })[sync.watch_mode] || sync.watch_mode;

function meaningOf({ space, health, provider_reason }) {
	if (!space.provider) return clean(provider_reason || "words only; kioku model add turns it on");
	if (health.error) return "does not answer";
	return [clean(space.provider), space.dims ? `, ${space.dims} dimensions` : ""].join("");
}

// skippedCount returns the number of skipped files; an entry without a path stands for further ones.
function skippedCount(st) {
	return (st.skipped || []).reduce((n, f) => n + (f.path ? 1 : Number(f.reason.match(/\d[\d,]*/)?.[0].replace(/,/g, "") || 0)), 0);
}

function problems(st) {
	const list = st.degraded.map((d) => ({ text: clean(d.text), todo: advice[d.code] })), { error, retry_at } = st.health;
	if (error && !list.some((p) => p.text.includes(error))) list.push({ text: `The last call of the provider failed: ${clean(error)}`, todo: retry_at && `It is tried again ${new Date(retry_at).toLocaleTimeString("en-GB")}.` });
	if (st.reranker_error) list.push({ text: `The re-ranker does not answer: ${clean(st.reranker_error)}`, todo: "Results come in the order of the first ranking." });
	for (const root of st.sync.unavailable || []) list.push({ text: `${clean(root)} cannot be read now.`, todo: advice.workspace_unavailable });
	for (const found of st.check?.found || []) list.push({ text: `The last check mended the index: ${clean(found)}`, todo: "Nothing to do; if it comes again, check the disk." });
	if (st.beside.files > 0) list.push({ text: `${st.beside.more ? "More than " : ""}${count(st.beside.files, "Markdown file")} of the folder ${st.beside.files === 1 ? "is" : "are"} not included by the settings.`, todo: "If they are notes, add them to include: kioku config set include '[\"**/*.md\"]'." });
	if (!list.length) return h("p", { class: "all-well" }, h("span", { class: "tag good" }, "✓"), st.space.provider ? " Searches lack nothing." : " Searches by words lack nothing.");
	return h("ul", { class: "stack" }, list.map((p) => h("li", { class: "notice warn" }, h("p", {}, p.text), p.todo && h("p", { class: "small muted" }, p.todo))));
}

function backfill(b) {
	if (!b) return null;
	const done = b.total ? b.embedded / b.total : 0;
	const left = b.left ? `, about ${duration(seconds(b.left))} left` : "";
	return h("div", { class: "backfill" },
		h("p", { class: "small" }, `Embedding: ${number(b.embedded)} of ${count(b.total, "passage")}${left}`),
		h("progress", { max: 1, value: done, "aria-label": "Embedded passages" }));
}

const duration = (s) => (s < 90 ? count(Math.round(s), "second") : s < 5400 ? count(Math.round(s / 60), "minute") : count(Math.round(s / 3600), "hour"));

function network(st) {
	const away = (st.egress || []).filter((e) => !e.local);
	if (st.offline) return h("p", {}, "Offline: nothing is sent to another machine.");
	if (!away.length) return h("p", { class: "muted" }, "Nothing was sent to another machine since the start.");
	return h("div", { class: "scroll", tabindex: 0 }, h("table", {}, h("thead", {}, h("tr", {}, ["Host", "For", "Requests", "Sent", "Last"].map((x) => h("th", { scope: "col" }, x)))),
		h("tbody", {}, away.map((e) => h("tr", {}, h("td", { class: "path" }, clean(e.host)), h("td", {}, e.purpose), h("td", { class: "num" }, number(e.requests)), h("td", { class: "num" }, bytes(e.bytes)), h("td", {}, ago(e.last)))))));
}

function skipped(st) {
	if (!st.skipped?.length) return null;
	return h("section", { id: "skipped" }, h("h2", {}, "Skipped"), h("p", { class: "small muted" }, "No search finds these files."),
		h("div", { class: "scroll", tabindex: 0 }, h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "File"), h("th", { scope: "col" }, "Why"))),
			h("tbody", {}, st.skipped.slice(0, 100).map((f) => h("tr", {}, h("td", { class: "path", dir: "auto" }, clean(f.path || "…")), h("td", {}, clean(f.reason))))))),
		st.skipped.length > 100 && h("p", { class: "small muted" }, h("a", { href: href("/notes", { skipped: 1 }) }, "All of them")));
}

const days = 366; // of the sparkline

// daily returns how many notes each of the last days has, today last.
function daily(byDay, today) {
	const end = Date.parse(today);
	const counts = new Array(days).fill(0);
	for (const [date, n] of byDay) {
		const back = Math.round((end - Date.parse(date)) / 86400000);
		if (back >= 0 && back < days) counts[days - 1 - back] += n;
	}
	return counts;
}

function sparkline(byDay, today) {
	const counts = daily(byDay, today);
	const sum = (list) => list.reduce((a, b) => a + b, 0);
	const top = Math.max(...counts, 1), all = sum(byDay.map(([, n]) => n));
	const label = `${count(all, "dated note")}, ${number(sum(counts))} in the last year, up to ${number(top)} a day`;
	return h("figure", { class: "spark" },
		svg("svg", { viewBox: `0 0 ${days} 60`, preserveAspectRatio: "none", role: "img", "aria-label": label },
			counts.map((n, i) => svg("rect", { x: i, width: n ? 0.85 : 1, y: 60 - (n ? 4 + (54 * n) / top : 1), height: n ? 4 + (54 * n) / top : 1, class: n ? "some" : "none" }))),
		h("figcaption", { class: "small muted" }, h("span", {}, "a year ago"), h("a", { href: href("/timeline") }, label), h("span", {}, "now")));
}

// perDay returns how many notes each day has.
async function perDay() {
	const { days, today } = await api("activity");
	return { days: days.map((d) => [d.date, d.notes]), today };
}

function others(agents) {
	if (agents.length < 2) return null;
	return h("section", {}, h("h2", {}, "Agents"), h("div", { class: "scroll", tabindex: 0 }, h("table", {},
		h("thead", {}, h("tr", {}, ["Agent", "Notes", "Passages", "Synced", "Folder"].map((x) => h("th", { scope: "col" }, x)))),
		h("tbody", {}, agents.map((a) => h("tr", {}, h("td", {}, h("a", { href: `/?agent=${encodeURIComponent(a.id)}`, "aria-current": a.id === agent ? "true" : null }, a.id)),
			h("td", { class: "num" }, a.index ? number(a.index.fileCount) : "unreadable"), h("td", { class: "num" }, a.index ? number(a.index.chunkCount) : ""), h("td", {}, a.index ? ago(a.index.lastSyncTime) : ""), h("td", { class: "path" }, clean(a.workspace))))))));
}

function show(st, agents, dated) {
	if (!st.index.fileCount && !st.skipped?.length) {
		replace(view, emptyIndex(st), problems(st), others(agents));
		return;
	}
	replace(view,
		h("header", { class: "lead" }, h("h1", {}, h("span", { class: "who" }, agent), ` remembers ${count(st.index.fileCount, "note")}`), h("p", { class: "small muted path" }, clean(st.workspace))),
		dated.error ? errorBox(dated.error) : sparkline(dated.days, dated.today),
		facts(st), backfill(st.backfill),
		h("div", { class: "columns" },
			h("section", {}, h("h2", {}, "Searches"), problems(st)), h("section", {}, h("h2", {}, "Network"), network(st))),
		others(agents), skipped(st));
}

let dated;

async function load() {
	try {
		const [st, agents] = await Promise.all([api("status"), api("agents", {}, { everybody: true })]);
		dated ??= await perDay().catch((error) => ({ error }));
		show(st, agents, dated);
		// What changes by itself is read again while it is visible.
		const wait = st.backfill?.running || st.sync.syncing || st.index.pendingFileCount ? 3000 : 30000;
		setTimeout(() => (document.hidden ? addEventListener("visibilitychange", load, { once: true }) : load()), wait);
	} catch (err) {
		replace(view, errorBox(err, load));
	}
}

if (agent) load();
