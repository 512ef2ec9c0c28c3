package chunker

import "strings"

// The functions of this file parse one line each, and only the Markdown that decides where to cut. If in doubt, a line is
// plain text.

// indent returns the number of spaces and tabs at the start of a line.
func indent(line string) int {
	return len(line) - len(strings.TrimLeft(line, " \t"))
}

// headingLevel returns 1 to 6 for an ATX heading, 0 for any other line.
func headingLevel(line string) int {
	level := strings.TrimLeft(line, " ")
	if len(line)-len(level) > 3 {
		return 0
	}
	n := countPrefix(level, '#')
	if n == 0 || n > 6 || n < len(level) && !strings.ContainsRune(" \t\n", rune(level[n])) {
		return 0
	}
	return n
}

// headingTitle returns the words of a heading of either style; text is its first line.
func headingTitle(text string) string {
	title := strings.TrimSpace(text)
	if headingLevel(text) == 0 {
		return title
	}
	title = strings.TrimSpace(strings.TrimLeft(title, "#"))
	if open := strings.TrimRight(title, "#"); open == "" || strings.HasSuffix(open, " ") {
		return strings.TrimSpace(open)
	}
	return title
}

// underlineLevel returns the level of the heading that a line underlines: 1 for "==" or more, 2 for "--" or more, 0 for
// other lines.
func underlineLevel(line string) int {
	mark := strings.TrimRight(line, " \t\n")
	if len(mark) < 2 || indent(line) > 3 {
		return 0
	}
	mark = strings.TrimLeft(mark, " ")
	switch {
	case countPrefix(mark, '=') == len(mark):
		return 1
	case countPrefix(mark, '-') == len(mark):
		return 2
	}
	return 0
}

// isParagraph reports whether a line is plain text that starts no block.
func isParagraph(line string) bool {
	return fenceMark(line) == "" && indent(line) < 4 && !isBullet(strings.TrimLeft(line, " ")) && !strings.ContainsAny(line, "|") &&
		!strings.HasPrefix(strings.TrimLeft(line, " "), ">") && underlineLevel(line) == 0
}

// fenceMark returns the mark of the code fence that a line opens, "```" or "~~~" or longer, or "" if it opens none. A fence
// may be indented to any depth, as under bullets.
func fenceMark(line string) string {
	text := strings.TrimLeft(line, " \t")
	for _, mark := range []byte("`~") {
		n := countPrefix(text, mark)
		if n >= 3 && (mark == '~' || !strings.Contains(text[n:], "`")) {
			return text[:n]
		}
	}
	return ""
}

// closesFence reports whether a line closes the fence that was opened with mark.
func closesFence(line, mark string) bool {
	text := strings.TrimSpace(line)
	n := countPrefix(text, mark[0])
	return n >= len(mark) && n == len(text)
}

// isBullet reports whether a line is a list item that is not indented: "- ", "* ", "+ ", "1. ", "1) ".
func isBullet(line string) bool {
	i := 0
	for i < len(line) && i < 9 && line[i] >= '0' && line[i] <= '9' {
		i++
	}
	marks := "-*+"
	if i > 0 {
		marks = ".)"
	}
	if i >= len(line) || strings.IndexByte(marks, line[i]) < 0 {
		return false
	}
	return i+1 == len(line) || strings.IndexByte(" \t\n", line[i+1]) >= 0
}

// isTableRule reports whether a line separates the head of a table from its rows, "|---|:-:|".
func isTableRule(line string) bool {
	return strings.Contains(line, "|") && strings.Contains(line, "-") && strings.Trim(line, "|-: \t\n") == ""
}

// countPrefix returns how often text repeats mark at its start.
func countPrefix(text string, mark byte) int {
	n := 0
	for n < len(text) && text[n] == mark {
		n++
	}
	return n
}
