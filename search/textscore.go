package search

import (
	"math"
	"slices"

	"kioku/memory"
	"kioku/search/analysis"
)

// idf is what an occurrence of a term is worth that df of n chunks hold: ln(1 + (n-df+0.5)/(df+0.5)), which is
// positive for every df up to n.
func idf(df, n int) float64 {
	n = max(n, df)
	return math.Log(1 + (float64(n-df)+0.5)/(float64(df)+0.5))
}

// textScore is what keywords say about a chunk.
type textScore struct {
	// raw orders the chunks of one query: BM25, the bonuses, and of a passage the part of its chunk. It is 0 where no term
	// occurs.
	raw float64
	// confidence in [0,1] is comparable between queries and indexes: 0.75 x ideal + 0.25 x coverage, where ideal is the BM25
	// divided by what endless repetition of all terms would give, and coverage is the share of the idf asked for
	// that occurs at all. Where the query speaks of days, it is the better of two readings: with those words and without.
	confidence float64
	// counts of the terms in the order of the query, and bm25 each one's part of raw.
	counts []int
	bm25   []float64
	// pairs, best and chunk are the other parts of raw: neighbours, the best part of the text, the chunk of a passage.
	pairs, best, chunk float64
}

// shares returns each occurring term's part of the score.
func (s textScore) shares(q queryTerms) []memory.TermShare {
	var shares []memory.TermShare
	for i, t := range q.list {
		if s.counts != nil && s.counts[i] > 0 {
			shares = append(shares, memory.TermShare{Term: t.label(), IDF: t.idf, Count: s.counts[i], Share: s.share(s.bm25[i])})
		}
	}
	return shares
}

// missing returns the terms of the query that do not occur and that no neighbour stands for. Optional ones that the index
// lacks are no loss: their parts are there.
func (s textScore) missing(q queryTerms) []string {
	occurs := func(place int) bool { return s.counts != nil && s.counts[place] > 0 }
	var terms []string
	for i, t := range q.list {
		asked := t.misspelt == "" && (t.df > 0 || !t.optional)
		if asked && !occurs(i) && !slices.ContainsFunc(t.near, occurs) {
			terms = append(terms, t.term)
		}
	}
	return terms
}

// share returns what a part of the score is of the whole, 0 where no term occurs.
func (s textScore) share(part float64) float64 {
	if s.raw == 0 {
		return 0
	}
	return part / s.raw
}

// scorer computes the text scores of one query's candidates. It is used by one goroutine.
type scorer struct {
	q   queryTerms
	w   weights
	avg float64
	// asked is the idf mass of the terms that count, the denominator of the coverage, and askedDates that of those that
	// are words for a day.
	asked, askedDates float64
	places            map[string]int
	// sieve has a bit for each term's fingerprint: most tokens of a text need no look into places.
	sieve [256]uint64
	a     *analysis.Analyzer

	// found are the occurrences in the text being scored.
	found []occurrence
	// parts holds the counts of each term in each half part of the text being scored.
	parts []int
	// lastPos is where each term was seen last, paired which pairs were found.
	lastPos []int32
	paired  []bool
}

// newScorer returns a scorer for texts with avg terms in the mean.
func newScorer(q queryTerms, avg float64, w weights) *scorer {
	s := &scorer{
		q: q, w: w, avg: max(avg, 1), places: make(map[string]int, len(q.list)), a: analysis.NewAnalyzer(),
		lastPos: make([]int32, len(q.list)), paired: make([]bool, len(q.pairs)),
	}
	s.a.StemOnly(q.strings()...)
	for i, t := range q.list {
		s.places[t.term] = i
		f := fingerprint(t.term)
		s.sieve[f>>6] |= 1 << (f & 63)
		if t.misspelt == "" && (t.df > 0 || !t.optional) {
			if mass := t.mass() * w.asks(t); t.date {
				s.askedDates += mass
			} else {
				s.asked += mass
			}
		}
	}
	return s
}

func (s *scorer) release() { s.a.Release() }

// fingerprint is a cheap 14-bit hash of a term.
func fingerprint(t string) uint32 {
	n := len(t)
	h := uint32(t[n-1]) + uint32(t[n/2])*131 + uint32(t[0])*1031 + uint32(n)*8209
	if n > 3 {
		h += uint32(t[2]) * 521
	}
	return h & (1<<14 - 1)
}

// place returns a term's place in the query, -1 if it was not asked for.
func (s *scorer) place(term string) int {
	if f := fingerprint(term); s.sieve[f>>6]&(1<<(f&63)) == 0 {
		return -1
	}
	if i, ok := s.places[term]; ok {
		return i
	}
	return -1
}

