package analysis

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Constants of the detector, in quarters of a natural logarithm. They were measured on texts of one to six sentences, lists
// and code.
const (
	// minMargin is how much more evidence a text needs for its language than for any other, and minGuess how much a query
	// does.
	minMargin, minGuess = 16, 6
	// minDifference is how much more evidence a chunk needs for another language than that of its file.
	minDifference = 80
	// clearMargin is enough to read no further, after at least clearTrigrams.
	clearMargin, clearTrigrams = 100, 128
	// maxOthers is the number of letters of other scripts after which a text that is mostly in them is read no further.
	maxOthers = 128
	// englishBonus is added for English: lists of names and code look like other languages by chance.
	englishBonus = 8
	// maxRepeats is the number of times that a trigram counts: the names of a list and the keywords of code repeat.
	maxRepeats = 3
)

// trigramTable contains the evidence of each trigram.
//
//go:embed trigrams.txt
var trigramTable string

// maxLanguages is the number of languages that the detector tells apart. Some of them have no stemmer, but without them a
// Danish text would be taken for Swedish. maxTrigrams is at least the number of trigrams, and trigramSlots the size of their
// hash table, a power of two.
const maxLanguages, maxTrigrams, trigramSlots = 18, 2560, 1 << 13

// trigramModel is the evidence of trigrams, three letters or edges of words, for each language.
type trigramModel struct {
	languages []Language
	rows      [][maxLanguages]int8
	// keys is a hash table of trigrams with linear probing, 0 if a slot is empty, and rowOf the row of each.
	keys  [trigramSlots]uint64
	rowOf [trigramSlots]int16
}

// slot returns the slot of a trigram, or the empty slot where it belongs.
func (m *trigramModel) slot(key uint64) int {
	i := int(key * 0x9E3779B97F4A7C15 >> 51)
	for m.keys[i] != key && m.keys[i] != 0 {
		i = (i + 1) % trigramSlots
	}
	return i
}

// trigrams is the model of the detector. It is read when the first text is.
var trigrams = sync.OnceValue(func() *trigramModel { return readTrigrams(trigramTable) })

func readTrigrams(table string) *trigramModel {
	m := new(trigramModel)
	for line := range strings.Lines(table) {
		switch letters, row, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " "); letters {
		case "#": // a comment
		case "___":
			for _, l := range strings.Fields(row) {
				m.languages = append(m.languages, Language(l))
			}
		default:
			var key uint64
			for _, r := range letters {
				key = shiftIn(key, r)
			}
			var points [maxLanguages]int8
			for i := range row {
				points[i] = int8(row[i] - 'P')
			}
			i := m.slot(key)
			m.keys[i], m.rowOf[i] = key, int16(len(m.rows))
			m.rows = append(m.rows, points)
		}
	}
	return m
}

// shiftIn returns the key of the last two letters of a trigram and another letter, '_' for the edge of a word.
func shiftIn(key uint64, r rune) uint64 { return (key<<16 | uint64(r)) & (1<<48 - 1) }

// Profile is the evidence of a text for each language. Its zero value is the profile of an empty text.
type Profile struct {
	points [maxLanguages]int32
	// latin is the number of Latin letters, and others the number of all other letters.
	latin, others int32
}

// Add adds the evidence of another text.
func (p *Profile) Add(other *Profile) {
	for i, n := range other.points {
		p.points[i] += n
	}
	p.latin += other.latin
	p.others += other.others
}

// Language returns the language of a text, "" if the evidence is too weak or ambiguous, or if the language has no stemmer
// here. A text with many letters of other scripts than Latin has no language.
func (p *Profile) Language() Language { return p.language(minMargin) }

// LanguageWithin returns the language of a part of a text in a language: that of the whole, unless the part clearly has
// another.
func (p *Profile) LanguageWithin(whole Language) Language {
	if whole == "" {
		return p.Language()
	}
	if l := p.language(minDifference); l != "" {
		return l
	}
	return whole
}

// Guess returns the language of a text as short as a query, "" if it is ambiguous. Of languages with nearly as much evidence
// as the best it prefers English and those that are expected.
func (p *Profile) Guess(expected ...Language) Language {
	all := p.best(nil)
	if len(expected) == 0 {
		return p.accept(all, minGuess)
	}
	among := p.best(append([]Language{English}, expected...))
	if among.points >= all.points-minMargin {
		return p.accept(among, minGuess)
	}
	return p.accept(all, minGuess)
}

func (p *Profile) language(margin int32) Language { return p.accept(p.best(nil), margin) }

// ranking is the language with the most evidence of some, and how much more it has than the second.
type ranking struct {
	language       Language
	points, margin int32
}

// accept returns the best language if the evidence suffices.
func (p *Profile) accept(r ranking, margin int32) Language {
	if r.margin < margin || 2*p.others > p.latin || r.language != English && r.language.Analysis() == "" {
		return ""
	}
	return r.language
}

// best returns the language with the most evidence of some languages, of all if these are nil.
func (p *Profile) best(some []Language) ranking {
	const none = -1 << 30
	r, second := ranking{points: none}, int32(none)
	for i, l := range trigrams().languages {
		if some != nil && !slices.Contains(some, l) {
			continue
		}
		n := p.points[i]
		if l == English {
			n += englishBonus
		}
		if n > r.points {
			r.language, r.points, second = l, n, r.points
		} else {
			second = max(second, n)
		}
	}
	if r.margin = r.points - second; r.language == English {
		r.margin -= englishBonus
	}
	return r
}

// Detect returns the profile of a text. It reads no further than is needed.
func Detect(text string) *Profile {
	d := detector{model: trigrams(), key: shiftIn(0, '_')}
	text = Normalize(text)
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		d.read(r)
		i += size
		if d.found >= clearTrigrams && d.found%32 == 0 && d.isClear() || d.others > maxOthers && d.others > d.latin {
			break
		}
	}
	d.read(' ')
	p := d.Profile
	return &p
}

// detector builds a profile.
type detector struct {
	Profile
	model *trigramModel
	// seen counts each trigram, and found is the number of all.
	seen  [maxTrigrams]uint8
	found int
	// key is that of the last two letters.
	key uint64
}

// read counts the trigram that ends with a character.
func (d *detector) read(r rune) {
	switch {
	case r >= 'a' && r <= 'z':
		d.latin++
	case r >= 'A' && r <= 'Z':
		d.latin++
		r += 'a' - 'A'
	case r < 0xAA, r > lastAccented && !unicode.IsLetter(r):
		r = '_'
	case r > lastAccented || !unicode.Is(unicode.Latin, r):
		if unicode.IsLetter(r) {
			d.others++
		}
		r = '_'
	default:
		d.latin++
		r = unicode.ToLower(r)
	}
	if r == '_' && rune(d.key&0xFFFF) == '_' {
		return
	}
	d.key = shiftIn(d.key, r)
	d.count()
	if r == '_' {
		d.key = shiftIn(0, '_')
	}
}

// count counts the last trigram.
func (d *detector) count() {
	i := d.model.slot(d.key)
	row := d.model.rowOf[i]
	if d.model.keys[i] == 0 || d.seen[row] == maxRepeats {
		return
	}
	d.seen[row]++
	d.found++
	for i, n := range &d.model.rows[row] {
		d.points[i] += int32(n)
	}
}

// isClear reports whether the rest of the text will hardly change its language.
func (d *detector) isClear() bool { return d.best(nil).margin > clearMargin }
