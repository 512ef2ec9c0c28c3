package search

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"kioku/embed"
	"kioku/memory"
	"kioku/search/analysis"
)

// workNotes are n chunks of a small company, each with the words that its notes repeat.
func workNotes(n int) []Chunk {
	subjects := []string{"invoice", "boiler", "harbour", "rota", "pump", "warehouse", "supplier", "permit"}
	list := make([]Chunk, n)
	for i := range list {
		text := fmt.Sprintf("The %s of the %s with number %d and the rest of the day.", subjects[i%8], subjects[i/8%8], i)
		if i%5 == 0 {
			text += " We went back to the yard."
		}
		list[i] = Chunk{Path: fmt.Sprintf("memory/n%d.md", i), Text: text}
	}
	return list
}

// calibrate asks the probes of a store, and records the result as a store does.
func calibrate(t *testing.T, s *fakeStore) Calibration {
	t.Helper()
	c, ok, err := New(s, nil, testOptions()).Calibrate(t.Context(), true)
	if err != nil || !ok {
		t.Fatalf("not calibrated: %v", err)
	}
	s.index.Calibration = c
	return c
}

// The threshold counts words of the question that the folder lacks: one common word of four is no answer.
func TestSearchTakesNoCommonWordForAnAnswer(t *testing.T) {
	t.Parallel()
	for _, n := range []int{10, 40, 100} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			store := newFakeStore(workNotes(n)...)
			if n >= minProbed {
				calibrate(t, store)
			}
			s := New(store, nil, testOptions())
			for _, question := range []string{"can I get my money back", "who brings back the children after school", "how do I get my deposit back"} {
				if a := ask(t, s, question); len(a.Hits) > 0 {
					t.Errorf("%q: %d hits, the best with %.3f: %s", question, len(a.Hits), a.Hits[0].Score, a.Hits[0].Snippet)
				}
			}
			if a := ask(t, s, "when did we go back to the yard"); len(a.Hits) == 0 {
				t.Error("a question with the words of a note is not answered")
			}
		})
	}
}

// A common word that few notes of a large folder contain is no answer either, and the answer names the words that it lacks.
func TestSearchTakesNoRareWordForAnAnswer(t *testing.T) {
	t.Parallel()
	var chunks []Chunk
	for i := range 200 {
		text := fmt.Sprintf("The invoice of the harbour with number %d.", i)
		if i%30 == 0 {
			text = "Go back to the page of the harbour."
		}
		chunks = append(chunks, Chunk{Path: fmt.Sprintf("memory/n%d.md", i), Text: text})
	}
	chunks = append(chunks, Chunk{Path: "memory/hana.md", Text: "Hana collects stamps."})
	store := newFakeStore(chunks...)
	calibrate(t, store)
	for _, languages := range [][]analysis.Language{nil, {"sv", "nl", "de", "es"}} {
		store.index.Languages = languages
		s := New(store, nil, testOptions())
		a := ask(t, s, "can I get my money back")
		if text := degradedBy(a)[memory.WordsUnknown]; len(a.Hits) > 0 || text != `No note contains "money".` {
			t.Errorf("%d hits, %q", len(a.Hits), text)
		}
		if a := ask(t, s, "when is the birthday of Hana"); len(a.Hits) == 0 || a.Hits[0].Path != "memory/hana.md" {
			t.Errorf("one word that is a name: %v", paths(a))
		}
		if a := ask(t, s, "back"); len(a.Hits) == 0 || a.Hits[0].Weak {
			t.Errorf("one word that is the whole question: %v", paths(a))
		}
	}
}

// The line for search is min(default, the 85 % quantile of the probes), the same each time, and asked again after a sync that
// changed much.
func TestCalibrateIsRepeatable(t *testing.T) {
	t.Parallel()
	store := newFakeStore(workNotes(100)...)
	first := calibrate(t, store)
	if first.Chunks != 100 || !(first.Line >= 0 && first.Line < 0.18) {
		t.Errorf("%+v", first)
	}
	s := New(store, nil, testOptions())
	if _, ok, err := s.Calibrate(t.Context(), true); ok || err != nil {
		t.Errorf("calibrated again without a change: %v, %v", ok, err)
	}
	store.index.Chunks = 119
	if _, ok, _ := s.Calibrate(t.Context(), true); ok {
		t.Error("calibrated again after a small change")
	}
	store.index.Chunks = 100
	store.index.Calibration.Probes = "older"
	if again := calibrate(t, store); again != first {
		t.Errorf("%+v, before %+v", again, first)
	}
	store.index.Calibration.Chunks = 80
	if _, ok, _ := s.Calibrate(t.Context(), true); !ok {
		t.Error("not calibrated again after a fourth was added")
	}
}

