// What made a score: a bar of its parts, and all that the trace of a result tells.
import { h, svg, clean, count } from "/static/app.js";

// kinds of the parts of a score, in the order of the bar.
export const kinds = [
	["words", "Words", "of the query, found in the passage"],
	["meaning", "Meaning", "closeness of the vectors"],
	["date", "Date", "that the query names"],
	["name", "Name", "of the note is the query"],
];

// parts returns the parts of the score of a result with a trace; they add up to the score.
export function parts(result) {
	return kinds.map(([kind, name]) => ({ kind, name, size: result.trace.scoreParts[kind] })).filter((p) => p.size > 0.0005);
}

const two = (x) => (x || 0).toFixed(2);
const rank = (n) => (n ? `rank ${n}` : "not found");

// bar returns the stacked bar of a score.
export function bar(result) {
	const all = parts(result);
	const label = `Score ${two(result.score)}: ${all.map((p) => `${p.name.toLowerCase()} ${two(p.size)}`).join(", ") || "no parts"}`;
	let x = 0;
	const rects = all.map((p) => {
		const rect = svg("rect", { class: `part ${p.kind}`, x: x * 100, y: 0, width: Math.max(0, p.size * 100 - 0.4), height: 6 });
		x += p.size;
		return rect;
	});
	return svg("svg", { class: "score-bar", viewBox: "0 0 100 6", preserveAspectRatio: "none", role: "img", "aria-label": label }, svg("title", {}, label), rects);
}

// legend returns what the colours of the bars mean, for the kinds that occur in results.
export function legend(results) {
	const there = new Set(results.flatMap((r) => (r.trace ? parts(r).map((p) => p.kind) : [])));
	return h("ul", { class: "legend small", "aria-label": "Parts of a score" },
		kinds.filter(([kind]) => there.has(kind)).map(([kind, name, about]) =>
			h("li", {}, svg("svg", { class: "swatch", viewBox: "0 0 10 10", "aria-hidden": "true" }, svg("rect", { class: `part ${kind}`, width: 10, height: 10, rx: 2 })), name, h("span", { class: "muted" }, ` ${about}`))));
}

// line returns a row of the trace.
function line(name, ...text) {
	return [h("dt", {}, name), h("dd", {}, ...text)];
}

// trace returns everything that made the score and the place of a result.
export function trace(result) {
	const t = result.trace;
	const value = t.merged * t.decay + t.dateBonus + t.nameBonus;
	const bonuses = [["date", t.dateBonus], ["name", t.nameBonus]].filter(([, x]) => x > 0);
	return h("dl", { class: "trace small" },
		line("Score", `${two(result.score)} = `, parts(result).map((p, i) => `${i ? " + " : ""}${p.name.toLowerCase()} ${two(p.size)}`).join("")),
		t.textWeight > 0 && line("Words", `${two(t.textScore)}, ${rank(t.textRank)}; weight ${two(t.textWeight)}`, terms(t)),
		t.vectorWeight > 0 && line("Meaning", !t.unembedded ? [`${two(t.vectorScore)}, ${rank(t.vectorRank)}; weight ${two(t.vectorWeight)}. `, meaning(t)] : "the passage has no vector yet"),
		line("Place", `value ${two(value)} = words and meaning ${two(t.merged)}`,
			t.decay < 1 && ` × ${two(t.decay)} for its age of ${count(Math.round(t.ageDays), "day")}`,
			bonuses.map(([name, x]) => ` + ${two(x)} for the ${name}`), `: ${rank(t.rank)} of the candidates`),
		t.rerankRank > 0 && line("Re-ranker", `score ${two(t.rerankScore)}, ${rank(t.rerankRank)}`),
		line("Variety", t.mmrSimilarity > 0 ? `${two(t.mmrSimilarity)} like a better result, so it counts ${two(t.mmrScore)}` : "like no better result"));
}

// terms returns the share of each term in the text score.
function terms(t) {
	const rows = (t.terms || []).map((s) => [clean(s.term), `${count(s.count, "time")}, rarity ${two(s.idf)}`, s.share]);
	for (const [name, share] of [["side by side", t.pairShare], ["best part of the text", t.bestPartShare], ["text around it", t.chunkShare]]) {
		if (share > 0) rows.push([name, "", share]);
	}
	return [
		h("ul", { class: "terms" }, rows.map(([name, about, share]) => h("li", {},
			h("span", { dir: "auto" }, name), h("span", { class: "muted" }, about),
			svg("svg", { viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("rect", { class: "part words", width: share * 100, height: 6 })),
			h("span", { class: "num" }, `${Math.round(share * 100)}%`)))),
		t.missing?.length > 0 && h("p", { class: "muted" }, "Not in it: ", t.missing.map(clean).join(", ")),
	];
}

function meaning(t) {
	const at = t.windowStartLine > 0 ? `, best in lines ${t.windowStartLine} to ${t.windowEndLine} (${two(t.windowCosine)})` : "";
	return `Cosine ${two(t.cosine)}${at}; the average of this memory is ${two(t.cosineMean)} ± ${two(t.cosineDeviation)}.`;
}
