package tokenizer

import (
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"
)

// splitterFile is a pre-tokenizer in tokenizer.json; each type has some of the fields.
type splitterFile struct {
	Type             string         `json:"type"`
	Pretokenizers    []splitterFile `json:"pretokenizers"`
	Replacement      *string        `json:"replacement"`
	AddPrefixSpace   *bool          `json:"add_prefix_space"`
	PrependScheme    *string        `json:"prepend_scheme"`
	Split            *bool          `json:"split"`
	UseRegex         *bool          `json:"use_regex"`
	Pattern          *patternFile   `json:"pattern"`
	Behavior         string         `json:"behavior"`
	Invert           bool           `json:"invert"`
	Delimiter        string         `json:"delimiter"`
	IndividualDigits bool           `json:"individual_digits"`
}

// newSplitter returns the splitter that f describes.
func newSplitter(f splitterFile) (splitter, error) {
	switch f.Type {
	case "Sequence":
		var all splitters
		for _, one := range f.Pretokenizers {
			s, err := newSplitter(one)
			if err != nil {
				return nil, err
			}
			all = append(all, s)
		}
		return all, nil
	case "BertPreTokenizer":
		return bertSplitter{}, nil
	case "Whitespace":
		return patternSplitter{pattern: wordRuns{}, behavior: removed, invert: true}, nil
	case "WhitespaceSplit":
		return patternSplitter{pattern: characters(unicode.IsSpace), behavior: removed}, nil
	case "CharDelimiterSplit":
		return patternSplitter{pattern: literal(f.Delimiter), behavior: removed}, nil
	case "Punctuation":
		b, err := behaviorOf(f.Behavior, isolated)
		return patternSplitter{pattern: characters(isPunctuation), behavior: b}, err
	case "Digits":
		if f.IndividualDigits {
			return patternSplitter{pattern: characters(unicode.IsNumber), behavior: isolated}, nil
		}
		return patternSplitter{pattern: characters(unicode.IsNumber), behavior: contiguous}, nil
	case "Metaspace":
		return newMetaspace(f)
	case "ByteLevel":
		return byteLevel{orElse(f.AddPrefixSpace, true), orElse(f.UseRegex, true)}, nil
	case "Split":
		return newPatternSplitter(f)
	}
	return nil, fmt.Errorf("unknown pre-tokenizer %.40q", f.Type)
}

// splitters apply one after the other.
type splitters []splitter

func (all splitters) split(pieces []piece) ([]piece, error) {
	for _, s := range all {
		before := lengthOf(pieces)
		var err error
		if pieces, err = s.split(pieces); err != nil {
			return nil, err
		}
		if err := checkGrowth(before, lengthOf(pieces)); err != nil {
			return nil, err
		}
	}
	return pieces, nil
}

// lengthOf returns the bytes of the pieces together.
func lengthOf(pieces []piece) int {
	n := 0
	for _, p := range pieces {
		n += len(p.text)
	}
	return n
}

// behavior is what becomes of the parts of a text that match.
type behavior int

const (
	isolated           behavior = iota // each is a piece
	removed                            // they are dropped
	contiguous                         // neighbours are one piece
	mergedWithPrevious                 // each belongs to the piece before it
	mergedWithNext                     // each belongs to the piece after it
)

// behaviorOf returns the behavior of that name, and other for none.
func behaviorOf(name string, other behavior) (behavior, error) {
	switch name {
	case "":
		return other, nil
	case "Isolated":
		return isolated, nil
	case "Removed":
		return removed, nil
	case "Contiguous":
		return contiguous, nil
	case "MergedWithPrevious":
		return mergedWithPrevious, nil
	case "MergedWithNext":
		return mergedWithNext, nil
	}
	return 0, fmt.Errorf("unknown behavior %.40q", name)
}

// patternSplitter splits where a pattern matches.
type patternSplitter struct {
	pattern  pattern
	behavior behavior
	// invert takes what does not match for what does.
	invert bool
}

func newPatternSplitter(f splitterFile) (splitter, error) {
	p, err := newPattern(f.Pattern)
	if err != nil {
		return nil, err
	}
	b, err := behaviorOf(f.Behavior, isolated)
	return patternSplitter{p, b, f.Invert}, err
}

// split implements splitter.
func (s patternSplitter) split(pieces []piece) ([]piece, error) {
	return splitEach(pieces, func(out []piece, p piece) ([]piece, error) {
		matches, err := s.pattern.matches(p.text)
		if err != nil {
			return nil, err
		}
		for _, part := range s.behavior.parts(mark(len(p.text), matches, s.invert)) {
			out = append(out, p.part(part.from, part.to))
		}
		return out, nil
	})
}

// marked is a part of a text that matches or does not.
type marked struct {
	span
	match bool
}

// mark returns the parts of a text of length bytes, those that match and those between them.
func mark(length int, matches []span, invert bool) []marked {
	all := make([]marked, 0, 2*len(matches)+1)
	end := 0
	for _, m := range matches {
		if m.from > end {
			all = append(all, marked{span{end, m.from}, invert})
		}
		all = append(all, marked{m, !invert})
		end = m.to
	}
	if end < length {
		all = append(all, marked{span{end, length}, invert})
	}
	return all
}

// parts returns the pieces of a text from its marked parts.
func (b behavior) parts(all []marked) []span {
	switch b {
	case contiguous:
		all = joinNeighbours(all, func(before, after marked) bool { return before.match == after.match })
	case mergedWithPrevious:
		all = joinNeighbours(all, func(before, after marked) bool { return after.match && !before.match })
	case mergedWithNext:
		all = joinWithNext(all)
	}
	parts := make([]span, 0, len(all))
	for _, m := range all {
		if b != removed || !m.match {
			parts = append(parts, m.span)
		}
	}
	return parts
}

// joinNeighbours joins neighbouring parts that belong together; the joined part counts as its last one.
func joinNeighbours(all []marked, together func(before, after marked) bool) []marked {
	var out []marked
	for i, m := range all {
		if i > 0 && together(all[i-1], m) {
			out[len(out)-1].to = m.to
			continue
		}
		out = append(out, m)
	}
	return out
}

// joinWithNext joins each match with the part after it, of several matches in a row only the last.
func joinWithNext(all []marked) []marked {
	var out []marked
	for i, m := range slices.Backward(all) {
		if m.match && i+1 < len(all) && !all[i+1].match {
			out[len(out)-1].from = m.from
			continue
		}
		out = append(out, m)
	}
	slices.Reverse(out)
	return out
}

// wordRuns matches runs of letters and runs of signs: \w+|[^\w\s]+.
type wordRuns struct{}

func (wordRuns) matches(text string) (found []span, _ error) {
	kind := space
	for i, r := range text {
		before := kind
		switch {
		case isWord(r):
			kind = letter
		case unicode.IsSpace(r):
			kind = space
		default:
			kind = sign
		}
		switch end := i + utf8.RuneLen(r); {
		case kind == space:
		case kind == before:
			found[len(found)-1].to = end
		default:
			found = append(found, span{i, end})
		}
	}
	return found, nil
}

// characters matches each character of a kind.
type characters func(r rune) bool

func (c characters) matches(text string) (found []span, _ error) {
	for i, r := range text {
		if c(r) {
			found = append(found, span{i, i + utf8.RuneLen(r)})
		}
	}
	return found, nil
}
