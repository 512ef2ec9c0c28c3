// One task of the council: its steps, its rounds with opinions and comments in the order of time, its decision and result.
import { ago, announce, clean, count, errorBox, h, number, replace, words } from "/static/app.js";
import { about, ask, councilHref, may } from "/static/council.js";

const votes = { approve: "yes", approve_with_modification: "yes, with changes", reject: "no" };
const final = ["completed", "rejected", "failed", "cancelled"];

// showTask fills view with a task.
export async function showTask(view, id, changed) {
	const d = await ask(`tasks/${encodeURIComponent(id)}`);
	const t = d.task, kept = document.getElementById("comment");
	replace(view,
		banners(d),
		h("header", {}, words("h2", {}, t.title), h("p", { class: "small muted" }, [t.id, t.type, `${t.priority || "medium"} priority`, t.source && `from ${clean(t.source)}`, ago(t.created_at)].filter(Boolean).join(" · "))),
		stepper(d),
		t.description && words("p", { class: "prose" }, t.description),
		t.attachments?.length > 0 && h("p", { class: "small" }, "Files: ", t.attachments.map((a) => h("span", { class: "tag" }, clean(a.name)))),
		d.decision && decision(d.decision),
		d.results.map(result),
		may("owner") && actions(d, changed),
		h("section", {}, h("h2", {}, "Discussion"), h("ol", { class: "timeline" }, timeline(d))),
		may("submit") && (kept || commentForm(id, changed)));
}

// banners say what is degraded, above everything else.
function banners(d) {
	const tampered = d.rounds.flatMap((r) => r.tampered.map((who) => `The ballot of ${who} of round ${r.round} was changed after the seal; the seal counts.`));
	const all = [...(d.decision?.degraded || []), ...tampered];
	return [
		d.task.trust === "low" && h("p", { class: "notice warn" }, "No owner has written this task."),
		all.length > 0 && h("div", { class: "notice warn", id: "degraded" }, h("strong", {}, "Degraded result"), h("ul", {}, all.map((text) => words("li", {}, text)))),
		d.status.status === "discussing" && d.status.reason && h("p", { class: "notice" }, `Waits: ${clean(d.status.reason)}.`),
		d.status.status === "stalled" && h("p", { class: "notice bad" }, `Stalled: ${clean(d.status.reason || "")}. A person has to decide.`),
	];
}

// stepper shows how far a task is: discussion, announcement, executing, completed.
function stepper(d) {
	const st = d.status.status;
	const at = { pending: 0, discussing: 0, arbitrating: 0, stalled: 0, cancelled: 0, decided: 1, pending_announcement: 1, announcing: 1, announced: 2, executing: 2, reviewing: 2, remediating: 2, failed: 2, completed: 4, rejected: 4 }[st] ?? 0;
	const names = st === "rejected" ? ["Discussion", "Rejected"] : ["Discussion", "Announcement", "Executing", "Completed"];
	return h("ol", { class: "stepper", "aria-label": "Progress" }, names.map((name, i) => {
		const bad = i === at && ["failed", "stalled", "cancelled"].includes(st);
		return h("li", { class: bad ? "failed" : i < at ? "done" : i === at ? "now" : "", "aria-current": i === at ? "step" : undefined }, name, bad && `: ${st}`);
	}));
}

