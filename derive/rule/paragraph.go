package rule

import (
	"strings"
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
