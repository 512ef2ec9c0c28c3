package slab

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kioku/search/analysis"
)

// document is a document of a wordModel.
type document struct {
	id    int64
	terms []string
}

// wordModel is an index that looks at every document.
type wordModel struct{ docs []document }

// average returns the mean number of terms of a document.
func (m *wordModel) average() float64 {
	n := 0
	for _, d := range m.docs {
		n += len(d.terms)
	}
	return float64(n) / float64(len(m.docs))
}

// count returns how often a document contains a term.
func (d document) count(term string) (n uint32) {
	for _, t := range d.terms {
		if t == term {
			n++
		}
	}
	return n
}

// match is Index.Match.
func (m *wordModel) match(x *Words, q Query) []int64 {
	var all []found
	for _, d := range m.docs {
		var score int64
		chosen := false
		for _, w := range x.weights(q) {
			if n := d.count(w.term); n > 0 {
				t := termScorer{weight: w, top: unit * w.idf * (bm25K1 + 1), base: bm25K1 * (1 - bm25B),
					slope: bm25K1 * bm25B / m.average()}
				score += t.score(n, uint32(len(d.terms)))
				chosen = chosen || w.chosen
			}
		}
		if chosen && (q.Allow == nil || q.Allow.Has(d.id)) {
			all = append(all, found{score, d.id})
		}
	}
	slices.SortFunc(all, func(a, b found) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id)) })
	var ids []int64
	for _, f := range all[:min(q.Limit, len(all))] {
		ids = append(ids, f.id)
	}
	return ids
}

// change adds documents to the model and deletes some, and returns the change.
func (m *wordModel) change(r *rand.Rand) Change {
	var c Change
	m.docs = slices.DeleteFunc(m.docs, func(d document) bool {
		if r.IntN(12) == 0 {
			c.Delete(d.id)
			return true
		}
		return false
	})
	next := int64(1)
	if len(m.docs) > 0 {
		next = m.docs[len(m.docs)-1].id + 1
	}
	for range r.IntN(120) {
		d := document{id: next}
		for range 1 + r.IntN(30) {
			d.terms = append(d.terms, randomTerm(r))
		}
		next += 1 + int64(r.IntN(2))
		m.docs = append(m.docs, d)
		c.Add(d.id, analysis.EncodeTerms(d.terms))
	}
	return c
}

// randomTerm returns a term, few of them most often.
func randomTerm(r *rand.Rand) string { return fmt.Sprintf("w%d", r.IntN(1+r.IntN(1+r.IntN(80)))) }

// randomQuery returns a query of terms that differ.
func (m *wordModel) randomQuery(r *rand.Rand) Query {
	q := Query{Limit: 1 + r.IntN(30)}
	var terms []string
	for range 1 + r.IntN(6) {
		if t := randomTerm(r); !slices.Contains(terms, t) {
			terms = append(terms, t)
		}
	}
	chosen := 1 + r.IntN(len(terms))
	q.Any, q.Also = terms[:chosen], terms[chosen:]
	if r.IntN(3) == 0 {
		var ids []int64
		for _, d := range m.docs {
			if r.IntN(3) == 0 {
				ids = append(ids, d.id)
			}
		}
		q.Allow = NewIDs(ids)
	}
	return q
}

// "The same candidates as an exhaustive OR, by a property test."
func TestIndexMatchesLikeOneThatLooksAtEveryDocument(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		m := &wordModel{}
		s := &Slab{Words: newWords(newBuilder(nil, nil).segment())}
		for range rapid.IntRange(1, 8).Draw(t, "commits") {
			c := m.change(r)
			if s = s.apply(&c); s == nil {
				return // much has changed: it would be loaded again
			}
			x := s.Words
			if x.Docs() != len(m.docs) {
				t.Fatalf("%d documents, want %d", x.Docs(), len(m.docs))
			}
			q := m.randomQuery(r)
			if diff := gocmp.Diff(m.match(x, q), x.Match(q)); diff != "" {
				t.Fatalf("%+v (-every document +index):\n%s", q, diff)
			}
		}
	})
}
