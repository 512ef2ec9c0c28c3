package rule

import (
	"time"

	"kioku/memory"
)

// role is what a line is for the rules.
type role uint8

const (
	// prose is text that may say something.
	prose role = iota
	// heading is the title of what follows.
	heading
	// code is in a fence or a table: a model may read it, the rules don't.
	code
	// order is text that gives orders to a program: neither a model nor the rules read it.
	order
	// hidden is front matter, a comment, a recalled memory or a line of a derived view.
	hidden
)

// line is a line of text of a file.
type line struct {
	// number in the file, from 1.
	number int
	// text without marks and comments, and without white space at its end.
	text string
	role role
	// level of the heading that it is, 1 to 6; headings are those above it or on it.
	level    int
	headings string
	speaker  string
	// label is the length of the name of the speaker at the beginning of the text, with the mark of the item; 0 if there is none.
	label int
	// sensitivity of the line.
	sensitivity memory.Sensitivity
	// at is the time of the message or the entry; zero if it tells none. day is its day.
	at  time.Time
	day string
	// starts reports that an episode begins here: a message or an entry.
	starts bool
}

// isBlank reports whether nothing is to be read on the line.
func (l *line) isBlank() bool { return l.role == hidden || l.text == "" }
