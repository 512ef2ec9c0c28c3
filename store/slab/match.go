package slab

import (
	"cmp"
	"math"
	"slices"
)

// Parameters of the function bm25 of FTS5.
const (
	bm25K1 = 1.2
	bm25B  = 0.75
	// minIDF is the least weight of a term: of one that most documents contain.
	minIDF = 1e-6
)

// unit is 1 as a score. Scores are whole numbers, so that their sums do not depend on the order of the terms.
const unit = 1 << 40

// windowDocs is the number of documents whose scores are summed up together.
const windowDocs = 2048

// Query says which documents to find.
type Query struct {
	// Any are terms of which a document contains at least one. Each counts twice if Also is not empty.
	Any []string
	// Also are terms that count once.
	Also []string
	// Allow are the documents to choose from; nil allows all.
	Allow *IDs
	// Limit is the maximum number of documents.
	Limit int
}

// Match returns the ids of the best documents, best first, of equals the smaller id first. These are the documents that FTS5
// finds with the expression "any AND (any OR also)" and sorts by bm25, except that scores which differ by less than 1e-9
// may be in another order. A document is left out unseen if it cannot be among the best (Turtle and Flood, "Query
// evaluation: strategies and optimizations", 1995).
func (x *Words) Match(q Query) []int64 {
	if x.docs == 0 || q.Limit <= 0 {
		return nil
	}
	best := newTopK(q.Limit, found.before)
	weights := x.weights(q)
	for _, p := range x.parts {
		m := newMatcher(p, x, weights, best)
		if m != nil {
			m.allowed = q.Allow
			m.run()
		}
	}
	slices.SortFunc(best.heap, func(a, b found) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id)) })
	var ids []int64
	for _, f := range best.heap {
		ids = append(ids, f.id)
	}
	return ids
}

// weight is the weight of a term in a query.
type weight struct {
	term   string
	idf    float64 // times the number of times that the term counts
	chosen bool    // a document needs one of the terms that are
}

// weights returns the weight of each term of a query.
func (x *Words) weights(q Query) []weight {
	var list []weight
	add := func(term string, times float64, chosen bool) {
		i := slices.IndexFunc(list, func(w weight) bool { return w.term == term })
		if i < 0 {
			i = len(list)
			list = append(list, weight{term: term})
		}
		list[i].idf += times * x.idf(term)
		list[i].chosen = list[i].chosen || chosen
	}
	times := 1.0
	if len(q.Also) > 0 {
		times = 2
	}
	for _, t := range q.Any {
		add(t, times, true)
	}
	for _, t := range q.Also {
		add(t, 1, false)
	}
	return list
}

// idf returns the weight of a term as bm25 of FTS5 has it.
func (x *Words) idf(term string) float64 {
	n := float64(x.DocFreq(term))
	idf := math.Log((float64(x.docs) - n + 0.5) / (n + 0.5))
	if !(idf > 0) {
		return minIDF
	}
	return idf
}

// matcher finds the best documents of one part.
type matcher struct {
	part
	allowed *IDs // nil if all are
	// scorers, in the order of what they add at most; those of terms that were not chosen come first. Documents that contain
	// only terms of the first optional scorers cannot be among the best.
	scorers  []*termScorer
	optional int
	// most contains, for each scorer, what it and those before it add at most.
	most []int64
	best *topK[found]

	first   uint32 // document of the window
	scores  [windowDocs]int64
	touched [windowDocs / 64]uint64
}

// termScorer scores the documents with a term: top x tf / (tf + base + slope x length).
type termScorer struct {
	*cursor
	weight
	top, base, slope float64
	most             int64 // maximum score of a document
}

// newTermScorer returns a scorer for the documents of a list.
func newTermScorer(s *segment, l *list, w weight, average float64) *termScorer {
	t := &termScorer{cursor: newCursor(s, l), weight: w}
	t.top, t.base, t.slope = unit*w.idf*(bm25K1+1), bm25K1*(1-bm25B), bm25K1*bm25B/average
	t.most = t.score(l.maxCount, l.minLength) + 2 // for rounding
	return t
}

