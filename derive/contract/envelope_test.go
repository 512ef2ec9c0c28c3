package contract_test

import (
	"cmp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"kioku/llm"
)

// valid has an answer to each contract that is accepted, the items of it, and a list or text of the answer by its key.
var valid = map[string]struct {
	answer string
	items  []string
	// key of the answer, and a value of the wrong type for it; none if the contract is part of extract.
	key, wrong string
	// field is a piece of the answer, and twice the same with its key twice.
	field, twice string
}{
	"facts": {answer: `{"facts": [` + livesInPorto + `]}`, items: []string{`fact USER lives_in Porto (PLACE:Porto) [2026-10,) @1-1 user "moved to Porto" 0.90`}},
	"entities": {answer: `{"entities": [` + anna + `, ` + dario + `], "relations": [` + married + `]}`,
		items: []string{"PERSON:Anna Rossi [Anni] 0.90", "PERSON:Dario [] 0.80", `relation Dario partner Anna Rossi @3-3 Dario "Anna Rossi is my wife" 0.80`}},
	"loops": {answer: `{"loops": [` + callDario + `, ` + sentReport + `]}`,
		items: []string{`loop ダリオさんに連絡する due 2026-11-25 @5-5 user "ダリオさんに連絡する" 0.80`, `close k1 @6-6 user "I sent the report" 0.90`}},
	"reflect": {answer: `{` + reflection + `}`, items: []string{"{Text:A new city. Emotion:joy Intensity:0.5 Salience:0.7 Confidence:0.9 Tags:[home travel]}"}},
	"expand": {`{"expanded_queries": ["kitchen paint colour", "Dario kitchen"], "detected_references": [
			{"type": "anaphora", "surface": "he", "resolved": "Dario"}, {"type": "temporal", "surface": "last week", "resolved": "2026-11-09"}]}`,
		[]string{"kitchen paint colour", "Dario kitchen", "Dario"},
		"expanded_queries", `{"a": 1}`, `"type": "temporal"`, `"type": "temporal", "type": "topic"`},
	"rerank": {`{"relevant_episodes": [{"unit_id": 3, "relevance": "medium", "reason": "his city"}, {"unit_id": 2, "relevance": "high", "reason": "says so"}]}`,
		[]string{"1 high says so", "2 medium his city"},
		"relevant_episodes", `7`, `"unit_id": 3`, `"unit_id": 3, "unit_id": 4`},
	"summary": {`{"summary_text": "The user moved to Porto and paid 1200 euros on 2026-11-19.", "key_events": [{"unit_id": 2, "why": "Tickets for 3."}],
			"relationship_state": "They talk about Porto."}`,
		[]string{"The user moved to Porto and paid 1200 euros on 2026-11-19.", "e2 Tickets for 3.", "state: They talk about Porto."},
		"summary_text", `["a"]`, `"unit_id": 2`, `"unit_id": 2, "unit_id": 1`},
	"extract": {`{"episodes": [{"unit_id": 1, "entities": [], "relations": [], "facts": [` + livesInPorto + `], "loops": []},
			{"unit_id": 2, "entities": [{"etype": "PERSON", "name": "Mia", "aliases": [], "role": "mentioned", "confidence": 1}], "relations": [], "loops": [],
			"facts": [{"subject": {"etype": "PERSON", "name": "Mia"}, "predicate": "works_for", "object_text": "Acme", "object": {"etype": "ORG", "name": "Acme"},
			"confidence": 0.9, "validity": {"from": "2024", "to": null}, "evidence": [{"line": 1, "quote": "works at Acme"}]}]}]}`,
		[]string{`e1 fact USER lives_in Porto (PLACE:Porto) [2026-10,) @1-1 user "moved to Porto" 0.90`, "e2 PERSON:Mia [] 1.00",
			`e2 fact Mia works_at Acme (ORG:Acme) [2024,) @1-1 note "works at Acme" 0.90`},
		"episodes", `true`, `"unit_id": 2`, `"unit_id": 2, "unit_id": 2`},
}