// Tiny folders, and folders in a language without probes, are not calibrated.
func TestCalibrateLeavesOutWhatItCannotMeasure(t *testing.T) {
	t.Parallel()
	greek := make([]Chunk, 50)
	for i := range greek {
		greek[i] = Chunk{Path: fmt.Sprint(i), Text: "το λιμάνι και η αποθήκη"}
	}
	for name, chunks := range map[string][]Chunk{"tiny": workNotes(minProbed - 1), "Greek": greek} {
		if _, ok, err := New(newFakeStore(chunks...), nil, testOptions()).Calibrate(t.Context(), true); ok || err != nil {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
	}
}

// A language is asked only if the folder holds it.
func TestHeldLanguages(t *testing.T) {
	t.Parallel()
	english, japanese := "The boiler and the pump are with the supplier.", "港の倉庫で契約の話をしました。来週もしている予定です。"
	for _, tc := range []struct {
		name           string
		first, rest    string
		firsts, others int
		want           int
	}{
		{"one", english, "", 50, 0, 1},
		{"two", english, japanese, 30, 20, 2},
		{"a few notes of another", english, japanese, 97, 3, 1},
	} {
		var chunks []Chunk
		for range tc.firsts {
			chunks = append(chunks, Chunk{Path: "a", Text: tc.first})
		}
		for range tc.others {
			chunks = append(chunks, Chunk{Path: "b", Text: tc.rest})
		}
		held, err := heldLanguages(t.Context(), newFakeStore(chunks...))
		if err != nil || len(held) != tc.want {
			t.Errorf("%s: %d languages, %v", tc.name, len(held), err)
		}
	}
}

// A folder about cooking is not hurt by probes about cooking: its line stays.
func TestCalibrateOnlyLowersTheLine(t *testing.T) {
	t.Parallel()
	var chunks []Chunk
	for _, l := range allProbes().languages {
		for i, question := range l.questions {
			chunks = append(chunks, Chunk{Path: fmt.Sprintf("%s%d.md", l.markers[0], i), Text: "The answer with all of it and more: " + question})
		}
	}
	store := newFakeStore(chunks...)
	if c := calibrate(t, store); c.Line < 0.3 {
		t.Errorf("the line of a folder that answers the probes is %.2f", c.Line)
	}
	a := ask(t, New(store, nil, testOptions()), "how many calories are in cheesecake")
	if len(a.Hits) == 0 || a.Hits[0].Weak {
		t.Errorf("%+v", a.Hits)
	}
}

// What lies below the confident line but above the lower is weak in every answer, and comes after all others.
func TestSearchMarksWeakHits(t *testing.T) {
	t.Parallel()
	store := newFakeStore(append(workNotes(100), Chunk{Path: "memory/ferry.md", Text: "The ferry contract with the Lisbon office ends in May."})...)
	calibrate(t, store)
	opt := testOptions()
	weakly := "harbour supplier painting railings"
	a := ask(t, New(store, nil, opt), weakly)
	if len(a.Hits) == 0 {
		t.Fatalf("no weak hit: %+v", a.Degraded)
	}
	for _, h := range a.Hits {
		if !h.Weak || h.Score >= 0.18 || h.Score < minLine {
			t.Errorf("%s %.3f, weak %v", h.Path, h.Score, h.Weak)
		}
	}
	opt.WeakResults = new(false)
	if a := ask(t, New(store, nil, opt), weakly); len(a.Hits) > 0 {
		t.Errorf("a weak hit although the setting forbids them: %+v", a.Hits)
	}
	least := 0.1
	asked, err := New(store, nil, testOptions()).Search(t.Context(), memory.Query{Text: weakly, MinScore: &least})
	if err != nil || len(asked.Hits) == 0 || asked.Hits[0].Weak {
		t.Errorf("a minimum that a query asks for is taken as it is: %+v, %v", asked.Hits, err)
	}
	mixed := ask(t, New(store, nil, testOptions()), "ferry contract Lisbon, harbour supplier")
	seen := false
	for _, h := range mixed.Hits {
		if seen && !h.Weak {
			t.Errorf("%s comes after a weak hit", h.Path)
		}
		seen = seen || h.Weak
	}
	if len(mixed.Hits) == 0 || mixed.Hits[0].Path != "memory/ferry.md" || mixed.Hits[0].Weak {
		t.Errorf("%+v", mixed.Hits)
	}
}

// Probes are short questions without days, about sixty a language, each once.
func TestProbesAreWellFormed(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, l := range allProbes().languages {
		if len(l.markers) == 0 || len(l.questions) < 50 || len(l.questions) > 70 {
			t.Errorf("%d questions with the markers %v", len(l.questions), l.markers)
		}
		for _, question := range l.questions {
			if d := parseDates(question, testNow); len(d.mentions) > 0 {
				t.Errorf("%q names a day", question)
			}
			if seen[question] || strings.TrimSpace(question) != question || utf8.RuneCountInString(question) < 5 || strings.HasPrefix(question, "#") {
				t.Errorf("%q", question)
			}
			seen[question] = true
		}
	}
}

// The line of silence is found anew with vectors, per workspace: the score that most probes stay below, with the model of the
// index. Questions as far from the notes as the probes are get no answer then.
func TestCalibrateWithVectors(t *testing.T) {
	t.Parallel()
	chunks := workNotes(100)
	for i := range chunks {
		chunks[i].Vector = []float32{1, float32(i%10) / 10, float32(i%7) / 7}
	}
	store := newFakeStore(chunks...)
	e := &fakeEmbedder{vector: []float32{0.3, 0.9, 0.2}, class: embed.Small}
	s := New(store, e, testOptions())
	c, ok, err := s.Calibrate(t.Context(), true)
	if err != nil || !ok || c.Space != testSpace.Name() || !(c.VectorLine > c.Line) {
		t.Fatalf("%+v, %v, %v", c, ok, err)
	}
	store.index.Calibration = c
	if _, again, err := s.Calibrate(t.Context(), true); again || err != nil {
		t.Errorf("asked again, %v", err)
	}
	store.index.Space.Model = "another"
	if _, again, err := s.Calibrate(t.Context(), true); again || err != nil {
		t.Errorf("asked with vectors of another model than the index has, %v", err)
	}
	store.index.Space = testSpace
	words, ok, err := s.Calibrate(t.Context(), false)
	if ok || err != nil {
		t.Errorf("by words: %+v, %v, %v", words, ok, err)
	}
	if a := ask(t, s, "zephyr quokka umlaut"); len(a.Hits) > 0 && a.Hits[0].Score < c.VectorLine {
		t.Errorf("score %v below the line %v", a.Hits[0].Score, c.VectorLine)
	}
}

// A line with vectors is only recorded if each probe was asked with vectors of the index. While the provider does not answer, or
// if the index gets vectors of another model meanwhile, the folder is calibrated by words, and with vectors at the next sync.
func TestCalibrateTakesNoScoreOfWordsForOneOfVectors(t *testing.T) {
	t.Parallel()
	chunks := workNotes(40)
	for i := range chunks {
		chunks[i].Vector = []float32{float32(i%7) / 7, 1, float32(i % 3)}
	}
	another := testSpace
	another.Model = "another"
	for name, fail := range map[string]func(*fakeStore) ([]float32, error){
		"no answer":     func(*fakeStore) ([]float32, error) { return nil, errBroken },
		"no direction":  func(*fakeStore) ([]float32, error) { return make([]float32, 3), nil },
		"another model": func(s *fakeStore) ([]float32, error) { s.index.Space = another; return []float32{1, 0, 0}, nil },
		"vectors that cannot be read": func(s *fakeStore) ([]float32, error) {
			s.nearErr = errBroken
			return []float32{1, 0, 0}, nil
		},
	} {
		for _, failing := range []int{1, 30} {
			t.Run(fmt.Sprint(name, " from probe ", failing), func(t *testing.T) {
				t.Parallel()
				store, asked := newFakeStore(chunks...), 0
				e := &fakeEmbedder{class: embed.Small}
				e.query = func(context.Context) ([]float32, error) {
					if asked++; asked >= failing {
						return fail(store)
					}
					return []float32{1, 0, 0}, nil
				}
				s := New(store, e, testOptions())
				c, ok, err := s.Calibrate(t.Context(), true)
				if err != nil || !ok || c.Space != "" || c.VectorLine != 0 || c.Probes == "" || asked != failing {
					t.Fatalf("%+v, %v, %v after %d probes", c, ok, err, asked)
				}
				store.index.Calibration, store.index.Space, store.nearErr, asked = c, testSpace, nil, 0
				if again, ok, err := s.Calibrate(t.Context(), true); ok || err != nil {
					t.Errorf("the probes were asked by words again: %+v, %v", again, err)
				}
				store.index.Space, store.nearErr, e.query, e.vector = testSpace, nil, nil, []float32{1, 0, 0}
				if c, ok, err = s.Calibrate(t.Context(), true); err != nil || !ok || c.Space != testSpace.Name() {
					t.Errorf("not tried again: %+v, %v, %v", c, ok, err)
				}
			})
		}
	}
}
