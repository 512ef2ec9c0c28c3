package tokenizer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// piece is a part of a text: an added token, or text that is still to be tokenized.
type piece struct {
	text string
	// id is the id of an added token, -1 for text.
	id int32
	// first is true for the piece that the text begins with.
	first bool
}

// part returns the piece of p from byte from to byte to.
func (p piece) part(from, to int) piece {
	return piece{text: p.text[from:to], id: -1, first: p.first && from == 0}
}

// piecePool keeps the lists of pieces of texts for the next ones.
var piecePool = sync.Pool{New: func() any { return new([]piece) }}

// splitter appends the smaller pieces of a piece of text, of which some may be empty.
type splitter func(out []piece, p piece) []piece

// split replaces each piece of text by what all splitters make of it, one after the other.
func (t *Tokenizer) split(pieces []piece) []piece {
	for _, s := range t.splitters {
		out := *piecePool.Get().(*[]piece)
		for _, p := range pieces {
			switch {
			case p.id >= 0:
				out = append(out, p)
			case p.text != "":
				out = s(out, p)
			}
		}
		emptied := pieces[:0]
		piecePool.Put(&emptied)
		pieces = out
	}
	return pieces
}

// splitterFile is a pre-tokenizer in tokenizer.json; each type has some of the fields.
type splitterFile struct {
	Type           string         `json:"type"`
	Pretokenizers  []splitterFile `json:"pretokenizers"`
	Replacement    *string        `json:"replacement"`
	AddPrefixSpace *bool          `json:"add_prefix_space"`
	PrependScheme  *string        `json:"prepend_scheme"`
	Split          *bool          `json:"split"`
	UseRegex       *bool          `json:"use_regex"`
}

// maxSplitters bounds what several splitters make of a text, of which each may double it.
const maxSplitters = 4

// newSplitters returns the splitters that f describes.
func newSplitters(f splitterFile) (all []splitter, _ error) {
	if f.Type != "Sequence" {
		s, err := newSplitter(f)
		return []splitter{s}, err
	}
	if len(f.Pretokenizers) > maxSplitters {
		return nil, errors.New("the sequence of pre-tokenizers is long")
	}
	for _, one := range f.Pretokenizers {
		s, err := newSplitter(one)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// newSplitter returns the splitter that f describes, which is no sequence.
func newSplitter(f splitterFile) (splitter, error) {
	switch f.Type {
	case "BertPreTokenizer":
		return splitBert, nil
	case "WhitespaceSplit":
		return splitWhitespace, nil
	case "Metaspace":
		return newMetaspace(f)
	case "ByteLevel":
		if !orElse(f.UseRegex, true) {
			return nil, errors.New("ByteLevel without the regular expression of GPT-2 is not supported")
		}
		return func(out []piece, p piece) []piece { return splitBytes(out, p, orElse(f.AddPrefixSpace, true)) }, nil
	}
	return nil, fmt.Errorf("the pre-tokenizer %.40q is not supported; BertPreTokenizer, WhitespaceSplit, Metaspace and ByteLevel are", f.Type)
}

// splitBert splits at white space, which it drops, and around each punctuation character.
func splitBert(out []piece, p piece) []piece {
	start := 0
	for i, r := range p.text {
		space := r == ' ' || r != 'a' && unicode.IsSpace(r)
		if !space && !isPunctuation(r) {
			continue
		}
		if i > start {
			out = append(out, p.part(start, i))
		}
		start = i + utf8.RuneLen(r)
		if !space {
			out = append(out, p.part(i, start))
		}
	}
	return append(out, p.part(start, len(p.text)))
}

// splitWhitespace splits at white space, which it drops.
func splitWhitespace(out []piece, p piece) []piece {
	start := 0
	for i, r := range p.text {
		if unicode.IsSpace(r) {
			out = append(out, p.part(start, i))
			start = i + utf8.RuneLen(r)
		}
	}
	return append(out, p.part(start, len(p.text)))
}

// newMetaspace returns the splitter that writes a visible character for each space, before the first word too, and splits before it.
func newMetaspace(f splitterFile) (splitter, error) {
	mark, scheme, whole := orElse(f.Replacement, spaceMark), orElse(f.PrependScheme, "always"), !orElse(f.Split, true)
	if !orElse(f.AddPrefixSpace, true) {
		scheme = "never"
	}
	if utf8.RuneCountInString(mark) != 1 {
		return nil, fmt.Errorf("the replacement %.20q of Metaspace is not one character", mark)
	}
	if !slices.Contains([]string{"always", "first", "never"}, scheme) {
		return nil, fmt.Errorf("unknown prepend_scheme %.20q", scheme)
	}
	return func(out []piece, p piece) []piece {
		p.text = strings.ReplaceAll(p.text, " ", mark)
		if !strings.HasPrefix(p.text, mark) && (scheme == "always" || scheme == "first" && p.first) {
			p.text = mark + p.text
		}
		if whole {
			return append(out, p)
		}
		return splitBefore(out, p, mark)
	}, nil
}

// splitBefore splits before each mark.
func splitBefore(out []piece, p piece, mark string) []piece {
	start := 0
	for at := 0; ; at += len(mark) {
		i := strings.Index(p.text[at:], mark)
		if i < 0 {
			return append(out, p.part(start, len(p.text)))
		}
		if at += i; at > start {
			out = append(out, p.part(start, at))
			start = at
		}
	}
}

// splitMarks splits before each run of the marks that SentencePiece writes for spaces.
func splitMarks(out []piece, p piece) []piece {
	start := 0
	for at := 0; ; at += len(spaceMark) {
		i := strings.Index(p.text[at:], spaceMark)
		if i < 0 {
			return append(out, p.part(start, len(p.text)))
		}
		if at += i; i > 0 && at > start {
			out = append(out, p.part(start, at))
			start = at
		}
	}
}
