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

// parts returns the lengths of the parts of a line that is over the budget. Each fits into a chunk. They are whole
// sentences; words, of a sentence that doesn't fit; grapheme clusters, of a word that doesn't fit; and runes, of a
// cluster that doesn't. Neighbours are put together up to a sixteenth of the budget.
func parts(line string, counter *counter, budget int) []int {
	s := splitter{counter: counter, budget: budget}
	s.split(line, sentence, word, s.block)
	s.flush()
	return s.parts
}

// splitter collects the parts of a line.
type splitter struct {
	counter *counter
	budget  int
	parts   []int
	// length and tokens of the part that is still open.
	length, tokens int
}

// split cuts text by the first of cuts, each of which returns the length of the first fragment of a text, and
// fragments that don't fit by the next. What the last one leaves always fits.
func (s *splitter) split(text string, cuts ...func(string) int) {
	for len(text) > 0 {
		n := cuts[0](text)
		tokens, fits := s.counter.fit(text[:n], s.budget)
		if fits || len(cuts) == 1 {
			s.add(n, tokens)
		} else {
			s.split(text[:n], cuts[1:]...)
		}
		text = text[n:]
	}
}

// add puts a fragment to the open part, or opens a new one for it.
func (s *splitter) add(length, tokens int) {
	if s.tokens+tokens > s.budget/16 {
		s.flush()
	}
	s.length += length
	s.tokens += tokens
}

func (s *splitter) flush() {
	if s.length > 0 {
		s.parts = append(s.parts, s.length)
	}
	s.length, s.tokens = 0, 0
}

// sentence returns the length of the first sentence of text, with the space after it.
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
			return i + spaces(text[i:])
		default:
			stopped = false
		}
	}
	return len(text)
}

// word returns the length of the first word of text, with the space around it.
func word(text string) int {
	start := spaces(text)
	for i, r := range text[start:] {
		if unicode.IsSpace(r) {
			return start + i + spaces(text[start+i:])
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
func (s *splitter) block(text string) int {
	limit := min(blockBytes, s.budget)
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
