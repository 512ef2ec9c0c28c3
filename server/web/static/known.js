// What is derived from the notes: facts, loops, conflicts, weeks, people and topics.
import { ago, announce, api, clean, count, errorBox, h, href, latest, noteHref, number, replace, words } from "/static/app.js";
import { decide, knownHref, period, unitCard } from "/static/unit.js";

const view = document.getElementById("view");
const params = new URLSearchParams(location.search);
const unit = params.get("unit") || "", entity = params.get("entity") || "", about = params.get("q") || "";
const part = params.get("part") || (params.get("past") ? "facts" : "");
const past = params.has("past");

const parts = { "": "Overview", facts: "Facts", loops: "Open loops", conflicts: "Conflicts", weeks: "Weeks", mood: "Mood", names: "People and topics" };

const list = latest((signal, query) => api("units", query, { signal }));

async function load() {
	try {
		const status = await api("derive/status");
		showParts(status);
		if (!status.enabled) return replace(view, off());
		showStatus(status);
		if (unit) return await showUnit();
		if (entity) return await showEntity();
		await ({ facts: showFacts, loops: showLoops, conflicts: showConflicts, weeks: showWeeks, mood: showMood, names: showNames }[part] || showOverview)(status);
	} catch (err) {
		replace(view, errorBox(err, load));
	}
}

function off() {
	return h("div", { class: "empty" }, h("h2", {}, "Derivation is off"),
		h("p", {}, "Kioku can draw people, facts with their sources, open loops and a view of each week from these notes, by rules on this machine. A language model can add to it; none is asked unless you name one."),
		h("pre", { class: "command" }, "kioku config set derive.enabled true"),
		h("p", { class: "muted small" }, "Then restart kioku serve. Nothing of it is needed for search, and the notes stay as they are."));
}

function showParts(status) {
	const nav = document.getElementById("parts");
	nav.hidden = !status.enabled;
	const counts = { loops: status.units?.["loop/validated"], conflicts: status.conflicts, facts: status.units?.["fact/validated"] };
	replace(nav, Object.entries(parts).map(([name, title]) => h("a", { href: knownHref({ part: name }), "aria-current": !unit && !entity && part === name ? "page" : undefined },
		title, counts[name] > 0 && h("span", { class: "num muted" }, ` ${number(counts[name])}`))));
}

// showStatus says what waits, what a model has cost, and what a person has to mend.
function showStatus(s) {
	const waiting = [s.pending > 0 && `${count(s.pending, "section")} wait for the rules`, s.unextracted > 0 && s.model && `${count(s.unextracted, "section")} wait for ${clean(s.model)}`].filter(Boolean);
	replace(document.getElementById("status"),
		s.problem && h("p", { class: "notice warn" }, clean(s.problem)),
		s.budget_exhausted && h("p", { class: "notice warn" }, `The budget is used up (${number(s.tokens_today)} of ${number(s.max_tokens_per_day)} tokens today); the rest waits.`),
		waiting.length > 0 && h("p", { class: "small muted" }, `${waiting.join("; ")}.`),
		s.bad_decisions?.length > 0 && h("div", { class: "notice warn" }, h("p", {}, "Lines of derived/decisions.md that are no decisions:"), h("ul", {}, s.bad_decisions.map((l) => words("li", { class: "small" }, l)))),
		s.parked?.length > 0 && h("details", { class: "notice warn" }, h("summary", {}, `${count(s.parked.length, "job")} failed and ${s.parked.length === 1 ? "waits" : "wait"} for you`),
			h("ul", {}, s.parked.map((j) => h("li", {}, words("span", {}, `${j.kind}: ${j.message}`), " ",
				h("button", { type: "button", onclick: (e) => retry(e.target, j.id) }, "Try again"))))),
		s.edited_views?.length > 0 && h("p", { class: "small muted" }, `Edited by hand and therefore left alone: ${s.edited_views.map(clean).join(", ")}.`));
}

async function retry(button, id) {
	try {
		await api("derive/retry", {}, { body: { agent: document.body.dataset.agent, id } });
		button.replaceWith(h("span", { class: "tag good" }, "queued again"));
	} catch (err) {
		button.replaceWith(errorBox(err));
	}
}

const cards = (units, options) => units.map((u) => unitCard(u, { changed: load, ...options }));

function section(title, content, more) {
	return content.length > 0 && h("section", {}, h("h2", {}, title), content, more);
}

