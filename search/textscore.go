package search

import (
	"math"
	"slices"

	"kioku/memory"
	"kioku/search/analysis"
)

// idf returns the weight of an occurrence of a term that df of n chunks contain: ln(1 + (n-df+0.5)/(df+0.5)), which is
// positive for every df up to n. An index of fewer than idfChunks chunks counts as one of so many: in the sections of a single note
// each word of its title is in all chunks, but that does not make it a word that tells nothing.
func idf(df, n int) float64 {
	n = max(n, df, idfChunks)
	return math.Log(1 + (float64(n-df)+0.5)/(float64(df)+0.5))
}

// textScore is the score of a chunk by keywords.
type textScore struct {
	// raw orders the chunks of one query: BM25, the bonuses and, for a passage, a share of its chunk. It is 0 if no term
	// occurs.
	raw float64
	// confidence, in [0,1], is comparable between queries: (0.75 x ideal + 0.25 x coverage) x sqrt(words/3). ideal is the BM25
	// divided by its limit for endless repetition of all terms, and coverage the share of the required idf weight that
	// occurs at all. Of independent words the number that occurs by chance deviates by the root of their number, so a share is
	// worth more the more words were asked for; queries of up to three words count as they are. If the query names days, it is the
	// better of two confidences: with the words of these days and without.
	confidence float64
	// counts of the terms in the order of the query, and the share of each in raw as BM25. Both are nil for dated chunks
	// whose text does not count.
	counts []int
	bm25   []float64
	// named says which terms occur in the names of the file; nil if none does.
	named []bool
	// pairs, best and chunk are the other parts of raw: adjacent terms, the best part of the text, the chunk of a
	// passage.
	pairs, best, chunk float64
}

// isNamed reports whether the i-th term of the query occurs in the names of the file.
func (s textScore) isNamed(i int) bool { return s.named != nil && s.named[i] }

// matches reports whether the i-th term of the query occurs in the text or in the names of the file.
func (s textScore) matches(i int) bool {
	return i < len(s.counts) && (s.counts[i] > 0 || s.isNamed(i))
}

// shares returns the share of each occurring term in the score.
func (s textScore) shares(q queryTerms) []memory.TermShare {
	var shares []memory.TermShare
	for i, t := range q.list {
		if s.matches(i) {
			shares = append(shares, memory.TermShare{Term: t.label(), IDF: t.idf, Count: s.counts[i], Share: s.share(s.bm25[i])})
		}
	}
	return shares
}

// missing returns the terms of the query that do not occur, nor any spelling variant of them. Optional terms that the
// index lacks are not missing: their parts occur.
func (s textScore) missing(q queryTerms) []string {
	var terms []string
	for i, t := range q.list {
		if t.isRequired() && !s.matches(i) && !slices.ContainsFunc(t.variants, s.matches) {
			terms = append(terms, t.label())
		}
	}
	return terms
}

// share returns a part of the score as a share of raw, 0 if no term occurs.
func (s textScore) share(part float64) float64 {
	if s.raw == 0 {
		return 0
	}
	return part / s.raw
}

// scorer computes the text scores of the candidates of one query. It is used by one goroutine at a time.
type scorer struct {
	q queryTerms
	// avg is the mean number of terms in a chunk, at least 1.
	avg float64
	// requiredWeight is the total idf weight of the required terms that are not words for a day, the denominator of the
	// coverage, and requiredDates the total of those that are.
	requiredWeight, requiredDates float64
	// length is the factor of the confidence for the number of words asked for.
	length float64
	// indexes are those of the terms in the language of the text being scored, and byLanguage those of all languages seen.
	indexes    map[string]int
	byLanguage map[analysis.Language]map[string]int
	// namesOf caches for each text of names which terms occur in it, and named is that of the file being scored.
	namesOf map[namesKey][]bool
	named   []bool
	// above is the number of tokens of the headings and the date of the text being scored, and titled says which terms occur
	// in them.
	above  int
	titled []bool
	a      *analysis.Analyzer

	// occurrences of the terms in the text being scored.
	occurrences []occurrence
	// parts contains the counts of each term in each half part of the text being scored.
	parts []int
	// lastPos is the position at which each term was seen last, and paired says which pairs were found.
	lastPos []int32
	paired  []bool
}

// newScorer returns a scorer for texts with avg terms on average. The caller releases it.
func newScorer(q queryTerms, avg float64) *scorer {
	s := &scorer{
		q: q, avg: max(avg, 1), byLanguage: make(map[analysis.Language]map[string]int), namesOf: make(map[namesKey][]bool),
		a: analysis.NewAnalyzer(), lastPos: make([]int32, len(q.list)), paired: make([]bool, len(q.pairs)), titled: make([]bool, len(q.list)),
	}
	s.a.StemOnly(q.strings()...)
	s.startText(&Chunk{})
	var words float64
	for _, t := range q.list {
		switch {
		case !t.isRequired():
		case t.date:
			s.requiredDates += t.required()
		default:
			s.requiredWeight += t.required()
			words += t.words()
		}
	}
	s.length = math.Sqrt(max(words, shortQuery) / shortQuery)
	return s
}

func (s *scorer) release() { s.a.Release() }

// startText drops all tokens. What follows is read, and terms are looked up, in the language of a chunk.
func (s *scorer) startText(c *Chunk) {
	s.a.Reset()
	l := c.Language
	if s.byLanguage[l] == nil {
		s.byLanguage[l] = s.q.indexes(l)
	}
	s.indexes = s.byLanguage[l]
	s.a.SetLanguage(l)
}

// namesKey is the names of a file, and the language in which they are read, which is that of the chunk.
type namesKey struct {
	names    string
	language analysis.Language
}

