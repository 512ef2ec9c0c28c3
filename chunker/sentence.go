package chunker

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Marks at which a long line may be cut.
const (
	// fullStops end a sentence wherever they stand, halfStops only before a space.
	fullStops = "。！？｡．।॥"
	halfStops = ".!?…؟۔"
	// closers belong to the sentence before them.
	closers = "\"'”’»)]}」』）】》〉］｝"
	// commas end a clause where no space follows it.
	commas = "、，；：､"
)

// blockBytes is the most of a word that is cut off at once.
const blockBytes = 128

// pushParts appends the parts of u, a line that is over the budget. Each fits into a chunk. The first of cuts returns the
// length of the first part of a text; what doesn't fit is cut by the next. They are whole sentences; words, of a
// sentence that doesn't fit; grapheme clusters, of a word that doesn't; and runes, of a cluster that doesn't.
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

// sentence returns the length of the first sentence of text, without the space after it, which is one token with the
// word that follows.
func sentence(text string) int {
	stopped, full := false, false
	for i, r := range text {
		switch {
		case strings.ContainsRune(fullStops, r):
			stopped, full = true, true
		case strings.ContainsRune(halfStops, r):
			stopped = true
		case stopped && strings.ContainsRune(closers, r):
		case full || stopped && unicode.IsSpace(r):
			return i
		default:
			stopped = false
		}
	}
	return len(text)
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

// spaces returns the length of the white space that text starts with.
func spaces(text string) int {
	return len(text) - len(strings.TrimLeftFunc(text, unicode.IsSpace))
}

// block returns the length of the first few grapheme clusters of text. They are few enough bytes to fit into
// any chunk, as no token is shorter than a byte.
func (o *outline) block(text string) int {
	limit := min(blockBytes, o.opts.Tokens)
	if len(text) <= limit {
		return len(text)
	}
	// A cluster can be as long as the text; it is looked at no further than it could be taken.
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
