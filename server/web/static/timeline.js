// The time line: for each year a calendar of its weeks, whose days show how many notes there are, when they were changed and what recall
// used. A day that is chosen shows its notes.
import { announce, api, clean, count, day as longDay, errorBox, h, href, inPath, latest, noteHref, number, replace, titleOf, words } from "/static/app.js";
import { rendered } from "/static/snippet.js";

const view = document.getElementById("view");
const panel = document.getElementById("day");
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const weekdays = ["Mon", "", "Wed", "", "Fri", "", "Sun"];
const maxYears = 12, excerptLines = 40;

// Layers that the colour of a day can show.
const layers = {
	notes: { title: "Notes", count: (d) => d.notes, say: (n) => count(n, "note"), empty: "No note has a day yet." },
	changed: { title: "Changed", count: (d) => d.changed, say: (n) => `${count(n, "file")} changed`, empty: "No file has a time of change." },
	recalled: { title: "Recalled", count: (d) => d.recalled || 0, say: (n) => `recalled ${count(n, "time")}`, empty: "No note of a day was recalled yet." },
	turns: { title: "Turns", count: (d) => d.turns || 0, say: (n) => count(n, "turn"), empty: "No turn of the agent is recorded yet." },
};

let activity, byDate, layer = "notes", chosen = "", allYears = false;

const iso = (t) => t.toISOString().slice(0, 10);
const at = (date) => new Date(`${date}T00:00:00Z`);
const weekday = (t) => (t.getUTCDay() + 6) % 7; // Monday is 0
const plus = (date, days) => iso(new Date(at(date).getTime() + days * 86400000));

async function load() {
	try {
		activity = await api("activity");
		byDate = new Map(activity.days.map((d) => [d.date, d]));
		const wanted = new URLSearchParams(location.search);
		if (layers[wanted.get("show")]) layer = wanted.get("show");
		draw();
		if (/^\d{4}-\d\d-\d\d$/.test(wanted.get("day") || "")) choose(wanted.get("day"), false);
	} catch (err) {
		replace(view, errorBox(err, load));
	}
}

// levels returns a function from a count to 0..4, by the logarithm: most days have few notes, and some have many.
function levels(counts) {
	const top = Math.max(2, ...counts);
	return (n) => (n > 0 ? Math.min(4, 1 + Math.ceil((3 * Math.log(n)) / Math.log(top))) : 0);
}

function draw() {
	replace(document.getElementById("layers"), Object.entries(layers).map(([name, l]) =>
		h("button", { type: "button", "aria-pressed": String(name === layer), onclick: () => { layer = name; remember(); draw(); announce(`${l.title}`); } }, l.title)));
	const l = layers[layer];
	const years = [...new Set(activity.days.filter((d) => l.count(d) > 0).map((d) => d.date.slice(0, 4)))].sort().reverse();
	view.after(panel); // out of what is replaced
	if (!years.length) return replace(view, empty(l));
	const level = levels(activity.days.map(l.count));
	const shown = allYears ? years : years.slice(0, maxYears);
	replace(view, summary(l), shown.map((y) => year(y, l, level)), key(l),
		years.length > shown.length && h("button", { type: "button", onclick: () => { allYears = true; draw(); } }, `${count(years.length - shown.length, "earlier year")}`));
	placePanel();
	for (const el of view.querySelectorAll(".weeks")) {
		// The last day that has something is in sight, and the sides that have more are faded.
		const days = el.querySelectorAll("button.d:not(.l0)"), at = days[days.length - 1];
		const fade = () => {
			el.classList.toggle("before", el.scrollLeft > 4);
			el.classList.toggle("after", el.scrollLeft + el.clientWidth < el.scrollWidth - 4);
		};
		el.addEventListener("scroll", fade, { passive: true });
		if (at) el.scrollLeft = at.offsetLeft - el.clientWidth + 60;
		fade();
	}
}

function summary(l) {
	const total = activity.days.reduce((sum, d) => sum + (l.count(d) || 0), 0);
	const active = activity.days.filter((d) => l.count(d) > 0).length;
	const undated = activity.undated ? `; ${count(activity.undated, "note")} without a day` : "";
	return h("p", { class: "muted" }, `${l.say(total)} on ${count(active, "day")}${layer === "notes" ? `${undated}. A note with entries of several days counts on each` : ""}.`);
}

