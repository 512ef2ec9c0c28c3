package rule

import (
	"kioku/internal/text"
	"kioku/memory"
)

// bullet matches the mark of an item of a list and the blanks before it.
var bullet = text.NewRegexp(`^([ \t]*)(?:[-*+•・]|\d{1,3}[.)])[ \t]+`)

// isTopBullet reports whether a line begins an item of a list that is in no other item.
func isTopBullet(l *line) bool {
	if l.role != prose {
		return false
	}
	m := bullet.FindStringSubmatch(l.text)
	return m != nil && m[1] == ""
}

// cut returns the runs of lines that are episodes.
func (d *Document) cut() []span {
	all := span{0, len(d.lines)}
	switch {
	case memory.IsTranscript(d.file.Source), isDailyLog(d.file.Path):
		return d.cutAt(all, func(i int) bool { return d.lines[i].starts })
	case d.longTerm:
		var out []span
		for _, s := range d.cutEntries(all) {
			out = append(out, d.cutLong(s, 7)...)
		}
		return out
	}
	level := d.sectionLevel()
	var out []span
	for _, s := range d.cutAt(all, func(i int) bool { return d.lines[i].role == heading && d.lines[i].level <= level }) {
		out = append(out, d.cutLong(s, level+1)...)
	}
	return out
}

// cutAt cuts a span before each line for which begins is true.
func (d *Document) cutAt(s span, begins func(i int) bool) []span {
	var out []span
	from := s.from
	for i := s.from + 1; i < s.to; i++ {
		if begins(i) {
			out = append(out, span{from, i})
			from = i
		}
	}
	if from < s.to {
		out = append(out, span{from, s.to})
	}
	return out
}

// cutEntries cuts a file of what stays true: each item of a list is an episode, with what is in it, and so is each paragraph.
func (d *Document) cutEntries(s span) []span {
	inItem := false
	return d.cutAt(s, func(i int) bool {
		l, before := &d.lines[i], &d.lines[i-1]
		switch {
		case l.role == heading:
			inItem = false
			return true
		case isTopBullet(l):
			inItem = true
			return true
		case l.isBlank() || l.role == code:
			return false
		case before.role == heading:
			return true
		case before.text == "" && before.role == prose: // behind a blank line only what is indented belongs to the item
			if inItem && (l.text[0] == ' ' || l.text[0] == '\t') {
				return false
			}
			inItem = false
			return true
		}
		return false
	})
}

// sectionLevel returns the level of the headings that begin episodes: 2 in dated notes, and else the highest level with several
// headings; 0 if there is none.
func (d *Document) sectionLevel() int {
	if d.sectioned {
		return 2
	}
	var count [7]int
	for i := range d.lines {
		if d.lines[i].role == heading {
			count[d.lines[i].level]++
		}
	}
	for level := 1; level <= 6; level++ {
		if count[level] > 1 {
			return level
		}
	}
	for level := 2; level <= 6; level++ {
		if count[level] == 1 {
			return level
		}
	}
	return 0
}

// cutLong cuts a span that is too long for an episode: before headings, else before blank lines and items, else between lines.
func (d *Document) cutLong(s span, level int) []span {
	if d.tokens(s) <= maxEpisodeTokens {
		return []span{s}
	}
	for ; level <= 6; level++ {
		parts := d.cutAt(s, func(i int) bool { return d.lines[i].role == heading && d.lines[i].level <= level })
		if len(parts) < 2 {
			continue
		}
		var out []span
		for _, part := range parts {
			out = append(out, d.cutLong(part, level+1)...)
		}
		return out
	}
	soft := d.cutAt(s, func(i int) bool {
		before := &d.lines[i-1]
		return before.text == "" && before.role != code || isTopBullet(&d.lines[i]) && before.role != heading
	})
	var out []span
	for _, packed := range d.pack(soft) {
		if d.tokens(packed) <= maxEpisodeTokens {
			out = append(out, packed)
			continue
		}
		out = append(out, d.pack(d.cutAt(packed, func(int) bool { return true }))...)
	}
	return out
}

// pack joins neighbouring spans as long as they are short enough together.
func (d *Document) pack(parts []span) []span {
	var out []span
	tokens := 0
	for _, p := range parts {
		n := d.tokens(p)
		if len(out) > 0 && tokens+n <= maxEpisodeTokens {
			out[len(out)-1].to = p.to
			tokens += n
			continue
		}
		out = append(out, p)
		tokens = n
	}
	return out
}

// tokens returns about how many tokens the visible lines of a span have.
func (d *Document) tokens(s span) int {
	n := 0
	for i := s.from; i < s.to; i++ {
		if !d.lines[i].isBlank() {
			n += text.EstimateTokens(d.lines[i].text) + 1
		}
	}
	return n
}
