package analysis

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Limits of the analysis.
const (
	// maxTermBytes is the maximum length of a term. Longer words are cut, and longer identifiers are only indexed by their
	// parts.
	maxTermBytes = 64
	// maxStems is the maximum number of stems in the cache of an analyzer.
	maxStems = 1 << 15
)

// Terms returns the terms of a text in order, duplicates included.
//
// The text is converted to NFKC and lower case, and Latin letters lose their accents (Zürich becomes zurich). Runs of
// Han, kana, Hangul and of the scripts of South-East Asia that are written without spaces become overlapping bigrams, of
// simplified characters for traditional ones; a lone character stays. Other letters and digits form words. Latin words are
// stemmed as in English, or in the language of a chunk, and Cyrillic words as in Russian. An identifier (memorySearch.query, v2.3.0, /users/x, C++) is also a term as a whole, after its parts. A
// word with hyphens or slashes is one without them (follow-up is followup, S.L.A. is sla), and so are numbers in
// groups (+49 170 555 0199, $1,299.00). An emoji is a term. A term has 1 to 64 bytes, without white space and control characters.
func Terms(text string) []string { return ChunkTerms(Chunk{Text: text}) }

// ContentTerms returns the different terms of a text that say something about its subject, in their order.
func ContentTerms(text string) []string {
	a := NewAnalyzer()
	defer a.Release()
	a.Add(text)
	var terms []string
	for _, t := range a.Tokens {
		if t.IsLeaf() && !slices.Contains(terms, t.Term) && !IsStopWord(a.Lower[t.Start:t.End], t.Kind) {
			terms = append(terms, t.Term)
		}
	}
	return terms
}

// Chunk is what a chunk is found by.
type Chunk struct {
	// Language decides how its words are stemmed.
	Language Language
	// First is set for the first chunk of a file, which is found by [NameKey] too.
	First bool
	// Names of its file and Folders that the file is in, one a line; empty if there are none.
	Names, Folders string
	// Headings is the path of the headings above it, empty if there is none.
	Headings string
	// Date (YYYY-MM-DD), empty if it has none.
	Date string
	// Text of the chunk.
	Text string
}

// ChunkTerms returns the terms by which a chunk is found: those of its headings, its date and its text, and then those of the
// names and the folders of its file that its headings lack: a title that is a heading too counts once.
func ChunkTerms(c Chunk) []string {
	a := NewAnalyzer()
	defer a.Release()
	a.SetLanguage(c.Language)
	a.Add(c.Headings)
	headings := len(a.Tokens)
	a.Add(c.Date)
	a.Add(c.Text)
	own := len(a.Tokens)
	a.Add(c.Names)
	a.Add(c.Folders)
	terms := make([]string, 0, len(a.Tokens))
	for i, t := range a.Tokens {
		if i < own || !slices.Contains(terms[:headings], t.Term) {
			terms = append(terms, t.Term)
		}
	}
	if c.First {
		terms = append(terms, nameKeys(c.Names)...)
	}
	return terms
}

// Kind is the kind of a token. The zero value is Word.
type Kind uint8

// Kinds of a token. Word, Part, Gram and Sign are the leaves: each letter of a text is in exactly one of them.
const (
	// Word is a run of letters and digits.
	Word Kind = iota
	// Part is one part of a camelCase word.
	Part
	// Gram is a bigram, or a lone character, of a script written without spaces.
	Gram
	// Sign is an emoji or another symbol.
	Sign
	// Whole is an identifier made of leaves, such as memorySearch.query.
	Whole
	// Compound is a word made of words of letters with hyphens or slashes between them, such as well-known, or a number made of
	// groups of digits.
	Compound
)

// Token is a term and its place in a text.
type Token struct {
	// Term is the token as it is indexed, 1 to 64 bytes.
	Term string
	// Start and End are byte offsets in the normalised text that the token was read from.
	Start, End int32
	// Pos counts leaves and jumps at the end of a line. A token of several leaves has the position of the first one.
	Pos int32
	// Kind says what the token is.
	Kind Kind
}

// IsLeaf reports whether t is not made of other tokens.
func (t Token) IsLeaf() bool { return t.Kind < Whole }

