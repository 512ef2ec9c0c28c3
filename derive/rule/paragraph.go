package rule

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"kioku/internal/text"
	"kioku/memory"
)

// paragraph is a run of lines that belong together: an item of a list without what is in it, or lines of prose.
type paragraph struct {
	// text of the lines, joined, without the mark of the item.
	text string
	// first and last line, by their numbers in the file.
	first, last int
	item        bool
	indent      int
	// quote is the text as it stood before a name at its beginning was removed, and address the address behind that name.
	quote, address string
	// task is ' ' or 'x' for an item with a check box, 0 for none.
	task     byte
	speaker  string
	headings string
	level    memory.Sensitivity
}

// maxParagraph is the length in bytes from which on a paragraph gets no further line. It bounds what one costs.
const maxParagraph = 8 << 10

var taskBox = text.NewRegexp(`^\[([ xX])\][ \t]+`)

// paragraphs returns the paragraphs of the lines of an episode. Headings, code, comments and blank lines end them.
func paragraphs(lines []line) []paragraph {
	var all []paragraph
	open := false
	for i := range lines {
		l := &lines[i]
		if l.role != prose || l.text == "" {
			open = false
			continue
		}
		mark := bullet.FindStringSubmatchIndex(l.text)
		text := strings.TrimSpace(l.text)
		if l.label > 0 {
			mark, text = nil, l.text[l.label:]
		}
		if open && mark == nil && l.label == 0 && len(all[len(all)-1].text) < maxParagraph && all[len(all)-1].speaker == l.speaker && !strings.HasPrefix(text, ">") && !startsLabelled(text) {
			all[len(all)-1].add(text, l)
			continue
		}
		p := paragraph{first: l.number, speaker: l.speaker, headings: l.headings}
		if mark != nil {
			p.item, p.indent, text = true, mark[3], strings.TrimSpace(l.text[mark[1]:])
			if box := taskBox.FindStringSubmatch(text); box != nil {
				p.task, text = strings.ToLower(box[1])[0], strings.TrimSpace(text[len(box[0]):])
			}
		}
		p.add(text, l)
		all = append(all, p)
		open = true
	}
	return all
}

// startsLabelled reports whether a line begins with a short label, "TODO: ...", so that it begins a paragraph.
func startsLabelled(text string) bool {
	return loopLabel.MatchString(text) || doneLabel.MatchString(text)
}

// add appends a line to the paragraph.
func (p *paragraph) add(text string, l *line) {
	if p.text != "" && !joinsDirectly(p.text, text) {
		p.text += " "
	}
	p.text += text
	p.quote = p.text
	p.last = l.number
	p.level = max(p.level, l.sensitivity)
}

// joinsDirectly reports whether two lines are joined without a space between them, as in Chinese and Japanese.
func joinsDirectly(a, b string) bool {
	last, _ := utf8.DecodeLastRuneInString(a)
	first, _ := utf8.DecodeRuneInString(b)
	return isWide(last) && isWide(first)
}

func isWide(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r >= 0x3000 && r <= 0x303F || r >= 0xFF00 && r <= 0xFFEF
}

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
