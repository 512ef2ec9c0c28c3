package tokenizer

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2"
)

// matchTimeout bounds the search of one regular expression in one text. Only an expression that explodes needs as long, also on a machine
// that does much else.
const matchTimeout = 5 * time.Second

// maxPattern is the longest regular expression that is compiled, in bytes.
const maxPattern = 20_000

// patternFile is a pattern in tokenizer.json: a literal text or a regular expression.
type patternFile struct {
	String *string `json:"String"`
	Regex  *string `json:"Regex"`
}

// span is a part of a text.
type span struct{ from, to int }

// pattern finds parts of a text.
type pattern interface {
	// matches returns the matches from left to right; they do not overlap.
	matches(text string) ([]span, error)
}

// newPattern compiles a pattern. An expression that Go's own engine reads in the same way runs there, in linear time; those with
// look-ahead or classes of Unicode run in an engine that backtracks, with a time limit.
func newPattern(f *patternFile) (pattern, error) {
	switch {
	case f == nil || f.String == nil && f.Regex == nil:
		return nil, fmt.Errorf("a pattern is neither a String nor a Regex")
	case f.String != nil:
		return literal(*f.String), nil
	case len(*f.Regex) > maxPattern:
		return nil, fmt.Errorf("a regular expression has %d bytes", len(*f.Regex))
	case *f.Regex == gpt2Pattern:
		return gpt2{}, nil
	}
	if !strings.ContainsAny(*f.Regex, `\[.^$`) {
		if re, err := regexp.Compile(*f.Regex); err == nil {
			return linear{re}, nil
		}
	}
	re, err := regexp2.Compile(*f.Regex, regexp2.None)
	if err != nil {
		return nil, fmt.Errorf("regular expression %.80q: %w", *f.Regex, err)
	}
	re.MatchTimeout = matchTimeout
	return backtracking{re}, nil
}

// literal is a text that is found as it is.
type literal string

func (l literal) matches(text string) (found []span, _ error) {
	for at := 0; l != ""; {
		i := strings.Index(text[at:], string(l))
		if i < 0 {
			break
		}
		found = append(found, span{at + i, at + i + len(l)})
		at += i + len(l)
	}
	return found, nil
}

// linear is a regular expression of Go.
type linear struct{ re *regexp.Regexp }

func (l linear) matches(text string) (found []span, _ error) {
	for _, m := range l.re.FindAllStringIndex(text, -1) {
		found = append(found, span{m[0], m[1]})
	}
	return found, nil
}

// backtracking is a regular expression with a time limit.
type backtracking struct{ re *regexp2.Regexp }

func (b backtracking) matches(text string) ([]span, error) {
	var found []span
	m, err := b.re.FindStringMatch(text)
	runes, bytes := 0, 0 // up to the end of the last match
	for ; m != nil && err == nil; m, err = b.re.FindNextMatch(m) {
		from := bytes + bytesOf(text[bytes:], m.Index-runes)
		to := from + bytesOf(text[from:], m.Length)
		found = append(found, span{from, to})
		runes, bytes = m.Index+m.Length, to
	}
	if err != nil {
		return nil, fmt.Errorf("the regular expression of the tokenizer takes more than %v for this text: use another model (%.80q)", matchTimeout, b.re.String())
	}
	return found, nil
}

// bytesOf returns the length in bytes of the first n characters of text.
func bytesOf(text string, n int) int {
	length := 0
	for ; n > 0; n-- {
		_, size := utf8.DecodeRuneInString(text[length:])
		length += size
	}
	return length
}
