package chunker

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"kioku/internal/text"
)

// Limits of what is read from a text. What exceeds them is left out.
const (
	maxLinks    = 10_000
	maxLinkText = 256
	maxTarget   = 1024
	maxTag      = 100
	// maxLabelBytes is the length of the longest label of a reference link, as CommonMark has it.
	maxLabelBytes = 999
)

// inlineReader reads the tags and links of a text, line by line. It takes linear time.
type inlineReader struct {
	tags  []string
	links []Link
	// places includes the links to places in the same note.
	places bool
	// references are the targets of reference links by their labels, as [referenceKey] makes them.
	references map[string]string

	// The state within a line: its number and text, the offset that is read next, and the offsets behind the [ that are open.
	line int
	text string
	pos  int
	open []int
	// ticks contains the start of the last run of backticks of each length, nil until it is needed.
	ticks map[int]int
}

// readInline returns the tags and links in lines of Markdown, of which the first has the number first. tags are those that
// the file has already.
func readInline(lines []Line, first int, tags []string) ([]string, []Link) {
	r := inlineReader{tags: tags}
	r.readLines(lines, first)
	return r.tags, r.links
}

// InternalLinks returns the links in lines to other notes and to places in the same note, in the order of the lines, of which
// the first has the number 0. The target of a place is empty.
func InternalLinks(lines []Line) []Link {
	r := inlineReader{places: true}
	r.readLines(lines, 0)
	return r.links
}

// readLines reads the lines outside of code fences, of which the first has the number first.
func (r *inlineReader) readLines(lines []Line, first int) {
	r.references = readReferences(lines)
	margin := marginReader{blank: true}
	for i, line := range lines {
		code := margin.isCode(line.Text)
		if !code && line.Fence == "" && fenceMark(line.Text) == "" && strings.ContainsAny(line.Text, "[#") {
			r.readLine(first+i, line)
		}
	}
}

// readLine reads a line outside of any code fence.
func (r *inlineReader) readLine(number int, line Line) {
	r.line, r.text, r.pos, r.open, r.ticks = number, strings.TrimRight(line.Text, "\n"), 0, r.open[:0], nil
	if headingLevel(r.text) > 0 {
		r.pos = len(r.text) - len(strings.TrimLeft(r.text, " #"))
	}
	for r.pos < len(r.text) {
		switch r.text[r.pos] {
		case '\\':
			r.pos += 2
		case '`':
			r.skipCode()
		case '#':
			r.readTag()
		case '[':
			r.pos++
			r.open = append(r.open, r.pos)
		case ']':
			r.closeBracket()
		default:
			r.pos++
		}
	}
}

// skipCode moves behind a code span, or behind backticks that open none.
func (r *inlineReader) skipCode() {
	n := countPrefix(r.text[r.pos:], '`')
	if r.ticks == nil {
		r.ticks = lastRuns(r.text)
	}
	last := r.ticks[n]
	for r.pos += n; r.pos <= last; {
		if next := strings.IndexByte(r.text[r.pos:], '`'); next > 0 {
			r.pos += next
		}
		run := countPrefix(r.text[r.pos:], '`')
		if r.pos += run; run == n {
			return
		}
	}
}

// lastRuns returns the offset of the last run of backticks of each length.
func lastRuns(text string) map[int]int {
	runs := map[int]int{}
	for i := 0; i < len(text); i++ {
		if n := countPrefix(text[i:], '`'); n > 0 {
			runs[n] = i
			i += n
		}
	}
	return runs
}

// readTag reads the tag that begins at the #, if one does: blank space is before it, and it has a letter.
func (r *inlineReader) readTag() {
	start := r.pos
	r.pos++
	if before, _ := utf8.DecodeLastRuneInString(r.text[:start]); start > 0 && !unicode.IsSpace(before) {
		return
	}
	end := strings.IndexFunc(r.text[r.pos:], func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.IsMark(c) && !strings.ContainsRune("_-/", c)
	})
	if end < 0 {
		end = len(r.text) - r.pos
	}
	tag := r.text[r.pos : r.pos+end]
	if r.pos += end; end <= maxTag && strings.ContainsFunc(tag, unicode.IsLetter) {
		r.tags = addTag(r.tags, tag)
	}
}

// closeBracket reads the link whose text or name a ] ends.
func (r *inlineReader) closeBracket() {
	depth := len(r.open)
	if depth == 0 {
		r.pos++
		return
	}
	start, shown := r.open[depth-1], r.text[r.open[depth-1]:r.pos]
	r.open = r.open[:depth-1]
	embedded := strings.HasSuffix(r.text[:start-1], "!")
	rest := r.text[r.pos+1:]
	switch {
	case depth > 1 && r.open[depth-2] == start-1 && strings.HasPrefix(rest, "]"):
		r.open = r.open[:depth-2]
		r.pos += 2
		r.addWikiLink(shown, strings.HasSuffix(r.text[:start-2], "!"))
	case strings.HasPrefix(rest, "("):
		target, length := linkTarget(rest[1:])
		if r.pos += 2; length > 0 && !embedded {
			r.pos += length
			r.addPathLink(shown, target)
		}
	default:
		r.pos++
		definition := strings.HasPrefix(rest, ":") && isBlank(r.text[:start-1])
		if len(r.references) > 0 && !embedded && !definition {
			r.readReference(shown)
		}
	}
}

// readReference reads the rest of a reference link, [text][label] or [label], behind its first brackets.
func (r *inlineReader) readReference(shown string) {
	label := shown
	if rest := r.text[r.pos:]; strings.HasPrefix(rest, "[") {
		if end := strings.IndexAny(rest[1:], "[]"); end > 0 && rest[1+end] == ']' {
			label = rest[1 : 1+end]
			r.pos += end + 2
		}
	}
	if len(label) > maxLabelBytes {
		return
	}
	if target, ok := r.references[referenceKey(label)]; ok {
		r.addPathLink(shown, target)
	}
}

// addWikiLink adds the link [[name]], [[name#heading]] or [[name|text]].
func (r *inlineReader) addWikiLink(inner string, embedded bool) {
	if len(inner) > maxTarget+maxLinkText || strings.ContainsAny(inner, "[]") {
		return
	}
	target, shown, _ := strings.Cut(inner, "|")
	target = strings.TrimSuffix(target, `\`) // a | in a table is written \|
	kind := WikiLink
	if embedded {
		kind = EmbedLink
	}
	name, _, _ := strings.Cut(target, "#")
	if embedded && isOtherFile(name) {
		return
	}
	if shown = strings.TrimSpace(shown); shown == "" {
		shown = strings.TrimSpace(target)
	}
	r.addLink(shown, strings.TrimSpace(name), kind)
}

// addPathLink adds a Markdown link, unless it leads out of the notes or to a place in the same note.
func (r *inlineReader) addPathLink(shown, target string) {
	if isExternal(target) {
		return
	}
	target, _, _ = strings.Cut(target, "#")
	target, _, _ = strings.Cut(target, "?")
	if isOtherFile(target) {
		return
	}
	if decoded, err := url.PathUnescape(target); err == nil && utf8.ValidString(decoded) {
		target = decoded
	}
	r.addLink(shown, target, PathLink)
}

func (r *inlineReader) addLink(shown, target, kind string) {
	if target == "" && !r.places || len(target) > maxTarget || len(r.links) >= maxLinks || strings.ContainsFunc(target, unicode.IsControl) {
		return
	}
	shown = text.OneLine(text.HeadBytes(shown, 2*maxLinkText))
	r.links = append(r.links, Link{Line: r.line, Text: text.HeadBytes(shown, maxLinkText), Target: target, Kind: kind})
}
