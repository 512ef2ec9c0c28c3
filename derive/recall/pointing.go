package recall

import (
	"regexp"
	"strings"
	"unicode"

	"kioku/internal/text"
	"kioku/memory"
	"kioku/search/analysis"
)

// enoughTerms is the number of content terms from which on a message says by itself what it is about.
const enoughTerms = 4

// pointingWords are English words that stand for something said before.
var pointingWords = analysis.WordSet(`
that this those these it its they them their theirs he him his she her hers there then
same previous earlier again instead else latter former other
`)

// pointingPhrases are those of more than one word, and the beginnings of elliptic questions.
var pointingPhrases = regexp.MustCompile(`(?i)\b(?:last time|(?:what|how) about|any (?:news|update|progress)|(?:go|carry) on|where were we|the one)\b|^\s*and\b`)

// pointingGlyphs are Japanese and Chinese words that stand for something said before, or ask to go on.
var pointingGlyphs = regexp.MustCompile(`あれ|それ|これ|あの|その|この|例の|さっき|先ほど|前回|続き|あそこ|そこ|そっち|あっち|彼|あいつ|同じ|じゃあ|では、|ちなみに` +
	`|那[个個件位边邊里裡时時天次家]|这[个件位边里时天次家]|這[個件位邊裡時天次家]|^那|[他她它]|上次|上回|刚才|剛才|刚刚|剛剛|之前|继续|繼續|同样|同樣|[还還]有|呢[?？。]?\s*$`)

// pointsBack reports whether a message has a word that stands for something said before.
func pointsBack(message string) bool {
	message = analysis.Normalize(message)
	if pointingPhrases.MatchString(message) || pointingGlyphs.MatchString(message) {
		return true
	}
	for word := range strings.FieldsFuncSeq(strings.ToLower(message), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if pointingWords[word] {
			return true
		}
	}
	return false
}

// needsContext reports whether a message is to be read with the messages before it: it points at something, or it has fewer than four
// content terms.
func needsContext(message string) bool {
	return pointsBack(message) || countContent(message) < enoughTerms
}

// countContent counts the content terms of a text: words in scripts with spaces that are no stop words, identifiers, and runs of
// Japanese or Chinese characters.
func countContent(message string) (n int) {
	a := analysis.NewAnalyzer()
	defer a.Release()
	a.Add(message)
	end := int32(-1)
	for _, t := range a.Tokens {
		switch {
		case !t.IsLeaf():
		case t.Kind == analysis.Gram:
			if t.Start > end {
				n++
			}
			end = max(end, t.End)
		case !analysis.IsStopWord(a.Lower[t.Start:t.End], t.Kind):
			n++
		}
	}
	return n
}

// isIdentifier reports whether a message is nothing but an identifier, which no other wording can find.
func isIdentifier(message string) bool {
	a := analysis.NewAnalyzer()
	defer a.Release()
	a.Add(message)
	return len(a.Identifiers()) > 0 && len(strings.Fields(message)) == 1
}

const (
	// backgroundTurns and backgroundChars bound what is read of the messages before a message: three exchanges.
	backgroundTurns = 6
	backgroundChars = 1200
	// maxQueryBytes is the maximum length of a query.
	maxQueryBytes = 4 << 10
)

// backgroundOf returns the end of the latest messages of a conversation, one a line, without memories that were recalled into them.
func backgroundOf(turns []memory.Turn) string {
	var lines []string
	for _, t := range turns[max(len(turns)-backgroundTurns, 0):] {
		if said := strings.TrimSpace(strings.ToValidUTF8(memory.StripRecalled(t.Text), " ")); said != "" {
			lines = append(lines, said)
		}
	}
	return strings.TrimSpace(text.Tail(strings.Join(lines, "\n"), backgroundChars))
}

// contextQuery returns a message with its background before it, as one query.
func contextQuery(background, message string) string {
	room := maxQueryBytes - len(message) - 1
	if room <= 0 {
		return ""
	}
	return strings.TrimSpace(text.TailBytes(background, room)) + "\n" + message
}

// nameQuery returns a message with the names of its background, empty if there are none.
func nameQuery(names []name, message string) string {
	var b strings.Builder
	for _, n := range names {
		if !n.inMessage && b.Len()+len(n.surface)+len(message) < maxQueryBytes {
			b.WriteString(n.surface + " ")
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return b.String() + message
}

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }
