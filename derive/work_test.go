package derive_test

import (
	"slices"
	"strings"
	"testing"

	"kioku/derive/vocab"
	"kioku/memory"
)

// sentences returns what the units of a kind that hold now say, in the order of the alphabet.
func (w *world) sentences(kind string) []string {
	w.t.Helper()
	var all []string
	for _, u := range w.units(kind) {
		all = append(all, vocab.Text(u))
	}
	slices.Sort(all)
	return all
}

const ana = "# Memory\n\n## Ana\n- lives in: Porto\n- works at: Acme\n"

func TestRunDerivesByRule(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "MEMORY.md", ana, "memory/2026-11-20.md", "## 10:00\n- [ ] call the bank\n")
	w.derive()
	if got := w.sentences(memory.KindFact); !slices.Contains(got, "Ana lives in Porto") {
		t.Errorf("facts: %q", got)
	}
	if got := w.sentences(memory.KindLoop); !slices.Equal(got, []string{"Open: call the bank"}) {
		t.Errorf("loops: %q", got)
	}
	st := w.status()
	if st.Pending != 0 || st.Episodes == 0 || st.Model != "" {
		t.Errorf("status: %+v", st)
	}
	u := w.fact("lives_in", "Porto")
	if e := u.Evidence[0]; e.Path != "MEMORY.md" || e.StartLine != 4 || !strings.Contains(e.Quote, "Porto") {
		t.Errorf("evidence: %+v", e)
	}
}

// Facts are made anew when the settings give their predicate another class.
func TestRunMakesFactsAnewForAnotherVocabulary(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "memory/2026-11-20.md", day(of("Ana", "City: Porto")), "memory/2026-11-21.md", day(of("Ana", "City: Rome")))
	w.derive()
	if w.hasFact("lives_in", "Porto") {
		t.Fatalf("facts: %q", w.sentences(memory.KindFact))
	}
	words, err := vocab.New(map[string]string{"lives_in": "set"})
	if err != nil {
		t.Fatal(err)
	}
	w.opt.Vocabulary = words
	w.serve()
	w.derive()
	if !w.hasFact("lives_in", "Porto") || !w.hasFact("lives_in", "Rome") {
		t.Errorf("facts of a set: %q", w.sentences(memory.KindFact))
	}
}

// Views that cannot be written keep nothing from being derived; the status says why there are none, until they are written.
func TestRunDerivesWhereViewsCannotBeWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "MEMORY.md", ana)
	w.opt.ViewDir = "views"
	w.serve()
	w.write("views", "a file of my own")
	w.derive()
	if !w.hasFact("lives_in", "Porto") {
		t.Errorf("facts: %q", w.sentences(memory.KindFact))
	}
	if got := w.status().Problem; !strings.Contains(got, "derive.export.dir") {
		t.Errorf("problem: %q", got)
	}
	w.remove("views")
	w.derive()
	if got := w.status().Problem; got != "" || len(w.files("views")) == 0 {
		t.Errorf("problem %q, %d views", got, len(w.files("views")))
	}
}