function none(title, text) {
	return h("div", { class: "empty" }, h("h2", {}, title), h("p", {}, text));
}

function withheld(got) {
	return got.withheld > 0 && h("p", { class: "small muted" }, `${count(got.withheld, "secret")} not shown.`);
}

async function showOverview(status) {
	const [conflicts, loops, weeks, facts, names] = await Promise.all([
		api("units", { states: "conflict", limit: 4 }), api("units", { kinds: "loop", limit: 6 }), api("units", { kinds: "summary", limit: 10 }),
		api("units", { kinds: "fact", limit: 8 }), api("entities", { limit: 24 })]);
	const settling = conflicts.units.length > 0 && await pairs(conflicts.units);
	const nothing = !facts.units.length && !loops.units.length && !names.entities.length;
	if (nothing) return replace(view, none("Nothing is derived yet", `${count(status.episodes, "section")} of notes ${status.episodes === 1 ? "is" : "are"} known. Facts come from items of MEMORY.md, loops from unticked boxes and TODO lines, names from headings, links and @names.`));
	const week = weeks.units.find((u) => u.summary?.scope === "weekly") || weeks.units[0];
	replace(view,
		conflicts.units.length > 0 && section("To settle", [h("p", { class: "muted" }, "These contradict each other, and no rule says which holds."), settling],
			h("a", { href: knownHref({ part: "conflicts" }) }, "All conflicts")),
		h("div", { class: loops.units.length || week ? "columns" : "" },
			(loops.units.length > 0 || week) && h("div", { class: "stack" }, section("Open", cards(loops.units), loops.total > loops.units.length && h("a", { href: knownHref({ part: "loops" }) }, `All ${number(loops.total)}`)),
				week && section(title(week), cards([week]))),
			h("div", { class: "stack" }, section("Facts", cards(facts.units), facts.total > facts.units.length && h("a", { href: knownHref({ part: "facts" }) }, `All ${number(facts.total)}`)))),
		section("People and topics", [nameList(names.entities)], h("a", { href: knownHref({ part: "names" }) }, "All names")));
}

function title(u) {
	const s = u.summary;
	return { weekly: `Week ${s.key}`, rolling: "The last seven days", relationship: `Between you, ${s.key}` }[s.scope] || "Summary";
}

// paged shows units with a button for further ones.
async function paged(query, wrap = (units) => cards(units), empty = none("None", "")) {
	const box = h("div", { class: "stack" });
	const next = h("button", { type: "button", hidden: true }, "More");
	const add = async (after) => {
		const got = await list({ ...query, after, limit: 50 });
		if (!got) return;
		if (!after && !got.units.length) return replace(box, empty, withheld(got));
		box.append(...[await wrap(got.units)].flat(), ...[withheld(got)].filter(Boolean));
		next.hidden = !got.next;
		next.onclick = () => add(got.next).catch((err) => box.append(errorBox(err)));
		if (after) announce(`${count(got.units.length, "more")}`);
	};
	await add("");
	return [box, next];
}

async function showFacts() {
	const search = h("form", { class: "row find", role: "search", action: "/known" },
		h("input", { type: "hidden", name: "part", value: "facts" }), document.body.dataset.agents > 1 && h("input", { type: "hidden", name: "agent", value: document.body.dataset.agent }),
		h("input", { type: "search", name: "q", value: about, placeholder: "Words of a fact", "aria-label": "Words of a fact", "data-search": true }),
		h("label", { class: "check" }, h("input", { type: "checkbox", name: "past", checked: past }), "also what no longer holds"),
		h("button", {}, "Find"));
	replace(view, search, ...await paged({ kinds: "fact", query: about, include_superseded: past }, undefined,
		none("No facts", about ? "No fact has these words." : "Facts come from items of MEMORY.md; a language model (derive.llm.model) draws them from prose too.")));
}

async function showLoops() {
	const toggle = h("p", {}, h("a", { href: knownHref({ part: "loops", past: past ? "" : "1" }) }, past ? "Only what is open" : "Also what is closed or expired"));
	replace(view, toggle, ...await paged({ kinds: "loop", include_superseded: past }, undefined, none("Nothing is open", "Open loops come from unticked boxes (- [ ]), TODO:, 要対応 and 待办.")));
}

async function showConflicts() {
	replace(view, ...await paged({ states: "conflict" }, pairs, none("No conflicts", "Nothing contradicts anything.")));
}

