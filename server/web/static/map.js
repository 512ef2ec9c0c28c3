// The map of a memory: each point is a passage, and passages about the same are near each other.
import { agent, announce, api, clean, color, count, day, debounce, errorBox, h, href, latest, noteHref, number, onTheme, replace, store, titleOf, words } from "/static/app.js";
import { Plane } from "/static/mapview.js";

const $ = (id) => document.getElementById(id);
const view = $("view"), stage = $("stage"), canvas = $("map"), tip = $("tip");
const other = 16; // colour of what is in no group
const mostPoints = 20000; // of a map; beyond it is a sample
let map, plane, groups = [], picked = -1, query = "";

const phases = { reading: "Reading the notes", neighbors: "Looking for passages that are alike", layout: "Arranging them", naming: "Naming the topics" };

async function load() {
	try {
		const got = await api("map", { known_version: map?.version });
		if (got.points.length) {
			map = got;
			begin();
		}
		if (got.error && !map) return replace(view, errorBox({ message: got.error }, load));
		if (!got.version && !got.computing) return replace(view, errorBox({ message: "The map could not be made." }, load));
		if (!map && got.version && !got.computing) return showEmpty();
		if (!map) showProgress(got);
		if (!query) about(got);
		again(got.computing ? (map ? 2000 : 300) : 30000);
	} catch (err) {
		replace(view, errorBox(err, load));
	}
}

// again loads the map once more after a while, as soon as somebody looks.
function again(wait) {
	setTimeout(() => (document.hidden ? addEventListener("visibilitychange", load, { once: true }) : load()), wait);
}

function showProgress(got) {
	const text = phases[got.phase] || "Making the map";
	let bar = view.querySelector("progress");
	if (!bar) {
		replace(view, h("div", { class: "making" }, h("p", {}), h("progress", { max: 1, "aria-label": "Making the map" }), h("p", { class: "small muted" }, "It is made once, in the background, and follows small changes by itself.")));
		bar = view.querySelector("progress");
	}
	bar.value = got.progress;
	view.querySelector("p").textContent = `${text}…`;
}

function showEmpty() {
	stage.hidden = true;
	replace(view, h("div", { class: "empty" }, h("h2", {}, "There is nothing to map yet"), h("p", {}, "Write a note, and come back.")));
}

function about(got) {
	const n = map?.points.length;
	if (!n) return;
	const total = got.total_chunks;
	const sample = total > n && n >= mostPoints ? `a sample of ${count(n, "passage")} of ${number(total)}` : count(n, "passage");
	const older = got.computing ? " A newer map is being made." : total !== n && n < mostPoints ? ` There are ${number(total)} by now; the map follows when it is its turn.` : "";
	const basis = map.basis === "vectors" ? "near each other if they mean the same" : "near each other if they share telling words";
	$("about").textContent = `${sample[0].toUpperCase()}${sample.slice(1)} in ${count(map.files.length, "note")}, ${basis}. Axes and distances between topics mean nothing.${older}`;
}

// begin shows a new map.
function begin() {
	replace(view);
	stage.hidden = false;
	const first = !plane;
	plane ||= new Plane(canvas, placeTip);
	plane.setPoints(Float32Array.from(map.points, (p) => p.x), Float32Array.from(map.points, (p) => p.y));
	nameClusters();
	plane.labels = map.clusters.map((c) => ({ x: c.x, y: c.y, text: clean(c.terms.slice(0, 2).join(" · ")), long: clean(c.terms.join(" · ")) })).filter((l) => l.text);
	select(-1);
	colourBy($("by").value);
	listClusters();
	if (first) {
		onTheme(paint);
		listen();
		if (map.clusters.length < 2 && $("by").value === "cluster") colourBy(($("by").value = "folder"));
	}
	plane.resize();
	if (query) lightUp();
}

// keys are words of front matter and of addresses, which are no topics; so is what looks like a key or a number.
const keys = new Set("title name tags tag date dates created updated modified aliases alias type status author authors source sources category categories lang language url uuid id path null true false".split(" "));
const topic = (term) => !keys.has(term.toLowerCase()) && !/[_:=/\\]|^[\d.-]+$|^[0-9a-f-]{8,}$/i.test(term);

// nameClusters keeps the topics among the terms of the clusters. One without a topic has the name of the note with the most passages in it.
function nameClusters() {
	map.clusters.forEach((c, k) => {
		c.terms = c.terms.filter(topic);
		if (c.terms.length) return;
		const [most] = tally(map.points.filter((p) => p.cluster === k), (p) => [p.file]);
		if (most) c.terms = [titleOf(map.files[most[0]].path, map.files[most[0]].title)];
	});
}

