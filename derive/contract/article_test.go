package contract_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/derive/contract"
	"kioku/derive/unit"
	"kioku/memory"
)

// articleInput is an episode with the texts of the article's sample answers.
func articleInput() contract.ExtractInput {
	return contract.ExtractInput{Model: "m", Episodes: []unit.EpisodeText{episode("e1", "2025-12-14",
		"user: 太郎と次郎は友達。short quote。string という場所の話。",
		"user: 静かなカフェが好き。次回、UnityのAnimator設計の続きを話す。")}}
}

// The sample answers of the article that this comes from, with one of the alternatives where it lists several ("a|b"). Their
// confidence of 0.0 stands for a number; with it as it is, an answer is valid and says nothing.
func TestArticleSamplesOfClaimsAreValid(t *testing.T) {
	t.Parallel()
	check := func(name string, want, got outcome) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	low := func(n int) outcome { return outcome{Dropped: map[string]int{contract.ReasonConfidence: n}} }
	read := func(answer string) outcome {
		e, report, err := readEpisode(articleInput(), answer)
		return outcomeOf(found(e.Mentions, e.Claims), report, err)
	}

	facts := func(confidence string) string {
		return `{"facts": [{"subject": {"etype": "PERSON", "name": "USER"}, "predicate": "prefers", "object_text": "静かなカフェ", "confidence": ` + confidence +
			`, "validity": {"from": null, "to": null}}]}`
	}
	check("facts", low(1), read(facts("0.0")))
	check("facts", outcome{Items: []string{`fact USER prefers 静かなカフェ [,) @1-2 user "静かなカフェが好き。次回、UnityのAnimator設計の続きを話す。" 0.50`}},
		read(facts("0.9")))

	entities := func(confidence string) string {
		return `{"entities": [{"etype": "PERSON", "name": "太郎", "aliases": ["..."], "role": "mentioned", "confidence": ` + confidence + `},
			{"etype": "PERSON", "name": "次郎", "aliases": [], "role": "mentioned", "confidence": ` + confidence + `},
			{"etype": "PLACE", "name": "string", "aliases": [], "role": "mentioned", "confidence": ` + confidence + `}],
			"relations": [{"src": "PERSON:太郎", "rel": "friend", "dst": "PERSON:次郎", "confidence": ` + confidence + `, "evidence": "short quote"}]}`
	}
	check("entities", outcome{
		Items: []string{"PERSON:太郎 [] 0.90", "PERSON:次郎 [] 0.90", "PLACE:string [] 0.90", `relation 太郎 friend 次郎 @1-1 user "short quote" 0.90`},
		// "..." is no name.
		Dropped: map[string]int{contract.ReasonText: 1},
	}, read(entities("0.9")))
	check("entities", outcome{Dropped: map[string]int{contract.ReasonConfidence: 4}}, read(entities("0.0")))

	loops := func(confidence string) string {
		return `{"loops": [{"status": "open", "due_at": null, "loop_text": "次回、UnityのAnimator設計の続きを話す", "confidence": ` + confidence + `}]}`
	}
	check("loops", low(1), read(loops("0.0")))
	check("loops", outcome{Items: []string{`loop 次回、UnityのAnimator設計の続きを話す due  @1-2 user "静かなカフェが好き。次回、UnityのAnimator設計の続きを話す。" 0.50`}},
		read(loops("0.9")))
}

func TestArticleSamplesOfOtherContractsAreValid(t *testing.T) {
	t.Parallel()
	e, _, err := readEpisode(articleInput(), `{"reflection": {"reflection_text": "string", "emotion_label": "joy", "emotion_intensity": 0.0, "topic_tags": ["仕事", "読書"],
		"salience_score": 0.0, "confidence": 0.0}}`)
	if diff := cmp.Diff(&memory.Reflection{Text: "string", Emotion: "joy", Tags: []string{"仕事", "読書"}}, e.Reflection); diff != "" || err != nil {
		t.Errorf("reflect: %v %s", err, diff)
	}
	expansion, _, err := read(contracts.Expand(contract.ExpandInput{Message: "表層形は？", Now: now, Turns: []memory.Turn{{Speaker: "user", Text: "解決後の話"}}}))(
		`{"expanded_queries": ["展開されたクエリ1", "展開されたクエリ2"], "detected_references": [{"type": "anaphora", "surface": "表層形", "resolved": "解決後"}]}`, "")
	if diff := cmp.Diff([]string{"展開されたクエリ1", "展開されたクエリ2", "解決後"}, expansion); diff != "" || err != nil {
		t.Errorf("expand: %v %s", err, diff)
	}
	ranking, _, err := read(contracts.Rerank(rerankInput()))(`{"relevant_episodes": [{"unit_id": 12, "relevance": "high", "reason": "選択理由"}], "injection_strategy": "quote_key_parts"}`, "")
	if diff := cmp.Diff([]contract.Ranked{{Index: 11, Relevance: contract.High, Reason: "選択理由"}}, ranking); diff != "" || err != nil {
		t.Errorf("rerank: %v %s", err, diff)
	}
	week := contract.SummaryInput{Scope: memory.ScopeRelationship, Key: "2025-W50", Episodes: articleInput().Episodes}
	summary, _, err := read(contracts.Summary(week))(`{"summary_text": "string", "key_events": [{"unit_id": 1, "why": "..."}], "relationship_state": "string"}`, "")
	want := memory.Summary{Scope: memory.ScopeRelationship, Key: "2025-W50", Text: "string", Events: []memory.KeyEvent{{EpisodeUID: "e1", Why: "..."}}, Relationship: "string"}
	if diff := cmp.Diff(want, summary); diff != "" || err != nil {
		t.Errorf("summary: %v %s", err, diff)
	}
}
