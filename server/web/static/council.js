// The council: its tasks, the live discussion of one, decisions, members, evaluations, workers and logs.
import { ago, announce, api, clean, count, debounce, errorBox, h, href, number, replace, words } from "/static/app.js";
import { showTask } from "/static/counciltask.js";
import { showEvaluations, showLogs, showMembers, showWorkers } from "/static/councilmembers.js";

const view = document.getElementById("view");
const params = new URLSearchParams(location.search);
const task = params.get("task") || "", part = task ? "task" : params.get("part") || "";

const parts = { "": "Dashboard", decisions: "Decisions", members: "Members", evaluations: "Evaluations", workers: "Workers", logs: "Logs" };

// ask reads from the council, or sends body to it.
export const ask = (path, query = {}, body) => api(`council${path && `/${path}`}`, query, { everybody: true, body });

// councilHref returns the address of a part of this view.
export const councilHref = (query = {}) => href("/council", query);

// may reports whether the caller has a right.
export const may = (right) => about?.rights.includes(right) || about?.rights.includes("owner");

// about is what the service says about the council.
export let about;

async function load() {
	try {
		about = await ask("");
		showParts();
		showStatus();
		const show = { task: () => showTask(view, task, load), decisions: showDecisions, members: () => showMembers(view, about), evaluations: () => showEvaluations(view),
			workers: () => showWorkers(view, about, load), logs: () => showLogs(view, about) }[part] || showDashboard;
		await show();
		view.removeAttribute("aria-busy");
	} catch (err) {
		replace(view, err.code === "UNIMPLEMENTED" || err.status === 404 && !about ? none() : errorBox(err, load));
	}
}

function none() {
	return h("div", { class: "empty" }, h("h2", {}, "No council is served here"),
		h("p", {}, "A council is a folder with a council.yaml. These commands create one with three members that a scripted model plays, and serve it:"),
		h("pre", { class: "command" }, "kioku council init --template soul\nkioku council serve --echo"));
}

function showParts() {
	const nav = document.getElementById("parts");
	nav.hidden = false;
	replace(nav, Object.entries(parts).map(([name, title]) => h("a", { href: councilHref({ part: name }), "aria-current": part === name ? "page" : undefined }, title)));
}

// showStatus says above everything what is out of the ordinary.
function showStatus() {
	replace(document.getElementById("status"),
		about.autonomy === "full" && h("p", { class: "notice warn" }, "Full autonomy: what is approved is carried out, and suggestions become tasks, without a person."),
		!about.running && h("p", { class: "notice warn" }, "No engine runs: tasks wait."));
}

const state = (s) => (s.status.status === "discussing" ? `discussing, round ${s.status.current_round}` : s.decision && s.decision !== s.status.status ? `${s.decision}, ${s.status.status.replaceAll("_", " ")}` : s.status.status.replaceAll("_", " "));

// tone returns the class of a tag for how far a task is.
const tone = (s) => ({ completed: "good", rejected: "bad", failed: "bad", stalled: "warn" })[s.status.status] || "";

function taskTable(list) {
	if (!list.length) return h("p", { class: "muted" }, "None yet.");
	return h("table", { class: "tasks" }, h("thead", {}, h("tr", {}, ["When", "Task", "State"].map((t) => h("th", { scope: "col" }, t)))),
		h("tbody", {}, list.map((s) => h("tr", {}, h("td", { class: "small muted" }, ago(s.task.created_at)),
			h("td", {}, words("a", { href: councilHref({ task: s.task.id }), "data-step": true }, s.task.title),
				s.task.trust === "low" && h("span", { class: "tag warn" }, "not by an owner"), s.degraded && h("span", { class: "tag warn" }, "degraded")),
			h("td", {}, h("span", { class: `tag ${tone(s)}` }, state(s)))))));
}

async function showDashboard() {
	const [open, recent] = await Promise.all([
		ask("tasks", { status: ["pending", "discussing", "arbitrating", "decided", "pending_announcement", "announcing", "announced", "executing", "reviewing", "remediating", "stalled"], limit: 50 }), ask("tasks", { limit: 20 })]);
	const ids = new Set(open.map((t) => t.task.id));
	const ended = recent.filter((t) => !ids.has(t.task.id));
	const form = document.querySelector("#new-task") || newTask();
	replace(view,
		h("section", { "aria-labelledby": "seats" }, h("h2", { id: "seats" }, "Members"), h("div", { class: "seats" }, about.members.map(seat)),
			h("p", { class: "small muted" }, `${number(about.need)} of ${number(about.members.length)} must agree, within ${count(about.max_rounds, "round")}; then the arbiter decides.`)),
		open.length > 0 && h("section", {}, h("h2", {}, "Open"), taskTable(open)),
		may("submit") && form,
		h("section", {}, h("h2", {}, "Ended"), taskTable(ended)));
}

