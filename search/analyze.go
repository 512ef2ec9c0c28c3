package search

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/porter"
)

// Bounds of an analysis.
const (
	// maxTermBytes is the longest term. Longer words are cut, longer identifiers have only their parts.
	maxTermBytes = 64
	// maxStems bounds the cache of stems of one analyzer.
	maxStems = 1 << 15
)

// Analyze returns the terms of a text in order, duplicates included, as they are indexed and asked for.
//
// The text is taken in NFKC and lower case, Latin letters without accents (Zürich, zurich). Runs of Han, kana, Hangul and
// of the scripts of South-East Asia that are written without spaces become overlapping bigrams, and a lone character
// stays. Other letters and digits form words; those of ASCII letters are stemmed by Porter's algorithm. An identifier
// (memorySearch.query, v2.3.0, /users/x, C++) also stays whole, after its parts. A term has 1 to 64 bytes, none of them
// white space or a control character.
func Analyze(text string) []string {
	a := newAnalyzer()
	defer a.release()
	a.add(text)
	return a.terms()
}

// ChunkTerms returns the terms by which a chunk is found: those of its heading path, its date and its text.
func ChunkTerms(headings, date, text string) []string {
	a := newAnalyzer()
	defer a.release()
	a.addChunk(headings, date, text)
	return a.terms()
}

// kind tells how a token came about.
type kind uint8

const (
	// word, part of a camelCase word and gram are the leaves: each letter of a text is in one of them.
	word kind = iota
	part
	gram
	// whole is an identifier, compound one of letters joined by hyphens or slashes only (well-known).
	whole
	compound
)

// token is a term at its place.
type token struct {
	term string
	// start and end are byte offsets in the normalised text.
	start, end int32
	// pos counts leaves; it jumps at the end of a line. A whole has the position of its first leaf.
	pos  int32
	kind kind
}

// leaf reports whether t is no identifier made of other tokens.
func (t token) leaf() bool { return t.kind < whole }

// analyzer cuts texts into tokens. It is used by one goroutine at a time.
type analyzer struct {
	tokens []token
	// norm and low are the text being read, normalised and also in lower case, with equal offsets.
	norm, low string
	pos       int32
	stems     map[string]string
	// filter leaves words unstemmed whose stem nobody asks for; nil admits all words.
	filter *stemFilter
}

// analyzers keeps buffers and stems from one call to the next; what it holds never changes a result.
var analyzers = sync.Pool{New: func() any { return &analyzer{stems: make(map[string]string)} }}

func newAnalyzer() *analyzer {
	a := analyzers.Get().(*analyzer)
	a.reset()
	return a
}

func (a *analyzer) release() {
	a.reset()
	a.filter = nil
	analyzers.Put(a)
}

// stemOnly leaves words unstemmed whose stem is certainly none of the terms, until the analyzer is released. It saves the
// time of stemming where only some terms are looked for; without terms, no word is stemmed.
func (a *analyzer) stemOnly(terms ...string) {
	a.filter = &stemNothing
	if len(terms) > 0 {
		a.filter = newStemFilter(terms)
	}
}

func (a *analyzer) reset() {
	clear(a.tokens)
	a.tokens, a.norm, a.low, a.pos = a.tokens[:0], "", "", 0
	if cap(a.tokens) > 1<<16 {
		a.tokens = nil
	}
}

func (a *analyzer) terms() []string {
	terms := make([]string, len(a.tokens))
	for i, t := range a.tokens {
		terms[i] = t.term
	}
	return terms
}

func (a *analyzer) addChunk(headings, date, text string) {
	a.add(headings)
	a.add(date)
	a.add(text)
}

// add appends the tokens of text, as of lines of their own.
func (a *analyzer) add(text string) {
	a.norm = normalize(text)
	a.low = lower(a.norm)
	for i := 0; i < len(a.low); {
		c, size := classAt(a.low, i)
		switch {
		case c == letter, c == joint && a.leads(i):
			i = a.run(i)
		case c == glyph:
			i = a.grams(i)
		case c == newline:
			a.pos++
			i++
		default:
			i += size
		}
	}
	a.pos++
}

// leads reports whether the joint at i begins an identifier: the slash of /users/x, the dot of .env.
func (a *analyzer) leads(i int) bool {
	if a.low[i] != '/' && a.low[i] != '.' {
		return false
	}
	if i > 0 && asciiClass[a.low[i-1]] == joint {
		return false
	}
	return isLetterAt(a.low, i+1)
}

// run reads the words that joints hold together from i on and returns where they end.
func (a *analyzer) run(i int) int {
	start, first, pos := i, len(a.tokens), a.pos
	led := asciiClass[a.low[i]] == joint
	if led {
		i++
	}
	words, k := 0, compound
	for {
		i = a.word(i)
		words++
		next := a.next(i)
		if next < 0 {
			break
		}
		if a.low[i] != '-' && a.low[i] != '/' {
			k = whole
		}
		i = next
	}
	end := a.suffix(start, i)
	if words == 1 && !led && end == i {
		return i
	}
	if led || end > i || a.hasDigit(first) {
		k = whole
	}
	if end-start <= maxTermBytes {
		a.tokens = append(a.tokens, token{unaccented(a.low[start:end]), int32(start), int32(end), pos, k})
	}
	return end
}

