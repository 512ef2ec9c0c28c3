package speed

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// result returns a result of a sized bench.
func result(bench, unit string, size int, ours float64) Result {
	return Result{Row{Name: bench + " @ " + FormatSize(size), Ours: ours, Yardstick: 1, Unit: unit}, bench, size}
}

func TestGrowthOfIsTheSlopeOfTheLogarithms(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		exponent := rapid.Float64Range(-1, 3).Draw(t, "exponent")
		factor := rapid.Float64Range(1e-3, 1e3).Draw(t, "factor")
		var results []Result
		for _, size := range rapid.SliceOfNDistinct(rapid.IntRange(100, 10_000_000), 2, 6, rapid.ID[int]).Draw(t, "sizes") {
			results = append(results, result("b", "ms", size, factor*math.Pow(float64(size), exponent)))
		}
		got := GrowthOf(results)
		if len(got) != 1 || math.Abs(got[0].Slope-exponent) > 1e-3 {
			t.Fatalf("got %+v, want the slope %v", got, exponent)
		}
	})
}

func TestGrowthOfKeepsTheOrderOfTheResults(t *testing.T) {
	t.Parallel()
	got := GrowthOf([]Result{
		result("b", "ms", 10_000, 50), {Row: Row{Name: "not sized", Ours: 3}, Bench: "not sized"}, result("b", "ms", 1000, 5),
		result("a", "MB", 1000, 2), result("free", "ms", 1000, 0),
	})
	want := []Growth{
		{Bench: "b", Unit: "ms", Points: []Point{{1000, 5}, {10_000, 50}}, Slope: 1},
		{Bench: "a", Unit: "MB", Points: []Point{{1000, 2}}, Slope: math.NaN()},
	}
	near := cmp.Comparer(func(x, y float64) bool { return math.Abs(x-y) < 1e-9 || math.IsNaN(x) && math.IsNaN(y) })
	if diff := cmp.Diff(want, got, near); diff != "" {
		t.Error(diff)
	}
}

// element is a part of a plot.
type element struct {
	name, text string
	attrs      map[string]string
}

// elements reads an SVG and fails if it is not well-formed.
func elements(t *testing.T, svg string) (list []element) {
	t.Helper()
	for dec := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := dec.Token()
		switch token := token.(type) {
		case xml.StartElement:
			e := element{name: token.Name.Local, attrs: map[string]string{}}
			for _, a := range token.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			list = append(list, e)
		case xml.CharData:
			if len(list) > 0 {
				list[len(list)-1].text += string(token)
			}
		}
		if errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
	}
}

func plot(t *testing.T, results []Result) string {
	t.Helper()
	var b strings.Builder
	if err := Plot(&b, results); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPlotHasALineAndALabelForEachSizedBench(t *testing.T) {
	t.Parallel()
	var results []Result
	var want []string
	for i := range 20 {
		unit := []string{"ms", "MB"}[i%2]
		name := fmt.Sprintf("row <%d> & more", i)
		for _, size := range []int{1000, 10_000, 100_000} {
			results = append(results, result(name, unit, size, float64(size)*0.001))
		}
		want = append(want, name+", slope 1.00")
	}
	results = append(results, result("one size", "s", 1000, 5))
	want = append(want, "one size")
	svg := plot(t, results)
	lines, texts := 0, map[string]bool{}
	for _, e := range elements(t, svg) {
		if e.name == "polyline" {
			lines++
		}
		if e.name == "text" {
			texts[strings.TrimSpace(e.text)] = true
		}
	}
	if lines != 21 {
		t.Errorf("%d lines", lines)
	}
	for _, label := range append(want, "ms", "MB", "s", "1,000", "10,000", "100,000", "1", "10", "100") {
		if !texts[label] {
			t.Errorf("no label %q", label)
		}
	}
	if strings.Contains(strings.ReplaceAll(svg, "http://www.w3.org/2000/svg", ""), "http") {
		t.Error("it asks for something from elsewhere")
	}
}

func TestPlotKeepsLabelsApartAndInside(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 24).Draw(rt, "rows")
		var results []Result
		for i := range n {
			results = append(results, result(fmt.Sprint("row ", i), "ms", 1000, rapid.Float64Range(1e-4, 1e4).Draw(rt, "cost")))
		}
		var height float64
		seen := map[string]bool{}
		last := math.Inf(-1)
		for _, e := range elements(t, plot(t, results)) {
			var y float64
			fmt.Sscan(e.attrs["height"]+e.attrs["y"], &y)
			switch {
			case e.name == "svg":
				height = y
			case e.name != "text" || !strings.HasPrefix(e.text, "row "):
			case y-last < labelGap-0.2 || y < 0 || y > height:
				rt.Fatalf("%q stands at %v after %v of %v", e.text, y, last, height)
			default:
				last, seen[e.text] = y, true
			}
		}
		if len(seen) != n {
			rt.Fatalf("%d labels of %d", len(seen), n)
		}
	})
}

func TestPlotRefusesResultsWithoutSizes(t *testing.T) {
	t.Parallel()
	if err := Plot(io.Discard, []Result{{Row: Row{Name: "a", Ours: 1}, Bench: "a"}}); err == nil {
		t.Error("it drew an empty plot")
	}
}