// modelOf returns what a member asks.
export const modelOf = (m) => clean(m.member.model || "command");

function seat(m) {
	const a = m.activity || {}, busy = a.status && a.status !== "idle";
	return h("div", { class: `seat${busy ? " busy" : ""}` }, h("h3", {}, words("span", {}, m.member.name), h("span", { class: "small muted" }, (m.member.roles || []).join(", "))),
		h("p", { class: "small muted" }, modelOf(m)),
		busy ? h("p", { class: "thinking" }, h("a", { href: a.task_id ? councilHref({ task: a.task_id }) : undefined }, `${a.status}…`)) : h("p", { class: "small" }, "idle"),
		m.params_error && h("p", { class: "notice warn small" }, clean(m.params_error)));
}

// newTask is the form that submits a task. It stays as it is while the page is read again.
function newTask() {
	const result = h("div", { role: "status" });
	const form = h("form", { onsubmit: async (event) => {
		event.preventDefault();
		const f = new FormData(form), files = [];
		try {
			for (const file of f.getAll("files")) {
				if (file.size) files.push({ name: file.name, data: await base64(file) });
			}
			const got = await ask("tasks", {}, { type: f.get("type"), title: f.get("title"), description: f.get("description"), priority: f.get("priority"), attachments: files, source: "page" });
			form.reset();
			replace(result, h("p", { class: "notice" }, "Submitted: ", h("a", { href: councilHref({ task: got.id }) }, got.id)));
			announce("Submitted");
			load();
		} catch (err) {
			replace(result, errorBox(err));
		}
	} },
	h("label", {}, "Title", h("input", { name: "title", required: true, maxlength: 200, autocomplete: "off" })),
	h("label", {}, "What the members should know", h("textarea", { name: "description", maxlength: 20000 })),
	h("div", { class: "row" },
		h("label", {}, "Kind", h("select", { name: "type" }, h("option", { value: "question" }, "question"), h("option", { value: "task" }, "task"))),
		h("label", {}, "Priority", h("select", { name: "priority" }, h("option", {}, "low"), h("option", { selected: true }, "medium"), h("option", {}, "high"))),
		h("label", {}, "Files", h("input", { type: "file", name: "files", multiple: true })),
		h("button", { class: "primary" }, "Submit")), result);
	return h("section", { id: "new-task" }, h("h2", {}, "New task"), form);
}

async function base64(file) {
	const bytes = new Uint8Array(await file.arrayBuffer());
	let text = "";
	for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
	return btoa(text);
}

async function showDecisions() {
	const got = await ask("decisions", { limit: 200 });
	if (!got.length) return replace(view, h("div", { class: "empty" }, h("h2", {}, "No decisions yet")));
	replace(view, got.map((d) => h("article", { class: "entry" },
		h("h3", {}, h("span", { class: `tag ${d.decision === "approved" ? "good" : "bad"}` }, d.decision), " ", h("a", { href: councilHref({ task: d.task_id }), "data-step": true }, d.task_id), " ",
			h("span", { class: "small muted" }, `${{ council: "by the council", arbiter: "by the arbiter", owner: "by the owner" }[d.decided_by] || clean(d.decided_by)}, ${ago(d.decided_at)}`)),
		d.degraded?.length > 0 && h("p", { class: "notice warn small" }, d.degraded.map(clean).join(" ")),
		d.announcement && words("p", { class: "prose" }, d.announcement.summary),
		d.outcome && h("p", { class: "small" }, `Outcome: ${d.outcome.replaceAll("_", " ")} ${clean(d.outcome_note || "")}`))));
}

// live reads again after events. A browser that was away gets what it has missed, by the id of the last event.
function live() {
	const again = debounce(() => !document.activeElement?.closest?.("#view form, #view .slider") && load(), () => 150);
	const source = new EventSource("/v1/council/events");
	source.onopen = again; // what changed since the page was read
	source.onmessage = (message) => {
		const e = JSON.parse(message.data);
		if (part === "logs" || (task && e.task_id && e.task_id !== task && e.type !== "reset")) return;
		again();
	};
}

load().then(() => about && live());
