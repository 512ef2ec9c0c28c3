package postings

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// document is a document of the model.
type document struct {
	id    int64
	terms []string
}

// model is an index that looks at every document.
type model struct {
	docs         []document
	rows, tokens int64
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
func (m *model) match(x *Index, q Query) []int64 {
	var all []found
	for _, d := range m.docs {
		var score int64
		chosen := false
		for _, w := range x.weights(q) {
			if n := d.count(w.term); n > 0 {
				t := termScorer{weight: w, top: unit * w.idf * (bm25K1 + 1), base: bm25K1 * (1 - bm25B),
					slope: bm25K1 * bm25B / (float64(m.tokens) / float64(m.rows))}
				score += t.score(n, uint32(len(d.terms)))
				chosen = chosen || w.chosen
			}
		}
		if chosen && (!q.Filtered || slices.Contains(q.IDs, d.id)) {
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
func (m *model) change(r *rand.Rand) Change {
	var c Change
	m.docs = slices.DeleteFunc(m.docs, func(d document) bool {
		if r.IntN(12) == 0 {
			c.Deleted = append(c.Deleted, d.id)
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
		c.Added = append(c.Added, Added{d.id, strings.Join(d.terms, " ")})
		c.Rows++
		c.Tokens += int64(len(d.terms))
	}
	m.rows, m.tokens = m.rows+c.Rows, m.tokens+c.Tokens
	return c
}

// randomTerm returns a term, few of them most often.
func randomTerm(r *rand.Rand) string { return fmt.Sprintf("w%d", r.IntN(1+r.IntN(1+r.IntN(80)))) }

// randomQuery returns a query of terms that differ.
func (m *model) randomQuery(r *rand.Rand) Query {
	q := Query{Limit: 1 + r.IntN(30)}
	var terms []string
	for range 1 + r.IntN(6) {
		if t := randomTerm(r); !slices.Contains(terms, t) {
			terms = append(terms, t)
		}
	}
	chosen := 1 + r.IntN(len(terms))
	q.Any, q.Also = terms[:chosen], terms[chosen:]
	if q.Filtered = r.IntN(3) == 0; q.Filtered {
		for _, d := range m.docs {
			if r.IntN(3) == 0 {
				q.IDs = append(q.IDs, d.id)
			}
		}
	}
	return q
}

// "The same candidates as an exhaustive OR, by a property test."
func TestIndexMatchesLikeOneThatLooksAtEveryDocument(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		m := &model{}
		x := &Index{parts: []part{{Segment: newBuilder(nil, nil).segment()}}}
		for range rapid.IntRange(1, 8).Draw(t, "commits") {
			c := m.change(r)
			if x = x.Apply(c); x == nil {
				return // much has changed: it would be loaded again
			}
			if x.Docs() != len(m.docs) {
				t.Fatalf("%d documents, want %d", x.Docs(), len(m.docs))
			}
			q := m.randomQuery(r)
			if diff := gocmp.Diff(m.match(x, q), x.Match(q)); diff != "" {
				t.Fatalf("%+v (-every document +index):\n%s", q, diff)
			}
			if n := slices.IndexFunc(m.docs, func(d document) bool { return d.count(q.Any[0]) > 0 }); n >= 0 {
				m.checkPlaces(t, x, m.docs[n], q.Any[0])
			}
		}
	})
}

// checkPlaces compares the places of a term in a document.
func (m *model) checkPlaces(t *rapid.T, x *Index, d document, term string) {
	var got, want []Place
	x.Places([]string{"nowhere", term}, []int64{d.id}, func(p Place) { got = append(got, p) })
	for at, other := range d.terms {
		if other == term {
			want = append(want, Place{0, 1, at})
		}
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Fatalf("places of %s in %v (-want +got):\n%s", term, d, diff)
	}
}

func TestVarintReadsWhatAppendVarintWrites(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Uint64Max(1<<56-1).Draw(t, "number")
		b := appendVarint(nil, want)
		if got, size := varint(append(b, 0)); got != want || size != len(b) || skipVarints(b, 1) != size || countVarints(b) != 1 {
			t.Fatalf("%x: %d of %d bytes, want %d", b, got, size, want)
		}
	})
}

// onePage returns a structure record with a segment of one page, and the pages of it.
func onePage(page []byte) Tables {
	structure := append([]byte{0, 0, 0, 0, 0xff, 0, 0, 1}, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0)
	return Tables{Structure: structure, Averages: []byte{2, 5}, Docs: []Doc{{ID: 1, Tokens: 3, Origin: 1}, {ID: 2, Tokens: 2, Origin: 1}},
		Pages: func(int64, int64) iter.Seq2[[]byte, error] {
			return func(yield func([]byte, error) bool) { yield(page, nil) }
		}}
}

// teaPage contains the term tea: twice in the first document, once in the second.
var teaPage = []byte{0, 9, 0, 15, 4, '0', 't', 'e', 'a', 1, 4, 2, 4, 1, 2, 2, 4}[:15:15]

func TestLoadReadsAPage(t *testing.T) {
	t.Parallel()
	page := append(slices.Clone(teaPage), 2, 4) // a position list of one place, and the footer: a term at 4
	page[3] = byte(len(page) - 1)
	x, err := Load(onePage(page))
	if err != nil {
		t.Fatal(err)
	}
	var got []Place
	x.Places([]string{"tea"}, []int64{1, 2}, func(p Place) { got = append(got, p) })
	want := []Place{{0, 0, 0}, {0, 0, 2}, {1, 0, 0}}
	if diff := gocmp.Diff(want, got); diff != "" || x.DocFreq("tea") != 2 || x.DocFreq("coffee") != 0 {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLoadRefusesAnUnknownLayout(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Tables){
		"structure of version 1": func(t *Tables) { t.Structure = []byte{0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 1} },
		"no structure":           func(t *Tables) { t.Structure = nil },
		"no rows":                func(t *Tables) { t.Averages = []byte{0} },
		"short page":             func(t *Tables) { *t = onePage([]byte{0, 0, 0}) },
	} {
		t.Run(name, func(t *testing.T) {
			tables := onePage(teaPage)
			change(&tables)
			if _, err := Load(tables); !errors.Is(err, ErrLayout) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// No page makes the process panic.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(teaPage))
	f.Add([]byte{0, 9, 0, 16, 4, '0', 't', 'e', 'a', 1, 4, 2, 4, 1, 2, 2, 4})
	f.Fuzz(func(t *testing.T, page []byte) {
		if x, err := Load(onePage(page)); err == nil {
			x.Match(Query{Any: []string{"tea"}, Limit: 5})
		}
	})
}