// Analyzer cuts texts into tokens. It is used by one goroutine at a time.
type Analyzer struct {
	// Tokens of all texts that were added since the last Reset, in order.
	Tokens []Token
	// Text is the text that was added last, normalised, and Lower the same in lower case, with equal offsets.
	Text, Lower string
	// pos is the position of the next leaf.
	pos int32
	// number is the number that is being read, if it has several groups.
	number groupedNumber
	// folded is Lower with one character for all variants of a Chinese character, with equal offsets.
	folded string
	// language of the texts, "" for English.
	language Language
	// stems caches the stems of words in the language, and caches those of each language.
	stems  map[string]string
	caches map[Language]map[string]string
	// filter says which words are stemmed; nil admits all words.
	filter *stemFilter
}

// analyzers keeps buffers and stems from one use to the next. They never change a result.
var analyzers = sync.Pool{New: func() any { return &Analyzer{caches: make(map[Language]map[string]string)} }}

// NewAnalyzer returns an analyzer without tokens. The caller releases it.
func NewAnalyzer() *Analyzer {
	a := analyzers.Get().(*Analyzer)
	a.Reset()
	a.SetLanguage("")
	return a
}

// Release gives the analyzer back for reuse. Neither the analyzer nor its tokens may be used afterwards; their terms
// may.
func (a *Analyzer) Release() {
	a.Reset()
	a.filter = nil
	analyzers.Put(a)
}

// StemOnly skips the stemming of words whose stem is certainly none of the terms, until the analyzer is released. This
// saves time if the caller looks only for these terms. Without terms, no word is stemmed.
func (a *Analyzer) StemOnly(terms ...string) { a.filter = newStemFilter(terms) }

// SetLanguage sets the language of the texts that are added from now on, until the analyzer is released.
func (a *Analyzer) SetLanguage(l Language) {
	a.language = l.Analysis()
	if a.caches[a.language] == nil {
		a.caches[a.language] = make(map[string]string)
	}
	a.stems = a.caches[a.language]
}

// Reset drops all tokens.
func (a *Analyzer) Reset() {
	clear(a.Tokens)
	a.Tokens, a.Text, a.Lower, a.folded, a.pos = a.Tokens[:0], "", "", "", 0
	if cap(a.Tokens) > 1<<16 {
		a.Tokens = nil
	}
}

// Add appends the tokens of text. The end of a text ends its last line.
func (a *Analyzer) Add(text string) {
	a.Text = Normalize(text)
	a.Lower = ToLower(a.Text)
	a.folded = FoldHan(a.Lower)
	a.number = groupedNumber{}
	for i := 0; i < len(a.Lower); {
		c, size := classAt(a.Lower, i)
		switch {
		case c == letter, c == joint && a.leadsIdentifier(i):
			a.beginNumber(i)
			i = a.readJoined(i)
			a.endNumber(i)
		case c == glyph:
			i = a.readGrams(i)
		case c == sign:
			i = a.readSign(i, size)
		case c == newline:
			a.pos++
			i++
		default:
			i += size
		}
	}
	a.pos++
}

// leadsIdentifier reports whether the joint at i begins an identifier: the slash of /users/x, the dot of .env.
func (a *Analyzer) leadsIdentifier(i int) bool {
	if a.Lower[i] != '/' && a.Lower[i] != '.' {
		return false
	}
	if i > 0 && asciiClass[a.Lower[i-1]] == joint {
		return false
	}
	return isLetterAt(a.Lower, i+1)
}

// readJoined reads words and the joints between them, appends their tokens and returns the offset of their end.
func (a *Analyzer) readJoined(i int) int {
	start, pos := i, a.pos
	led := asciiClass[a.Lower[i]] == joint
	if led {
		i++
	}
	words, k := 0, Compound
	for {
		i = a.readWord(i)
		words++
		next := a.nextWord(i)
		if next < 0 {
			break
		}
		if a.Lower[i] != '-' && a.Lower[i] != '/' {
			k = Whole
		}
		i = next
	}
	end := a.signSuffix(start, i)
	if words == 1 && !led && end == i {
		return i
	}
	if led || end > i || strings.ContainsAny(a.Lower[start:end], "0123456789") {
		k = Whole
	}
	if end-start <= maxTermBytes {
		a.Tokens = append(a.Tokens, Token{a.joinedTerm(a.Lower[start:end]), int32(start), int32(end), pos, k})
	}
	return end
}

