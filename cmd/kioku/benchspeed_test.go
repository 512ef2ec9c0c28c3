package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/bench/speed"
	"kioku/cmd/kioku/internal/render"
)

// fakeBenches measure the same on every machine.
func fakeBenches() []speed.Bench {
	cost := func(at func(size float64) (ours, yardstick float64)) func(context.Context, *speed.Env) (float64, float64, error) {
		return func(_ context.Context, e *speed.Env) (float64, float64, error) {
			ours, yardstick := at(float64(e.Size))
			return ours, yardstick, nil
		}
	}
	return []speed.Bench{
		{Name: "vector top-24", Unit: "ms", Goal: 1.3, Sized: true, Run: cost(func(n float64) (float64, float64) { return n / 1e4, n / 1.1e4 })},
		{Name: "grpc overhead", Unit: "ms", Goal: 1, Run: cost(func(float64) (float64, float64) { return 0.0345, 0.15 })},
		{Name: "daemon memory", Unit: "MB", Goal: 1.3, Sized: true, Run: cost(func(n float64) (float64, float64) { return 50 + n/100, 60 })},
	}
}

// fakeApp runs in the test's process, in a folder of its own.
func fakeApp(t *testing.T) (a *app, stdout, stderr *bytes.Buffer) {
	t.Helper()
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	return &app{Output: render.Output{Stdout: stdout, Stderr: stderr}, dir: t.TempDir()}, stdout, stderr
}

func TestBenchSpeedPrintsAnAlignedTableAndHowCostsGrow(t *testing.T) {
	t.Parallel()
	a, stdout, stderr := fakeApp(t)
	if err := a.benchSpeed(t.Context(), speedRun{sizes: "1k,10k,100k"}, fakeBenches()); err != nil {
		t.Fatal(err)
	}
	want := `name                          ours  yardstick  ratio  goal  held
vector top-24 @ 1,000     0.100 ms  0.0909 ms   1.10   1.3   yes
vector top-24 @ 10,000     1.00 ms   0.909 ms   1.10   1.3   yes
vector top-24 @ 100,000    10.0 ms    9.09 ms   1.10   1.3   yes
grpc overhead            0.0345 ms   0.150 ms  0.230     1   yes
daemon memory @ 1,000      60.0 MB    60.0 MB   1.00   1.3   yes
daemon memory @ 10,000      150 MB    60.0 MB   2.50   1.3    no
daemon memory @ 100,000   1,050 MB    60.0 MB   17.5   1.3    no

growth of cost with size     1,000   10,000   100,000  slope
vector top-24             0.100 ms  1.00 ms   10.0 ms   1.00
daemon memory              60.0 MB   150 MB  1,050 MB   0.62
`
	if diff := cmp.Diff(want, stdout.String()); diff != "" {
		t.Error(diff)
	}
	if got := stderr.String(); got != "kioku: 7 rows measured, 2 goals missed\n" {
		t.Errorf("stderr %q", got)
	}
}

func TestBenchSpeedWritesALineOfJSONForEachRow(t *testing.T) {
	t.Parallel()
	a, stdout, stderr := fakeApp(t)
	a.JSON = true
	if err := a.benchSpeed(t.Context(), speedRun{sizes: "10k"}, fakeBenches()[1:]); err != nil {
		t.Fatal(err)
	}
	want := `{"name":"grpc overhead","ours":0.0345,"yardstick":0.15,"unit":"ms","ratio":0.23000000000000004,"goal":1,"held":true}
{"name":"daemon memory @ 10,000","ours":150,"yardstick":60,"unit":"MB","ratio":2.5,"goal":1.3,"held":false}
`
	if diff := cmp.Diff(want, stdout.String()); diff != "" {
		t.Error(diff)
	}
	if got := stderr.String(); got != "kioku: 2 rows measured, 1 goal missed\n" {
		t.Errorf("stderr %q", got)
	}
}

func TestBenchSpeedWritesEachRowAsSoonAsItIsMeasured(t *testing.T) {
	t.Parallel()
	a, stdout, _ := fakeApp(t)
	a.JSON = true
	benches := fakeBenches()[:2]
	run := benches[1].Run
	benches[1].Run = func(ctx context.Context, e *speed.Env) (float64, float64, error) {
		if strings.Count(stdout.String(), "\n") != 1 {
			t.Errorf("when the second begins, there is %q", stdout)
		}
		return run(ctx, e)
	}
	if err := a.benchSpeed(t.Context(), speedRun{sizes: "1k"}, benches); err != nil {
		t.Fatal(err)
	}
}

