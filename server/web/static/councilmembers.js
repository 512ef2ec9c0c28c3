// Members with their parameters, evaluations, workers with suggestions, commands and actions, and logs.
import { ago, announce, clean, count, errorBox, h, replace, url, words } from "/static/app.js";
import { ask, councilHref, may, modelOf } from "/static/council.js";

const title = (name) => name.replaceAll("_", " ");

// showMembers fills view with a card for each member, with sliders for its parameters. What a person has opened stays so.
export async function showMembers(view, about) {
	const all = await Promise.all(about.members.map((m) => ask(`members/${m.member.name}/params`)));
	const open = [...view.querySelectorAll("details[open]")].map((d) => d.closest("section").id);
	replace(view, about.members.map((m, i) => memberCard(m, all[i].params, all[i].changes, () => showMembers(view, about))));
	for (const id of open) document.getElementById(id)?.querySelector("details")?.setAttribute("open", "");
}

function memberCard(m, params, changes, changed) {
	const name = m.member.name;
	const problem = h("div", {});
	const save = async (param, value, output) => {
		try {
			await ask(`members/${name}/params`, {}, { params: { [param]: value }, reason: "set on the page" });
			announce(`${title(param)} of ${name} is ${value}`);
			replace(problem);
		} catch (err) {
			replace(problem, errorBox(err));
			output.textContent = params[param].toFixed(2);
		}
	};
	const slider = (param) => {
		const id = `${name}-${param}`, output = h("output", { for: id, class: "num" }, params[param].toFixed(2));
		return h("div", { class: "slider" }, h("label", { for: id }, title(param)),
			h("input", { id, type: "range", min: 0, max: 1, step: 0.05, value: params[param], disabled: !may("owner"),
				oninput: (e) => { output.textContent = Number(e.target.value).toFixed(2); }, onchange: (e) => save(param, Number(e.target.value), output) }), output);
	};
	return h("section", { class: "seat", id: `member-${name}` }, h("h3", {}, words("span", {}, name), h("span", { class: "small muted" }, `${(m.member.roles || []).join(", ")} · ${modelOf(m)}`)),
		m.params_error && h("p", { class: "notice warn small" }, clean(m.params_error)),
		Object.keys(params).sort().map(slider), problem,
		Object.keys(m.unknown || {}).length > 0 && h("p", { class: "small muted" }, `Kept and not used: ${Object.entries(m.unknown).map(([n, v]) => `${clean(n)} ${v}`).join(", ")}`),
		changes.length > 0 && h("details", {}, h("summary", { class: "small" }, count(changes.length, "change")), h("ul", {}, changes.slice(0, 20).map((c) => h("li", { class: "small" },
			`${ago(c.at)}: ${Object.entries(c.after).map(([n, v]) => `${title(n)} ${Number(c.before[n] ?? 0.5).toFixed(2)} → ${Number(v).toFixed(2)}`).join(", ")}, ${clean([c.who?.kind, c.who?.name].filter(Boolean).join(" "))} ${c.rollback ? "(taken back)" : clean(c.why || c.cycle || "")}`))),
		may("owner") && h("button", { type: "button", onclick: async (e) => {
			try {
				await ask(`members/${name}/params/rollback`, {}, {});
				announce("Taken back");
				changed();
			} catch (err) {
				e.target.after(errorBox(err));
			}
		} }, "Take the last change back")));
}

// showEvaluations fills view with the cycles in which members rated each other.
export async function showEvaluations(view) {
	const got = await ask("evaluations", { limit: 30 });
	const start = h("button", { type: "button", onclick: async (e) => {
		try {
			await ask("evaluations", {}, {});
			announce("The members rate each other");
			showEvaluations(view);
		} catch (err) {
			e.target.after(errorBox(err));
		}
	} }, "Rate each other now");
	replace(view, may("owner") && h("p", {}, start), got.map(cycle),
		!got.length && h("p", { class: "muted" }, "The members have not rated each other yet."));
}

function cycle(e) {
	return h("section", { class: "entry" }, h("h3", {}, e.request.cycle_id, " ", h("span", { class: "tag" }, e.result?.status || "running"), " ", h("span", { class: "small muted" }, ago(e.request.triggered_at))),
		e.result?.reason && h("p", { class: "small muted" }, clean(e.result.reason)),
		e.thinking.map((who) => h("p", { class: "thinking" }, `${clean(who)} rates…`)),
		e.evaluations.length > 0 && h("table", {}, h("thead", {}, h("tr", {}, ["By", "Of", "Score", "Reasons"].map((t) => h("th", { scope: "col" }, t)))),
			h("tbody", {}, e.evaluations.map((r) => h("tr", {}, h("td", {}, clean(r.evaluator)), h("td", {}, clean(r.target)), h("td", { class: "num" }, r.overall_score.toFixed(2)),
				h("td", {}, words("span", {}, r.reasoning), r.needs_retuning && h("p", { class: "small muted" }, `proposes ${Object.entries(r.suggested_params || {}).map(([n, v]) => `${title(n)} ${v}`).join(", ")}`)))))),
		e.retunes.map((r) => h("p", { class: "notice" }, `${clean(r.target)}: ${Object.entries(r.after).filter(([n, v]) => v !== r.before[n]).map(([n, v]) => `${title(n)} ${Number(r.before[n]).toFixed(2)} → ${Number(v).toFixed(2)}`).join(", ") || "nothing moved"}`)));
}

