package kioku

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"kioku/projection"
	"kioku/search/analysis"
	"kioku/store"
)

const (
	// candidateTerms is the number of terms of a cluster whose spelling is looked up, and clusterTerms the maximum that name it.
	candidateTerms = 14
	clusterTerms   = 4
	// spelledTexts is the number of texts of a cluster in which the spelling of its terms is looked up.
	spelledTexts = 60
)

// termStudy is the terms of the chunks of a map.
type termStudy struct {
	// numbers are those of the terms, and terms the terms by number.
	numbers  map[string]int32
	terms    []string
	profiles []projection.Profile
}

// studyTerms reads the terms of chunks.
func (m *Memory) studyTerms(ctx context.Context, r *store.MapReader, chunks []store.MapChunk) (*termStudy, error) {
	s := &termStudy{numbers: map[string]int32{}, profiles: make([]projection.Profile, len(chunks))}
	ids := make([]int64, len(chunks))
	for i, c := range chunks {
		ids[i] = c.ID
	}
	err := r.Texts(ctx, ids, func(i int, language analysis.Language, text string) error {
		s.profiles[i] = s.profileOf(language, text)
		if i%500 == 0 {
			m.mapper.report(phaseReading, float64(i)/float64(len(ids)))
		}
		return ctx.Err()
	})
	return s, err
}

// profileOf returns the terms of a text that may tell what it is about.
func (s *termStudy) profileOf(language analysis.Language, text string) projection.Profile {
	counts := map[int32]int32{}
	eachTerm(language, text, func(a *analysis.Analyzer, t analysis.Token) {
		number, ok := s.numbers[t.Term]
		if !ok {
			number = int32(len(s.terms))
			term := strings.Clone(t.Term)
			s.numbers[term] = number
			s.terms = append(s.terms, term)
		}
		counts[number]++
	})
	p := make(projection.Profile, 0, len(counts))
	for term, n := range counts {
		p = append(p, projection.TermCount{Term: term, Count: n})
	}
	slices.SortFunc(p, func(a, b projection.TermCount) int { return cmp.Compare(a.Term, b.Term) })
	return p
}

// reduce returns vectors of the profiles along their principal components.
func (s *termStudy) reduce() *projection.Matrix {
	weights := projection.NewWeights(s.profiles, len(s.terms))
	step := max(1, (len(s.profiles)+mapSample-1)/mapSample)
	sample, row := projection.NewMatrix(0, projection.VectorDims()), make([]float32, projection.VectorDims())
	for i := 0; i < len(s.profiles); i += step {
		weights.VectorOf(s.profiles[i], row)
		sample.Append(row)
	}
	basis := projection.NewBasis(sample, mapSeed)
	reduced := projection.NewMatrix(len(s.profiles), basis.Components())
	for i, p := range s.profiles {
		weights.VectorOf(p, row)
		basis.Reduce(row, reduced.Row(i))
	}
	return reduced
}

// webWords are words of addresses and of markup, which say nothing about a text.
var webWords = analysis.WordSet(`http https www com org net html htm href src img png jpg jpeg svg gif md markdown utm amp nbsp br div span
	github blob tree master main true false null undefined`)

// eachTerm calls each with the tokens of a text that may tell what it is about: words of three letters or more and bigrams, but no
// numbers, stop words and words of addresses.
func eachTerm(language analysis.Language, text string, each func(*analysis.Analyzer, analysis.Token)) {
	a := analysis.NewAnalyzer()
	defer a.Release()
	a.SetLanguage(language)
	a.Add(text)
	for _, t := range a.Tokens {
		if t.IsLeaf() && tells(a.Lower[t.Start:t.End], t.Kind, language) {
			each(a, t)
		}
	}
}

// tells reports whether a word may tell what a text is about.
func tells(word string, kind analysis.Kind, language analysis.Language) bool {
	if kind == analysis.Gram {
		return utf8.RuneCountInString(word) == 2 && isNounGram(word) && !analysis.IsStopWord(word, kind)
	}
	if utf8.RuneCountInString(word) < 3 || strings.ContainsFunc(word, unicode.IsNumber) || webWords[word] {
		return false
	}
	return !analysis.IsStopWord(word, kind) && (language == "" || !analysis.IsStopWord(word, kind, language))
}

// isNounGram reports whether both characters are of the same script, and none is hiragana, in which Japanese writes its endings.
func isNounGram(gram string) bool {
	first, size := utf8.DecodeRuneInString(gram)
	second, _ := utf8.DecodeRuneInString(gram[size:])
	s := scriptOf(first)
	return s != nil && s == scriptOf(second)
}

// glyphScripts are the scripts without spaces whose words are named, each by one table.
var glyphScripts = []*unicode.RangeTable{unicode.Han, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// scriptOf returns the script of a character, nil if it is none of glyphScripts.
func scriptOf(r rune) *unicode.RangeTable {
	switch r {
	case 'ー':
		return unicode.Katakana
	case '々':
		return unicode.Han
	}
	for _, s := range glyphScripts {
		if unicode.Is(s, r) {
			return s
		}
	}
	return nil
}
