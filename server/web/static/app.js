// What all views share: requests to /v1/, elements without innerHTML, formats, the theme, the agent and the keyboard.

export const agent = document.body.dataset.agent;
const severalAgents = Number(document.body.dataset.agents) > 1;

// ApiError is an answer of /v1/ that is no success.
export class ApiError extends Error {
	constructor(status, error = {}) {
		super(error.message || `The server answered with status ${status}.`);
		this.status = status;
		this.code = error.code || "";
		this.hint = error.hint || "";
		this.fields = error.fields || [];
		this.requestId = error.requestId || "";
	}
}

// url returns a path with query parameters; empty, false and undefined values are left out, lists are repeated.
export function url(path, params = {}) {
	const q = new URLSearchParams();
	for (const [name, value] of Object.entries(params)) {
		for (const v of Array.isArray(value) ? value : [value]) {
			if (v !== undefined && v !== null && v !== "" && v !== false) q.append(name, v);
		}
	}
	const query = q.toString();
	return query ? `${path}?${query}` : path;
}

// href returns the address of a view of the same agent.
export function href(path, params = {}) {
	return url(path, { agent: severalAgents ? agent : "", ...params });
}

// noteHref returns the address of a note in the reader, at lines if from is given. about is the query that led to it.
export function noteHref(path, from = 0, to = from, about = "") {
	const at = href("/note", { path, lines: from ? `${from}-${to}` : "", q: about });
	return from ? `${at}#L${from}` : at;
}

// inPath returns the path of a note as a part of the path of an address.
export const inPath = (path) => path.split("/").map(encodeURIComponent).join("/").replace(/^\//, "%2F");

// api calls an operation of /v1/ for the current agent: with a query, or with options.body. It throws an ApiError for an answer that is no
// success, and an AbortError if options.signal aborts. With options.everybody the request names no agent. A caller without a valid token is
// sent to the login.
export async function api(path, params = {}, options = {}) {
	const init = { signal: options.signal, headers: { Accept: "application/json" }, credentials: "same-origin" };
	const own = options.everybody ? {} : { agent };
	let at = `/v1/${path}`;
	if (options.body) {
		init.method = "POST";
		init.headers["Content-Type"] = "application/json";
		init.body = JSON.stringify({ ...own, ...options.body });
	} else {
		at = url(at, { ...own, ...params });
	}
	let response;
	try {
		response = await fetch(at, init);
	} catch (err) {
		if (err.name === "AbortError") throw err;
		throw new ApiError(0, { message: "The server does not answer.", hint: "Check that kioku serve runs; this page tries again when you do." });
	}
	if (response.status === 401) {
		location.assign(url("/login", { next: location.pathname + location.search }));
	}
	const body = await response.json().catch(() => ({}));
	if (!response.ok) throw new ApiError(response.status, body.error);
	return body;
}

// latest returns a function that runs fn with a signal and aborts the run before. It resolves to undefined for an aborted run.
export function latest(fn) {
	let current;
	return async (...args) => {
		current?.abort();
		const mine = (current = new AbortController());
		try {
			return await fn(mine.signal, ...args);
		} catch (err) {
			if (err.name !== "AbortError") throw err;
		}
	};
}

// h returns an element. Properties that begin with "on" are listeners, "class" and the like are attributes, true is an empty
// attribute, and false, null and undefined are none. Children are nodes, texts or lists of them.
export function h(tag, props = {}, ...children) {
	return fill(document.createElement(tag), props, children);
}

// svg returns an SVG element.
export function svg(tag, props = {}, ...children) {
	return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), props, children);
}

function fill(el, props, children) {
	for (const [name, value] of Object.entries(props || {})) {
		if (value === undefined || value === null || value === false) continue;
		if (name.startsWith("on")) el.addEventListener(name.slice(2), value);
		else el.setAttribute(name, value === true ? "" : value);
	}
	for (const child of children.flat(Infinity)) {
		if (child !== undefined && child !== null && child !== false) el.append(child);
	}
	return el;
}

