// A unit of derived memory as a card: its sentence, where it is from, its history, and what a person may decide about it.
import { agent, announce, api, clean, count, day, errorBox, h, href, noteHref, replace, words } from "/static/app.js";
import { changing } from "/static/forget.js";

const speakers = { note: "in a note", user: "said by you", assistant: "said by the agent", tool: "from a tool or a quotation" };

// knownHref returns the address of the view of what is known.
export const knownHref = (params) => href("/known", params);

// decide sends a decision about a unit or an entity and returns what was decided.
export function decide(id, verb, body = {}) {
	return api("derive/decisions", {}, { body: { agent, verb, id, ...body } });
}

// period returns when a fact holds, as "since 2026-10" or "2026-03 to 2026-10"; empty if nothing is known.
export function period(f) {
	if (f.from && f.to) return `${f.from} to ${f.to}`;
	if (f.from) return `since ${f.from}`;
	return f.to ? `until ${f.to}` : "";
}

const stateTags = { superseded: ["superseded", ""], conflict: ["in conflict", "warn"], archived: ["archived", ""] };

function tags(u) {
	const state = stateTags[u.state];
	const status = u.loop && u.loop.status !== "open" ? u.loop.status : "";
	return [
		u.pinned && h("span", { class: "tag good" }, "pinned"),
		state && !status && h("span", { class: `tag ${state[1]}` }, state[0]),
		status && h("span", { class: "tag" }, status),
		u.loop?.due && h("span", { class: `tag ${u.loop.status === "open" && u.loop.due < today() ? "warn" : ""}` }, `due ${u.loop.due}`),
		u.sensitivity !== "normal" && h("span", { class: "tag bad" }, u.sensitivity),
		u.source !== "rule" && h("span", { class: "tag" }, u.source === "person" ? "decided by you" : "from the model"),
		u.summary?.stale && h("span", { class: "tag warn" }, "notes have changed since"),
	];
}

function today() {
	const t = new Date();
	return `${t.getFullYear()}-${String(t.getMonth() + 1).padStart(2, "0")}-${String(t.getDate()).padStart(2, "0")}`;
}

// sources shows where a unit is from: the quotes with links to their lines.
function sources(u) {
	const all = u.evidence || [];
	if (!all.length) return null;
	const item = (e) => h("li", {},
		e.quote !== u.loop?.text && words("q", {}, e.quote || "…"),
		h("span", { class: "from small muted" },
			words("a", { class: "path", href: noteHref(e.path, e.start_line, e.end_line) }, `${e.path}:${e.start_line}${e.end_line > e.start_line ? `–${e.end_line}` : ""}`),
			` ${speakers[e.speaker] || `said by ${clean(e.speaker)}`}`, e.maker && e.maker !== "rule" && ` · read by ${clean(e.maker)}`));
	return [h("ul", { class: "sources" }, all.slice(0, 2).map(item)),
		all.length > 2 && h("details", {}, h("summary", { class: "small" }, `${all.length - 2} more`), h("ul", { class: "sources" }, all.slice(2).map(item)))];
}

// unitCard returns a card. changed is called after a decision; open shows the history at once.
export function unitCard(u, { changed, open = false } = {}) {
	const below = h("div", { class: "below" });
	const card = h("article", { class: `panel unit ${u.state}`, id: `u-${u.id}`, tabindex: -1, "data-step": true, "aria-label": clean(u.text) });
	const act = async (verb, body, said) => {
		try {
			const got = await decide(u.id, verb, body);
			announce(said);
			if (got.remaining?.length) showRemaining(below, got.remaining, changed);
			else changed?.(got.unit);
		} catch (err) {
			replace(below, errorBox(err));
		}
	};
	const quoted = u.summary && u.source === "rule" && u.summary.events?.length > 0; // then the events are all of the text
	const say = !quoted && words("p", { class: "say" }, u.summary ? u.summary.text : u.loop ? u.loop.text : u.text);
	card.append(...[
		h("header", {},
			u.loop && h("input", { type: "checkbox", checked: u.loop.status === "closed", "aria-label": `Done: ${clean(u.loop.text)}`,
				onchange: (e) => act(e.target.checked ? "close" : "reopen", {}, e.target.checked ? "Closed" : "Opened again") }),
			say),
		h("p", { class: "tags" }, tags(u)),
		u.summary && events(u),
		u.summary?.relationship && words("p", { class: "small" }, u.summary.relationship),
		...[!u.summary?.events?.length && sources(u)].flat(),
		h("div", { class: "acts" },
			h("button", { type: "button", class: "act", "aria-pressed": String(u.pinned), onclick: () => act(u.pinned ? "unpin" : "pin", {}, u.pinned ? "No longer pinned" : "Pinned") }, u.pinned ? "Unpin" : "Pin"),
			h("button", { type: "button", class: "act", onclick: () => correction(below, u, act) }, "Correct…"),
			h("button", { type: "button", class: "act", onclick: () => changing(below, { text: u.loop ? u.loop.text : u.text || u.summary.text, done: changed, otherwise: derivedOnly(act) }) }, "Forget…"),
			h("button", { type: "button", class: "act", onclick: () => history(below, u, act) }, "History"),
			h("a", { class: "small", href: knownHref({ unit: u.id }) }, "Link to this")),
		below,
	].filter(Boolean));
	if (open) history(below, u, act);
	return card;
}