// termsInNames returns which terms of the query occur in the names of the file of a chunk, nil if none does. The names are a field of every chunk
// of the file, as in BM25F (Robertson and Zaragoza, 2009): a term counts once, whatever the length of the field.
func (s *scorer) termsInNames(c *Chunk) []bool {
	key := namesKey{c.Names, c.Language}
	named, ok := s.namesOf[key]
	if ok || c.Names == "" {
		return named
	}
	s.startText(c)
	s.a.Add(c.Names)
	for _, t := range s.a.Tokens {
		if i, ok := s.indexes[t.Term]; ok {
			if named == nil {
				named = make([]bool, len(s.q.list))
			}
			named[i] = true
		}
	}
	s.namesOf[key] = named
	return named
}

// score scores a chunk by its headings, its date and its text.
func (s *scorer) score(c *Chunk) textScore {
	score, _ := s.scoreTokens(c)
	return score
}

// scoreTokens scores a chunk and also returns the tokens of its text.
func (s *scorer) scoreTokens(c *Chunk) (textScore, *textTokens) {
	above := s.addHeadings(c)
	s.a.Add(c.Text)
	s.occurrences = s.appendOccurrences(s.occurrences[:0], s.a.Tokens)
	tokens := newTextTokens(c.Text, s.a, above, s.occurrences)
	return s.sumScore(len(s.a.Tokens)), tokens
}

// sumScore returns the score of a text with this number of tokens by the occurrences found in it.
func (s *scorer) sumScore(tokens int) textScore {
	t := textScore{counts: make([]int, len(s.q.list)), bm25: make([]float64, len(s.q.list))}
	s.dropUncounted()
	if t.named = s.named; len(s.occurrences) == 0 && t.named == nil {
		return t
	}
	s.countOccurrences(t.counts, tokens)
	length := bm25B*float64(tokens)/s.avg + 1 - bm25B
	// Matches of words for a day, and of all other words.
	var dates, own matches
	for i, term := range s.q.list {
		tf := float64(t.counts[i]) / length
		if t.isNamed(i) && !s.titled[i] {
			tf += nameWeight
		}
		if tf == 0 {
			continue
		}
		t.bm25[i] = term.idfWeight() * saturate(tf)
		t.raw += t.bm25[i]
		r := &own
		if term.date {
			r = &dates
		}
		if term.variantOf == "" {
			r.bm25 += t.bm25[i]
			r.idfWeight += term.idfWeight()
		} else {
			r.bm25 += term.ideal() * t.bm25[i]
		}
	}
	own.idfWeight += s.typoCredit(t)
	share := own.share(s.requiredWeight)
	if s.requiredDates > 0 {
		both := matches{own.bm25 + dates.bm25, own.idfWeight + dates.idfWeight}
		share = max(share, both.share(s.requiredWeight+s.requiredDates))
	}
	t.confidence = clamp01(s.length * share)
	t.pairs, t.best = s.pairBonus(), bestPartWeight*s.bestPart()
	t.raw += t.pairs + t.best
	return t
}

// matches are the total BM25 and idf weight of some of the terms in a text.
type matches struct{ bm25, idfWeight float64 }

// share compares the matches with the required idf weight; it is 0 if nothing is required.
func (m matches) share(required float64) float64 {
	if required == 0 {
		return 0
	}
	return clamp01(idealShare*m.bm25/(required*(bm25K1+1)) + (1-idealShare)*m.idfWeight/required)
}

// typoCredit returns the idf weight that counts as matched for terms that do not occur: a share for each term with a spelling
// variant that does.
func (s *scorer) typoCredit(score textScore) float64 {
	var sum float64
	for i, t := range s.q.list {
		if !score.matches(i) && slices.ContainsFunc(t.variants, score.matches) {
			sum += t.idfWeight() * s.q.trust(t)
		}
	}
	return sum
}

// saturate is the part of BM25 that grows with the frequency of a term, up to k1+1.
func saturate(tf float64) float64 { return tf * (bm25K1 + 1) / (tf + bm25K1) }

// countOccurrences fills in counts, and the parts and pairs of the scorer, from the occurrences in a text with this number of
// tokens.
func (s *scorer) countOccurrences(counts []int, tokens int) {
	half := partTerms / 2
	n := len(counts)
	s.parts = append(s.parts[:0], make([]int, n*(tokens/half+1))...)
	clear(s.paired)
	clear(s.titled)
	for i := range s.lastPos {
		s.lastPos[i] = -2
	}
	for _, o := range s.occurrences {
		counts[o.term]++
		s.titled[o.term] = s.titled[o.term] || o.at < s.above
		s.parts[o.at/half*n+o.term]++
		if o.leaf {
			s.pairUp(o.term, o.pos)
		}
	}
}

// pairUp notes the position of a term and the pairs that it completes.
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
			sum += pairWeight * min(s.q.list[p[0]].idf, s.q.list[p[1]].idf)
		}
	}
	return sum
}

// bestPart returns the highest BM25 of two adjacent half parts.
func (s *scorer) bestPart() float64 {
	n := len(s.q.list)
	var best float64
	for from := 0; from < len(s.parts); from += n {
		half := s.parts[from : from+n]
		if next := from + n; next < len(s.parts) {
			sumCounts(half, s.parts[next:next+n], 1)
		}
		best = max(best, s.q.weightOf(half))
	}
	return best
}

// weightOf returns the BM25 of a text with these counts of the terms, regardless of its length.
func (q queryTerms) weightOf(counts []int) float64 {
	var sum float64
	for i, t := range q.list {
		if counts[i] > 0 {
			sum += t.idfWeight() * saturate(float64(counts[i]))
		}
	}
	return sum
}

// clamp01 returns x within [0,1], and 0 for NaN.
func clamp01(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	return min(x, 1)
}
