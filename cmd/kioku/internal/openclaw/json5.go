package openclaw

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// decode decodes JSON5: JSON with comments, trailing commas, names without quotes, texts in single quotes and more ways to write a
// number. It returns an error with a line if the text is not JSON5.
func decode(text []byte) (map[string]any, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("not valid UTF-8")
	}
	s := &scanner{text: strings.TrimPrefix(string(text), "\ufeff"), line: 1}
	for s.err == nil && s.next() {
	}
	if s.err != nil {
		return nil, fmt.Errorf("line %d: %w", s.line, s.err)
	}
	content := map[string]any{}
	if err := json.Unmarshal(s.out.Bytes(), &content); err != nil {
		return nil, err
	}
	return content, nil
}

// scanner rewrites JSON5 as JSON. What is wrong with the order of the tokens is left to the decoder of JSON.
type scanner struct {
	text string
	line int
	// comma is true if a comma was read that is written only if a value follows.
	comma bool
	out   bytes.Buffer
	err   error
}

// next rewrites one token. It returns false at the end.
func (s *scanner) next() bool {
	s.skipSpace()
	if s.text == "" || s.err != nil {
		return false
	}
	c := s.text[0]
	if s.comma && c != '}' && c != ']' {
		s.out.WriteByte(',')
	}
	s.comma = false
	switch c {
	case ',':
		s.comma, s.text = true, s.text[1:]
	case '{', '}', '[', ']', ':':
		s.out.WriteByte(c)
		s.text = s.text[1:]
	case '"', '\'':
		s.write(s.quoted(c))
	default:
		s.word()
	}
	return s.err == nil
}

// skipSpace skips space and comments.
func (s *scanner) skipSpace() {
	for s.text != "" {
		r, size := utf8.DecodeRuneInString(s.text)
		switch {
		case strings.HasPrefix(s.text, "//"):
			end := strings.IndexByte(s.text, '\n')
			if end < 0 {
				end = len(s.text)
			}
			s.text = s.text[end:]
		case strings.HasPrefix(s.text, "/*"):
			end := strings.Index(s.text, "*/")
			if end < 0 {
				s.err = errors.New("the comment does not end")
				return
			}
			s.line += strings.Count(s.text[:end], "\n")
			s.text = s.text[end+2:]
		case unicode.IsSpace(r) || r == '\ufeff':
			if r == '\n' {
				s.line++
			}
			s.text = s.text[size:]
		default:
			return
		}
	}
}

// write writes a value as JSON.
func (s *scanner) write(value any) {
	text, err := json.Marshal(value)
	if err != nil && s.err == nil {
		s.err = err
	}
	s.out.Write(text)
}

// escapes are the escape sequences of one letter.
var escapes = map[byte]string{'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v", '0': "\x00", '\n': ""}

// quoted reads a text up to its closing quote.
func (s *scanner) quoted(quote byte) string {
	var b strings.Builder
	for i := 1; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == quote:
			s.text = s.text[i+1:]
			return b.String()
		case c == '\n':
			s.err = errors.New("the text does not end on its line")
			return ""
		case c != '\\' || i+1 == len(s.text):
			b.WriteByte(c)
		default:
			i++
			i += s.escape(&b, s.text[i:])
		}
	}
	s.err = errors.New("the text does not end")
	return ""
}

// escape writes the character of an escape sequence, and returns how many bytes it has beyond the first.
func (s *scanner) escape(b *strings.Builder, rest string) int {
	digits := map[byte]int{'x': 2, 'u': 4}[rest[0]]
	if digits == 0 {
		if text, ok := escapes[rest[0]]; ok {
			b.WriteString(text)
		} else {
			b.WriteByte(rest[0])
		}
		if rest[0] == '\n' {
			s.line++
		}
		return 0
	}
	r, ok := hexRune(rest, digits)
	if !ok {
		s.err = errors.New("an escape sequence has too few digits")
		return 0
	}
	if utf16.IsSurrogate(r) && strings.HasPrefix(rest[1+digits:], `\u`) {
		if low, ok := hexRune(rest[2+digits:], digits); ok && utf16.DecodeRune(r, low) != unicode.ReplacementChar {
			b.WriteRune(utf16.DecodeRune(r, low))
			return 2 + 2*digits
		}
	}
	b.WriteRune(r)
	return digits
}

// hexRune returns the character with the hexadecimal digits behind the first byte of a text.
func hexRune(text string, digits int) (rune, bool) {
	if len(text) <= digits {
		return 0, false
	}
	n, err := strconv.ParseUint(text[1:1+digits], 16, 16)
	return rune(n), err == nil
}

// word rewrites a name, a number, true, false or null.
func (s *scanner) word() {
	end := strings.IndexFunc(s.text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",:{}[]'\"/", r) })
	if end < 0 {
		end = len(s.text)
	}
	word := s.text[:end]
	if word == "" {
		s.err = fmt.Errorf("%q is not expected here", s.text[:1])
		return
	}
	s.text = s.text[end:]
	s.skipSpace()
	switch {
	case strings.HasPrefix(s.text, ":"):
		s.write(word)
	case word == "true" || word == "false" || word == "null":
		s.out.WriteString(word)
	default:
		n, err := number(word)
		if err != nil {
			s.err = fmt.Errorf("%s is no value", word)
		}
		s.write(n)
	}
}

// number returns the value of a number of JSON5.
func number(word string) (float64, error) {
	digits, negative := strings.CutPrefix(word, "-")
	digits = strings.TrimPrefix(digits, "+")
	if hex, ok := strings.CutPrefix(strings.ToLower(digits), "0x"); ok {
		n, err := strconv.ParseUint(hex, 16, 53)
		if negative {
			return -float64(n), err
		}
		return float64(n), err
	}
	if digits == "" || !strings.ContainsAny(digits[:1], ".0123456789") || strings.Contains(digits, "_") {
		return 0, strconv.ErrSyntax
	}
	n, err := strconv.ParseFloat(digits, 64)
	if negative {
		n = -n
	}
	return n, err
}
