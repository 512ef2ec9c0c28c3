package bench

import (
	"context"
	"hash/fnv"
	"regexp"
	"strings"
	"unicode"
)

// TypoReport compares answers to the same questions with and without a typo in their rarest word. Questions without a
// fitting word, and adversarial ones, are left out.
type TypoReport struct {
	N int `json:"n"`
	// Clean is the questions as they are, Typo those with a typo in their rarest word, and Unknown those with that word
	// made one that nothing resembles: what an engine without typo neighbours would answer.
	Clean   Figures `json:"clean"`
	Typo    Figures `json:"typo"`
	Unknown Figures `json:"unknown"`
	// BackR5 and BackV5 are the share of what Unknown loses that Typo keeps; 0 where nothing is lost.
	BackR5 float64 `json:"back_R@5"`
	BackV5 float64 `json:"back_V@5"`
}

// Typos asks the questions of what was asked again, with one typo each.
func (s *Session) Typos(ctx context.Context, asked []Asked) (TypoReport, error) {
	words := newVocabularies(s.set)
	var clean []Asked
	var typos, unknown []Question
	for _, a := range Fair(asked) {
		v, err := words.of(a.Question.WS)
		if err != nil {
			return TypoReport{}, err
		}
		word, ok := v.rarest(a.Question.Query)
		if !ok {
			continue
		}
		mistyped, ok := v.mistype(a.Question.ID, word)
		if !ok {
			continue
		}
		clean = append(clean, a)
		typos = append(typos, a.Question.with(word, mistyped))
		unknown = append(unknown, a.Question.with(word, likeCase(nothingLike, word.text)))
	}
	withTypo, err := s.each(ctx, PhaseTypos, typos, nil)
	if err != nil {
		return TypoReport{}, err
	}
	without, err := s.each(ctx, PhaseTypos, unknown, nil)
	if err != nil {
		return TypoReport{}, err
	}
	r := TypoReport{N: len(clean), Clean: Summarize(clean), Typo: Summarize(withTypo), Unknown: Summarize(without)}
	r.BackR5 = back(r.Clean.R5, r.Typo.R5, r.Unknown.R5)
	r.BackV5 = back(r.Clean.V5, r.Typo.V5, r.Unknown.V5)
	return r, nil
}

// macroTypos returns the means over sets; what comes back is the share of the mean loss.
func macroTypos(sets []TypoReport) *TypoReport {
	var m TypoReport
	var clean, typo, unknown []Figures
	for _, r := range sets {
		m.N += r.N
		clean, typo, unknown = append(clean, r.Clean), append(typo, r.Typo), append(unknown, r.Unknown)
	}
	m.Clean, m.Typo, m.Unknown = Macro(clean), Macro(typo), Macro(unknown)
	m.BackR5 = back(m.Clean.R5, m.Typo.R5, m.Unknown.R5)
	m.BackV5 = back(m.Clean.V5, m.Typo.V5, m.Unknown.V5)
	return &m
}

// back returns which share of a loss comes back.
func back(clean, typo, lost float64) float64 {
	if clean <= lost {
		return 0
	}
	return (typo - lost) / (clean - lost)
}

// nothingLike stands for a word that no note holds, nor any word near it.
const nothingLike = "qzxjvwkqzx"

// latinWord is a word that may get a typo: at least four Latin letters that are no part of an identifier.
var latinWord = regexp.MustCompile(`[A-Za-z]{4,}`)

// span is a word of a text, by byte offsets.
type span struct {
	text       string
	start, end int
}

// latinWords returns the words of a text that may get a typo.
func latinWords(text string) []span {
	var words []span
	for _, at := range latinWord.FindAllStringIndex(text, -1) {
		before, after := text[:at[0]], text[at[1]:]
		if joins(lastRune(before)) || joins(firstRune(after)) && !endsSentence(after) {
			continue
		}
		words = append(words, span{text[at[0]:at[1]], at[0], at[1]})
	}
	return words
}

// joins reports whether a character makes an identifier of the word beside it.
func joins(r rune) bool {
	return unicode.IsDigit(r) || strings.ContainsRune("._-/@#:", r) || unicode.Is(unicode.Latin, r)
}

// endsSentence reports whether a text, which is not empty, begins with punctuation and a space, or ends behind it.
func endsSentence(text string) bool {
	return strings.ContainsRune(".:", rune(text[0])) && (len(text) == 1 || text[1] == ' ')
}

func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}

func lastRune(s string) rune {
	var last rune
	for _, r := range s {
		last = r
	}
	return last
}

// with returns the question with another word at the place of one.
func (q Question) with(w span, word string) Question {
	q.Query = q.Query[:w.start] + word + q.Query[w.end:]
	return q
}

// mistype returns a word with one letter swapped with its neighbour, dropped, replaced or inserted, such that no line
// holds the outcome. Which it is depends on the question's id and the word alone.
func (v vocabulary) mistype(id string, w span) (mistyped string, ok bool) {
	h := fnv.New64a()
	h.Write([]byte(id + "\x00" + w.text))
	seed := h.Sum64()
	for try := range uint64(64) {
		mistyped = typo(w.text, seed+try*0x9e3779b97f4a7c15)
		if v.count(mistyped) == 0 {
			return mistyped, true
		}
	}
	return "", false
}

// typo makes the typo that a number stands for in a word of Latin letters.
func typo(word string, seed uint64) string {
	kind, seed := seed%4, seed/4
	letter := string(rune('a' + seed%26))
	at := int(seed / 26 % uint64(len(word)))
	switch kind {
	case 0:
		at = min(at, len(word)-2)
		return word[:at] + word[at+1:at+2] + word[at:at+1] + word[at+2:]
	case 1:
		return word[:at] + word[at+1:]
	case 2:
		return word[:at] + letter + word[at+1:]
	}
	return word[:at] + letter + word[at:]
}

// likeCase gives a word a capital where another has one.
func likeCase(word, like string) string {
	if unicode.IsUpper(firstRune(like)) {
		return strings.ToUpper(word[:1]) + word[1:]
	}
	return word
}
