package speed

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kioku/bench"
)

// Tables returns the speed table and, if a bench was measured at two sizes or more, the table of growth.
func Tables(results []Result) []bench.Table {
	t := bench.Table{Head: []string{"name", "ours", "yardstick", "ratio", "goal", "held"}}
	for _, result := range results {
		r, held := result.Row, "no"
		if r.Held {
			held = "yes"
		}
		t.Add(!r.Held, r.Name, measured(r.Ours, r.Unit), measured(r.Yardstick, r.Unit), Figure(r.Ratio),
			strconv.FormatFloat(r.Goal, 'f', -1, 64), held)
	}
	all := slices.DeleteFunc(GrowthOf(results), func(g Growth) bool { return len(g.Points) < 2 })
	if len(all) == 0 {
		return []bench.Table{t}
	}
	return []bench.Table{t, growthTable(all)}
}

// growthTable returns a row for each bench: its cost at each size, empty if it was not measured, and the slope.
func growthTable(all []Growth) bench.Table {
	t := bench.Table{Head: []string{"growth of cost with size"}}
	// A bench that failed at a size lacks it.
	columns := slices.MaxFunc(all, func(g, h Growth) int { return cmp.Compare(len(g.Points), len(h.Points)) }).Points
	for _, c := range columns {
		t.Head = append(t.Head, FormatSize(c.Size))
	}
	t.Head = append(t.Head, "slope")
	for _, g := range all {
		cells := []string{g.Bench}
		for _, c := range columns {
			cell := ""
			if i := slices.IndexFunc(g.Points, func(p Point) bool { return p.Size == c.Size }); i >= 0 {
				cell = measured(g.Points[i].Cost, g.Unit)
			}
			cells = append(cells, cell)
		}
		t.Add(false, append(cells, fmt.Sprintf("%.2f", g.Slope))...)
	}
	return t
}

// measured formats a figure with its unit.
func measured(v float64, unit string) string { return strings.TrimSpace(Figure(v) + " " + unit) }
