package chunker

import (
	"kioku/internal/text"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

var sentence, sentences, spaces = text.Sentence, text.Sentences, text.Spaces

// commas end a clause in scripts without spaces.
const commas = "、，；：､"

// blockBytes is the maximum number of bytes of a part of a word.
const blockBytes = 128

// pushParts appends parts of u, a line that is over the budget, such that each fits into a chunk. The first of cuts returns
// the length of the first part of a text; a part that does not fit is cut by the next. Parts are sentences, words of a
// sentence that does not fit, grapheme clusters of a word, and runes of a cluster.
func (o *outline) pushParts(u unit, cuts ...func(string) int) {
	u.part = true
	for end := u.end; u.start < end; u.start = u.end {
		u.end = u.start + cuts[0](o.text[u.start:end])
		text := o.textOf(u)
		tokens, fits := o.counter.fit(text, o.opts.Tokens)
		if !fits && len(cuts) > 1 {
			o.pushParts(u, cuts[1:]...)
			continue
		}
		u.tokens, u.blank = tokens, isBlank(text)
		o.units = append(o.units, u)
	}
}

// word returns the length of the first word of text, with the space before it.
func word(text string) int {
	start := spaces(text)
	for i, r := range text[start:] {
		if unicode.IsSpace(r) {
			return start + i
		}
		if strings.ContainsRune(commas, r) {
			return start + i + utf8.RuneLen(r)
		}
	}
	return len(text)
}

// block returns the length of the first few grapheme clusters of text. They fit into any chunk, because no token is shorter
// than a byte.
func (o *outline) block(text string) int {
	limit := min(blockBytes, o.opts.Tokens)
	if len(text) <= limit {
		return len(text)
	}
	// A cluster can be as long as the text; only as much of it is read as a part may have.
	window, end, state := text[:min(len(text), 2*limit)], 0, -1
	for {
		cluster, _, _, next := uniseg.FirstGraphemeClusterInString(window[end:], state)
		if end+len(cluster) > limit {
			break
		}
		end, state = end+len(cluster), next
	}
	if end > 0 {
		return end
	}
	for end = limit; !utf8.RuneStart(text[end]); end-- {
	}
	return end
}