// showWorkers fills view with workers, their suggestions and the protected actions.
export async function showWorkers(view, about, changed) {
	const [workers, suggestions, actions] = await Promise.all([ask("workers"), ask("suggestions"), ask("actions")]);
	replace(view,
		h("section", {}, h("h2", {}, "Workers"), workers.map((w) => worker(w, changed)), !workers.length && h("p", { class: "muted" }, "The list workers of council.yaml is empty.")),
		h("section", {}, h("h2", {}, "Suggestions"), suggestions.map((s) => suggestion(s, changed)), !suggestions.length && h("p", { class: "muted" }, "None.")),
		h("section", {}, h("h2", {}, "Protected actions"), actions.map(action), !actions.length && h("p", { class: "muted" }, "None were requested.")));
}

function worker(w, changed) {
	const send = (name, body) => async (e) => {
		try {
			await ask(`workers/${w.name}/commands`, {}, { action: name, ...body });
			announce(`${name} sent`);
			changed();
		} catch (err) {
			e.target.after(errorBox(err));
		}
	};
	return h("div", { class: "seat" }, h("h3", {}, words("span", {}, w.name), h("span", { class: `tag ${w.paused_until ? "warn" : "good"}` }, w.paused_until ? `paused until ${new Date(w.paused_until).toLocaleTimeString()}` : "at work")),
		w.reason && words("p", { class: "small muted" }, w.reason),
		h("ul", {}, w.directives.map((d) => words("li", {}, d.text))),
		may("owner") && h("div", { class: "acts" }, w.paused_until ? h("button", { type: "button", onclick: send("resume", {}) }, "Resume") : h("button", { type: "button", onclick: send("pause", { params: { duration_minutes: 30 } }) }, "Pause for 30 minutes")));
}

function suggestion(s, changed) {
	const review = (accept) => async (e) => {
		try {
			await ask(`workers/${s.worker}/suggestions/${s.id}/review`, {}, { accept });
			announce(accept ? "Accepted" : "Refused");
			changed();
		} catch (err) {
			e.target.after(errorBox(err));
		}
	};
	return h("div", { class: "entry" }, h("h3", {}, words("span", {}, s.title), " ", h("span", { class: "tag" }, s.status), " ", h("span", { class: "small muted" }, `${clean(s.worker)}, ${ago(s.submitted_at)}`)),
		words("p", { class: "prose" }, s.description),
		s.verified && h("p", { class: "small" }, `${clean(s.verified.by?.name || "the arbiter")} is ${s.verified.accept ? "for" : "against"} it: ${clean(s.verified.reason || "")}`),
		s.task_id && h("p", {}, "became ", h("a", { href: councilHref({ task: s.task_id }) }, s.task_id)),
		may("owner") && s.status === "pending" && h("div", { class: "acts" }, h("button", { type: "button", class: "primary", onclick: review(true) }, "Make it a task"), h("button", { type: "button", onclick: review(false) }, "Refuse")));
}

function action(a) {
	return h("div", { class: "entry" }, h("h3", {}, clean(a.service), " ", h("span", { class: "tag" }, a.status.replaceAll("_", " "))),
		h("p", { class: "small muted" }, `asked for by ${clean(a.requested_by)}${a.approved ? `, ${a.approved.accept ? "approved" : "rejected"} by ${clean(a.approved.by?.name || "")}` : ""}${a.runner ? `, run by ${clean(a.runner)}` : ""}, ${ago(a.requested_at)}`),
		words("p", {}, a.reason), a.result && words("p", { class: "small" }, a.result), h("p", { class: "small" }, h("a", { href: councilHref({ task: a.task_id }) }, a.task_id)));
}

// showLogs fills view with the log of a member, and follows it.
export async function showLogs(view, about) {
	const list = h("ol", { class: "log", "aria-label": "Log", tabindex: 0 });
	let source;
	const follow = (member) => {
		source?.close();
		replace(list);
		source = new EventSource(url(`/v1/council/members/${member}/log`, { last: 200, follow: true }));
		source.onopen = () => replace(list); // a new connection sends the last lines again
		source.onmessage = (message) => {
			const l = JSON.parse(message.data);
			const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
			list.append(h("li", { class: l.level }, `${new Date(l.time).toLocaleTimeString()} ${[l.level, l.task, l.phase].filter(Boolean).map(clean).join(" ")} ${clean(l.text)}`));
			while (list.children.length > 1000) list.firstChild.remove();
			if (atEnd) list.scrollTop = list.scrollHeight;
		};
	};
	const select = h("select", { onchange: (e) => follow(e.target.value) }, about.members.map((m) => h("option", {}, m.member.name)));
	replace(view, h("label", { class: "row" }, "Member ", select), list);
	follow(about.members[0].member.name);
}