// replace replaces what an element contains.
export function replace(el, ...children) {
	el.replaceChildren(...children.flat(Infinity).filter((c) => c !== undefined && c !== null && c !== false));
}

// errorBox returns an element that shows an error and what to do, with a button that tries again if retry is given.
export function errorBox(err, retry) {
	return h("div", { class: "notice bad", role: "alert" },
		h("p", {}, h("strong", {}, err.message)),
		err.fields?.map((f) => h("p", {}, `${f.field}: ${f.problem}`)),
		err.hint && h("p", {}, err.hint),
		err.requestId && h("p", { class: "small muted" }, `Request ${err.requestId}`),
		retry && h("button", { type: "button", onclick: retry }, "Try again"));
}

// announce tells a screen reader a sentence.
export function announce(text) {
	document.getElementById("announce").textContent = text;
}

const numbers = new Intl.NumberFormat("en");
const decimals = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const plurals = new Intl.PluralRules("en");

// count returns a number with its noun: count(1, "note") is "1 note". For other plurals than -s give them.
export function count(n, noun, many = `${noun}s`) {
	return `${numbers.format(n || 0)} ${plurals.select(n || 0) === "one" ? noun : many}`;
}

// number returns a number with separators of thousands.
export const number = (n) => numbers.format(n || 0);

// bytes returns a size for people.
export function bytes(n) {
	n = Number(n) || 0;
	const units = ["bytes", "KB", "MB", "GB", "TB"];
	let i = 0;
	while (n >= 1000 && i < units.length - 1) {
		n /= 1024;
		i++;
	}
	return `${i ? decimals.format(n) : numbers.format(n)} ${units[i]}`;
}

// seconds returns a duration such as "1m2.5s" or "3.2ms" in seconds; 0 without one.
export function seconds(duration) {
	const lengths = { h: 3600, m: 60, s: 1, ms: 1e-3, "µs": 1e-6, ns: 1e-9 };
	return [...(duration || "").matchAll(/([\d.]+)(ms|µs|ns|h|m|s)/g)].reduce((sum, [, n, unit]) => sum + n * lengths[unit], 0);
}