// score returns the share of the term in the score of a document with this number of tokens.
func (t *termScorer) score(count, length uint32) int64 {
	tf := float64(count)
	return int64(t.top * tf / (tf + t.base + t.slope*float64(length)))
}

// found is a document with its score.
type found struct {
	score int64
	id    int64
}

// before reports whether a is better than b. Of equal scores, the smaller id is better.
func (a found) before(b found) bool { return a.score > b.score || a.score == b.score && a.id < b.id }

// floor returns the score that a document must exceed to be taken: documents of equal scores are offered in the order of their ids.
func (m *matcher) floor() int64 {
	if !m.best.isFull() {
		return -1
	}
	return m.best.heap[0].score
}

// newMatcher returns a matcher for the documents of a part, nil if none contains a chosen term.
func newMatcher(p part, x *Words, weights []weight, best *topK[found]) *matcher {
	m := &matcher{part: p, best: best}
	average := float64(x.terms) / float64(x.docs)
	chosen := false
	for _, w := range weights {
		l := p.find(w.term)
		if l == nil {
			continue
		}
		m.scorers = append(m.scorers, newTermScorer(p.segment, l, w, average))
		chosen = chosen || w.chosen
	}
	if !chosen {
		return nil
	}
	slices.SortStableFunc(m.scorers, func(a, b *termScorer) int {
		if a.chosen != b.chosen {
			return cmp.Compare(number(a.chosen), number(b.chosen))
		}
		return cmp.Compare(a.most, b.most)
	})
	sum := int64(0)
	for _, s := range m.scorers {
		sum += s.most
		m.most = append(m.most, sum)
	}
	m.optional = slices.IndexFunc(m.scorers, func(s *termScorer) bool { return s.chosen })
	return m
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// run looks at the documents window by window.
func (m *matcher) run() {
	for {
		for m.optional < len(m.scorers) && m.most[m.optional] <= m.floor() {
			m.optional++
		}
		m.first = m.nextDoc()
		if m.first == noDoc {
			return
		}
		for _, s := range m.scorers[m.optional:] {
			m.sum(s)
		}
		m.choose()
	}
}

// nextDoc returns the first document that comes next, noDoc if there is none.
func (m *matcher) nextDoc() uint32 {
	next := uint32(noDoc)
	for _, s := range m.scorers[m.optional:] {
		next = min(next, s.doc())
	}
	return next
}

// sum adds the scores of a term to those of the documents of the window.
func (m *matcher) sum(s *termScorer) {
	end := m.first + windowDocs
	for s.n > 0 && s.docs[s.i] < end {
		for ; s.i < s.n && s.docs[s.i] < end; s.i++ {
			doc := s.docs[s.i]
			at := doc - m.first
			m.scores[at] += s.score(s.counts[s.i], m.lengths[doc])
			m.touched[at/64] |= 1 << (at % 64)
		}
		if s.i >= s.n {
			s.decode(s.at + 1)
		}
	}
}

// choose offers the documents of the window that may be among the best, and clears the window.
func (m *matcher) choose() {
	for at := range bitmap(m.touched[:]).all {
		score := m.scores[at]
		m.scores[at] = 0
		if m.canReach(score, m.optional) {
			m.offer(m.first+at, score)
		}
	}
	clear(m.touched[:])
}

// canReach reports whether a document may be among the best if the first n scorers can still add to its score.
func (m *matcher) canReach(score int64, n int) bool {
	if n > 0 {
		score += m.most[n-1]
	}
	return score > m.floor()
}

// offer adds the scores of the optional terms to that of a document, and offers it.
func (m *matcher) offer(doc uint32, score int64) {
	if m.deleted.has(doc) || m.allowed != nil && !m.allowed.Has(m.ids[doc]) {
		return
	}
	for i := m.optional - 1; i >= 0; i-- {
		s := m.scorers[i]
		if s.seek(doc); s.doc() == doc {
			score += s.score(s.counts[s.i], m.lengths[doc])
		}
		if !m.canReach(score, i) {
			return
		}
	}
	m.best.offer(found{score, m.ids[doc]})
}
