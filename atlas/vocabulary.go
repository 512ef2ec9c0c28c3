package atlas

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"kioku/search/analysis"
)

// vocabulary is the terms of the chunks of a map.
type vocabulary struct {
	numbers map[string]int32
	// spellings are how the texts spell each term, by its number, with how often they do.
	spellings []map[string]int
	profiles  []profile
}

// profile is the terms of one text, each once, in the order of their numbers.
type profile []termCount

// termCount is a term, by its number, and how often it occurs.
type termCount struct{ term, count int32 }

// readVocabulary reads the terms of chunks.
func readVocabulary(ctx context.Context, rows Rows, chunks []Chunk, report func(string, float64)) (vocabulary, error) {
	v := vocabulary{numbers: map[string]int32{}, profiles: make([]profile, len(chunks))}
	ids := make([]int64, len(chunks))
	for i, c := range chunks {
		ids[i] = c.ID
	}
	err := rows.Texts(ctx, ids, func(i int, language analysis.Language, text string) error {
		v.profiles[i] = v.profileOf(language, text)
		if i%500 == 0 {
			report(phaseReading, float64(i)/float64(len(ids)))
		}
		return ctx.Err()
	})
	return v, err
}

// profileOf returns the terms of a text that may tell what it is about: words of three letters or more and bigrams, but no numbers,
// stop words and words of addresses.
func (v *vocabulary) profileOf(language analysis.Language, text string) profile {
	a := analysis.NewAnalyzer()
	defer a.Release()
	a.SetLanguage(language)
	a.Add(text)
	counts := map[int32]int32{}
	for _, t := range a.Tokens {
		if !t.IsLeaf() || !tells(a.Lower[t.Start:t.End], t.Kind, language) {
			continue
		}
		number, ok := v.numbers[t.Term]
		if !ok {
			number = int32(len(v.spellings))
			v.numbers[strings.Clone(t.Term)] = number
			v.spellings = append(v.spellings, map[string]int{})
		}
		counts[number]++
		v.spellings[number][strings.Clone(spelling(a, t))]++
	}
	p := make(profile, 0, len(counts))
	for term, n := range counts {
		p = append(p, termCount{term, n})
	}
	slices.SortFunc(p, func(a, b termCount) int { return cmp.Compare(a.term, b.term) })
	return p
}

// webWords are words of addresses and of markup, which say nothing about a text.
var webWords = analysis.WordSet(`http https www com org net html htm href src img png jpg jpeg svg gif md markdown utm amp nbsp br div span
	github blob tree master main true false null undefined`)

// tells reports whether a word may tell what a text is about.
func tells(word string, kind analysis.Kind, language analysis.Language) bool {
	switch {
	case analysis.IsStopWord(word, kind) || language != "" && analysis.IsStopWord(word, kind, language):
		return false
	case kind == analysis.Gram:
		// Both of one script, and not of hiragana, in which Japanese writes its endings.
		first, size := utf8.DecodeRuneInString(word)
		second, _ := utf8.DecodeRuneInString(word[size:])
		return size < len(word) && scriptOf(first) != nil && scriptOf(first) == scriptOf(second)
	}
	return utf8.RuneCountInString(word) >= 3 && !strings.ContainsFunc(word, unicode.IsNumber) && !webWords[word]
}

// maxRun is the maximum number of characters of a run of Chinese characters that is taken for one word.
const maxRun = 4

// spelling returns a token as its text has it. For a bigram it is the run of characters of the same script around it, if that is
// likely to be one word: of katakana, where words end with the script, or of a few Chinese characters.
func spelling(a *analysis.Analyzer, t analysis.Token) string {
	if t.Kind != analysis.Gram {
		return a.Text[t.Start:t.End]
	}
	first, _ := utf8.DecodeRuneInString(a.Text[t.Start:])
	script := scriptOf(first)
	other := func(r rune) bool { return scriptOf(r) != script }
	from := 0
	if at := strings.LastIndexFunc(a.Text[:t.Start], other); at >= 0 {
		_, size := utf8.DecodeRuneInString(a.Text[at:])
		from = at + size
	}
	to := len(a.Text)
	if at := strings.IndexFunc(a.Text[t.Start:], other); at >= 0 {
		to = int(t.Start) + at
	}
	if run := a.Text[from:to]; script == unicode.Katakana || script == unicode.Han && utf8.RuneCountInString(run) <= maxRun {
		return run
	}
	return a.Text[t.Start:t.End]
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

// hashedDims is the length of the vectors that stand for texts.
const hashedDims = 512

// vectors returns the texts as vectors, along their principal components, which are alike for texts of the same terms.
func (v *vocabulary) vectors() *matrix {
	weights, row := v.weights(), make([]float32, hashedDims)
	sample := &matrix{}
	for i := 0; i < len(v.profiles); i += max(1, (len(v.profiles)+basisSample-1)/basisSample) {
		hashTerms(v.profiles[i], weights, row)
		sample.appendRow(row)
	}
	basis := newBasis(sample)
	out := newMatrix(len(v.profiles), basis.components.rows())
	for i, p := range v.profiles {
		hashTerms(p, weights, row)
		basis.reduce(row, out.row(i))
	}
	return out
}

// weights returns how much each term tells: log(n/df) for n texts of which df contain it, and 0 for a term of one text only, which
// makes nothing alike.
func (v *vocabulary) weights() []float64 {
	w := make([]float64, len(v.spellings))
	for _, p := range v.profiles {
		for _, t := range p {
			w[t.term]++
		}
	}
	for t, df := range w {
		if w[t] = 0; df > 1 {
			w[t] = math.Log(float64(len(v.profiles)+1) / df)
		}
	}
	return w
}

// hashTerms writes the unit vector of a text to out: the counts, damped and weighted, of all terms that fall on the same place, with
// a random sign each (Weinberger et al.: Feature hashing, ICML 2009). A text without telling terms is zero.
func hashTerms(p profile, weights []float64, out []float32) {
	clear(out)
	square := 0.0
	for _, t := range p {
		weight := (1 + math.Log(float64(t.count))) * weights[t.term]
		square += weight * weight
		h := scatter(uint64(t.term))
		if h>>63 == 1 {
			weight = -weight
		}
		out[h%hashedDims] += float32(weight)
	}
	for i := range out {
		out[i] /= float32(math.Sqrt(max(square, 1e-12)))
	}
}

// scatter scatters a number (SplitMix64: Steele, Lea, Flood, OOPSLA 2014).
func scatter(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
