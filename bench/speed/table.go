package speed

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"kioku/bench"
)

// speedHead names the columns of the speed table.
var speedHead = []string{"name", "ours", "yardstick", "ratio", "goal", "held"}

// speedCells returns the columns of one row.
func speedCells(r Row) []string {
	held := "no"
	if r.Held {
		held = "yes"
	}
	return []string{r.Name, measured(r.Ours, r.Unit), measured(r.Yardstick, r.Unit), Figure(r.Ratio),
		strconv.FormatFloat(r.Goal, 'f', -1, 64), held}
}

// measured formats a figure with its unit.
func measured(v float64, unit string) string { return strings.TrimSpace(Figure(v) + " " + unit) }

// growthHead returns the head of the table of growth.
func growthHead(all []Growth) []string {
	head := []string{"growth of cost with size"}
	for _, size := range growthSizes(all) {
		head = append(head, FormatSize(size))
	}
	return append(head, "slope")
}

// growthSizes returns the sizes of the bench that was measured with the most sizes.
func growthSizes(all []Growth) []int {
	var sizes []int
	for _, g := range all {
		if len(g.Points) <= len(sizes) {
			continue
		}
		sizes = sizes[:0]
		for _, p := range g.Points {
			sizes = append(sizes, p.Size)
		}
	}
	return sizes
}

// growthCells returns the columns of one bench: its cost at each size, empty if it was not measured, and the slope.
func growthCells(g Growth, sizes []int) []string {
	cells := []string{g.Bench}
	for _, size := range sizes {
		cell := ""
		for _, p := range g.Points {
			if p.Size == size {
				cell = measured(p.Cost, g.Unit)
			}
		}
		cells = append(cells, cell)
	}
	if math.IsNaN(g.Slope) {
		return append(cells, "")
	}
	return append(cells, fmt.Sprintf("%.2f", g.Slope))
}

// grown returns the growth of the benches that were measured at two sizes or more.
func grown(results []Result) []Growth {
	var all []Growth
	for _, g := range GrowthOf(results) {
		if len(g.Points) > 1 {
			all = append(all, g)
		}
	}
	return all
}

// Tables returns the speed table and, if a bench was measured at two sizes or more, the table of growth.
func Tables(results []Result) []bench.Table {
	t := bench.Table{Head: speedHead}
	for _, r := range results {
		t.Add(!r.Row.Held, speedCells(r.Row)...)
	}
	tables := []bench.Table{t}
	if all := grown(results); len(all) > 0 {
		t = bench.Table{Head: growthHead(all)}
		for _, g := range all {
			t.Add(false, growthCells(g, growthSizes(all))...)
		}
		tables = append(tables, t)
	}
	return tables
}