function paint() {
	const names = ["--c1", "--c3", "--c2", "--c4", "--c6", "--c5", "--c7", "--c8", "--c9", "--c10", "--c11", "--c12", "--c13", "--c14", "--c15", "--c16", "--none"];
	plane.colours = $("by").value === "age" ? ["--a0", "--a1", "--a2", "--a3", "--a4", ...Array(11).fill("--a4"), "--none"].map(color) : names.map(color);
	plane.ink = color("--ink");
	plane.ground = color("--surface");
	plane.request();
}

// groupers return the name of the group of each point, "" for none, in the order of the legend if it matters.
const groupers = {
	cluster: () => ({ of: (i) => { const k = map.points[i].cluster, c = map.clusters[k]; return c ? clean(c.terms.slice(0, 2).join(" · ")) || `topic ${k + 1}` : ""; }, none: "in no topic" }),
	folder: () => { const depth = commonDepth(); return { of: (i) => fileOf(i).path.split("/").slice(depth, -1)[0] || "(top)", none: "other folders" }; },
	tag: () => {
		const counts = tally(map.points, (p) => map.files[p.file].tags);
		const top = counts.slice(0, 8).map(([name]) => name);
		return { of: (i) => top.find((t) => fileOf(i).tags.includes(t)) || "", none: counts.length ? "other or no tag" : "no tag" };
	},
	age: () => {
		const now = Date.now(), names = ["this week", "this month", "this quarter", "this year", "older"], days = [7, 31, 92, 366, Infinity];
		return { of: (i) => { const t = timeOf(i); return t ? names[days.findIndex((d) => now - t < d * 86400000)] : ""; }, none: "no date", order: names };
	},
};

const fileOf = (i) => map.files[map.points[i].file];
function timeOf(i) {
	const t = Date.parse(map.points[i].date || fileOf(i).modification_time || "");
	return Number.isNaN(t) ? 0 : t;
}

// commonDepth returns how many folders all files have in common.
function commonDepth() {
	const folders = map.files.map((f) => f.path.split("/").slice(0, -1));
	let depth = 0;
	while (depth < 20 && folders.filter((f) => f[depth] !== undefined && f[depth] === folders.find((g) => g[depth] !== undefined)?.[depth]).length > 0.9 * folders.length) depth++;
	return depth;
}