function decision(d) {
	const by = { council: "by the council", arbiter: "by the arbiter", owner: "by the owner, in the council’s place" }[d.decided_by] || "";
	const cost = Object.values(d.usage || {}).reduce((sum, u) => ({ calls: sum.calls + u.calls, tokens: sum.tokens + u.tokens_in + u.tokens_out }), { calls: 0, tokens: 0 });
	return h("section", { class: "decision" }, h("h2", {}, h("span", { class: `tag ${d.decision === "approved" ? "good" : "bad"}` }, d.decision), ` ${by}`),
		d.announcement && h("div", { class: "entry", id: "announcement" }, h("h3", {}, "Announcement"), words("p", { class: "prose" }, d.announcement.summary),
			h("ul", {}, (d.announcement.key_points || []).map((p) => words("li", {}, p))), h("p", { class: "small muted" }, `by ${clean(d.announcement.announced_by)}, ${ago(d.announcement.announced_at)}`)),
		d.final_approach && h("div", { class: "entry" }, h("h3", {}, "What is to be done"), words("p", { class: "prose" }, d.final_approach)),
		(d.dissent || []).map((o) => h("div", { class: `ballot ${o.vote}` }, h("h4", {}, `Dissent of ${clean(o.member)}`, h("span", { class: "tag" }, votes[o.vote] || clean(o.vote))), words("p", { class: "prose" }, o.opinion), h("ul", {}, (o.concerns || []).map((c) => words("li", {}, c))))),
		d.solo && h("div", { class: `ballot ${d.solo.vote}` }, h("h4", {}, "The arbiter alone", h("span", { class: "tag" }, votes[d.solo.vote])), words("p", { class: "prose" }, d.solo.opinion)),
		h("p", { class: "small muted" }, [cost.calls > 0 && `${count(cost.calls, "call")}, ${number(cost.tokens)} tokens`, d.independence > 1 ? count(d.independence, "model family", "model families") : "one model family",
			d.supersedes && `takes the place of ${d.supersedes}`, d.superseded_by && `superseded by ${d.superseded_by}`, d.outcome && `outcome: ${d.outcome.replaceAll("_", " ")} ${clean(d.outcome_note || "")}`].filter(Boolean).join(" · "),
			d.memory_path && [" · remembered in ", words("a", { class: "path", href: `/note?${new URLSearchParams({ agent: about.agent, path: d.memory_path })}` }, d.memory_path)]));
}

function result(r) {
	return h("section", { class: "entry result" }, h("h3", {}, "Execution result ", h("span", { class: `tag ${r.succeeded ? "good" : "bad"}` }, r.succeeded ? "done" : "failed")),
		words("p", { class: "prose" }, r.result), h("p", { class: "small muted" }, `by ${clean(r.executor || r.author?.kind || "")}, attempt ${r.attempt}, ${ago(r.completed_at)}`));
}

// timeline returns rounds, arbitrations and comments in the order of time.
function timeline(d) {
	const entries = [
		...d.rounds.map((r) => [r.opened_at, round(r, d)]),
		...d.arbitrations.map((a) => [a.timestamp, h("div", { class: "ballot" }, h("h4", {}, `Arbitration by ${clean(a.decided_by)}`, h("span", { class: "tag" }, clean(a.decision))), words("p", { class: "prose" }, a.reasoning))]),
		...d.comments.map((c) => [c.created_at, h("div", { class: "entry comment" }, h("p", { class: "small muted" }, `${clean([c.author?.kind, c.author?.name].filter(Boolean).join(" "))}, ${ago(c.created_at)}`), words("p", { class: "prose" }, c.message))]),
	];
	entries.sort((a, b) => new Date(a[0] || 0) - new Date(b[0] || 0));
	if (!entries.length) return h("li", { class: "muted" }, "Not begun yet.");
	return entries.map(([, el]) => h("li", {}, el));
}

function round(r, d) {
	const waiting = r.seal ? [] : d.status.roster.filter((m) => !r.answered.includes(m));
	return [h("h3", {}, `Round ${r.round}${r.attempt > 1 ? `, attempt ${r.attempt}` : ""} `, h("span", { class: "small muted" }, ago(r.opened_at))),
		h("div", { class: "stack" }, r.ballots.map(ballot),
			Object.entries(r.seal?.abstentions || {}).map(([who, why]) => h("div", { class: "ballot" }, h("h4", {}, clean(who), h("span", { class: "tag warn" }, `abstains: ${clean(why)}`)))),
			!r.seal && r.answered.map((who) => h("p", { class: "small muted" }, `${clean(who)} has answered; nobody sees it before the round is sealed.`)),
			waiting.map((who) => h("p", { class: d.thinking.includes(who) || !final.includes(d.status.status) ? "thinking" : "muted" }, `${clean(who)} is thinking…`)))];
}