// score scores a chunk.
func (s *scorer) score(c *Chunk) textScore {
	s.a.Reset()
	s.a.AddChunk(c.Headings, c.Date, c.Text)
	s.found = s.find(s.found[:0], s.a.Tokens)
	return s.sum(len(s.a.Tokens))
}

// sum scores a text of so many tokens by the occurrences found in it.
func (s *scorer) sum(tokens int) textScore {
	t := textScore{counts: make([]int, len(s.q.list)), bm25: make([]float64, len(s.q.list))}
	if len(s.found) == 0 {
		return t
	}
	s.count(t.counts, tokens)
	length := s.w.b*float64(tokens)/s.avg + 1 - s.w.b
	// Of words for a day, and of all others.
	var dates, own reading
	for i, term := range s.q.list {
		if t.counts[i] == 0 {
			continue
		}
		t.bm25[i] = term.mass() * s.w.saturate(t.counts[i], length)
		t.raw += t.bm25[i]
		r := &own
		if term.date {
			r = &dates
		}
		if term.misspelt == "" {
			r.raw += t.bm25[i]
			r.matched += term.mass()
		} else {
			r.raw += s.w.neighborIdeal * t.bm25[i]
		}
	}
	own.matched += s.respelt(t.counts)
	t.confidence = own.confidence(s.asked, s.w)
	if s.askedDates > 0 {
		both := reading{own.raw + dates.raw, own.matched + dates.matched}
		t.confidence = max(t.confidence, both.confidence(s.asked+s.askedDates, s.w))
	}
	t.pairs, t.best = s.pairBonus(), s.w.bestPart*s.bestPart()
	t.raw += t.pairs + t.best
	return t
}

// reading is what was found of some of the terms: their BM25 and their idf mass.
type reading struct{ raw, matched float64 }

// confidence compares what was found with the idf mass that was asked for; it is 0 where nothing was.
func (r reading) confidence(asked float64, w weights) float64 {
	if asked == 0 {
		return 0
	}
	return clamp01(w.ideal*r.raw/(asked*(w.k1+1)) + (1-w.ideal)*r.matched/asked)
}

// respelt is what counts as matched of the misspelt terms: a part of the mass of each of which a neighbour occurs.
func (s *scorer) respelt(counts []int) float64 {
	var sum float64
	for _, t := range s.q.list {
		if slices.ContainsFunc(t.near, func(place int) bool { return counts[place] > 0 }) {
			sum += t.mass() * s.w.neighborTrust / float64(len(t.near))
		}
	}
	return sum
}

// asks is the share of a term's mass that a text has to answer for.
func (w weights) asks(t queryTerm) float64 {
	if t.gram {
		return w.gramAsks
	}
	return 1
}

// saturate is the part of BM25 that grows with the count of a term and falls with the length of its text.
func (w weights) saturate(count int, length float64) float64 {
	tf := float64(count)
	return tf * (w.k1 + 1) / (tf + w.k1*length)
}

// count fills in counts, and the scorer's own parts and pairs, from the occurrences in a text of so many tokens.
func (s *scorer) count(counts []int, tokens int) {
	half := s.w.partTerms / 2
	n := len(counts)
	s.parts = append(s.parts[:0], make([]int, n*(tokens/half+1))...)
	clear(s.paired)
	for i := range s.lastPos {
		s.lastPos[i] = -2
	}
	for _, o := range s.found {
		counts[o.term]++
		s.parts[o.at/half*n+o.term]++
		if o.leaf {
			s.pairUp(o.term, o.pos)
		}
	}
}

// pairUp notes the term's position and the pairs that it completes.
func (s *scorer) pairUp(i int, pos int32) {
	for k, p := range s.q.pairs {
		if p[1] == i && s.lastPos[p[0]] == pos-1 {
			s.paired[k] = true
		}
	}
	s.lastPos[i] = pos
}

func (s *scorer) pairBonus() float64 {
	var sum float64
	for k, p := range s.q.pairs {
		if s.paired[k] {
			sum += s.w.pair * min(s.q.list[p[0]].idf, s.q.list[p[1]].idf)
		}
	}
	return sum
}

// bestPart returns the highest BM25 of two neighbouring half parts.
func (s *scorer) bestPart() float64 {
	n := len(s.q.list)
	var best float64
	for from := 0; from < len(s.parts); from += n {
		var sum float64
		for i, t := range s.q.list {
			count := s.parts[from+i]
			if next := from + n + i; next < len(s.parts) {
				count += s.parts[next]
			}
			if count > 0 {
				sum += t.mass() * s.w.saturate(count, 1)
			}
		}
		best = max(best, sum)
	}
	return best
}

// clamp01 returns x within [0,1], and 0 for what is no number.
func clamp01(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	return min(x, 1)
}