// nextWord returns the start of the word after the joint at i, -1 if no word follows.
func (a *Analyzer) nextWord(i int) int {
	if i >= len(a.Lower) || asciiClass[a.Lower[i]] != joint {
		return -1
	}
	n := 1
	switch rest := a.Lower[i:]; {
	case strings.HasPrefix(rest, "://"):
		n = 3
	case strings.HasPrefix(rest, "::"), strings.HasPrefix(rest, "__"):
		n = 2
	}
	if isLetterAt(a.Lower, i+n) {
		return i + n
	}
	return -1
}

// signSuffix returns the end of a name that ends in signs, such as C++ or F#, and i for any other word.
func (a *Analyzer) signSuffix(start, i int) int {
	if i-start != 1 || a.Lower[start] >= utf8.RuneSelf {
		return i
	}
	end := i
	for end < len(a.Lower) && end < i+2 && (a.Lower[end] == '+' || a.Lower[end] == '#') {
		end++
	}
	if end < len(a.Lower) && (a.Lower[end] == '+' || a.Lower[end] == '#' || isLetterAt(a.Lower, end)) {
		return i
	}
	return end
}

// readWord reads the letters and digits at start, appends their tokens and returns the offset of their end.
func (a *Analyzer) readWord(start int) int {
	i, ascii := start, true
	for i < len(a.Lower) {
		if b := a.Lower[i]; isLower(b) {
			i++
			continue
		}
		c, size := classAt(a.Lower, i)
		if c != letter && c != mark {
			break
		}
		ascii = false
		i += size
	}
	if a.appendParts(start, i) {
		a.appendWord(start, i, Whole, ascii)
		return i
	}
	a.appendWord(start, i, Word, ascii)
	a.pos++
	return i
}

// appendParts appends the parts of a word like memorySearch or HTTPServer. It returns false if the word has only one
// part.
func (a *Analyzer) appendParts(start, end int) bool {
	if end-start > maxTermBytes || a.Text[start:end] == a.Lower[start:end] {
		return false
	}
	from := start
	for i := start + 1; i < end; i++ {
		if a.startsPart(i, end) {
			a.appendWord(from, i, Part, asciiLetters(a.Lower[from:i]))
			a.pos++
			from = i
		}
	}
	if from == start {
		return false
	}
	a.appendWord(from, end, Part, asciiLetters(a.Lower[from:end]))
	a.pos++
	return true
}

// startsPart reports whether a new part of a camelCase word begins at i: memory|Search, HTTP|Server, but APIs.
func (a *Analyzer) startsPart(i, end int) bool {
	s := a.Text
	if !isUpper(s[i]) {
		return false
	}
	return isLower(s[i-1]) || isUpper(s[i-1]) && i+2 < end && isLower(s[i+1]) && isLower(s[i+2])
}

// appendWord appends the token of the word between two offsets. ascii reports a word of ASCII letters.
func (a *Analyzer) appendWord(start, end int, k Kind, ascii bool) {
	pos := a.pos
	if k == Whole {
		pos = a.firstPart(start)
	}
	a.Tokens = append(a.Tokens, Token{a.term(a.Lower[start:end], ascii), int32(start), int32(end), pos, k})
}

// term returns the term of a word in lower case: its stem, or the beginning of a word that is too long.
func (a *Analyzer) term(word string, ascii bool) string {
	plain := word
	if !ascii {
		plain = Unaccented(word)
	}
	switch {
	case len(plain) > maxTermBytes:
		return cut(plain, maxTermBytes)
	case len(plain) < 3, a.filter != nil && !a.filter.admits(plain), !ascii && strings.ContainsAny(plain, "0123456789"):
		return plain
	}
	return a.cachedStem(word)
}

// firstPart returns the position of the leaf that starts at an offset of the text.
func (a *Analyzer) firstPart(start int) int32 {
	for i := len(a.Tokens) - 1; i >= 0; i-- {
		if int(a.Tokens[i].Start) == start {
			return a.Tokens[i].Pos
		}
	}
	return a.pos
}

// Stem returns the stem of a word in lower case in the language of the analyzer.
func (a *Analyzer) Stem(w string) string { return a.term(w, false) }

// cachedStem returns the stem of a word in lower case.
func (a *Analyzer) cachedStem(w string) string {
	if s, ok := a.stems[w]; ok {
		return s
	}
	if len(a.stems) >= maxStems {
		clear(a.stems)
	}
	// A copy, so that the cache does not keep whole texts alive.
	w = strings.Clone(w)
	stem := a.language.stemIn(w)
	a.stems[w] = stem
	return stem
}

// cut returns the longest prefix of s with at most n bytes that splits no rune.
func cut(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