function ballot(b) {
	return h("div", { class: `ballot ${b.vote}` }, h("h4", {}, words("span", {}, b.node), h("span", { class: "tag" }, votes[b.vote] || clean(b.vote)), b.confidence !== undefined && h("span", { class: "small muted" }, `${Math.round(b.confidence * 100)} % sure`), b.recall === "degraded" && h("span", { class: "tag warn" }, "not all of the memory searched")),
		words("p", { class: "prose" }, b.opinion), b.proposed_approach && h("details", {}, h("summary", { class: "small" }, "Proposes"), words("p", { class: "prose" }, b.proposed_approach)),
		h("ul", {}, (b.concerns || []).map((c) => words("li", {}, c))), b.evidence?.length > 0 && h("p", { class: "small muted path" }, b.evidence.map(clean).join(", ")));
}

function commentForm(id, changed) {
	const field = h("textarea", { name: "message", required: true, maxlength: 8000, "aria-label": "Comment" });
	const form = h("form", { id: "comment", onsubmit: async (event) => {
		event.preventDefault();
		try {
			await ask(`tasks/${encodeURIComponent(id)}/comments`, {}, { message: field.value });
			field.value = "";
			field.blur();
			announce("Comment added");
			changed();
		} catch (err) {
			form.append(errorBox(err));
		}
	} }, h("h3", {}, "Comment"), field, h("p", { class: "small muted" }, "The members read it in the next round."), h("div", { class: "row" }, h("button", {}, "Add the comment")));
	return form;
}

// actions are what an owner can do with a task in its state.
function actions(d, changed) {
	const st = d.status.status, id = encodeURIComponent(d.task.id);
	const button = (title, verb, body, className) => h("button", { type: "button", class: className, onclick: async (event) => {
		try {
			await ask(`tasks/${id}/${verb}`, {}, body);
			announce(`${title}: done`);
			changed();
		} catch (err) {
			event.target.after(errorBox(err));
		}
	} }, title);
	const reason = (prompt, send) => (event) => {
		const field = h("input", { "aria-label": prompt, placeholder: prompt, maxlength: 2000 });
		const form = h("form", { class: "row", onsubmit: async (e) => {
			e.preventDefault();
			try {
				await send(field.value);
				form.remove();
				changed();
			} catch (err) {
				form.append(errorBox(err));
			}
		} }, field, h("button", { class: "primary" }, "Send"));
		event.target.closest(".acts").after(form);
		field.focus();
	};
	const ended = final.includes(st), open = ["discussing", "arbitrating", "stalled"].includes(st);
	return h("div", { class: "acts" },
		st === "failed" && d.decision?.decision === "approved" && button("Try again", "approve", {}, "primary"),
		d.needs_owner === "approval" && button("Let the command run", "approve", {}, "primary"),
		d.needs_owner === "report" && h("button", { type: "button", class: "primary", onclick: reason("What was done", (text) => ask(`tasks/${id}/report`, {}, { result: text, succeeded: true })) }, "Report the result"),
		(ended || st === "stalled") && h("button", { type: "button", onclick: reason("Why one more round", (text) => ask(`tasks/${id}/round`, {}, { reason: text })) }, "One more round"),
		open && [button("Approve it yourself", "decide", { decision: "approved", reason: "decided on the page" }), button("Reject it yourself", "decide", { decision: "rejected", reason: "decided on the page" })],
		!ended && button("Cancel", "cancel", { reason: "cancelled on the page" }, "quiet"),
		d.decision && !d.decision.outcome && ended && [button("It worked", "outcome", { outcome: "worked" }), button("It did not", "outcome", { outcome: "did_not" })],
		h("a", { href: councilHref() }, "All tasks"));
}
