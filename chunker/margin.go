package chunker

import "strings"

// marginReader tells which lines are code because they are indented. It reads all lines of a text in order.
type marginReader struct {
	// blank is set if the line before is blank, code if it is code, and list if a list is open.
	blank, code, list bool
}

// isCode reports whether the next line is indented by four columns, behind a blank line or code, and in no list.
func (m *marginReader) isCode(line string) bool {
	if isBlank(line) {
		m.blank = true
		return false
	}
	wide := strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
	m.code = wide && !m.list && (m.blank || m.code)
	if isBullet(strings.TrimLeft(line, " \t")) {
		m.list = m.list || !m.code
	} else if m.blank && indent(line) == 0 {
		m.list = false
	}
	m.blank = false
	return m.code
}
