package render

import (
	"fmt"
	"strings"

	"kioku/bench"
)

// Tables adds tables with a blank line between them.
func (p *Page) Tables(tables []bench.Table) {
	for i, t := range tables {
		if i > 0 {
			p.Linef("")
		}
		p.Table(t)
	}
}

// Table adds a table with aligned columns.
func (p *Page) Table(t bench.Table) {
	if t.Title != "" {
		p.Linef("%s", Bold(t.Title))
	}
	widths := make([]int, len(t.Head))
	for _, row := range append([]bench.TableRow{{Cells: t.Head}}, t.Rows...) {
		for i, cell := range row.Cells {
			widths[i] = max(widths[i], Width(cell))
		}
	}
	p.Linef("%s", Dim(aligned(t.Head, widths)))
	for _, row := range t.Rows {
		if text := aligned(row.Cells, widths); row.Strong {
			p.Linef("%s", Bold(text))
		} else {
			p.Linef("%s", text)
		}
	}
}

// aligned joins cells; the first column is aligned left, the others right.
func aligned(cells []string, widths []int) string {
	var b strings.Builder
	for i, cell := range cells {
		gap := strings.Repeat(" ", max(widths[i]-Width(cell), 0))
		if i == 0 {
			b.WriteString(cell + gap)
		} else {
			b.WriteString("  " + gap + cell)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// Markdown adds a table as Markdown writes it; all columns but the first are figures.
func (p *Page) Markdown(t bench.Table) {
	p.markdownRow(t.Head)
	p.Linef("|---|%s", strings.Repeat("---:|", len(t.Head)-1))
	for _, row := range t.Rows {
		p.markdownRow(row.Cells)
	}
}

func (p *Page) markdownRow(cells []string) { p.Linef("| %s |", strings.Join(cells, " | ")) }

// Golden adds a line for each question, two if it failed, the figures of each category, and the total.
func (p *Page) Golden(r bench.GoldenReport) {
	for _, q := range r.Questions {
		p.goldenAnswer(q)
	}
	for _, g := range r.ByCategory() {
		p.Linef("%s  %d of %d found, %d first, MRR %.3f", Pad(g.Name, 12), g.Passed, g.Total, g.First, g.MRR)
	}
	if r.OffTopic > 0 {
		p.Linef("%-12s  %d of %d silent", "off topic", r.Silent, r.OffTopic)
	}
	if r.Total > 0 {
		p.Linef("%s%s", Bold(fmt.Sprintf("%d of %d found, recall %.3f, MRR %.3f", r.Passed, r.Total, r.Recall, r.MRR)), r.ByLanguage())
	}
}

// goldenAnswer adds the line of a question, and if it failed what was expected and what came first.
func (p *Page) goldenAnswer(q bench.GoldenAnswer) {
	first := "nothing was found"
	if q.First != "" {
		first = "the first result is " + CleanLine(q.First)
	}
	switch {
	case q.Passed && q.OffTopic():
		p.Linef("ok    silent   %s", CleanLine(q.Question))
	case q.Passed:
		p.Linef("ok    rank %-2d  %s", q.Rank, CleanLine(q.Question))
	case q.OffTopic():
		p.Linef("answered       %s", CleanLine(q.Question))
		p.Linef("               expected no confident result; %s", first)
	default:
		p.Linef("%s           %s", Bold("FAIL"), CleanLine(q.Question))
		p.Linef("               expected %s; %s", CleanLine(q.Expected), first)
	}
}