// events lists the events of a summary, with where its evidence has them.
function events(u) {
	if (!u.summary.events?.length) return null;
	return h("ul", { class: "events" }, u.summary.events.map((e) => {
		const at = u.evidence?.find((from) => from.episode === e.episode);
		return h("li", {}, words("span", {}, e.why), " ", at && words("a", { class: "path small", href: noteHref(at.path, at.start_line) }, `${at.path}:${at.start_line}`));
	}));
}

function showRemaining(below, remaining, changed) {
	replace(below, h("div", { class: "notice", role: "status" },
		h("p", {}, h("strong", {}, "Forgotten. "), `${count(remaining.length, "place")} may still say it; Kioku does not edit your notes:`),
		h("ul", {}, remaining.map((at) => {
			const line = /^(.*)#L(\d+)(-L\d+)?$/.exec(at);
			return h("li", {}, line ? words("a", { class: "path", href: noteHref(line[1], Number(line[2])) }, at) : words("span", {}, at));
		})),
		h("button", { type: "button", onclick: () => changed?.() }, "Done")));
}

// derivedOnly forgets what was derived and leaves the notes as they are.
function derivedOnly(act) {
	return h("button", { type: "button", class: "act derived-only", title: "With its history and the model’s answers about it. It does not come back if a note says it again.", onclick: () => act("forget", {}, "Forgotten") }, "Forget only what was drawn from the notes");
}

function field(label, name, value, hint) {
	return h("label", {}, h("span", { class: "label" }, label), h("input", { name, value: value || "", placeholder: hint, autocomplete: "off" }));
}

function correction(below, u, act) {
	const choice = h("select", { name: "sensitivity" }, ["normal", "private", "secret"].map((s) => h("option", { value: s, selected: s === u.sensitivity }, s)));
	const current = u.fact ? u.fact.object : u.loop ? u.loop.text : u.summary.text;
	const form = h("form", { class: "correct", onsubmit: (event) => {
		event.preventDefault();
		const got = Object.fromEntries(new FormData(form));
		const set = {};
		if (got.text !== current) set.text = got.text;
		if (u.fact && got.from !== (u.fact.from || "")) set.from = got.from;
		if (u.fact && got.to !== (u.fact.to || "")) set.to = got.to;
		if (u.loop && got.due !== (u.loop.due || "")) set.due = got.due;
		if (got.sensitivity !== u.sensitivity) set.sensitivity = got.sensitivity;
		if (!Object.keys(set).length) return replace(below);
		act("correct", { set }, "Corrected");
	} },
	field(u.fact ? `${clean(u.fact.predicate.replaceAll("_", " "))}` : "Text", "text", current),
	u.fact && [field("From", "from", u.fact.from, "2026-10-01"), field("Until", "to", u.fact.to, "2026-12")],
	u.loop && field("Due", "due", u.loop.due, "2026-12-01"),
	h("label", {}, h("span", { class: "label" }, "Sensitivity"), choice),
	h("div", { class: "row" }, h("button", { class: "primary" }, "Save"), h("button", { type: "button", class: "act", onclick: () => replace(below) }, "Cancel")));
	replace(below, form);
	form.querySelector("input").focus();
}

const reasons = { claims: "the notes", decision: "a decision", expired: "it expired", undo: "an undo" };

async function history(below, u, act) {
	replace(below, h("p", { class: "loading" }, "Reading the history…"));
	try {
		const versions = await api(`units/${encodeURIComponent(u.id)}/history`);
		replace(below, h("div", { class: "history" }, h("h4", {}, count(versions.length, "version")),
			h("ol", {}, versions.map((v, i) => h("li", {},
				h("time", { class: "small muted num", datetime: v.recorded_at }, `${day(String(v.recorded_at).slice(0, 10))}`),
				words("span", {}, v.unit?.text || v.unit?.summary?.text || ""),
				v.unit?.fact && period(v.unit.fact) && h("span", { class: "tag num" }, period(v.unit.fact)),
				v.unit?.state && v.unit.state !== "validated" && h("span", { class: "tag" }, v.unit.state),
				h("span", { class: "small muted" }, `by ${reasons[v.reason] || clean(v.reason)}${v.model ? `, ${clean(v.model)}` : ""}`),
				i === 0 && versions.length > 1 && h("button", { type: "button", class: "act", onclick: () => act("undo", {}, "Taken back") }, "Take this back"))))));
	} catch (err) {
		replace(below, errorBox(err, () => history(below, u, act)));
	}
}
