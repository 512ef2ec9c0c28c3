package main

import (
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"

	"kioku/bench/speed"
)

// speedHead names the columns of the speed table.
var speedHead = []string{"name", "ours", "yardstick", "ratio", "goal", "held"}

// speedCells are the columns of one row.
func speedCells(r speed.Row) []string {
	held := "no"
	if r.Held {
		held = "yes"
	}
	return []string{r.Name, measured(r.Ours, r.Unit), measured(r.Yardstick, r.Unit), speed.Figure(r.Ratio),
		strconv.FormatFloat(r.Goal, 'f', -1, 64), held}
}

// measured is a figure with its unit.
func measured(v float64, unit string) string { return strings.TrimSpace(speed.Figure(v) + " " + unit) }

// growthHead names the columns of the table of growth.
func growthHead(all []speed.Growth) []string {
	head := []string{"growth of cost with size"}
	for _, size := range growthSizes(all) {
		head = append(head, speed.FormatSize(size))
	}
	return append(head, "slope")
}

// growthSizes are the sizes of the bench that was measured at most of them.
func growthSizes(all []speed.Growth) []int {
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

// growthCells are the columns of one bench: what it cost at each size, nothing where it was not measured, and the slope.
func growthCells(g speed.Growth, sizes []int) []string {
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

// grown are the benches whose growth can be told: those measured at two sizes or more.
func grown(results []speed.Result) []speed.Growth {
	var all []speed.Growth
	for _, g := range speed.GrowthOf(results) {
		if len(g.Points) > 1 {
			all = append(all, g)
		}
	}
	return all
}

// speedTables adds the speed table and, below it, how costs grow.
func (p *page) speedTables(results []speed.Result) {
	t := table{head: speedHead}
	for _, r := range results {
		t.add(!r.Row.Held, speedCells(r.Row)...)
	}
	p.table(t)
	all := grown(results)
	if len(all) == 0 {
		return
	}
	p.linef("")
	t = table{head: growthHead(all)}
	for _, g := range all {
		t.add(false, growthCells(g, growthSizes(all))...)
	}
	p.table(t)
}

// speedMarkdown adds the same as Markdown, and what it was measured on.
func (p *page) speedMarkdown(results []speed.Result) {
	p.linef("Kioku %s on %s/%s, %s.", buildVersion(), runtime.GOOS, runtime.GOARCH, count(runtime.NumCPU(), "core"))
	p.linef("")
	p.markdownRow(speedHead)
	p.markdownRule(len(speedHead))
	for _, r := range results {
		p.markdownRow(speedCells(r.Row))
	}
	all := grown(results)
	if len(all) == 0 {
		return
	}
	p.linef("")
	p.markdownRow(growthHead(all))
	p.markdownRule(len(growthHead(all)))
	for _, g := range all {
		p.markdownRow(growthCells(g, growthSizes(all)))
	}
}

func (p *page) markdownRow(cells []string) { p.linef("| %s |", strings.Join(cells, " | ")) }

// markdownRule adds the line below a head of n columns, of which all but the first are figures.
func (p *page) markdownRule(n int) { p.linef("|---|%s", strings.Repeat("---:|", n-1)) }