// next returns where the word after the joint at i starts, -1 if no word does.
func (a *analyzer) next(i int) int {
	if i >= len(a.low) || asciiClass[a.low[i]] != joint {
		return -1
	}
	n := 1
	switch rest := a.low[i:]; {
	case strings.HasPrefix(rest, "://"):
		n = 3
	case strings.HasPrefix(rest, "::"), strings.HasPrefix(rest, "__"):
		n = 2
	}
	if isLetterAt(a.low, i+n) {
		return i + n
	}
	return -1
}

// suffix returns the end of a name like C++ or F#, which ends in signs, and i for any other word.
func (a *analyzer) suffix(start, i int) int {
	if i-start != 1 || a.low[start] >= utf8.RuneSelf {
		return i
	}
	end := i
	for end < len(a.low) && end < i+2 && (a.low[end] == '+' || a.low[end] == '#') {
		end++
	}
	if end < len(a.low) && (a.low[end] == '+' || a.low[end] == '#' || isLetterAt(a.low, end)) {
		return i
	}
	return end
}

func (a *analyzer) hasDigit(first int) bool {
	for _, t := range a.tokens[first:] {
		if strings.ContainsAny(t.term, "0123456789") {
			return true
		}
	}
	return false
}

// word reads the letters and digits from start on, appends their terms and returns where they end.
func (a *analyzer) word(start int) int {
	i, english := start, true
	for i < len(a.low) {
		if b := a.low[i]; isLower(b) {
			i++
			continue
		}
		c, size := classAt(a.low, i)
		if c != letter && c != mark {
			break
		}
		english = false
		i += size
	}
	if a.camel(start, i) {
		a.append(start, i, whole, english)
		return i
	}
	a.append(start, i, word, english)
	a.pos++
	return i
}

// camel appends the parts of a word like memorySearch or HTTPServer; it returns false where there is only one part.
func (a *analyzer) camel(start, end int) bool {
	if end-start > maxTermBytes || a.norm[start:end] == a.low[start:end] {
		return false
	}
	from := start
	for i := start + 1; i < end; i++ {
		if a.turns(i, end) {
			a.append(from, i, part, asciiLetters(a.low[from:i]))
			a.pos++
			from = i
		}
	}
	if from == start {
		return false
	}
	a.append(from, end, part, asciiLetters(a.low[from:end]))
	a.pos++
	return true
}

// turns reports whether a new part of a camelCase word begins at i: memory|Search, HTTP|Server, but APIs.
func (a *analyzer) turns(i, end int) bool {
	s := a.norm
	if !isUpper(s[i]) {
		return false
	}
	return isLower(s[i-1]) || isUpper(s[i-1]) && i+2 < end && isLower(s[i+1]) && isLower(s[i+2])
}

// append adds the term of the word between two offsets.
func (a *analyzer) append(start, end int, k kind, english bool) {
	term := a.low[start:end]
	if !english {
		term = unaccented(term)
		english = asciiLetters(term)
	}
	if len(term) > maxTermBytes {
		term = cut(term, maxTermBytes)
	} else if english {
		term = a.stemEnglish(term)
	}
	pos := a.pos
	if k == whole && len(a.tokens) > 0 {
		pos = a.firstPart(start)
	}
	a.tokens = append(a.tokens, token{term, int32(start), int32(end), pos, k})
}

// firstPart returns the position of the leaf at an offset of the text being read.
func (a *analyzer) firstPart(start int) int32 {
	for i := len(a.tokens) - 1; i >= 0; i-- {
		if int(a.tokens[i].start) == start {
			return a.tokens[i].pos
		}
	}
	return a.pos
}

// stem returns the stem of a word in lower case. A word with other letters than ASCII is its own stem.
func (a *analyzer) stem(w string) string {
	if !asciiLetters(w) {
		return w
	}
	return a.stemEnglish(w)
}

// stemEnglish returns the stem of a word of ASCII letters in lower case.
func (a *analyzer) stemEnglish(w string) string {
	if len(w) < 3 || a.filter != nil && !a.filter.admits(w) {
		return w
	}
	if s, ok := a.stems[w]; ok {
		return s
	}
	if len(a.stems) >= maxStems {
		clear(a.stems)
	}
	// A copy, lest the cache keep whole texts alive.
	w = strings.Clone(w)
	env := snowballstem.NewEnv(w)
	porter.Stem(env)
	a.stems[w] = env.Current()
	return env.Current()
}

// grams reads a run of characters that is written without spaces, appends its bigrams and returns where it ends.
func (a *analyzer) grams(start int) int {
	_, size := classAt(a.low, start)
	prev, i := start, start+size
	for i < len(a.low) {
		c, size := classAt(a.low, i)
		if c != glyph && c != mark {
			break
		}
		a.gram(prev, i+size)
		prev, i = i, i+size
	}
	if prev == start {
		a.gram(start, i)
	}
	return i
}

func (a *analyzer) gram(start, end int) {
	a.tokens = append(a.tokens, token{a.low[start:end], int32(start), int32(end), a.pos, gram})
	a.pos++
}

// cut returns the longest prefix of s that has at most n bytes and splits no rune.
func cut(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
