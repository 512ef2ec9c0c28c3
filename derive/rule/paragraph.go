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
	// starts are the offsets in text at which the lines begin.
	starts []int
	lines  []int // their numbers
	item   bool
	indent int
	// task is ' ' or 'x' for an item with a check box, 0 for none.
	task     byte
	speaker  string
	headings string
	level    memory.Sensitivity
}

// sentence is a part of a paragraph.
type sentence struct {
	text        string
	first, last int // numbers of lines
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
	p.starts, p.lines = append(p.starts, len(p.text)), append(p.lines, l.number)
	p.text += text
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

// abbreviations end with a full stop and end no sentence.
var abbreviations = text.NewRegexp(`(?:^|[\s(])(?:Mr|Mrs|Ms|Dr|Prof|St|vs|e\.g|i\.e|etc|approx|No|Inc|Ltd|[A-Z])\.$`)

// maxAbbreviation is the length of the longest abbreviation with its full stop and the character before it.
const maxAbbreviation = len(" approx.")

// sentences returns the sentences of the paragraph.
func (p *paragraph) sentences() []sentence {
	var out []sentence
	from := 0
	cut := func(to int) {
		if text := strings.TrimSpace(p.text[from:to]); text != "" {
			out = append(out, sentence{text, p.lineAt(from), p.lineAt(to - 1)})
		}
		from = to
	}
	for i, r := range p.text {
		end := i + utf8.RuneLen(r)
		switch r {
		case '。', '！', '？', '；':
			cut(end)
		case '.', '!', '?', ';':
			rest := p.text[end:]
			if strings.HasPrefix(rest, " ") && !abbreviations.MatchString(p.text[max(from, end-maxAbbreviation):end]) {
				cut(end)
			}
		}
	}
	cut(len(p.text))
	return out
}

// lineAt returns the number of the line at an offset of the text.
func (p *paragraph) lineAt(offset int) int {
	number := p.first
	for i, start := range p.starts {
		if start <= offset {
			number = p.lines[i]
		}
	}
	return number
}
