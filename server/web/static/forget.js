// Forget, correct and pin: which places say something, which of them are meant, and taking it back; what is always known.
import { announce, api, clean, count, errorBox, h, noteHref, replace, words } from "/static/app.js";
import { rendered } from "/static/snippet.js";

const ask = (body) => api("forget", {}, { body });

// changing asks within an element what is to be forgotten, or corrected, and does it. text is a first proposal, done is called after a
// change or its undo, and otherwise, if given, is a further choice: an element.
export function changing(below, { correct = false, text = "", done, otherwise } = {}) {
	const places = h("div", { class: "stack" });
	const field = h("input", { name: "what", value: clean(text), required: true, autocomplete: "off", dir: "auto", placeholder: "In any words, such as: the gate code" });
	const cancel = () => replace(below);
	const form = h("form", { class: "change", onsubmit: (event) => { event.preventDefault(); find(); } },
		h("label", {}, h("strong", {}, correct ? "What is wrong?" : "What is to be forgotten?"), field),
		h("button", {}, "Show where it is said"), h("button", { type: "button", onclick: cancel }, "Cancel"));
	replace(below, h("div", { class: "notice changing" }, form, places));
	async function find() {
		replace(places, h("p", { class: "muted" }, "Looking…"));
		try {
			show(await ask({ text: field.value.trim() }));
		} catch (err) {
			replace(places, errorBox(err, find));
		}
	}
	function show(found) {
		const all = (found.places || []).filter((p) => p.place), derived = (found.places || []).filter((p) => !p.place);
		const sure = all.filter((p) => !p.weak), weak = all.filter((p) => p.weak);
		if (!all.length) return replace(places, h("p", { role: "status" }, "Nothing says that."), otherwise);
		const news = correct && h("label", {}, h("strong", {}, "What is true instead?"), h("input", { name: "new", required: true, autocomplete: "off", dir: "auto", placeholder: "A whole sentence" }));
		const choice = h("form", { class: "stack", onsubmit: (event) => { event.preventDefault(); change(choice); } },
			h("p", { role: "status" }, `${count(sure.length, "place says", "places say")} this. Choose those that you mean:`),
			list(sure), weak.length > 0 && h("details", { open: !sure.length }, h("summary", { class: "small" }, `${count(weak.length, "place")} more that perhaps ${weak.length === 1 ? "says" : "say"} it`), list(weak)),
			derived.length > 0 && h("div", { class: "small" }, h("p", {}, "What was drawn from them goes too:"), h("ul", { class: "dots" }, derived.map((p) => words("li", {}, p.text)))),
			older(found.remaining),
			news,
			h("div", { class: "row" }, h("button", { class: correct ? "primary" : "danger" }, correct ? "Correct" : "Forget"), h("button", { type: "button", onclick: cancel }, "Cancel"), otherwise));
		replace(places, choice);
		(news || choice).querySelector("input").focus();
	}
	async function change(choice) {
		const got = new FormData(choice), chosen = got.getAll("place");
		if (!chosen.length) return announce("Choose a place");
		try {
			const made = await ask({ places: chosen, new_text: correct ? got.get("new").trim() : "", source: "user" });
			announce(correct ? "Corrected" : "Forgotten");
			const undo = h("button", { type: "button", onclick: () => takeBack(made) }, "Undo");
			replace(below, h("div", { class: "notice changing", role: "status" },
				h("p", {}, h("strong", {}, correct ? "Corrected. " : "Forgotten. "), `${count(made.places?.length || chosen.length, "place")} changed.`), older(made.remaining),
				h("div", { class: "row" }, undo, h("button", { type: "button", onclick: () => { replace(below); done?.(); } }, "Done"))));
			undo.focus();
		} catch (err) {
			places.append(errorBox(err));
		}
	}
	async function takeBack(made) {
		try {
			await ask({ undo: made.id });
			announce("Taken back");
			replace(below, h("p", { class: "notice", role: "status" }, "Taken back: it is as it was."));
		} catch (err) {
			below.append(errorBox(err));
		}
	}
	if (field.value) find();
	else field.focus();
}

// pinning asks within an element for a sentence that the agent is always to know, and writes it into MEMORY.md.
export function pinning(below, text = "") {
	const field = h("input", { name: "text", value: clean(text), required: true, autocomplete: "off", dir: "auto", placeholder: "A whole sentence" });
	const form = h("form", { class: "change", onsubmit: (event) => { event.preventDefault(); keep(); } },
		h("label", {}, h("strong", {}, "What is always to be known?"), field),
		h("button", { class: "primary" }, "Keep in MEMORY.md"), h("button", { type: "button", onclick: () => replace(below) }, "Cancel"));
	replace(below, h("div", { class: "notice changing" }, form));
	field.focus();
	async function keep() {
		try {
			const made = await api("notes", {}, { body: { text: field.value.trim(), target: "long_term", source: "user" } });
			announce("Pinned");
			replace(below, h("p", { class: "notice", role: "status" }, made.deduplicated ? "It is there already: " : "Pinned: each session begins with it. ", words("a", { class: "path", href: noteHref(made.path, made.start_line) }, `${made.path}:${made.start_line}`)));
		} catch (err) {
			form.append(errorBox(err));
		}
	}
}

// isPinned reports whether each session begins with a note already.
export const isPinned = (path) => path === "MEMORY.md" || path === "USER.md";

// list returns places with boxes; those that certainly say it are chosen.
function list(places) {
	return h("ul", { class: "places" }, places.map((p) => h("li", {}, h("label", {},
		h("input", { type: "checkbox", name: "place", value: p.place, checked: !p.weak }),
		h("span", {}, h("span", { class: "words" }, rendered(p.text)), p.kind === "other" && h("span", { class: "tag" }, "stays in its file, and is shown no more"))),
		words("a", { class: "path small", href: noteHref(p.path, p.line) }, `${p.path}:${p.line}`))));
}

// older names the copies from before a change.
function older(lines) {
	return lines?.length > 0 && h("details", { class: "small" }, h("summary", {}, "Older versions that still have it"), h("ul", { class: "dots" }, lines.map((l) => words("li", {}, l))));
}
