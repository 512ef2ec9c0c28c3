package setup

import (
	"bytes"
	"fmt"
)

// maxDepth is the maximum number of brackets within each other in a configuration, and of names in a dotted key. The parsers call
// themselves for each, so that a deeper text would exhaust the stack.
const maxDepth = 1000

// checkDepth returns an error with its place if a text is deeper than maxDepth. skip returns the length of the string or comment
// with which a text begins, 0 if it begins with neither.
func checkDepth(text []byte, skip func([]byte) int) error {
	brackets, dots := 0, 0
	for at := 0; at < len(text); {
		if n := skip(text[at:]); n > 0 {
			at += n
			continue
		}
		switch text[at] {
		case '[', '{':
			brackets, dots = brackets+1, 0
		case ']', '}':
			brackets--
		case '.':
			dots++
		case '\n', ',', '=':
			dots = 0
		}
		if brackets > maxDepth || dots > maxDepth {
			return fmt.Errorf("%s: nested more than %d deep", placeOf(text, at), maxDepth)
		}
		at++
	}
	return nil
}

// skipJSON returns the length of the string or comment with which a text of JSON begins, 0 if it begins with neither.
func skipJSON(text []byte) int {
	switch {
	case text[0] == '"':
		return behind(text, 1, `"`, true)
	case bytes.HasPrefix(text, []byte("//")):
		return behind(text, 2, "\n", false)
	case bytes.HasPrefix(text, []byte("/*")):
		return behind(text, 2, "*/", false)
	}
	return 0
}

// skipTOML returns the length of the string or comment with which a text of TOML begins, 0 if it begins with neither. The line end
// is no part of a comment.
func skipTOML(text []byte) int {
	switch quote := text[0]; {
	case quote == '#':
		if end := bytes.IndexByte(text, '\n'); end >= 0 {
			return end
		}
		return len(text)
	case quote != '"' && quote != '\'':
		return 0
	case len(text) > 2 && text[1] == quote && text[2] == quote:
		end := behind(text, 3, string(text[:3]), quote == '"')
		for extra := 0; extra < 2 && end < len(text) && text[end] == quote; extra++ {
			end++ // of more than three quotes, the last three end the text
		}
		return end
	default:
		return behind(text, 1, string(quote), quote == '"')
	}
}

// behind returns the offset behind the first closing at or after an offset, the length of the text if there is none. With escapes, a
// byte behind a backslash closes nothing.
func behind(text []byte, from int, closing string, escapes bool) int {
	for at := from; at < len(text); at++ {
		if escapes && text[at] == '\\' {
			at++
		} else if bytes.HasPrefix(text[at:], []byte(closing)) {
			return at + len(closing)
		}
	}
	return len(text)
}
