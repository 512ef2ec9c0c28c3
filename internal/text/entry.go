package text

// IsEntryHeading reports whether a line is the heading of an entry, as it is appended to a file of notes: "## 15:04 - decision". An entry
// ends where the next one begins, whatever Markdown its text leaves open.
func IsEntryHeading(line string) bool {
	const form = "## 15:04 - "
	if len(line) <= len(form) {
		return false
	}
	for i := range len(form) {
		if c := form[i]; isDigit(c) != isDigit(line[i]) || !isDigit(c) && c != line[i] {
			return false
		}
	}
	return true
}
