// Live events of the index. The browser connects again by itself; what happened in between is not repeated, and the list says so.
import { agent, api, clean, count, errorBox, h, noteHref, replace, url } from "/static/app.js";

const list = document.getElementById("events");
const state = document.getElementById("state");
const pause = document.getElementById("pause");
const failed = document.getElementById("failed");
const most = 500;
let source, held = [], paused = false, total = 0;

const kinds = {
	sync_started: "Sync began", file_indexed: "Indexed", file_removed: "Removed", file_skipped: "Skipped", sync_done: "Sync done", watch_mode: "Watching",
	root_unavailable: "Folder away", root_available: "Folder back", error: "Error", embedding: "Embedding", embed_done: "Embedded", events_lost: "Events lost",
};
const bad = new Set(["error", "root_unavailable", "events_lost", "file_skipped"]);
const readable = new Set(["file_indexed"]);

function setState(text, tone = "") {
	state.textContent = text;
	state.className = `tag ${tone}`;
}

function row(e) {
	const time = new Date(e.time || Date.now());
	return h("li", { class: bad.has(e.kind) ? "event bad" : "event" },
		h("time", { class: "num small muted", datetime: time.toISOString() }, time.toLocaleTimeString("en-GB")),
		h("span", { class: "kind" }, kinds[e.kind] || e.kind.replaceAll("_", " ")),
		h("span", { class: "what" },
			e.path && (readable.has(e.kind) ? h("a", { class: "path", href: noteHref(e.path), "data-step": true, dir: "auto" }, clean(e.path)) : h("span", { class: "path", dir: "auto" }, clean(e.path))),
			e.chunks > 0 && h("span", { class: "small muted num" }, ` ${count(e.chunks, "passage")}`),
			e.text && h("span", { class: "small", dir: "auto" }, ` ${clean(e.text)}`)));
}

function add(e) {
	total++;
	document.getElementById("quiet").hidden = true;
	if (paused) {
		held.push(e);
		if (held.length > most) held.shift();
		pause.textContent = `Go on (${held.length})`;
		return;
	}
	list.prepend(row(e));
	while (list.children.length > most) list.lastChild.remove();
}

function connect() {
	replace(failed);
	setState("connecting…");
	source = new EventSource(url("/v1/events", { agent }));
	source.onopen = () => setState("connected", "good");
	source.onmessage = (m) => add(JSON.parse(m.data));
	source.addEventListener("failure", (m) => {
		const { error } = JSON.parse(m.data);
		add({ kind: "events_lost", text: `The stream ended: ${error?.message || "no reason was given"}. Events until it is back are missing here.` });
	});
	source.onerror = async () => {
		if (source.readyState !== EventSource.CLOSED) {
			setState("connecting again…", "warn");
			return;
		}
		setState("not connected", "bad");
		// The browser does not say why; a request does.
		const err = await api("status").then(() => ({ message: "The stream of events ended.", hint: "" }), (e) => e);
		replace(failed, errorBox(err, connect));
	};
}

pause.addEventListener("click", () => {
	paused = !paused;
	pause.setAttribute("aria-pressed", String(paused));
	if (!paused) {
		for (const e of held) list.prepend(row(e));
		while (list.children.length > most) list.lastChild.remove();
		held = [];
		pause.textContent = "Pause";
	}
});

if (agent) connect();
