package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/rivo/uniseg"

	"kioku/bench"
)

// table is rows of cells: the first column is text, the others are figures.
type table struct {
	head []string
	rows []tableRow
}

type tableRow struct {
	cells []string
	// strong rows sum up others.
	strong bool
}

func (t *table) add(strong bool, cells ...string) {
	t.rows = append(t.rows, tableRow{cells, strong})
}

// table adds a table with aligned columns.
func (p *page) table(t table) {
	widths := make([]int, len(t.head))
	for _, row := range append([]tableRow{{cells: t.head}}, t.rows...) {
		for i, cell := range row.cells {
			widths[i] = max(widths[i], uniseg.StringWidth(clean(cell)))
		}
	}
	p.linef("%s", dim(aligned(t.head, widths)))
	for _, row := range t.rows {
		if text := aligned(row.cells, widths); row.strong {
			p.linef("%s", bold(text))
		} else {
			p.linef("%s", text)
		}
	}
}

// aligned joins cells, the first to the left and the others to the right of their columns.
func aligned(cells []string, widths []int) string {
	var b strings.Builder
	for i, cell := range cells {
		gap := strings.Repeat(" ", max(widths[i]-uniseg.StringWidth(clean(cell)), 0))
		if i == 0 {
			b.WriteString(cell + gap)
		} else {
			b.WriteString("  " + gap + cell)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// benchRun adds the tables of one run, with the differences to the first where that is not nil.
func (p *page) benchRun(run benchRun, first *benchRun) {
	name := run.Provider
	if run.Model != "" {
		name += " " + run.Model
	}
	p.linef("%s", bold(fmt.Sprintf("provider %s, %ss", name, run.Granularity)))
	t := table{head: []string{"set", "n", "R@1", "R@5", "R@10", "MRR@10", "nDCG@10", "R@2k", "V@5", "V@4k", "empty", "p50 ms", "p95 ms"}}
	for _, s := range run.Sets {
		for _, g := range s.Groups {
			t.add(false, figureRow(groupName(s.Set, g), g.Figures)...)
		}
	}
	if len(run.Sets) > 1 {
		t.add(true, figureRow(macroMean, run.Macro)...)
	}
	if first != nil {
		t.add(false, differenceRow("  less "+first.Provider, run.Macro, first.Macro)...)
	}
	p.table(t)
	p.typoTable(run)
	p.offTopicTable(run)
}

// groupName is the set for its first row, and what a group is for the rows below it.
func groupName(set string, g bench.Group) string {
	switch {
	case g.By != "":
		return "  " + g.By + " " + cmp.Or(g.Name, "none")
	case g.Name == bench.AllQuestions:
		return set
	}
	return "  " + g.Name
}

// macroMean names the row of means over the sets.
const macroMean = "macro mean"

func figureRow(name string, f bench.Figures) []string {
	cells := []string{name, fmt.Sprint(f.N)}
	for _, v := range f.Shares() {
		cells = append(cells, fraction(v))
	}
	return append(cells, fmt.Sprintf("%.1f", f.P50), fmt.Sprintf("%.1f", f.P95))
}

// differenceRow is what f has more than another's figures.
func differenceRow(name string, f, other bench.Figures) []string {
	cells := []string{name, ""}
	before := other.Shares()
	for i, v := range f.Shares() {
		cells = append(cells, strings.Replace(fmt.Sprintf("%+.3f", v-before[i]), "0.", ".", 1))
	}
	return append(cells, fmt.Sprintf("%+.1f", f.P50-other.P50), fmt.Sprintf("%+.1f", f.P95-other.P95))
}

// fraction is a figure in [0,1] to three digits.
func fraction(v float64) string { return strings.Replace(fmt.Sprintf("%.3f", v), "0.", ".", 1) }

func (p *page) typoTable(run benchRun) {
	if run.MacroTypos == nil {
		return
	}
	t := table{head: []string{"one typo in the rarest word", "n", "R@5", "typo", "unknown", "back", "V@5", "typo", "unknown", "back"}}
	add := func(strong bool, name string, r *bench.TypoReport) {
		t.add(strong, name, fmt.Sprint(r.N),
			fraction(r.Clean.R5), fraction(r.Typo.R5), fraction(r.Unknown.R5), fraction(r.BackR5),
			fraction(r.Clean.V5), fraction(r.Typo.V5), fraction(r.Unknown.V5), fraction(r.BackV5))
	}
	for _, s := range run.Sets {
		add(false, s.Set, s.Typos)
	}
	if len(run.Sets) > 1 {
		add(true, macroMean, run.MacroTypos)
	}
	p.linef("")
	p.table(t)
}

func (p *page) offTopicTable(run benchRun) {
	if run.MacroOffTopic == nil {
		return
	}
	t := table{head: []string{"off-topic questions", "of", "n", "silent", "questions lost", "hits lost"}}
	add := func(strong bool, name string, r *bench.OffTopicReport) {
		t.add(strong, name, r.Other, fmt.Sprint(r.N), fraction(r.Silent), fraction(r.LostQuestions), fraction(r.LostHits))
	}
	for _, s := range run.Sets {
		add(false, s.Set, s.OffTopic)
	}
	if len(run.Sets) > 1 {
		add(true, macroMean, run.MacroOffTopic)
	}
	p.linef("")
	p.table(t)
}
