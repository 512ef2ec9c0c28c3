package recall_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kioku/derive/recall"
	"kioku/derive/store"
	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/memory"
	"kioku/search/analysis"
)

// now is the time of all questions.
var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// engine is an ordinary search: a note is found if it has a word of the query; the score is the share of these words.
type engine struct {
	notes []memory.Hit
	// least is the threshold of queries without one of their own.
	least float64
	// slow is how long a search takes.
	slow time.Duration

	mu    sync.Mutex
	asked []memory.Query
}

func (e *engine) Search(ctx context.Context, q memory.Query) (memory.Answer, error) {
	e.mu.Lock()
	e.asked = append(e.asked, q)
	e.mu.Unlock()
	select {
	case <-time.After(e.slow):
	case <-ctx.Done():
		return memory.Answer{}, ctx.Err()
	}
	least := e.least
	if q.MinScore != nil {
		least = *q.MinScore
	}
	words := telling(q.Text)
	var hits []memory.Hit
	for _, n := range e.notes {
		has := analysis.Terms(n.Snippet)
		shared := 0
		for _, w := range words {
			if slices.Contains(has, w) {
				shared++
			}
		}
		if n.Score = float64(shared) / float64(len(words)); shared > 0 && n.Score >= least {
			hits = append(hits, n)
		}
	}
	slices.SortStableFunc(hits, func(a, b memory.Hit) int { return int(1e6 * (b.Score - a.Score)) })
	return memory.Answer{Hits: hits[:min(len(hits), max(q.MaxResults, 6))], Mode: memory.ModeKeyword, Index: memory.IndexStats{Chunks: len(e.notes)}}, nil
}

// telling returns the terms of a text without function words.
func telling(text string) (terms []string) {
	a := analysis.NewAnalyzer()
	defer a.Release()
	a.Add(text)
	for _, t := range a.Tokens {
		if t.IsLeaf() && !analysis.IsStopWord(a.Lower[t.Start:t.End], t.Kind) {
			terms = append(terms, t.Term)
		}
	}
	return terms
}

// note is a hit of one line.
func note(path, text string) memory.Hit {
	n := strings.Count(text, "\n")
	return memory.Hit{Path: path, StartLine: 3, EndLine: 3 + n, SnippetStart: 3, SnippetEnd: 3 + n, Snippet: text, Source: memory.SourceMemory}
}

// derived is what is derived, in memory.
type derived struct {
	units    []memory.Unit
	entities []unit.Entity
	episodes []memory.Episode
	uncut    []string
	err      error
	panics   bool
}

func (d *derived) fail() error {
	if d.panics {
		panic("a bug")
	}
	return d.err
}

func (d *derived) Entities(_ context.Context, q store.EntityQuery) (found []unit.Entity, err error) {
	for _, e := range d.entities {
		for _, alias := range append(e.Aliases, e.Name) {
			if slices.Contains(q.Norms, vocab.Norm(alias)) {
				found = append(found, e)
				break
			}
		}
	}
	return found, d.fail()
}

func (d *derived) Units(_ context.Context, q memory.UnitQuery) (list memory.UnitList, err error) {
	for _, u := range d.units {
		about := q.Entity == "" || u.Fact != nil && vocab.EntityUID(u.Fact.Subject) == q.Entity ||
			u.Summary != nil && slices.ContainsFunc(d.entities, func(e unit.Entity) bool { return e.UID == q.Entity && strings.Contains(u.Summary.Text, e.Name) })
		switch {
		case !slices.Contains(q.Kinds, u.Kind) || !about || !admits(q.Filter, u):
		case u.Sensitivity > q.MaxSensitivity:
			list.Withheld++
		default:
			list.Units = append(list.Units, u)
		}
	}
	return list, d.fail()
}

// admits reports whether a unit has evidence below the path of a filter.
func admits(f memory.Filter, u memory.Unit) bool {
	return f.PathPrefix == "" || slices.ContainsFunc(u.Evidence, func(e memory.Evidence) bool { return strings.HasPrefix(e.Path, f.PathPrefix) })
}

func (d *derived) MatchUnits(_ context.Context, terms []string, q memory.UnitQuery) (found []store.ScoredUnit, err error) {
	for _, u := range d.units {
		if slices.Contains(q.Kinds, u.Kind) && admits(q.Filter, u) && u.Sensitivity <= q.MaxSensitivity && slices.ContainsFunc(analysis.Terms(vocab.Text(u)), func(t string) bool { return slices.Contains(terms, t) }) {
			found = append(found, store.ScoredUnit{Unit: u, Score: 1})
		}
	}
	return found, d.fail()
}

func (d *derived) SensitiveAt(_ context.Context, above memory.Sensitivity, places []store.Lines) (found []memory.Episode, uncut []string, err error) {
	for _, e := range d.episodes {
		overlaps := func(l store.Lines) bool { return e.Path == l.Path && e.StartLine <= l.To && e.EndLine >= l.From }
		if e.Sensitivity > above && slices.ContainsFunc(places, overlaps) {
			found = append(found, e)
		}
	}
	return found, d.uncut, d.fail()
}

// fact is a fact of a person from a line of MEMORY.md.
func fact(name, predicate, object string, line int) memory.Unit {
	return memory.Unit{
		UID: vocab.UnitUID(name, predicate, object), Kind: memory.KindFact, State: memory.StateValidated, Confidence: 0.9, OccurredAt: now.AddDate(0, -1, 0),
		Fact:     &memory.Fact{Subject: memory.EntityRef{Type: vocab.Person, Name: name}, Predicate: predicate, Object: object},
		Evidence: []memory.Evidence{{Path: "MEMORY.md", StartLine: line, EndLine: line, Quote: object}},
	}
}

// person is an entity.
func person(name string, aliases ...string) unit.Entity {
	return unit.Entity{UID: vocab.EntityUID(memory.EntityRef{Type: vocab.Person, Name: name}), Type: vocab.Person, Name: name, Aliases: aliases}
}

// turns are messages of a user and an agent in turn.
func turns(texts ...string) []memory.Turn {
	var all []memory.Turn
	for i, text := range texts {
		all = append(all, memory.Turn{Speaker: []string{memory.SpeakerUser, memory.SpeakerAssistant}[i%2], Text: text})
	}
	return all
}

// search searches, and fails the test on an error.
func search(t *testing.T, r *recall.Recaller, q memory.Query) memory.Answer {
	t.Helper()
	if q.Now.IsZero() {
		q.Now = now
	}
	a, err := r.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// texts returns the snippets of hits, weak ones in parentheses.
func texts(a memory.Answer) (all []string) {
	for _, h := range a.Hits {
		if h.Weak {
			h.Snippet = "(" + h.Snippet + ")"
		}
		all = append(all, h.Snippet)
	}
	return all
}

// unitTexts returns the texts of the units of an answer.
func unitTexts(a memory.Answer) (all []string) {
	for _, u := range a.Units {
		all = append(all, u.Text)
	}
	return all
}

// codes returns the codes of what an answer lacks.
func codes(a memory.Answer) (all []string) {
	for _, d := range a.Degraded {
		all = append(all, d.Code)
	}
	return all
}
