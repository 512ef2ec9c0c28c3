package chunker

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"kioku/internal/text"
)

const (
	// maxParens is how many parentheses may be open within the target of a link.
	maxParens = 3
	// maxExtension is the length of the longest extension of a file.
	maxExtension = 5
)

// isExternal reports whether a target is a URL with a scheme or a host, and no path.
func isExternal(target string) bool {
	if strings.HasPrefix(target, "//") {
		return true
	}
	scheme, _, found := strings.Cut(target, ":")
	return found && scheme != "" && !strings.ContainsFunc(scheme, func(c rune) bool {
		return c >= utf8.RuneSelf || !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("+-.", c)
	})
}

// isOtherFile reports whether a path has an extension of files that are not Markdown.
func isOtherFile(target string) bool {
	ext := strings.TrimPrefix(path.Ext(target), ".")
	return ext != "" && text.MarkdownExtension(target) == "" && len(ext) <= maxExtension && strings.ContainsFunc(ext, unicode.IsLetter) &&
		!strings.ContainsFunc(ext, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
}

// linkTarget returns the target behind "](", without its title, and the length up to behind the closing parenthesis. The length is
// 0 if the parenthesis is not closed.
func linkTarget(s string) (target string, length int) {
	start := len(s) - len(strings.TrimLeft(s, " "))
	if strings.HasPrefix(s[start:], "<") {
		end := strings.IndexAny(s[start+1:], "<>")
		if end < 0 || s[start+1+end] != '>' {
			return "", 0
		}
		return endOfTarget(s, s[start+1:start+1+end], start+end+2)
	}
	depth := 0
	for i := start; i < min(len(s), start+maxTarget); i++ {
		switch s[i] {
		case ' ':
			return endOfTarget(s, s[start:i], i)
		case '(':
			if depth++; depth > maxParens {
				return "", 0
			}
		case ')':
			if depth--; depth < 0 {
				return s[start:i], i + 1
			}
		}
	}
	return "", 0
}

// endOfTarget returns a target that ends at an offset, perhaps with a title behind it.
func endOfTarget(s, target string, at int) (string, int) {
	rest := strings.TrimLeft(s[at:], " ")
	if rest != "" && strings.IndexByte(`"'`, rest[0]) >= 0 {
		end := strings.IndexByte(rest[1:min(len(rest), maxTarget)], rest[0])
		if end < 0 {
			return "", 0
		}
		rest = strings.TrimLeft(rest[end+2:], " ")
	}
	if !strings.HasPrefix(rest, ")") {
		return "", 0
	}
	return target, len(s) - len(rest) + 1
}

// readReferences returns the targets of the lines "[label]: target".
func readReferences(lines []Line) map[string]string {
	references := map[string]string{}
	for _, line := range lines {
		text := strings.TrimLeft(line.Text, " ")
		if line.Fence != "" || !strings.HasPrefix(text, "[") {
			continue
		}
		label, rest, found := strings.Cut(text[1:], "]:")
		if !found || len(label) > maxLabelBytes || strings.ContainsAny(label, "[]") {
			continue
		}
		target, _ := linkTarget(strings.TrimRight(rest, " \t\n") + ")")
		if key := referenceKey(label); target != "" && references[key] == "" {
			references[key] = target
		}
	}
	return references
}

// referenceKey makes labels equal that differ in case or blank space.
func referenceKey(label string) string {
	return strings.ToLower(strings.Join(strings.Fields(label), " "))
}
