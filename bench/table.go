package bench

import (
	"cmp"
	"fmt"
	"strings"
)

// Table is rows of cells under a head: the first column is text, the others are figures.
type Table struct {
	// Title stands above the table, empty for none.
	Title string
	Head  []string
	Rows  []TableRow
}

// TableRow is one row of a [Table].
type TableRow struct {
	Cells []string
	// Strong is true for rows that stand out, such as totals.
	Strong bool
}

// Add adds a row.
func (t *Table) Add(strong bool, cells ...string) {
	t.Rows = append(t.Rows, TableRow{cells, strong})
}

// Tables returns the tables of a run, with the differences to the first run if first is not nil.
func (r Run) Tables(first *Run) []Table {
	name := r.Provider
	if r.Model != "" {
		name += " " + r.Model
	}
	t := Table{Title: fmt.Sprintf("provider %s, %ss", name, r.Granularity), Head: []string{"set", "n", "R@1", "R@5", "R@10", "MRR@10", "nDCG@10", "R@2k", "V@5", "V@4k", "empty", "p50 ms", "p95 ms"}}
	for _, s := range r.Sets {
		for _, g := range s.Groups {
			t.Add(false, figureRow(groupName(s.Set, g), g.Figures)...)
		}
	}
	if len(r.Sets) > 1 {
		t.Add(true, figureRow(macroMean, r.Macro)...)
	}
	if first != nil {
		t.Add(false, differenceRow("  less "+first.Provider, r.Macro, first.Macro)...)
	}
	tables := []Table{t}
	if r.MacroTypos != nil {
		tables = append(tables, r.typoTable())
	}
	if r.MacroOffTopic != nil {
		tables = append(tables, r.offTopicTable())
	}
	return tables
}

// groupName returns the name of the set for its first row and the name of the group for the rows below.
func groupName(set string, g Group) string {
	switch {
	case g.By != "":
		return "  " + g.By + " " + cmp.Or(g.Name, "none")
	case g.Name == AllQuestions:
		return set
	}
	return "  " + g.Name
}

// macroMean names the row of means over the sets.
const macroMean = "macro mean"

func figureRow(name string, f Figures) []string {
	cells := []string{name, fmt.Sprint(f.N)}
	for _, v := range f.Shares() {
		cells = append(cells, fraction(v))
	}
	return append(cells, fmt.Sprintf("%.1f", f.P50), fmt.Sprintf("%.1f", f.P95))
}

// differenceRow returns the differences of f to other.
func differenceRow(name string, f, other Figures) []string {
	cells := []string{name, ""}
	before := other.Shares()
	for i, v := range f.Shares() {
		cells = append(cells, strings.Replace(fmt.Sprintf("%+.3f", v-before[i]), "0.", ".", 1))
	}
	return append(cells, fmt.Sprintf("%+.1f", f.P50-other.P50), fmt.Sprintf("%+.1f", f.P95-other.P95))
}

// fraction formats a figure in [0,1] with three digits.
func fraction(v float64) string { return strings.Replace(fmt.Sprintf("%.3f", v), "0.", ".", 1) }

func (r Run) typoTable() Table {
	t := Table{Head: []string{"one typo in the rarest word", "n", "R@5", "typo", "unknown", "back", "V@5", "typo", "unknown", "back"}}
	add := func(strong bool, name string, report *TypoReport) {
		t.Add(strong, name, fmt.Sprint(report.N),
			fraction(report.Clean.R5), fraction(report.Typo.R5), fraction(report.Unknown.R5), fraction(report.BackR5),
			fraction(report.Clean.V5), fraction(report.Typo.V5), fraction(report.Unknown.V5), fraction(report.BackV5))
	}
	for _, s := range r.Sets {
		add(false, s.Set, s.Typos)
	}
	if len(r.Sets) > 1 {
		add(true, macroMean, r.MacroTypos)
	}
	return t
}

func (r Run) offTopicTable() Table {
	t := Table{Head: []string{"off-topic questions", "of", "n", "silent", "questions lost", "hits lost"}}
	add := func(strong bool, name string, report *OffTopicReport) {
		t.Add(strong, name, report.Other, fmt.Sprint(report.N), fraction(report.Silent), fraction(report.LostQuestions), fraction(report.LostHits))
	}
	for _, s := range r.Sets {
		add(false, s.Set, s.OffTopic)
	}
	if len(r.Sets) > 1 {
		add(true, macroMean, r.MacroOffTopic)
	}
	return t
}
