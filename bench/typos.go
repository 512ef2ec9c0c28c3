package bench

import (
	"context"
	"hash/fnv"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// TypoReport compares the results for the same questions with and without a typo in their rarest word. It leaves out
// questions without a word that may get a typo, and adversarial ones.
type TypoReport struct {
	// N is the number of questions.
	N int `json:"n"`
	// Clean contains the figures of the questions as they are.
	Clean Figures `json:"clean"`
	// Typo contains the figures with a typo in the rarest word.
	Typo Figures `json:"typo"`
	// Unknown contains the figures with a word in its place that resembles none: those of an engine without spelling
	// variants.
	Unknown Figures `json:"unknown"`
	// BackR5 is the share of the R@5 lost in Unknown that Typo keeps; 0 if nothing is lost.
	BackR5 float64 `json:"back_R@5"`
	// BackV5 is the same share of V@5.
	BackV5 float64 `json:"back_V@5"`
}

// Typos asks the same questions again, with one typo each.
func (s *Session) Typos(ctx context.Context, asked []Asked) (TypoReport, error) {
	vocabularies := map[string]vocabulary{}
	var clean []Asked
	var typos, unknown []Question
	for _, a := range Fair(asked) {
		v, known := vocabularies[a.Question.WS]
		if !known {
			var err error
			if v, err = readVocabulary(s.set.Workspace(a.Question.WS)); err != nil {
				return TypoReport{}, err
			}
			vocabularies[a.Question.WS] = v
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
	withTypo, err := s.askAll(ctx, PhaseTypos, typos, nil)
	if err != nil {
		return TypoReport{}, err
	}
	without, err := s.askAll(ctx, PhaseTypos, unknown, nil)
	if err != nil {
		return TypoReport{}, err
	}
	return newTypoReport(Summarize(clean), Summarize(withTypo), Summarize(without)), nil
}

// newTypoReport returns the report of three figures over the same questions.
func newTypoReport(clean, typo, unknown Figures) TypoReport {
	return TypoReport{
		N: clean.N, Clean: clean, Typo: typo, Unknown: unknown,
		BackR5: regained(clean.R5, typo.R5, unknown.R5), BackV5: regained(clean.V5, typo.V5, unknown.V5),
	}
}

// macroTypos returns the means over sets. The shares that come back are those of the mean losses.
func macroTypos(sets []TypoReport) *TypoReport {
	var clean, typo, unknown []Figures
	for _, r := range sets {
		clean, typo, unknown = append(clean, r.Clean), append(typo, r.Typo), append(unknown, r.Unknown)
	}
	m := newTypoReport(Macro(clean), Macro(typo), Macro(unknown))
	return &m
}

// regained returns the share of a loss that is regained, 0 if nothing is lost.
func regained(clean, typo, lost float64) float64 {
	if clean <= lost {
		return 0
	}
	return (typo - lost) / (clean - lost)
}

// nothingLike is a word that no note contains, nor a word that resembles it.
const nothingLike = "qzxjvwkqzx"

// latinWord matches at least four Latin letters.
var latinWord = regexp.MustCompile(`[A-Za-z]{4,}`)

// span is a word of a text, by byte offsets.
type span struct {
	text       string
	start, end int
}

// latinWords returns the words of a text that may get a typo: at least four Latin letters that are no part of an
// identifier.
func latinWords(text string) []span {
	var words []span
	for _, at := range latinWord.FindAllStringIndex(text, -1) {
		before, after := text[:at[0]], text[at[1]:]
		last, _ := utf8.DecodeLastRuneInString(before)
		next, _ := utf8.DecodeRuneInString(after)
		if joins(last) || joins(next) && !endsSentence(after) {
			continue
		}
		words = append(words, span{text[at[0]:at[1]], at[0], at[1]})
	}
	return words
}

// joins reports whether a character beside a word makes it a part of an identifier.
func joins(r rune) bool {
	return unicode.IsDigit(r) || strings.ContainsRune("._-/@#:", r) || unicode.Is(unicode.Latin, r)
}

// endsSentence reports whether a text, which is not empty, is a full stop or colon, or begins with one and a space.
func endsSentence(text string) bool {
	return strings.ContainsRune(".:", rune(text[0])) && (len(text) == 1 || text[1] == ' ')
}

// with returns the question with one word replaced.
func (q Question) with(w span, word string) Question {
	q.Query = q.Query[:w.start] + word + q.Query[w.end:]
	return q
}

// mistype returns a word with one letter swapped with its neighbour, dropped, replaced or inserted, such that no line
// contains it. It depends only on the vocabulary, the id of the question and the word. ok is false if there is none.
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

// typo returns a word of Latin letters with the typo that a number selects.
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

// likeCase returns a word with a capital if another word has one.
func likeCase(word, like string) string {
	if first, _ := utf8.DecodeRuneInString(like); unicode.IsUpper(first) {
		return strings.ToUpper(word[:1]) + word[1:]
	}
	return word
}
