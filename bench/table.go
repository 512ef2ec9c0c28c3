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
	// Head contains the names of the columns.
	Head []string
	// Rows in order.
	Rows []TableRow
}

// TableRow is one row of a [Table].
type TableRow struct {
	// Cells are as many as the head has.
	Cells []string
	// Strong is true for rows that stand out, such as totals.
	Strong bool
}

// Add adds a row.
func (t *Table) Add(strong bool, cells ...string) {
	t.Rows = append(t.Rows, TableRow{cells, strong})
}

// Table returns the table of a run, with the differences to the first run if first is not nil.
func (r Run) Table(first *Run) Table {
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
	return t
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
	for _, v := range f.Scores.all() {
		cells = append(cells, fraction(*v))
	}
	return append(cells, fmt.Sprintf("%.1f", f.P50), fmt.Sprintf("%.1f", f.P95))
}

// differenceRow returns the differences of f to other.
func differenceRow(name string, f, other Figures) []string {
	cells := []string{name, ""}
	before := other.Scores.all()
	for i, v := range f.Scores.all() {
		cells = append(cells, strings.Replace(fmt.Sprintf("%+.3f", *v-*before[i]), "0.", ".", 1))
	}
	return append(cells, fmt.Sprintf("%+.1f", f.P50-other.P50), fmt.Sprintf("%+.1f", f.P95-other.P95))
}

// fraction formats a figure in [0,1] with three digits.
func fraction(v float64) string { return strings.Replace(fmt.Sprintf("%.3f", v), "0.", ".", 1) }
