package recall_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/derive/recall"
	"kioku/derive/unit"
	"kioku/memory"
)

var errBroken = errors.New("the index is broken")

// failing is a search that fails.
type failing struct{}

func (failing) Search(context.Context, memory.Query) (memory.Answer, error) {
	return memory.Answer{}, errBroken
}

// episode is an episode with a sensitivity.
func episode(path string, from, to int, s memory.Sensitivity) memory.Episode {
	return memory.Episode{Path: path, StartLine: from, EndLine: to, Sensitivity: s}
}

func TestSearchWithholdsWhatLiesAboveTheCeiling(t *testing.T) {
	t.Parallel()
	normal, private, secret := memory.Normal, memory.Private, memory.Secret
	e := &engine{notes: []memory.Hit{
		note("a.md", "boat keys: the shed"), note("b.md", "boat diary"), note("c.md", "boat password: hunter2\nthe boat is green\nfor sale: 4711"),
	}}
	d := &derived{episodes: []memory.Episode{
		episode("b.md", 1, 9, memory.Private), episode("c.md", 3, 3, memory.Secret), episode("c.md", 5, 5, memory.Private), episode("a.md", 1, 9, memory.Normal),
	}}
	for _, c := range []struct {
		name    string
		ceiling *memory.Sensitivity
		want    []string
		gone    int
	}{
		{"unset is private", nil, []string{"boat keys: the shed", "boat diary", "[withheld]\nthe boat is green\nfor sale: 4711"}, 1},
		{"private", &private, []string{"boat keys: the shed", "boat diary", "[withheld]\nthe boat is green\nfor sale: 4711"}, 1},
		{"normal", &normal, []string{"boat keys: the shed", "[withheld]\nthe boat is green\n[withheld]"}, 2},
		{"secret", &secret, []string{"boat keys: the shed", "boat diary", "boat password: hunter2\nthe boat is green\nfor sale: 4711"}, 0},
	} {
		a := search(t, recall.New(e, d, patient), memory.Query{Text: "boat", MaxSensitivity: c.ceiling})
		if diff := cmp.Diff(c.want, texts(a)); diff != "" || a.Withheld != c.gone {
			t.Errorf("%s: %d withheld, %s", c.name, a.Withheld, diff)
		}
	}
	a := search(t, recall.New(e, d, patient), memory.Query{Text: "password", MaxSensitivity: &private})
	if len(a.Hits) != 0 || a.Withheld != 1 || !cmp.Equal(codes(a), []string{memory.Withheld}) {
		t.Errorf("a passage whose only matching line is secret: %q, %d withheld, degraded %q", texts(a), a.Withheld, codes(a))
	}
}

// Passages that take the place of withheld ones are searched for.
func TestSearchFillsThePlacesOfWithheldPassages(t *testing.T) {
	t.Parallel()
	e, d := &engine{}, &derived{}
	for _, path := range []string{"1.md", "2.md", "3.md", "4.md", "5.md", "6.md"} {
		e.notes = append(e.notes, note(path, "the boat of "+path))
		d.episodes = append(d.episodes, episode(path, 1, 9, memory.Secret))
	}
	e.notes = append(e.notes, note("7.md", "the boat of Ada"))
	a := search(t, recall.New(e, d, patient), memory.Query{Text: "boat"})
	if diff := cmp.Diff([]string{"the boat of Ada"}, texts(a)); diff != "" || a.Withheld != 6 {
		t.Errorf("%d withheld, %s", a.Withheld, diff)
	}
}

// Others are shown no passage of which it is not known what it contains.
func TestSearchForOthersNeedsToKnowTheSensitivity(t *testing.T) {
	t.Parallel()
	e, d := &engine{notes: []memory.Hit{note("a.md", "the boat")}}, &derived{err: errBroken}
	normal := memory.Normal
	if a := search(t, recall.New(e, d, patient), memory.Query{Text: "boat", MaxSensitivity: &normal}); len(a.Hits) != 0 {
		t.Errorf("found %q", texts(a))
	}
	if a := search(t, recall.New(e, d, patient), memory.Query{Text: "boat"}); len(a.Hits) != 1 {
		t.Errorf("found %q", texts(a))
	}
}

// A file that has just been indexed is cut for the search. If it cannot be, others do not see it.
func TestSearchCutsFilesThatAreNotCutYet(t *testing.T) {
	t.Parallel()
	e, d := &engine{notes: []memory.Hit{note("a.md", "the boat\nthe boat key: 4711"), note("b.md", "a boat")}}, &derived{uncut: []string{"a.md", "b.md"}}
	opt := patient
	opt.Cut = func(_ context.Context, path string) ([]memory.Episode, error) {
		if path == "b.md" {
			return nil, errBroken
		}
		return []memory.Episode{episode("", 4, 4, memory.Secret)}, nil
	}
	normal := memory.Normal
	for _, c := range []struct {
		ceiling *memory.Sensitivity
		want    []string
	}{{&normal, []string{"the boat\n[withheld]"}}, {nil, []string{"the boat\n[withheld]", "a boat"}}} {
		if diff := cmp.Diff(c.want, texts(search(t, recall.New(e, d, opt), memory.Query{Text: "boat", MaxSensitivity: c.ceiling}))); diff != "" {
			t.Error(diff)
		}
	}
}

func TestSearchCountsUnitsAboveTheCeiling(t *testing.T) {
	t.Parallel()
	private := fact("Marta", "lives_in", "Porto", 3)
	private.Sensitivity = memory.Private
	d := &derived{entities: []unit.Entity{person("Marta")}, units: []memory.Unit{private, fact("Marta", "likes", "tea", 4)}}
	normal := memory.Normal
	a := search(t, recall.New(&engine{}, d, patient), memory.Query{Text: "Marta?", Kinds: []string{memory.KindFact}, MaxSensitivity: &normal})
	if diff := cmp.Diff([]string{"Marta likes tea"}, unitTexts(a)); diff != "" || a.Withheld != 1 {
		t.Errorf("%d withheld, %s", a.Withheld, diff)
	}
}
