package tokenizer

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// metaspace writes a visible character for each space, before the first word too, and splits before it.
type metaspace struct {
	mark   string
	scheme string
	whole  bool
}

func newMetaspace(f splitterFile) (splitter, error) {
	m := metaspace{mark: orElse(f.Replacement, "▁"), scheme: orElse(f.PrependScheme, "always"), whole: !orElse(f.Split, true)}
	if !orElse(f.AddPrefixSpace, true) {
		m.scheme = "never"
	}
	if utf8.RuneCountInString(m.mark) != 1 {
		return nil, fmt.Errorf("the replacement %.20q of Metaspace is not one character", m.mark)
	}
	if !slices.Contains([]string{"always", "first", "never"}, m.scheme) {
		return nil, fmt.Errorf("unknown prepend_scheme %.20q", m.scheme)
	}
	return m, nil
}

// split implements splitter.
func (m metaspace) split(pieces []piece) ([]piece, error) {
	return splitEach(pieces, func(out []piece, p piece) ([]piece, error) {
		p.text = strings.ReplaceAll(p.text, " ", m.mark)
		if !strings.HasPrefix(p.text, m.mark) && (m.scheme == "always" || m.scheme == "first" && p.first) {
			p.text = m.mark + p.text
		}
		if m.whole {
			return append(out, p), nil
		}
		start := 0
		for at := 0; ; {
			i := strings.Index(p.text[at:], m.mark)
			if i < 0 {
				break
			}
			if at += i; at > start {
				out = append(out, p.part(start, at))
				start = at
			}
			at += len(m.mark)
		}
		return append(out, p.part(start, len(p.text))), nil
	})
}

// spaceSplitter splits before each run of the marks that SentencePiece writes for spaces.
type spaceSplitter struct{}

// split implements splitter.
func (spaceSplitter) split(pieces []piece) ([]piece, error) {
	return splitEach(pieces, func(out []piece, p piece) ([]piece, error) {
		start := 0
		for at := 0; ; {
			i := strings.Index(p.text[at:], spaceMark)
			if i < 0 {
				break
			}
			if at += i; i > 0 && at > start {
				out = append(out, p.part(start, at))
				start = at
			}
			at += len(spaceMark)
		}
		return append(out, p.part(start, len(p.text))), nil
	})
}