// Items of answers about talk.
const (
	livesInPorto = `{"subject": {"etype": "PERSON", "name": "USER"}, "predicate": "lives_in", "object_text": "Porto", "object": {"etype": "PLACE", "name": "Porto"},
		"confidence": 0.9, "validity": {"from": "2026-10", "to": null}, "evidence": [{"line": 1, "quote": "moved to Porto"}]}`
	anna    = `{"etype": "PERSON", "name": "Anna Rossi", "aliases": ["Anni"], "role": "mentioned", "confidence": 0.9}`
	dario   = `{"etype": "PERSON", "name": "Dario", "aliases": [], "role": "mentioned", "confidence": 0.8}`
	married = `{"src": "PERSON:Dario", "rel": "wife", "dst": "PERSON:Anni", "confidence": 0.8, "evidence": [{"line": 3, "quote": "Anna Rossi is my wife"}]}`

	callDario = `{"status": "open", "unit_id": null, "due_at": "2026-11-25", "loop_text": "ダリオさんに連絡する", "confidence": 0.8,
		"evidence": [{"line": 5, "quote": "ダリオさんに連絡する"}]}`
	sentReport = `{"status": "closed", "unit_id": 1, "due_at": null, "loop_text": "report sent", "confidence": 0.9, "evidence": [{"line": 6, "quote": "I sent the report"}]}`
	reflection = `"reflection_text": "A new city.", "emotion_label": "joy", "emotion_intensity": 0.5, "topic_tags": ["travel", "home", "ｔｒａｖｅｌ"],
		"salience_score": 0.7, "confidence": 0.9`
)

// Acceptance 2: for each contract a valid answer, and for each prompt those that are broken as a whole.
func TestAcceptance02EnvelopeOfEachContract(t *testing.T) {
	t.Parallel()
	for name, v := range valid {
		got := readers[name](v.answer, llm.StopEnd)
		got.Dropped = nil // the reflection repeats a tag
		if diff := gocmp.Diff(outcome{Items: v.items}, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if v.key == "" {
			continue
		}
		head, _, _ := strings.Cut(v.answer, `"`+v.key+`": `)
		cases := map[string]answerCase{
			"two objects": {answer: v.answer + v.answer, want: invalid("the reply contains more than one JSON object")},
			"wrong type":  {answer: `{"` + v.key + `": ` + v.wrong + `}`, want: invalid(`"` + v.key + `" ` + typeRule(name))},
			"null":        {answer: head + `"` + v.key + `": null}`, want: nullOutcome(name)},
			"empty":       {answer: "", want: invalid("the reply contains no JSON object")},
			"cut":         {answer: strings.TrimSuffix(v.answer, "}"), want: invalid("the JSON object of the reply is not complete")},
			"length":      {answer: v.answer, stop: llm.StopLength, want: invalid("the reply was cut off: give fewer and shorter items")},
			"refusal":     {answer: "I would rather not.", stop: llm.StopRefusal, want: invalid("the reply is a refusal")},
			"bad UTF-8":   {answer: strings.Replace(v.answer, `"`, "\"\xff", 1), want: invalid("the reply is not UTF-8")},
			"too deep":    {answer: `{"a":` + strings.Repeat("[", 8) + strings.Repeat("]", 8) + `}`, want: invalid("the reply has more than 8 levels")},
			"a key twice": {answer: strings.Replace(v.answer, v.field, v.twice, 1), want: twiceOutcome(name, v.field)},
		}
		t.Run(name, func(t *testing.T) { checkAnswers(t, name, cases) })
		for title, answer := range map[string]string{
			"byte order mark": "\uFEFF" + v.answer, "space": "\n " + v.answer + "\r\n", "code fence": "```json\n" + v.answer + "\n```", "plain fence": " ```\n" + v.answer + "```\n",
			"sentences": "Here it is:\n" + v.answer + "\nI hope this helps.", "unknown key": strings.Replace(v.answer, "{", `{"model_says": "hi", `, 1),
		} {
			got := readers[name](answer, "")
			got.Dropped = nil
			if diff := gocmp.Diff(outcome{Items: v.items}, got); diff != "" {
				t.Errorf("%s with %s: %s", name, title, diff)
			}
		}
	}
}

// typeRule says what the value of the key should be.
func typeRule(name string) string {
	return cmp.Or(map[string]string{"expand": "must be a list of strings", "summary": "must be a string"}[name], "must be a list of objects")
}

// nullOutcome is the outcome of an answer whose key is null: a list is empty then, and a text is missing.
func nullOutcome(name string) outcome {
	return map[string]outcome{
		"expand": invalid(`"detected_references" must be a list of objects`), "rerank": {},
		"summary": invalid(`"summary_text" is missing`), "extract": invalid(`"episodes" must have one item for each episode`),
	}[name]
}

// twiceOutcome is the outcome of an answer with a key twice.
func twiceOutcome(name, field string) outcome {
	key := strings.Split(field, `"`)[1]
	path := map[string]string{"expand": "detected_references[1].", "rerank": "relevant_episodes[0].", "summary": "key_events[0].", "extract": "episodes[1]."}[name]
	return invalid(`the reply has the key "` + path + key + `" twice`)
}
