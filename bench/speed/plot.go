package speed

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Measures of the plot in pixels.
const (
	plotWidth = 960
	// plotLeft and plotRight bound the lines; plotLabels is the left end of their labels.
	plotLeft, plotRight = 76, 600
	plotLabels          = plotRight + 28
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

// plotHead is the head of the SVG, for a width and a height. Grey text is legible on light and on dark pages.
const plotHead = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%d" role="img" aria-label="Cost against size">
<style>text{font:13px system-ui,sans-serif;fill:#808891}.title{font-weight:600}.grid{stroke:#808891;stroke-opacity:.3}.lead{stroke-opacity:.6}</style>
`

// Plot writes an SVG that shows the cost of each sized bench against the size. Both axes are logarithmic, each bench is a
// line, and each unit has a panel. It returns an error if no result belongs to a sized bench.
func Plot(w io.Writer, results []Result) error {
	all := GrowthOf(results)
	if len(all) == 0 {
		return errors.New("no row was measured at a size: there is nothing to plot")
	}
	x := sizeAxis(all)
	var body strings.Builder
	top := 0
	for _, unit := range units(all) {
		p := panel{unit: unit, top: float64(top + panelHead), x: x}
		for _, g := range all {
			if i := len(p.lines); g.Unit == unit {
				p.lines = append(p.lines, line{Growth: g, ink: inks[i%len(inks)], dash: dashes[i/len(inks)%len(dashes)]})
			}
		}
		p.bottom = p.top + float64(max(panelLeast, labelGap*len(p.lines)))
		p.draw(&body)
		top = int(p.bottom) + panelFoot
	}
	_, err := fmt.Fprintf(w, plotHead+"%s</svg>\n", plotWidth, top, body.String())
	return err
}

// units returns the units of costs in the order of their first use.
func units(all []Growth) []string {
	var list []string
	for _, g := range all {
		if !slices.Contains(list, g.Unit) {
			list = append(list, g.Unit)
		}
	}
	return list
}

// axis maps values between low and high to pixels between from and to, by their logarithms.
type axis struct{ low, high, from, to float64 }

// at returns the pixel of a value.
func (a axis) at(v float64) float64 {
	return a.from + (a.to-a.from)*math.Log(v/a.low)/math.Log(a.high/a.low)
}

// sizeAxis returns the axis of all panels, with some space beside the smallest and the largest size.
func sizeAxis(all []Growth) axis {
	low, high := math.Inf(1), 0.0
	for _, g := range all {
		for _, p := range g.Points {
			low, high = min(low, float64(p.Size)), max(high, float64(p.Size))
		}
	}
	return axis{low / 1.5, high * 1.2, plotLeft, plotRight}
}

// panel is the part of the plot with the costs of one unit.
type panel struct {
	unit        string
	lines       []line
	top, bottom float64
	x           axis
}

// line is the line of one bench.
type line struct {
	Growth
	ink, dash string
	// end is the position of the end of the line and label that of its label, from the top.
	end, label float64
}

// draw draws the panel.
func (p *panel) draw(b *strings.Builder) {
	y := p.costAxis()
	text(b, plotLeft, p.top-16, `class="title"`, p.unit)
	p.grid(b, y)
	for i := range p.lines {
		p.lines[i].end = y.at(p.lines[i].Points[len(p.lines[i].Points)-1].Cost)
	}
	p.placeLabels()
	for _, l := range p.lines {
		l.draw(b, p.x, y)
	}
}

// costAxis returns an axis from one power of ten to another.
func (p *panel) costAxis() axis {
	low, high := math.Inf(1), 0.0
	for _, l := range p.lines {
		for _, pt := range l.Points {
			low, high = min(low, pt.Cost), max(high, pt.Cost)
		}
	}
	first, last := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	return axis{math.Pow(10, first), math.Pow(10, max(last, first+1)), p.bottom, p.top}
}

// grid draws a line and its value for each power of ten, and one for each size.
func (p *panel) grid(b *strings.Builder, y axis) {
	for v := y.low; v <= 1.01*y.high; v *= 10 {
		rule(b, plotLeft, y.at(v), plotRight, y.at(v), `class="grid"`)
		text(b, plotLeft-8, y.at(v)+4, `text-anchor="end"`, power(v))
	}
	var sizes []int
	for _, l := range p.lines {
		for _, pt := range l.Points {
			sizes = append(sizes, pt.Size)
		}
	}
	slices.Sort(sizes)
	for _, size := range slices.Compact(sizes) {
		x := p.x.at(float64(size))
		rule(b, x, p.top, x, p.bottom, `class="grid"`)
		text(b, x, p.bottom+20, `text-anchor="middle"`, FormatSize(size))
	}
}

// power formats a power of ten.
func power(v float64) string {
	if v > 0.5 {
		return FormatSize(int(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'g', 1, 64)
}

// placeLabels sets the position of each label: beside the end of its line, moved up or down if it would overlap.
func (p *panel) placeLabels() {
	slices.SortStableFunc(p.lines, func(a, b line) int { return cmp.Compare(a.end, b.end) })
	lowest := p.bottom
	for i := len(p.lines) - 1; i >= 0; i-- {
		p.lines[i].label = min(p.lines[i].end, lowest)
		lowest = p.lines[i].label - labelGap
	}
	highest := p.top
	for i := range p.lines {
		p.lines[i].label = max(p.lines[i].label, highest)
		highest = p.lines[i].label + labelGap
	}
}

// draw draws the line and its label.
func (l line) draw(b *strings.Builder, x, y axis) {
	var points []string
	for _, p := range l.Points {
		px, py := x.at(float64(p.Size)), y.at(p.Cost)
		points = append(points, fmt.Sprintf("%.1f,%.1f", px, py))
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"/>`+"\n", px, py, l.ink)
	}
	fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2" stroke-dasharray="%s"/>`+"\n",
		strings.Join(points, " "), l.ink, l.dash)
	last := x.at(float64(l.Points[len(l.Points)-1].Size))
	rule(b, last+6, l.end, plotLabels-6, l.label, fmt.Sprintf(`class="lead" stroke="%s"`, l.ink))
	label := l.Bench
	if !math.IsNaN(l.Slope) {
		label += fmt.Sprintf(", slope %.2f", l.Slope)
	}
	text(b, plotLabels, l.label+4, fmt.Sprintf(`style="fill:%s"`, l.ink), label)
}

func rule(b *strings.Builder, x1, y1, x2, y2 float64, attrs string) {
	fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" %s/>`+"\n", x1, y1, x2, y2, attrs)
}

func text(b *strings.Builder, x, y float64, attrs, s string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" %s>`, x, y, attrs)
	_ = xml.EscapeText(b, []byte(s)) // a Builder takes everything
	b.WriteString("</text>\n")
}