func TestBenchSpeedWritesMarkdown(t *testing.T) {
	t.Parallel()
	a, stdout, _ := fakeApp(t)
	if err := a.benchSpeed(t.Context(), speedRun{sizes: "1k,10k", markdown: true, only: []string{"vector", "grpc"}}, fakeBenches()); err != nil {
		t.Fatal(err)
	}
	want := `| name | ours | yardstick | ratio | goal | held |
|---|---:|---:|---:|---:|---:|
| vector top-24 @ 1,000 | 0.100 ms | 0.0909 ms | 1.10 | 1.3 | yes |
| vector top-24 @ 10,000 | 1.00 ms | 0.909 ms | 1.10 | 1.3 | yes |
| grpc overhead | 0.0345 ms | 0.150 ms | 0.230 | 1 | yes |

| growth of cost with size | 1,000 | 10,000 | slope |
|---|---:|---:|---:|
| vector top-24 | 0.100 ms | 1.00 ms | 1.00 |
`
	machine, tables, _ := strings.Cut(stdout.String(), "\n\n")
	if diff := cmp.Diff(want, tables); diff != "" {
		t.Error(diff)
	}
	if !regexp.MustCompile(`^Kioku \S+ on \w+/\w+, \d+ cores?\.$`).MatchString(machine) {
		t.Errorf("it was measured on %q", machine)
	}
}

func TestBenchSpeedDrawsAPlot(t *testing.T) {
	t.Parallel()
	a, _, _ := fakeApp(t)
	if err := a.benchSpeed(t.Context(), speedRun{sizes: "1k,10k", plot: "growth.svg"}, fakeBenches()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(a.dir, "growth.svg"))
	if err != nil {
		t.Fatal(err)
	}
	for dec := xml.NewDecoder(bytes.NewReader(text)); ; {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"vector top-24, slope 1.00", "daemon memory, slope"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is missing in %s", want, text)
		}
	}
}

func TestBenchSpeedShowsTheRowsBeforeOneThatFails(t *testing.T) {
	t.Parallel()
	broken := speed.Bench{Name: "broken", Run: func(context.Context, *speed.Env) (float64, float64, error) {
		return 0, 0, errors.New("out of paper")
	}}
	a, stdout, stderr := fakeApp(t)
	err := a.benchSpeed(t.Context(), speedRun{sizes: "1k"}, append(fakeBenches()[1:2], broken))
	if code := a.report(t.Context(), err); code != exitError || !strings.Contains(stderr.String(), "kioku: measure broken: out of paper\n") {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
	if !strings.Contains(stdout.String(), "\ngrpc overhead") {
		t.Errorf("stdout %q", stdout)
	}
}

func TestBenchSpeedThatIsInterruptedShowsTheRowsSoFar(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	endless := speed.Bench{Name: "endless", Run: func(ctx context.Context, _ *speed.Env) (float64, float64, error) {
		cancel()
		<-ctx.Done()
		return 0, 0, ctx.Err()
	}}
	a, stdout, stderr := fakeApp(t)
	err := a.benchSpeed(ctx, speedRun{sizes: "1k"}, append(fakeBenches()[1:2], endless))
	if code := a.report(ctx, err); code != exitInterrupted || !strings.HasSuffix(stderr.String(), "kioku: interrupted\n") {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
	if !strings.Contains(stdout.String(), "\ngrpc overhead") {
		t.Errorf("stdout %q", stdout)
	}
}

// shortFolder is a temporary folder with a path short enough for the socket of a daemon in it.
func shortFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "k")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestBenchSpeedMeasuresWithTheRealProgram(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, nil)
	tmp := shortFolder(t)
	s.env = append(s.env, "TMPDIR="+tmp)
	got := s.raw("bench", "speed", "--sizes", "100,200", "--only", "daemon memory", "--json")
	got.wants(t, exitOK, "2 rows measured")
	var names []string
	for line := range strings.Lines(got.stdout) {
		var row speed.Row
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&row); err != nil || row.Ours <= 0 || row.Ratio != row.Ours/row.Yardstick || row.Held != (row.Ratio <= row.Goal) {
			t.Errorf("%s: %v", line, err)
		}
		names = append(names, row.Name)
	}
	if diff := cmp.Diff([]string{"daemon memory @ 100", "daemon memory @ 200"}, names); diff != "" {
		t.Error(diff)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestBenchSpeedThatIsInterruptedLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, nil)
	tmp := shortFolder(t)
	s.env = append(s.env, "TMPDIR="+tmp)
	p := s.start("bench", "speed", "--sizes", "100,100k", "--only", "daemon memory", "--json")
	p.waits(p.out, `"daemon memory @ 100"`)
	p.signal(syscall.SIGINT)
	if code, _ := p.ends(); code != exitInterrupted {
		t.Errorf("exit %d; it said %q", code, p.said)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestBenchSpeedRefusesWhatItCannotMeasureBeforeItBegins(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, nil)
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"--sizes", "1k,2x"}, `--sizes: "2x" is no size; write numbers such as 1000, 10k or 1M`},
		{[]string{"--sizes", "1"}, "--sizes: size 1 is not between 100 and 1,000,000"},
		{[]string{"--only", "nothing such"}, `--only: no row's name contains "nothing such"; there are: `},
		{[]string{"--plot", "."}, "--plot .: that is a folder; name a file in it"},
		{[]string{"--plot", "no/such/folder/x.svg"}, "--plot no/such/folder/x.svg: there is no folder "},
		{[]string{"--markdown", "--json"}, "--markdown and --json exclude each other"},
		{[]string{"extra"}, "unknown command"},
	} {
		s.raw(append([]string{"bench", "speed"}, tc.args...)...).wants(t, exitUsage, tc.want)
	}
}
