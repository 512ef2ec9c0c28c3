package contract_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/derive/contract"
	"kioku/derive/unit"
	"kioku/memory"
)

// part is the item of an episode in an answer to extract.
func part(id, facts, loops string) string {
	return `{"unit_id": ` + id + `, "entities": [], "relations": [], "facts": [` + facts + `], "loops": [` + loops + `]}`
}

func batch(parts ...string) string { return `{"episodes": [` + strings.Join(parts, ", ") + `]}` }

func TestExtractItems(t *testing.T) {
	t.Parallel()
	fact := "e1 " + valid["facts"].items[0]
	second := part("2", "", "")
	invented := swap(likes, "I like green tea", "I love green tea")
	checkAnswers(t, "extract", map[string]answerCase{
		"nothing":            {answer: batch(part("1", "", ""), second)},
		"one lost":           withItems(batch(part("1", livesInPorto+", "+invented, ""), second), one(contract.ReasonQuote), fact),
		"an episode lost":    withItems(batch(part("1", livesInPorto, ""), part("2", likes, "")), one(contract.ReasonName), fact, "e2 lost"),
		"a list lost":        withItems(batch(part("1", livesInPorto, swap(sentReport, `"unit_id": 1`, `"unit_id": 7`)), second), one(contract.ReasonID), fact),
		"an episode missing": withItems(batch(part("1", livesInPorto, "")), nil, fact, "e2 missing"),
		"foreign episode":    withItems(batch(part("1", livesInPorto, ""), second, part("3", livesInPorto, "")), one(contract.ReasonID), fact),
		"episode twice":      withItems(batch(part("1", livesInPorto, ""), part("1", likes, ""), second), one(contract.ReasonID), fact),
		"line of another":    withItems(batch(part("1", livesInPorto, ""), part("2", swap(livesInPorto, `"object_text": "Porto", "object": {"etype": "PLACE", "name": "Porto"}`, `"object_text": "Acme"`), "")), one(contract.ReasonQuote), fact, "e2 lost"),
		"all low":            withItems(batch(part("1", swap(likes, "0.8", "0.2"), ""), second), one(contract.ReasonConfidence)),
		"reflection unasked": withItems(batch(strings.Replace(part("1", livesInPorto, ""), `"entities"`, `"reflection": {`+reflection+`}, "entities"`, 1), second), nil, fact),

		"all lost":       {answer: batch(part("1", invented, ""), second), want: outcome{Invalid: `"episodes[0].facts[0].evidence[0].quote" must stand literally in line 1 or 2`, Dropped: one(contract.ReasonQuote)}},
		"no episode":     {answer: batch(), want: invalid(`"episodes" must have one item for each episode`)},
		"missing list":   {answer: batch(strings.Replace(part("1", "", ""), `"loops": []`, `"loop": []`, 1), second), want: invalid(`"episodes[0].loops" must be a list of objects`)},
		"list is null":   {answer: batch(part("1", "", ""), strings.Replace(second, `"facts": []`, `"facts": null`, 1)), want: outcome{}},
		"list is object": {answer: batch(strings.Replace(part("1", "", ""), `"entities": []`, `"entities": {}`, 1), second), want: invalid(`"episodes[0].entities" must be a list of objects`)},
		"id is text":     {answer: batch(part(`"1"`, "", ""), second), want: invalid(`"episodes[0].unit_id" must be an integer`)},
		"no id":          {answer: batch(strings.Replace(part("1", "", ""), `"unit_id": 1, `, "", 1), second), want: invalid(`"episodes[0].unit_id" is missing`)},
	})
}

func TestExtractMakesClaimsOfTheirEpisodes(t *testing.T) {
	t.Parallel()
	in := extractInput()
	in.Episodes[0].ID, in.Episodes[0].Sensitivity = 7, memory.Private
	x, _, err := read(contracts.Extract(in))(batch(part("2", "", ""), part("1", livesInPorto, callDario)), "")
	if err != nil || len(x) != 2 || len(x[0].Claims) != 2 {
		t.Fatalf("%+v, %v", x, err)
	}
	place := memory.EntityRef{Type: "PLACE", Name: "Porto"}
	want := []unit.Claim{
		{Kind: unit.ClaimFact, EpisodeID: 7, EpisodeUID: "e1", Maker: "facts/1 test-model", StartLine: 1, EndLine: 1, Quote: "moved to Porto", Speaker: memory.SpeakerUser,
			Confidence: 0.9, At: in.Episodes[0].OccurredAt, Sensitivity: memory.Private, Subject: memory.EntityRef{Type: "PERSON", Name: "USER"}, Predicate: "lives_in",
			Object: "Porto", ObjectEntity: &place, From: "2026-10"},
		{Kind: unit.ClaimLoop, EpisodeID: 7, EpisodeUID: "e1", Maker: "loops/1 test-model", StartLine: 5, EndLine: 5, Quote: "ダリオさんに連絡する", Speaker: memory.SpeakerUser,
			Confidence: 0.8, At: in.Episodes[0].OccurredAt, Sensitivity: memory.Private, LoopText: "ダリオさんに連絡する", Due: "2026-11-25"},
	}
	if diff := cmp.Diff(want, x[0].Claims); diff != "" {
		t.Error(diff)
	}
}

func TestExtractReadsReflections(t *testing.T) {
	t.Parallel()
	c := contract.Contracts{Reflections: true}
	answer := batch(strings.Replace(part("1", "", ""), `"entities"`, `"reflection": {`+reflection+`}, "entities"`, 1), strings.Replace(part("2", "", ""), `"entities"`, `"reflection": null, "entities"`, 1))
	x, _, err := read(c.Extract(extractInput()))(answer, "")
	if err != nil || x[0].Reflection == nil || x[0].Reflection.Salience != 0.7 || x[1].Reflection != nil {
		t.Errorf("%+v, %v", x, err)
	}
	p, _ := c.Extract(extractInput())
	if plain, _ := contracts.Extract(extractInput()); !strings.Contains(p.System, "reflection_text") || strings.Contains(plain.System, "reflection_text") || p.Input == plain.Input {
		t.Error("a reflection is not asked for where it is on, or asked for where it is off")
	}
}
