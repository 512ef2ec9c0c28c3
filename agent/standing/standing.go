// Package standing finds the standing instructions and preferences in the files of an agent: what holds for every answer, and what a
// search for the subject of a message finds worst.
package standing

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"kioku/derive/vocab"
	"kioku/internal/text"
)

// maxChars is the maximum length of an entry that is standing by its words. A longer one tells a story.
const maxChars = 300

// Entry is an item of a list or a paragraph.
type Entry struct {
	// First and Last line of the entry, 1-based and inclusive.
	First, Last int
	// Text of the entry, with the mark of an item.
	Text string
}

var (
	heading = regexp.MustCompile(`^ {0,3}(#{1,6})\s+(.+)$`)
	item    = regexp.MustCompile(`^\s*(?:[-*+]|\d{1,3}[.)])\s`)
	// task is an item that is to be done once.
	task  = regexp.MustCompile(`^\s*[-*+]\s+\[[ xX]\]`)
	fence = regexp.MustCompile("^\\s*(?:```|~~~)")
	// other lines are quotations, tables, rules and comments.
	other = regexp.MustCompile(`^\s*(?:>|\||<!--|---|\*\*\*)`)
)

// Entries returns the entries of a Markdown text that are standing instructions or preferences, in their order: all entries under a
// heading such as "Preferences", and short ones that say so. What gives orders to a program that reads notes
// is not among them, nor are tasks, quotations, tables and code.
func Entries(markdown string) []Entry {
	_, front, _ := text.FrontMatterBlock(markdown) // which is 0 if there is none
	r := reader{number: strings.Count(markdown[:front], "\n"), above: -1}
	for line := range strings.Lines(markdown[front:]) {
		r.readLine(strings.TrimRight(line, " \t\r\n"))
	}
	r.end()
	return r.found
}

// reader reads lines into entries.
type reader struct {
	// number of lines read.
	number int
	// under is the level of the standing heading that the line is under, 0 if it is under none.
	under  int
	inCode bool
	// above is under before the first entry, "## 15:04 - decision", and -1 before there is one.
	above int
	// entry is the one being read; its text is empty between entries.
	entry Entry
	found []Entry
}

// readLine reads a line without blanks at its end.
func (r *reader) readLine(line string) {
	r.number++
	if text.IsEntryHeading(line) {
		if r.above < 0 {
			r.above = r.under
		}
		r.under, r.inCode = r.above, false
	}
	switch m := heading.FindStringSubmatch(line); {
	case fence.MatchString(line):
		r.end()
		r.inCode = !r.inCode
	case r.inCode:
	case m != nil:
		r.end()
		if level := len(m[1]); r.under == 0 || level <= r.under {
			r.under = 0
			if isStandingHeading(m[2]) {
				r.under = level
			}
		}
	case line == "", other.MatchString(line):
		r.end()
	case item.MatchString(line) || r.entry.Text == "":
		r.end()
		r.entry = Entry{First: r.number, Last: r.number, Text: strings.TrimSpace(line)}
	default:
		r.entry.Last, r.entry.Text = r.number, r.entry.Text+"\n"+strings.TrimSpace(line)
	}
}

// end ends the entry.
func (r *reader) end() {
	said := strings.ReplaceAll(r.entry.Text, "\n", " ")
	switch {
	case said == "", task.MatchString(said):
	case r.under > 0, utf8.RuneCountInString(said) <= maxChars && isStanding(said):
		if !vocab.OrdersProgram(said) {
			r.found = append(r.found, r.entry)
		}
	}
	r.entry = Entry{}
}
