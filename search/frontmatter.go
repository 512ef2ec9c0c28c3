package search

import (
	"strings"

	"kioku/chunker"
	"kioku/internal/text"
)

// splitFrontMatter returns the front matter at the start of a chunk and the text below it. The first is empty if there is
// none, or if the chunk has no other text.
func (c *Chunk) splitFrontMatter() (meta, body string) {
	if c.StartLine != 1 {
		return "", c.Text
	}
	_, length := chunker.FrontMatterLines(c.Text)
	if length == 0 && !c.Closed && isOpenFrontMatter(c.Text) {
		return c.Text, "" // it goes on in the next chunk
	}
	if strings.TrimSpace(c.Text[length:]) == "" {
		return "", c.Text
	}
	return c.Text[:length], c.Text[length:]
}

// propertyLine matches a line of front matter.
var propertyLine = text.NewRegexp(`^(?:\s|-\s|#|[^\s:][^:]*:(?:\s|$))`)

// isOpenFrontMatter reports whether a text begins with front matter that it does not end.
func isOpenFrontMatter(text string) bool {
	rest, found := strings.CutPrefix(text, "---\n")
	for line := range strings.Lines(rest) {
		found = found && propertyLine.MatchString(line)
	}
	return found && rest != ""
}

// spans cuts the text of a chunk into passages. Front matter is a passage of its own.
func (c *Chunk) spans(lines []chunker.Line, limit int) []span {
	meta, body := c.splitFrontMatter()
	above := strings.Count(meta, "\n")
	spans := cutPassages(meta, lines[:above], c.StartLine, limit, passageOverlap)
	for i := range spans {
		spans[i].meta = true
	}
	for _, s := range cutPassages(body, lines[above:], c.StartLine+above, limit, passageOverlap) {
		s.start += len(meta)
		spans = append(spans, s)
	}
	return spans
}

// snippetText returns the part of a candidate from which a snippet is taken, and its first line. Front matter is none, unless
// there is no other text, or it has a term of the query that is no name of the file and no day, and the text below it has none: then the
// snippet is of the lines between its marks.
func (c *candidate) snippetText(q queryTerms) (text string, first int) {
	meta, body := c.splitFrontMatter()
	pieces := []piece{{text: body}}
	if meta != "" {
		if countPieces(pieces, c.Language, q); pieces[0].any || !c.saysIn(q, meta) {
			return body, c.StartLine + strings.Count(meta, "\n")
		}
	}
	if meta != "" && body == "" {
		return strings.TrimPrefix(meta, "---\n"), c.StartLine + 1
	}
	if lines, _ := chunker.FrontMatterLines(c.Text); c.StartLine == 1 && lines > 2 {
		properties := strings.SplitAfter(c.Text, "\n")[1 : lines-1]
		return strings.Join(properties, ""), c.StartLine + 1
	}
	return c.Text, c.StartLine
}

// saysIn reports whether front matter has a term of the query that is no name of the file, because all texts of the file have
// those, and no word for a day.
func (c *candidate) saysIn(q queryTerms, meta string) bool {
	pieces := []piece{{text: meta}}
	countPieces(pieces, c.Language, q)
	for i, n := range pieces[0].counts {
		if n > 0 && !c.text.isNamed(i) && !q.list[i].date {
			return true
		}
	}
	return false
}
