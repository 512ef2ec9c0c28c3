package speed

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"text/template"
)

// Measures of the plot in pixels.
const (
	plotWidth = 960
	// plotLeft and plotRight bound the lines, as in plot.svg.tmpl; the labels are to the right of them.
	plotLeft, plotRight = 76, 600
	// panelHead is the space above the lines of a panel, for its title; panelFoot that below, for the sizes.
	panelHead, panelFoot = 40, 48
	panelLeast           = 240
	labelGap             = 20
)

// inks are the colours of lines, legible on white and on black. Lines of the same colour have different dashes.
var (
	inks   = [...]string{"#2f81c7", "#d2691e", "#2e9960", "#b8579f", "#7f6fd6", "#a3851c", "#209a9a", "#d14f55"}
	dashes = [...]string{"", "7 4", "2 4"}
)

//go:embed plot.svg.tmpl
var plotText string

// plotTemplate draws a []*panel. Grey text is legible on light and on dark pages.
var plotTemplate = template.Must(template.New("plot").Parse(plotText))

// panel is the part of the plot with the costs of one unit.
type panel struct {
	Unit         string
	growths      []Growth
	Top, Bottom  int
	Costs, Sizes []plotMark
	Lines        []plotLine
}

// plotMark is a value on an axis.
type plotMark struct {
	At    float64
	Label string
}

// plotLine is the line of one bench. Its label is At pixels from the top.
type plotLine struct {
	Ink, Dash, Label string
	At               int
	Points           []struct{ X, Y float64 }
}

// Plot writes an SVG that shows the cost of each sized bench against the size. Both axes are logarithmic, each bench is a
// line, and each unit has a panel. It returns an error if no result belongs to a sized bench.
func Plot(w io.Writer, results []Result) error {
	all := GrowthOf(results)
	if len(all) == 0 {
		return errors.New("no row was measured at a size: there is nothing to plot")
	}
	var panels []*panel
	for _, g := range all {
		i := slices.IndexFunc(panels, func(p *panel) bool { return p.Unit == g.Unit })
		if i < 0 {
			i = len(panels)
			panels = append(panels, &panel{Unit: g.Unit})
		}
		panels[i].growths = append(panels[i].growths, g)
	}
	smallest, largest := bounds(all, func(p Point) float64 { return float64(p.Size) })
	x := axis{smallest / 1.5, largest * 1.2, plotLeft, plotRight}
	height := 0
	for _, p := range panels {
		p.Top = height + panelHead
		p.Bottom = p.Top + max(panelLeast, labelGap*len(p.growths))
		height = p.Bottom + panelFoot
		p.draw(x)
	}
	return plotTemplate.Execute(w, map[string]any{"Width": plotWidth, "Height": height, "Panels": panels})
}

// bounds returns the smallest and the largest value of a point.
func bounds(all []Growth, value func(Point) float64) (low, high float64) {
	low = math.Inf(1)
	for _, g := range all {
		for _, p := range g.Points {
			low, high = min(low, value(p)), max(high, value(p))
		}
	}
	return low, high
}

// axis maps values between low and high to pixels between from and to, by their logarithms.
type axis struct{ low, high, from, to float64 }

// at returns the pixel of a value.
func (a axis) at(v float64) float64 {
	return a.from + (a.to-a.from)*math.Log(v/a.low)/math.Log(a.high/a.low)
}

// draw sets the marks and the lines of the panel, those of the highest costs first.
func (p *panel) draw(x axis) {
	low, high := bounds(p.growths, func(p Point) float64 { return p.Cost })
	first, last := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	y := axis{math.Pow(10, first), math.Pow(10, max(last, first+1)), float64(p.Bottom), float64(p.Top)}
	for v := y.low; v <= 1.01*y.high; v *= 10 {
		p.Costs = append(p.Costs, plotMark{y.at(v), power(v)})
	}
	slices.SortStableFunc(p.growths, func(g, h Growth) int {
		return cmp.Compare(h.Points[len(h.Points)-1].Cost, g.Points[len(g.Points)-1].Cost)
	})
	sizes := map[int]bool{}
	for i, g := range p.growths {
		l := plotLine{Ink: inks[i%len(inks)], Dash: dashes[i/len(inks)%len(dashes)], Label: g.Bench, At: p.Top + i*labelGap}
		if !math.IsNaN(g.Slope) {
			l.Label += fmt.Sprintf(", slope %.2f", g.Slope)
		}
		for _, pt := range g.Points {
			l.Points = append(l.Points, struct{ X, Y float64 }{x.at(float64(pt.Size)), y.at(pt.Cost)})
			sizes[pt.Size] = true
		}
		p.Lines = append(p.Lines, l)
	}
	for _, size := range slices.Sorted(maps.Keys(sizes)) {
		p.Sizes = append(p.Sizes, plotMark{x.at(float64(size)), FormatSize(size)})
	}
}

// power formats a power of ten.
func power(v float64) string {
	if v > 0.5 {
		return FormatSize(int(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'g', 1, 64)
}