// tally returns the names of all items with how often they occur, the most frequent first.
function tally(items, namesOf) {
	const counts = new Map();
	for (const item of items) for (const name of namesOf(item)) counts.set(name, (counts.get(name) || 0) + 1);
	return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

function colourBy(by) {
	const g = groupers[by]();
	const names = map.points.map((_, i) => g.of(i));
	let counts = tally(names, (n) => (n ? [n] : []));
	if (g.order) counts.sort((a, b) => g.order.indexOf(a[0]) - g.order.indexOf(b[0]));
	// No two groups share a colour; those beyond the last colour are others.
	const cycle = by === "cluster";
	const most = cycle ? 16 : 8;
	const index = new Map(counts.map(([name], i) => [name, i < most ? i : other]));
	if (g.order) for (const [name] of counts) index.set(name, g.order.indexOf(name));
	names.forEach((n, i) => (plane.colour[i] = n ? index.get(n) : other));
	groups = counts.slice(0, most).map(([name, n]) => ({ name, n, colour: index.get(name), has: (i) => names[i] === name }));
	const rest = names.length - groups.reduce((sum, x) => sum + x.n, 0);
	if (rest > 0) groups.push({ name: cycle && counts.length > most ? "other topics, or none" : g.none, n: rest, colour: other, has: (i) => !groups.some((x) => x.colour !== undefined && x.name === names[i]) });
	picked = -1;
	plane.dim.fill(0);
	showLegend(by);
	paint();
}

function showLegend(by) {
	const legend = $("legend");
	legend.hidden = false;
	replace(legend, groups.map((g, at) => h("button", { type: "button", "aria-pressed": String(at === picked), title: "Show only these", onclick: () => pick(at, by) },
		h("span", { class: `sw ${by === "age" && g.colour !== other ? "a" : "k"}${g.colour}` }), words("span", { class: "name" }, g.name), h("span", { class: "num" }, number(g.n)))));
}

function pick(at, by) {
	picked = picked === at ? -1 : at;
	const g = groups[picked];
	for (let i = 0; i < plane.dim.length; i++) plane.dim[i] = g && !g.has(i) ? 1 : 0;
	[...$("legend").children].forEach((el, i) => el.setAttribute("aria-pressed", String(i === picked)));
	announce(g ? `Only ${g.name}: ${count(g.n, "passage")}` : "All passages");
	plane.request();
}

function listClusters() {
	const at = $("clusters");
	at.hidden = !map.clusters.length;
	const files = map.clusters.map(() => new Map());
	for (const p of map.points) if (p.cluster >= 0) files[p.cluster].set(p.file, (files[p.cluster].get(p.file) || 0) + 1);
	replace(at, h("h2", {}, "Topics"), h("p", { class: "small muted" }, "The same as a list: what lies together, and the notes with the most passages there."),
		h("div", {}, map.clusters.map((c, k) => h("section", {},
			h("h3", {}, words("span", {}, c.terms.slice(0, 3).join(" · ") || `Topic ${k + 1}`)),
			h("p", { class: "small muted row" }, h("span", {}, `${count(c.size, "passage")} of ${count(files[k].size, "note")}`),
				h("button", { type: "button", "aria-label": `Show ${c.terms.slice(0, 2).join(" ")} on the map`, onclick: () => { plane.show(c.x, c.y, 4); stage.scrollIntoView({ block: "nearest" }); } }, "Show")),
			h("ul", {}, [...files[k]].sort((a, b) => b[1] - a[1]).slice(0, 5).map(([f, n]) => h("li", {},
				words("a", { href: noteHref(map.files[f].path), title: clean(map.files[f].path), "data-step": true }, titleOf(map.files[f].path, map.files[f].title)),
				n > 1 && h("span", { class: "num" }, number(n)))))))));
}

// Hover, focus and selection.

function select(i, touch) {
	if (!plane) return;
	plane.selected = i;
	tip.hidden = i < 0;
	tip.classList.toggle("touch", Boolean(touch));
	if (i >= 0) {
		const f = fileOf(i), p = map.points[i];
		const heading = p.heading.split(" > ").pop().replace(/^#+ /, "");
		replace(tip, words("b", {}, titleOf(f.path, f.title)), heading && heading !== f.title && words("span", {}, heading),
			words("span", { class: "path" }, `${f.path}:${p.start_line}–${p.end_line}`), (p.date || f.tags.length > 0) && h("span", {}, [day(p.date), ...f.tags.slice(0, 4).map((t) => `#${clean(t)}`)].filter(Boolean).join(" · ")),
			touch && h("a", { href: addressOf(i) }, "Open the note"));
	}
	placeTip();
	plane.request();
}

const addressOf = (i) => noteHref(fileOf(i).path, map.points[i].start_line, map.points[i].end_line, query);

function placeTip() {
	if (tip.hidden || !plane || plane.selected < 0) return;
	const [x, y] = plane.screen(plane.x[plane.selected], plane.y[plane.selected]);
	const w = tip.offsetWidth, t = tip.offsetHeight;
	const left = Math.max(4, Math.min(plane.width - w - 4, x + (x > plane.width / 2 ? -w - 14 : 14)));
	const top = Math.max(4, Math.min(plane.height - t - 4, y - t / 2));
	tip.style.transform = `translate(${left}px, ${top}px)`;
	canvas.setAttribute("aria-label", `Map of the memory. ${tip.innerText.replaceAll("\n", ", ")}`);
}

// towards selects the nearest point in a direction from the selected one, or from the middle.
function towards(dx, dy) {
	const from = plane.selected < 0 ? [plane.cx, plane.cy] : [plane.x[plane.selected], plane.y[plane.selected]];
	let best = -1, least = Infinity;
	for (let i = 0; i < plane.x.length; i++) {
		const x = plane.x[i] - from[0], y = plane.y[i] - from[1], along = x * dx + y * dy, across = Math.abs(x * dy - y * dx);
		const cost = along + 2 * across;
		if (along > 1e-6 && across <= along && cost < least && i !== plane.selected && !plane.dim[i]) [best, least] = [i, cost];
	}
	if (best < 0) return;
	select(best);
	const [sx, sy] = plane.screen(plane.x[best], plane.y[best]);
	if (sx < 20 || sy < 20 || sx > plane.width - 20 || sy > plane.height - 20) plane.show(plane.x[best], plane.y[best]);
	announce(tip.innerText.replaceAll("\n", ", "));
}

function listen() {
	const fingers = new Map();
	let moved = 0;
	const local = (e) => { const box = canvas.getBoundingClientRect(); return [e.clientX - box.left, e.clientY - box.top]; };
	canvas.addEventListener("pointerdown", (e) => {
		canvas.setPointerCapture(e.pointerId);
		fingers.set(e.pointerId, local(e));
		if (fingers.size === 1) moved = 0;
	});
	canvas.addEventListener("pointermove", (e) => {
		const now = local(e), before = fingers.get(e.pointerId);
		if (!before) {
			const i = plane.at(...now);
			canvas.classList.toggle("over", i >= 0);
			if (i !== plane.selected) select(i);
			return;
		}
		if (fingers.size === 2) {
			const [a] = [...fingers].filter(([id]) => id !== e.pointerId).map(([, at]) => at);
			const spread = Math.hypot(now[0] - a[0], now[1] - a[1]) / Math.max(1, Math.hypot(before[0] - a[0], before[1] - a[1]));
			plane.zoomBy(spread, (now[0] + a[0]) / 2, (now[1] + a[1]) / 2);
			plane.panBy((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
			moved = 99;
		} else {
			moved += Math.abs(now[0] - before[0]) + Math.abs(now[1] - before[1]);
			if (moved > 4) {
				canvas.classList.add("moving");
				plane.panBy(now[0] - before[0], now[1] - before[1]);
			}
		}
		fingers.set(e.pointerId, now);
	});
	const end = (e) => {
		const at = fingers.get(e.pointerId);
		fingers.delete(e.pointerId);
		canvas.classList.remove("moving");
		if (!at || moved > 4 || e.type === "pointercancel") return;
		const touch = e.pointerType !== "mouse", i = plane.at(...at, touch ? 22 : 10);
		if (touch) select(i, true);
		else if (i >= 0) location.assign(addressOf(i));
	};
	canvas.addEventListener("pointerup", end);
	canvas.addEventListener("pointercancel", end);
	canvas.addEventListener("pointerleave", (e) => e.pointerType === "mouse" && select(-1));
	canvas.addEventListener("wheel", (e) => {
		e.preventDefault();
		plane.zoomBy(Math.exp(-Math.max(-60, Math.min(60, e.deltaY)) / 150), ...local(e));
	}, { passive: false });
	canvas.addEventListener("keydown", (e) => {
		const arrow = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
		if (e.ctrlKey || e.metaKey || e.altKey) return;
		if (arrow && e.shiftKey) towards(...arrow);
		else if (arrow) plane.panBy(-60 * arrow[0], -60 * arrow[1]);
		else if (e.key === "+" || e.key === "=") plane.zoomBy(1.4);
		else if (e.key === "-") plane.zoomBy(1 / 1.4);
		else if (e.key === "0") plane.fit();
		else if (e.key === "Escape") select(-1);
		else if (e.key === "Enter" && plane.selected >= 0) location.assign(addressOf(plane.selected));
		else return;
		e.preventDefault();
		e.stopPropagation();
	});
	$("in").addEventListener("click", () => plane.zoomBy(1.6));
	$("out").addEventListener("click", () => plane.zoomBy(1 / 1.6));
	$("fit").addEventListener("click", () => plane.fit());
}

// Search hits light up.

const find = latest((signal, q) => api("search", { query: q, max_results: 50, granularity: "chunk" }, { signal }));

async function lightUp() {
	plane.lit.clear();
	if (!query) {
		about({ total_chunks: map.total_chunks });
		return plane.request();
	}
	try {
		const got = await find(query);
		if (!got) return;
		plane.lit.clear();
		const of = new Map(map.files.map((f, i) => [f.path, i]));
		const wanted = new Map();
		for (const r of got.results.filter((r) => !r.weak)) {
			const f = of.get(r.path);
			if (f !== undefined) wanted.set(f, (wanted.get(f) || []).concat([[r.startLine, r.endLine]]));
		}
		map.points.forEach((p, i) => {
			if (wanted.get(p.file)?.some(([from, to]) => p.start_line <= from && to <= p.end_line)) plane.lit.add(i);
		});
		$("about").textContent = plane.lit.size ? `${count(plane.lit.size, "passage")} lit up.` : "Nothing found.";
		plane.request();
	} catch (err) {
		$("about").textContent = err.message;
	}
}

$("find").addEventListener("submit", (e) => e.preventDefault());
$("map-q").addEventListener("input", debounce(() => {
	query = $("map-q").value.trim();
	if (map) lightUp();
}, () => 120));
$("by").value = store.get("map-by", "cluster");
if (!$("by").value) $("by").value = "cluster";
$("by").addEventListener("change", () => {
	store.set("map-by", $("by").value);
	if (map) colourBy($("by").value);
});

// For the tests of the page: the milliseconds of the last frame, and how many names and lit points it has.
canvas.measure = () => ({ frame: plane?.took, names: plane?.shown, lit: plane?.lit.size, points: plane?.x.length });

load();