function empty(l) {
	const off = (layer === "recalled" || layer === "turns") && !activity.turns_kept;
	return h("div", { class: "empty" }, h("h2", {}, l.empty),
		layer === "notes" && h("p", {}, "A note has the day in its name (memory/2026-03-01.md), in a heading (## 2026-03-01) or in its front matter (date: 2026-03-01)."),
		off && [h("p", {}, "What went into prompts is not recorded. To switch it on:"), h("pre", { class: "command" }, "kioku config set turns.keep true")],
		!off && (layer === "recalled" || layer === "turns") && h("p", {}, "It is recorded whenever an agent asks for a prompt or recalls; kioku chat does both."));
}

// year draws the weeks of a year, a week a column and a weekday a row.
function year(y, l, level) {
	const first = at(`${y}-01-01`), today = activity.today;
	const offset = weekday(first);
	const days = (at(`${+y + 1}-01-01`.padStart(10, "0")) - first) / 86400000;
	const grid = h("div", { class: "grid", role: "group", "aria-label": `${y}, by week; the arrow keys move by day and week` });
	weekdays.forEach((name, i) => name && put(grid, h("span", { class: "w", "aria-hidden": "true" }, name), i + 2, 1));
	let total = 0;
	for (let i = 0; i < days; i++) {
		const date = iso(new Date(first.getTime() + i * 86400000));
		const d = byDate.get(date);
		const n = d ? l.count(d) || 0 : 0;
		total += n;
		const column = Math.floor((i + offset) / 7) + 2, row = ((i + offset) % 7) + 2;
		if (date.endsWith("-01")) put(grid, h("span", { class: "m", "aria-hidden": "true" }, months[+date.slice(5, 7) - 1]), 1, column);
		put(grid, cell(date, d, n, l, level(n), today), row, column);
	}
	const stops = grid.querySelectorAll("button");
	(grid.querySelector(`[data-date="${chosen}"]`) || stops[stops.length - 1])?.setAttribute("tabindex", "0");
	return h("section", { class: "year" }, h("h2", {}, y, " ", h("small", {}, l.say(total))), h("div", { class: "weeks", "data-layer": layer }, grid));
}

function put(grid, el, row, column) {
	el.style.gridRow = row;
	el.style.gridColumn = column;
	grid.append(el);
}

function cell(date, d, n, l, level, today) {
	const more = (d?.used > 0 ? " recalled" : "") + (date === today ? " today" : "") + (date > today && !d ? " future" : "");
	if (!d) return h("span", { class: `d l0${more}`, "data-date": date });
	return h("button", {
		type: "button", class: `d l${level}${more}`, "data-date": date, tabindex: -1, "aria-pressed": String(date === chosen),
		"aria-label": `${longDay(date)}: ${facts(d)}`, title: `${longDay(date)}: ${facts(d)}`, onclick: () => choose(date, true),
	});
}

// facts says in words what a day has.
function facts(d) {
	return [
		d.notes && count(d.notes, "note"), d.changed && `${number(d.changed)} changed`, d.recalled && `recalled ${count(d.recalled, "time")}`,
		d.turns && count(d.turns, "turn"), d.used && `${count(d.used, "passage")} used`,
	].filter(Boolean).join(", ") || "nothing";
}

function key(l) {
	return h("p", { class: "key", "data-layer": layer }, h("span", {}, "fewer ", [0, 1, 2, 3, 4].map((n) => h("i", { class: `d l${n}` })), ` more (${l.title.toLowerCase()})`),
		h("span", {}, h("i", { class: "d l0 recalled" }), " recall used passages on this day"));
}

function remember() {
	const agent = new URLSearchParams(location.search).get("agent");
	const q = new URLSearchParams();
	if (agent) q.set("agent", agent);
	if (layer !== "notes") q.set("show", layer);
	if (chosen) q.set("day", chosen);
	history.replaceState(null, "", q.size ? `?${q}` : location.pathname);
}

// The arrow keys move between the days that have something: by day up and down, by week left and right.
view.addEventListener("keydown", (event) => {
	const by = { ArrowUp: -1, ArrowDown: 1, ArrowLeft: -7, ArrowRight: 7 }[event.key];
	const from = event.target.closest?.("button.d")?.dataset.date;
	if (!by || !from) return;
	event.preventDefault();
	for (let date = plus(from, by), tries = 0; tries < 400; date = plus(date, by), tries++) {
		const to = view.querySelector(`button[data-date="${date}"]`);
		if (!to) continue;
		for (const el of to.closest(".grid").querySelectorAll('[tabindex="0"]')) el.setAttribute("tabindex", "-1");
		to.setAttribute("tabindex", "0");
		to.focus();
		return;
	}
});