// ago returns how long ago a time was, as "3 minutes ago"; "never" without one.
export function ago(time) {
	if (!time) return "never";
	const s = Math.max(0, (Date.now() - new Date(time)) / 1000);
	if (s < 5) return "now";
	for (const [unit, length] of [["year", 31557600], ["month", 2629800], ["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]]) {
		if (s >= length) return `${count(Math.floor(s / length), unit)} ago`;
	}
	return "now";
}

// day returns YYYY-MM-DD as "Mon 3 Mar 2025"; the text itself if it is no day.
export function day(text) {
	const t = new Date(`${text}T12:00:00`);
	if (!text || Number.isNaN(t.getTime())) return text || "";
	return t.toLocaleDateString("en-GB", { weekday: "short", day: "numeric", month: "short", year: "numeric" });
}

// langOf guesses the language of a text from its script, for the choice of fonts; undefined for scripts that need none.
export function langOf(text) {
	if (/[\u3040-\u30ff]/.test(text)) return "ja";
	if (/[\uac00-\ud7af]/.test(text)) return "ko";
	if (/[\u4e00-\u9fff]/.test(text)) return "zh";
}

// clean takes control characters and those that turn the direction of text out of it: the characters of internal/text.Forbidden.
export function clean(text) {
	return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, "\ufffd");
}

// words returns an element for text of a note: cleaned, with its own direction and language.
export function words(tag, props, text) {
	return h(tag, { dir: "auto", lang: langOf(text), ...props }, clean(text));
}

// titleOf returns what people call a note: its title, else the name of its file without the ending; a day is written out.
export function titleOf(path, title = "") {
	const name = clean(title || path.split("/").pop().replace(/\.[a-z]+$/i, ""));
	if (/^\d{4}-\d\d-\d\d$/.test(name)) return day(name);
	return /^\p{Lu}{2,}$/u.test(name) ? name[0] + name.slice(1).toLowerCase() : name; // MEMORY.md is Memory
}

// debounce returns a function that calls fn after wait() milliseconds without a further call.
export function debounce(fn, wait) {
	let timer;
	return (...args) => {
		clearTimeout(timer);
		timer = setTimeout(() => fn(...args), wait());
	};
}

// store reads and writes settings of this browser; without storage they are forgotten.
export const store = {
	get(name, otherwise) {
		try {
			return localStorage.getItem(`kioku-${name}`) ?? otherwise;
		} catch {
			return otherwise;
		}
	},
	set(name, value) {
		try {
			localStorage.setItem(`kioku-${name}`, value);
		} catch {
			// Private windows may refuse.
		}
	},
};

// onTheme calls fn now and whenever the colours change, for what is drawn on a canvas.
const themed = [];
export function onTheme(fn) {
	themed.push(fn);
	fn();
}

// color returns the colour that a custom property of base.css has now: color("--accent") is "rgb(47, 75, 143)".
export function color(name) {
	const probe = document.body.appendChild(h("span", { hidden: true }));
	probe.style.color = `var(${name})`;
	const value = getComputedStyle(probe).color;
	probe.remove();
	return value;
}

const themes = { auto: ["◐", "as the system"], light: ["○", "light"], dark: ["●", "dark"] };

function showTheme(theme) {
	const [sign, name] = themes[theme];
	const button = document.getElementById("theme");
	button.textContent = sign;
	button.setAttribute("aria-label", `Colours: ${name}`);
	button.title = `Colours: ${name}`;
	if (theme === "auto") delete document.documentElement.dataset.theme;
	else document.documentElement.dataset.theme = theme;
	for (const fn of themed) fn();
}

function setUpTheme() {
	const order = Object.keys(themes);
	let theme = store.get("theme", "auto");
	if (!themes[theme]) theme = "auto";
	showTheme(theme);
	document.getElementById("theme").addEventListener("click", () => {
		theme = order[(order.indexOf(theme) + 1) % order.length];
		store.set("theme", theme);
		showTheme(theme);
	});
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => themed.forEach((fn) => fn()));
}

function setUpAgent() {
	const select = document.getElementById("agent");
	select?.addEventListener("change", () => select.form.requestSubmit());
}

// Keys that a view has for itself: a map from key to function, by which the view's own wins.
const ownKeys = new Map();

// onKey runs fn when key is pressed outside of a field.
export function onKey(key, fn) {
	ownKeys.set(key, fn);
}

function inField(el) {
	return el.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(el.tagName);
}

function focusSearch() {
	const field = document.querySelector("[data-search]");
	if (!field) return location.assign(href("/search"));
	field.focus();
	field.select?.();
}

// step moves the focus to the next (1) or previous (-1) element with data-step.
function step(by) {
	const all = [...document.querySelectorAll("[data-step]")].filter((el) => el.offsetParent);
	const at = all.indexOf(document.activeElement.closest("[data-step]"));
	all[at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by]?.focus();
}

function setUpKeys() {
	const help = document.getElementById("help");
	const on = document.getElementById("keys-on");
	on.checked = store.get("keys", "on") === "on";
	on.addEventListener("change", () => store.set("keys", on.checked ? "on" : "off"));
	document.getElementById("help-open").addEventListener("click", () => help.showModal());
	let going = -Infinity;
	document.addEventListener("keydown", (event) => {
		if (event.key === "Escape" && inField(event.target)) event.target.blur();
		if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || inField(event.target) || !on.checked || help.open) return;
		const to = event.timeStamp - going < 1200 && document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
		going = -Infinity;
		if (to) to.click();
		else if (ownKeys.has(event.key)) ownKeys.get(event.key)(event);
		else if (event.key === "g") going = event.timeStamp;
		else if (event.key === "/") focusSearch();
		else if (event.key === "?") help.showModal();
		else if (event.key === "j") step(1);
		else if (event.key === "k") step(-1);
		else return;
		event.preventDefault();
	});
}

setUpTheme();
setUpAgent();
setUpKeys();
document.querySelector(".views [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
