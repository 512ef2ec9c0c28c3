package forgotten

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"kioku/internal/text"
)

// Sentence is a sentence of a text, which may go over several lines, without the mark of a list before it and a marker behind it.
type Sentence struct {
	Line     int    // from 1, of its first character
	From, To int    // offsets
	Text     string // in one line
	Heading  bool   // it is one, or in one
	Block    int    // number of the paragraph, item, heading or line of a fence that it is in
}

var (
	// prefix matches what is before the text of an item of a list, a quotation or a heading.
	prefix = regexp.MustCompile(`^[ \t>]*(?:[-*+][ \t]+|\d+[.)][ \t]+|#+[ \t]+)?(?:\[[ xX]\][ \t]+)?`)
	// begins matches a line that is no continuation of the one before it.
	begins = regexp.MustCompile(`^[ \t>]*(?:[-*+][ \t]|1[.)][ \t]|#+[ \t]|\||<!--|---|===|$)`)
	// numbered matches an item with a number, which follows only another one if it is not the first.
	numbered = regexp.MustCompile(`^[ \t>]*\d+[.)][ \t]`)
	// marker matches a marker of Kioku's; see package note.
	marker = regexp.MustCompile(text.MarkPattern)
	fence  = regexp.MustCompile("^[ \t>]*(?:```|~~~)")
	// goesOn matches what ends with a point that ends no sentence: a title, an initial, and the like.
	goesOn = regexp.MustCompile(`(?:^|[\s(])(?:(?i:mrs?|ms|dr|prof|st|no|nr|hr|sra?|mme|vs|e\.g|i\.e|z\.\s?b|ca|bzw)|\p{Lu})\.\s*$`)
)

// Sentences returns the sentences of a text in order. Those of a paragraph or an item go over its lines; each line of a fence is one.
func Sentences(src []byte) (all []Sentence) {
	flat := []byte(string(src))
	for _, m := range marker.FindAllIndex(flat, -1) {
		for i := m[0]; i < m[1]; i++ {
			if flat[i] != '\n' {
				flat[i] = ' '
			}
		}
	}
	block, fenced := 0, false
	for from, line := 0, 1; from < len(flat); {
		end, lines := lineEnd(flat, from), 1
		first := flat[from:end]
		isFence := fence.Match(first)
		heading := bytes.HasPrefix(bytes.TrimLeft(first, " \t>"), []byte("#"))
		if !isFence && !fenced && !heading && len(bytes.TrimSpace(first)) > 0 && first[0] != '|' {
			for end < len(flat) {
				next := flat[end:lineEnd(flat, end)]
				if trimmed := bytes.TrimRight(next, "\r\n"); begins.Match(trimmed) || numbered.Match(first) && numbered.Match(next) || fence.Match(next) || len(bytes.TrimSpace(bytes.Trim(trimmed, "> \t"))) == 0 {
					break
				}
				end += len(next)
				lines++
			}
		}
		if !isFence {
			all = append(all, sentencesOf(src, flat, from, end, line, block, heading && !fenced)...)
		}
		fenced = fenced != isFence
		from, line, block = end, line+lines, block+1
	}
	return all
}

// sentencesOf returns the sentences of a block.
func sentencesOf(src, flat []byte, from, end, line, block int, heading bool) (all []Sentence) {
	from += len(prefix.Find(flat[from:end]))
	joined := strings.NewReplacer("\n", " ", "\r", " ").Replace(string(flat[from:end]))
	whole := ""
	for _, s := range text.Sentences(joined, len(joined)+1) {
		if whole += s; goesOn.MatchString(s) && len(whole) < len(joined) {
			continue
		}
		s, joined, whole = whole, joined[len(whole):], ""
		if said := strings.TrimSpace(s); said != "" {
			start := from + strings.Index(s, said)
			all = append(all, Sentence{Line: line + bytes.Count(flat[:start], []byte("\n")) - bytes.Count(flat[:from], []byte("\n")),
				From: start, To: start + len(said), Text: text.OneLine(said), Heading: heading, Block: block})
		}
		from += len(s)
	}
	return all
}

// lineEnd returns the offset behind the line at an offset.
func lineEnd(src []byte, at int) int {
	if i := bytes.IndexByte(src[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(src)
}

// words returns the words of a sentence in their order, without case, marks and punctuation, by which it is recognised.
func words(sentence string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(norm.NFKC.String(sentence)), func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.Sc) && r != '+' && r != '@'
	}), " ")
}

// Fingerprint names a sentence by its words.
func (s Sentence) Fingerprint() string {
	sum := sha256.Sum256([]byte(words(s.Text)))
	return hex.EncodeToString(sum[:4])
}
