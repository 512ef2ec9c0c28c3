package speed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fixed returns a bench that always measures the same.
func fixed(name string, goal, ours, yardstick float64) Bench {
	return Bench{Name: name, Unit: "ms", Goal: goal, Run: func(context.Context, *Env) (float64, float64, error) {
		return ours, yardstick, nil
	}}
}

// linear returns a sized bench that costs a millionth of its size.
func linear(name string) Bench {
	return Bench{Name: name, Unit: "ms", Goal: 2, Sized: true, Run: func(_ context.Context, e *Env) (float64, float64, error) {
		return float64(e.Size) / 1e6, 1, nil
	}}
}

func names(results []Result) (list []string) {
	for _, r := range results {
		list = append(list, r.Row.Name)
	}
	return list
}

func TestRunMeasuresSizedBenchesAtEachSize(t *testing.T) {
	t.Parallel()
	var told []Result
	got, err := Run(t.Context(), []Bench{linear("a"), fixed("b", 0.4, 1, 2), linear("c")}, Options{
		Sizes: []int{1000, 1_000_000}, Done: func(r Result) error { told = append(told, r); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []Result{
		{Row{"a @ 1,000", 0.001, 1, "ms", 0.001, 2, true}, "a", 1000},
		{Row{"a @ 1,000,000", 1, 1, "ms", 1, 2, true}, "a", 1_000_000},
		{Row{"b", 1, 2, "ms", 0.5, 0.4, false}, "b", 0},
		{Row{"c @ 1,000", 0.001, 1, "ms", 0.001, 2, true}, "c", 1000},
		{Row{"c @ 1,000,000", 1, 1, "ms", 1, 2, true}, "c", 1_000_000},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(got, told); diff != "" {
		t.Errorf("told otherwise than returned: %s", diff)
	}
}

func TestRunRemovesTheFolderOfEachBench(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var folders []string
	b := fixed("a", 1, 1, 1)
	b.Run = func(_ context.Context, e *Env) (float64, float64, error) {
		if left, err := os.ReadDir(e.Dir); err != nil || len(left) > 0 {
			t.Errorf("the folder holds %v, %v", left, err)
		}
		for _, dir := range folders {
			if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the folder of the bench before is there: %v", err)
			}
		}
		folders = append(folders, e.Dir)
		return 1, 1, os.WriteFile(filepath.Join(e.Dir, "x"), nil, 0o600)
	}
	if _, err := Run(t.Context(), []Bench{b, b}, Options{}); err != nil || len(folders) != 2 {
		t.Errorf("%d benches ran, %v", len(folders), err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestRunNamesFailedBenchesAndReturnsTheOthers(t *testing.T) {
	t.Parallel()
	cause := errors.New("out of paper")
	broken := Bench{Name: "broken", Run: func(context.Context, *Env) (float64, float64, error) { return 0, 0, cause }}
	got, err := Run(t.Context(), []Bench{fixed("a", 1, 1, 1), broken, fixed("b", 1, 1, 1)}, Options{})
	if !errors.Is(err, cause) || !strings.Contains(err.Error(), "measure broken: out of paper") {
		t.Errorf("got error %v", err)
	}
	if diff := cmp.Diff([]string{"a", "b"}, names(got)); diff != "" {
		t.Error(diff)
	}
}

func TestRunRefusesFiguresWithoutARatio(t *testing.T) {
	t.Parallel()
	for _, f := range [][2]float64{{1, 0}, {math.NaN(), 1}, {1, math.NaN()}, {-1, 1}, {1, -1}, {math.Inf(1), 1}, {1, math.Inf(1)}} {
		if got, err := Run(t.Context(), []Bench{fixed("odd", 1, f[0], f[1])}, Options{}); err == nil || !strings.Contains(err.Error(), "odd") || len(got) > 0 {
			t.Errorf("%v: got %v, %v", f, got, err)
		}
	}
	if _, err := Run(t.Context(), []Bench{fixed("nothing", 1, 0, 1)}, Options{}); err != nil {
		t.Errorf("what costs nothing: %v", err)
	}
}

func TestRunEndsWithItsContextAndReturnsWhatItMeasured(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	endless := Bench{Name: "endless", Run: func(ctx context.Context, e *Env) (float64, float64, error) {
		cancel()
		<-ctx.Done()
		return 1, 1, fmt.Errorf("read a row: %w", os.ErrClosed)
	}}
	got, err := Run(ctx, []Bench{fixed("a", 1, 1, 1), endless, fixed("b", 1, 1, 1)}, Options{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
	if diff := cmp.Diff([]string{"a"}, names(got)); diff != "" {
		t.Error(diff)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestRunEndsWithAnErrorOfDone(t *testing.T) {
	t.Parallel()
	ran := 0
	b := fixed("a", 1, 1, 1)
	b.Run = func(context.Context, *Env) (float64, float64, error) { ran++; return 1, 1, nil }
	_, err := Run(t.Context(), []Bench{b, b}, Options{Done: func(Result) error { return os.ErrClosed }})
	if !errors.Is(err, os.ErrClosed) || ran != 1 {
		t.Errorf("%d benches ran, %v", ran, err)
	}
}

func TestRunReportsRowsAndTheirParts(t *testing.T) {
	t.Parallel()
	b := linear("b")
	b.Run = func(_ context.Context, e *Env) (float64, float64, error) { e.Step(3, 7); return 1, 1, nil }
	var got []Progress
	_, err := Run(t.Context(), []Bench{fixed("a", 1, 1, 1), b}, Options{Sizes: []int{500}, Step: func(p Progress) { got = append(got, p) }})
	want := []Progress{{"a", 0, 2, 0, 0}, {"b @ 500", 1, 2, 0, 0}, {"b @ 500", 1, 2, 3, 7}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}

func TestSelectMatchesAPartOfTheName(t *testing.T) {
	t.Parallel()
	all := []Bench{{Name: "vector top"}, {Name: "keyword p95"}, {Name: "keyword p50"}}
	for only, want := range map[string]string{"": "vector top,keyword p95,keyword p50", "p95": "keyword p95", "p50,vector": "vector top,keyword p50"} {
		var texts []string
		if only != "" {
			texts = strings.Split(only, ",")
		}
		chosen, err := Select(all, texts)
		var got []string
		for _, b := range chosen {
			got = append(got, b.Name)
		}
		if err != nil || strings.Join(got, ",") != want {
			t.Errorf("%q: got %v, %v", only, got, err)
		}
	}
	if _, err := Select(all, []string{"p95", "kwyword"}); err == nil || !strings.Contains(err.Error(), `"kwyword"`) || !strings.Contains(err.Error(), "keyword p50") {
		t.Errorf("got %v", err)
	}
}

func TestParseSizes(t *testing.T) {
	t.Parallel()
	got, err := ParseSizes("1M, 10k,1000,1K,250,10000")
	if diff := cmp.Diff([]int{250, 1000, 10_000, 1_000_000}, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	for list, want := range map[string]string{
		"": `"" is no size`, "1k,": `"" is no size`, "2x": `"2x" is no size; write numbers such as 1000, 10k or 1M`, "-5k": "no size",
		"k": `"k" is no size`, "1.5k": "no size", "1kk": "no size", "0": "not between 100 and 1,000,000", "99": "not between", "2M": "size 2M is not between",
		"4000000000M": "no size", "2000000000M": "not between",
	} {
		if got, err := ParseSizes(list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, %v; want %s", list, got, err, want)
		}
	}
}

func TestFigureHasThreeDigits(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{
		0: "0", 1e-9: "0", 0.00012345: "0.000123", 0.05: "0.0500", 1: "1.00", 9.994: "9.99", 12.345: "12.3", 99.94: "99.9", 99.96: "100",
		123.4: "123", 9999.6: "10,000", 1234567: "1,234,567",
	} {
		if got := Figure(v); got != want {
			t.Errorf("%v is %s, want %s", v, got, want)
		}
	}
}

func TestAllHasANameAGoalAndAUnitForEachBench(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, b := range All() {
		if b.Name == "" || seen[b.Name] || b.Unit == "" || b.Goal <= 0 || b.Run == nil || strings.ContainsAny(b.Name, "@|\n") {
			t.Errorf("%+v", b)
		}
		seen[b.Name] = true
	}
}
