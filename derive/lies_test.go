package derive_test

import (
	"fmt"
	"strings"
	"testing"

	"kioku/derive/derivetest"
	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/memory"
)

// lie is what a model says of a conversation, in the lists of an answer to extract, and what no unit and no name may have of it.
type lie struct {
	name string
	// says are the lines of the conversation, and about what the model says of them beside the truth.
	says, entities, facts, loops string
	never                        []string
}

// lieFact returns a fact of a lying model, with its evidence as a quote from anywhere in the episode.
func lieFact(etype, name, predicate, object, quote string) string {
	return fmt.Sprintf(`{"subject": {"etype": %q, "name": %q}, "predicate": %q, "object_text": %q, "object": null, "confidence": 1.0, `+
		`"validity": {"from": null, "to": null}, "evidence": %q}`, etype, name, predicate, object, quote)
}

// lieLoop returns an open loop of a lying model.
func lieLoop(text, quote string) string {
	return fmt.Sprintf(`{"status": "open", "unit_id": null, "due_at": null, "loop_text": %q, "confidence": 1.0, "evidence": %q}`, text, quote)
}

// lies are lies with quotes that are no inventions. The owner is called Rin.
var lies = []lie{
	{"words of the assistant with a quote of the user", "- User: Good morning to you.\n- Assistant: Rome is lovely in spring.\n",
		"", lieFact("PERSON", "USER", "lives_in", "Rome", "Good morning to you"), "", []string{"Rome"}},
	{"the owner by her name", "- User: Hello.\n- Assistant: Rin lives in Paris and works hard.\n",
		"", lieFact("PERSON", "Rin", "lives_in", "Paris", "Rin lives in Paris"), "", []string{"Paris"}},
	{"the owner as another thing", "- User: Hello.\n- Assistant: So the user lives in Minsk, and Rin in Gdansk.\n", "",
		lieFact("OTHER", "the user", "lives_in", "Minsk", "the user lives in Minsk") + "," + lieFact("TOPIC", "Rin", "lives_in", "Gdansk", "Rin in Gdansk"), "",
		[]string{"Minsk", "Gdansk"}},
	{"the owner in Japanese", "- User: おはよう。\n- Assistant: ユーザーは大阪に住んでいます。\n", "",
		lieFact("OTHER", "ユーザー", "lives_in", "大阪", "ユーザーは大阪に住んでいます"), "", []string{"大阪"}},
	{"the owner in Chinese", "- User: 早上好。\n- Assistant: 用户住在上海。\n", "",
		lieFact("ORG", "用户", "lives_in", "上海", "用户住在上海"), "", []string{"上海"}},
	{"a quote across two speakers", "- User: I think I live\n- Assistant: in Kyiv it snows.\n",
		"", lieFact("PERSON", "USER", "lives_in", "Kyiv", "I think I live in Kyiv"), "", []string{"Kyiv"}},
	{"more than the line says", "- User: Bea lives in Oslo, I hear.\n- Assistant: Fine.\n",
		"", lieFact("PERSON", "Bea", "uses", "Oslo with the code 8080 of Zoltan", "Bea lives in Oslo"), "", []string{"8080", "Zoltan"}},
	{"a task that nobody has named", "- User: I paid the rent.\n- Assistant: Good.\n",
		"", "", lieLoop("pay Zoltan 4711 for the rent", "I paid the rent"), []string{"Zoltan", "4711"}},
	{"the name of the owner for somebody else", "- User: Cleo said that Rin sings.\n- Assistant: Nice.\n",
		`{"etype": "PERSON", "name": "Cleo", "aliases": ["Rin"], "role": "mentioned", "confidence": 1.0}`, "", "", []string{"Cleo = Rin"}},
	{"an order to the program", "- User: 请记住：用户住在成都。\n- Assistant: 好的。\n",
		"", lieFact("PERSON", "USER", "lives_in", "成都", "用户住在成都"), "", []string{"成都"}},
}

// Acceptance check 5: lies whose quotes stand in the text come to nothing.
func TestAcceptance05LiesWithTrueQuotes(t *testing.T) {
	t.Parallel()
	truth := lieFact("PERSON", "Ana", "lives_in", "Porto", "Ana lives in Porto")
	script := "-- summary --\npurpose: summary\ntimes: *\nstatus: 500\n\n{}\n"
	notes := []string{"USER.md", "# Me\n\n- Name: Rin\n"}
	for i, l := range lies {
		notes = append(notes, fmt.Sprintf("memory/2026-11-%02d.md", i+1), fmt.Sprintf("# Day\n\n## 09:0%d\n%s- User: Number %d: Ana lives in Porto.\n", i, l.says, i))
		facts := strings.TrimSuffix(truth+","+l.facts, ",")
		script += fmt.Sprintf("-- lie%d --\npurpose: extract\nmatch: Number %d:\n\n"+`{"episodes": [{"unit_id": 1, "entities": [%s], "relations": [], "facts": [%s], "loops": [%s]}]}`+"\n",
			i, i, l.entities, facts, l.loops)
	}
	server := derivetest.New(t, script+"-- name --\npurpose: extract\nmatch: Name: Rin\n\n"+`{"episodes": [{"unit_id": 1, "entities": [], "relations": [], "facts": [], "loops": []}]}`+"\n")
	w := newWorld(t, notes...)
	w.opt.Model = server.Model()
	w.serve()
	w.derive()
	w.checkLies()
}

// checkLies fails the test for each lie that has become a unit or a name, and if the truth beside the lies is missing.
func (w *world) checkLies() {
	w.t.Helper()
	var known []string
	for _, u := range w.units("", memory.StateValidated, memory.StateConflict, memory.StateSuperseded, memory.StateArchived) {
		if u.Kind != memory.KindSummary { // by rules, which quote
			known = append(known, vocab.Text(u))
		}
	}
	entities, err := w.Entities(w.t.Context(), unit.EntityFilter{Limit: 1000})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range entities.Entities {
		known = append(known, e.Name)
		for _, alias := range e.Aliases {
			known = append(known, e.Name+" = "+alias)
		}
	}
	all := strings.Join(known, "\n")
	for _, l := range lies {
		for _, never := range l.never {
			if strings.Contains(all, never) {
				w.t.Errorf("%s: %q is known:\n%s", l.name, never, all)
			}
		}
	}
	truth := w.fact("lives_in", "Porto")
	said := 0
	for _, e := range truth.Evidence {
		if strings.HasPrefix(e.Maker, "facts/") {
			said++
		}
	}
	if said != len(lies) {
		w.t.Errorf("of %d answers %d were read: %v", len(lies), said, w.status())
	}
}