async function showWeeks() {
	replace(view, ...await paged({ kinds: "summary" }, (units) => units.filter((u) => !["person", "topic"].includes(u.summary.scope)).map((u) => h("section", {}, h("h2", {}, title(u)), unitCard(u, { changed: load }))),
		none("No weeks yet", "A week is summed up when it has ended.")));
}

async function showMood() {
	const got = await api("derive/reflections", { limit: 1000 });
	if (!got.days.length) return replace(view, none("No moods", "A language model can say what it thinks of each section, if derive.llm.model and derive.reflect are set."));
	replace(view, section("Mood", [moodLine(got.days), h("p", { class: "small muted span" }, h("span", {}, got.days[0].date), h("span", {}, got.days.at(-1).date))]), section("Episodes", [h("ul", { class: "moods" }, got.reflections.slice(0, 100).map((r) => h("li", {},
		h("a", { href: noteHref(r.path, r.start_line, r.end_line) }, r.date || clean(r.path)), " ", h("span", { class: "tag" }, clean(r.emotion_label)),
		words("span", {}, ` ${r.reflection_text}`), r.topic_tags?.length > 0 && h("span", { class: "small muted" }, ` ${r.topic_tags.map(clean).join(", ")}`))))]));
}

// moodLine draws the mood of each day from -1 to 1 over time.
function moodLine(days) {
	const width = 720, height = 160, first = Date.parse(days[0].date), span = Math.max(Date.parse(days.at(-1).date) - first, 1);
	const x = (d) => days.length === 1 ? width / 2 : 10 + (width - 20) * (Date.parse(d.date) - first) / span, y = (d) => height / 2 - (height / 2 - 10) * d.mood;
	const svg = (name, attributes, ...inside) => {
		const e = document.createElementNS("http://www.w3.org/2000/svg", name);
		for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
		e.append(...inside);
		return e;
	};
	return svg("svg", { class: "mood", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Mood of ${count(days.length, "day")}, from ${days[0].date} to ${days.at(-1).date}` },
		svg("line", { x1: 0, x2: width, y1: height / 2, y2: height / 2, class: "axis" }),
		svg("polyline", { points: days.map((d) => `${x(d).toFixed(1)},${y(d).toFixed(1)}`).join(" ") }),
		...days.map((d) => svg("circle", { cx: x(d).toFixed(1), cy: y(d).toFixed(1), r: 4 }, svg("title", {},
			`${d.date}: ${d.mood > 0 ? "+" : ""}${d.mood.toFixed(2)} (${Object.entries(d.emotions).map(([name, n]) => `${n} ${name}`).join(", ")})`))));
}

async function showUnit() {
	const got = await api(`units/${encodeURIComponent(unit)}`);
	replace(view, unitCard(got, { changed: load, open: true }));
}

// pairs shows each conflict beside the facts that it contradicts, which may hold for themselves, so that one of them can be kept.
async function pairs(units) {
	const known = new Map(units.map((u) => [u.id, u]));
	const missing = [...new Set(units.flatMap((u) => u.fact?.conflicts || []))].filter((id) => !known.has(id)).slice(0, 20);
	for (const got of await Promise.all(missing.map((id) => api(`units/${encodeURIComponent(id)}`).catch(() => null)))) {
		if (got) known.set(got.id, got);
	}
	const shown = new Set();
	const groups = [];
	for (const u of units) {
		if (shown.has(u.id)) continue;
		const group = [u, ...(u.fact?.conflicts || []).map((id) => known.get(id)).filter((o) => o && !shown.has(o.id))];
		for (const g of group) shown.add(g.id);
		groups.push(group);
	}
	return groups.map((group) => h("div", { class: "pair", role: "group", "aria-label": "Conflict" }, group.map((u) => h("div", {}, unitCard(u, { changed: load }),
		group.length > 1 && h("button", { type: "button", class: "primary keep", "aria-label": `This one holds: ${clean(u.text)}`, onclick: (e) => keep(e.target, u) }, "This one holds")))));
}

async function keep(button, u) {
	try {
		await decide(u.id, "pin", { note: "settled on the page" });
		announce("Settled");
		load();
	} catch (err) {
		button.replaceWith(errorBox(err));
	}
}

const typeNames = { PERSON: "People", PLACE: "Places", PROJECT: "Projects", WORK: "Works", TOPIC: "Topics", ORG: "Organisations", OTHER: "Others" };

function nameList(entities) {
	return h("ul", { class: "names" }, entities.filter((e) => !e.merged_into).map((e) => h("li", {}, words("a", { href: knownHref({ entity: e.id }), "data-step": true }, e.name === "USER" ? "You" : e.name),
		e.qualifier && h("span", { class: "small muted" }, ` (${clean(e.qualifier)})`), h("span", { class: "small muted num" }, ` ${number(e.mentions)}`))));
}

async function showNames() {
	const got = await api("entities", { limit: 1000 });
	if (!got.entities.length) return replace(view, none("No names", "Names come from headings, [[links]], @names and the front matter field people."));
	const byType = Object.groupBy ? Object.groupBy(got.entities, (e) => e.type) : got.entities.reduce((all, e) => ({ ...all, [e.type]: [...(all[e.type] || []), e] }), {});
	const merged = got.entities.filter((e) => e.merged_into);
	const name = (id) => got.entities.find((e) => e.id === id)?.name || "another name";
	replace(view,
		got.twins?.length > 0 && section("Perhaps the same", got.twins.map(twins)),
		Object.entries(typeNames).concat(Object.keys(byType).filter((t) => !typeNames[t]).map((t) => [t, clean(t)]))
			.map(([type, title]) => byType[type]?.some((e) => !e.merged_into) && section(title, [nameList(byType[type])])),
		merged.length > 0 && section("Merged", [h("ul", {}, merged.map((e) => h("li", {}, words("span", {}, e.name), " is another name of ", words("span", {}, name(e.merged_into)), " ",
			h("button", { type: "button", class: "quiet", onclick: (b) => settle(b.target, e.id, "split") }, "Split"))))]));
}

function twins(t) {
	return h("div", { class: "panel row twins" }, words("a", { href: knownHref({ entity: t.first.id }) }, t.first.name), "and", words("a", { href: knownHref({ entity: t.second.id }) }, t.second.name),
		words("span", { class: "small muted" }, t.reason),
		h("button", { type: "button", onclick: (b) => settle(b.target, t.second.id, "merge", { into: t.first.id }) }, "They are the same"));
}

async function settle(button, id, verb, body) {
	try {
		await decide(id, verb, body);
		announce(verb === "merge" ? "Merged" : "Split");
		load();
	} catch (err) {
		button.replaceWith(errorBox(err));
	}
}

async function showEntity() {
	const [names, units] = await Promise.all([api("entities", { limit: 1000 }), api("units", { entity, include_superseded: true, limit: 500 })]);
	const e = names.entities.find((n) => n.id.startsWith(entity));
	if (!e) return replace(view, none("Nobody knows this name", "It may have been merged, or its notes are gone."));
	const now = units.units.filter((u) => u.kind === "fact" && u.state !== "superseded"), before = units.units.filter((u) => u.kind === "fact" && u.state === "superseded");
	replace(view,
		h("header", { class: "entity" }, words("h2", {}, e.name === "USER" ? "You" : e.name), h("p", { class: "small muted" },
			[typeNames[e.type] || clean(e.type), `in ${count(e.mentions, "section")}`, e.last_seen && `last ${ago(e.last_seen)}`, e.aliases?.length > 0 && `also ${e.aliases.map(clean).join(", ")}`].filter(Boolean).join(" · ")),
			h("a", { href: href("/search", { q: e.name === "USER" ? "" : e.name }) }, "Search the notes")),
		section("Summary", cards(units.units.filter((u) => u.kind === "summary" && u.summary.key.startsWith(entity)))),
		section("Facts", cards(now)),
		e.relations?.length > 0 && section("Related", [h("ul", {}, e.relations.map((r) => h("li", {}, words("span", {}, `${r.kind}: ${r.source} → ${r.target}`))))]),
		section("Open", cards(units.units.filter((u) => u.kind === "loop" && u.loop.status === "open"))),
		before.length > 0 && section("Before", [line(before)]),
		!units.units.length && h("p", { class: "muted" }, "No fact, loop or summary is about this name."));
}

// line shows what held before as a list with its periods.
function line(units) {
	return h("ol", { class: "line" }, units.map((u) => h("li", {}, h("span", { class: "small muted num" }, period(u.fact) || "before"), words("a", { href: knownHref({ unit: u.id }) }, u.text))));
}

load();