const read = latest(async (signal, date) => {
	const [files, turns] = await Promise.all([
		api("files", { since: date, until: date, page_size: 50 }, { signal }),
		byDate.get(date)?.turns ? api("turns", { since: date, until: date, page_size: 100 }, { signal }) : null,
	]);
	const texts = await Promise.all(files.files.slice(0, 10).map((f) =>
		api(`notes/${inPath(f.path)}`, { from: 1, lines: excerptLines }, { signal }).catch((err) => {
			if (err.name === "AbortError") throw err;
			return { text: "", problem: err.message };
		})));
	return { files, turns, texts };
});

// placePanel puts the panel of the chosen day below its year.
function placePanel() {
	const year = view.querySelector(`[data-date="${chosen}"]`)?.closest(".year");
	(year || view).after(panel);
}

async function choose(date, focus) {
	chosen = date;
	remember();
	for (const el of view.querySelectorAll('.d[aria-pressed="true"]')) el.setAttribute("aria-pressed", "false");
	view.querySelector(`button[data-date="${date}"]`)?.setAttribute("aria-pressed", "true");
	panel.hidden = false;
	placePanel();
	replace(panel, heading(date), h("p", { class: "loading" }, "Reading the notes…"));
	try {
		const got = await read(date);
		if (!got) return;
		replace(panel, heading(date), notes(date, got), used(got.turns));
		if (focus) {
			panel.scrollIntoView({ block: "nearest", behavior: "smooth" });
			announce(`${longDay(date)}: ${facts(byDate.get(date) || {})}`);
		}
	} catch (err) {
		replace(panel, heading(date), errorBox(err, () => choose(date, focus)));
	}
}

function heading(date) {
	const step = (by, name, sign) => {
		const all = activity.days.map((d) => d.date);
		const to = by < 0 ? all.filter((d) => d < date).pop() : all.find((d) => d > date);
		return h("button", { type: "button", "aria-label": name, title: name, disabled: !to, onclick: () => choose(to, true) }, sign);
	};
	return [h("h2", {}, longDay(date), h("span", { class: "steps" }, step(-1, "The day before that has something", "←"), step(1, "The next day that has something", "→"))),
		h("p", { class: "muted" }, facts(byDate.get(date) || {}))];
}

function notes(date, { files, texts }) {
	const of = byDate.get(date)?.notes || 0;
	const within = Math.max(0, of - files.total);
	return [
		files.files.slice(0, 10).map((f, i) => h("article", {},
			h("h3", {}, words("a", { href: noteHref(f.path), "data-step": true }, titleOf(f.path, f.title)), words("span", { class: "path" }, f.path)),
			texts[i].problem ? h("p", { class: "muted" }, texts[i].problem) : excerpt(texts[i].text, date),
			texts[i].nextLine > 0 && h("p", {}, h("a", { href: noteHref(f.path) }, "Read on")))),
		files.files.length > 10 && h("ul", {}, files.files.slice(10).map((f) => h("li", {}, words("a", { href: noteHref(f.path) }, f.path)))),
		within > 0 && h("p", { class: "muted" }, `${count(within, "other note")} ${within === 1 ? "has a passage" : "have passages"} of this day. `,
			h("a", { href: href("/search", { since: date, until: date }) }, "Search this day")),
		!of && h("p", { class: "muted" }, "Memory has no note of this day."),
	];
}

// excerpt shows the beginning of a note, without the heading that only repeats the day.
function excerpt(text, date) {
	return h("div", { class: "text" }, rendered(text.replace(new RegExp(`^\\s*# +${date}\\s*\\n`), ""), [], 1));
}

// used lists what recall used on a day.
function used(turns) {
	const passages = new Map();
	for (const t of turns?.turns || []) {
		for (const m of t.recall?.in || []) {
			const id = `${m.agent}\n${m.path}\n${m.start}`;
			passages.set(id, { ...m, times: (passages.get(id)?.times || 0) + 1 });
		}
	}
	if (!passages.size) return null;
	const list = [...passages.values()].sort((a, b) => b.times - a.times || b.score - a.score);
	return h("article", {}, h("h3", {}, "Recall used on this day"), h("ul", { class: "used" }, list.slice(0, 30).map((m) => h("li", {},
		m.shared ? h("span", { class: "path" }, `${clean(m.agent)}: ${clean(m.path)}`) : words("a", { class: "path", href: noteHref(m.path, m.start, m.end) }, `${m.path}:${m.start}`),
		h("span", { class: "small muted num" }, `${count(m.times, "time")}, score ${m.score.toFixed(2)}`)))),
	h("p", { class: "small" }, h("a", { href: href("/turns") }, "The turns")));
}

load();
