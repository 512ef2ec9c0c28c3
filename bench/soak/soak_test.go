package soak

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"
)

var (
	minutes = flag.Float64("minutes", 0, "how long to attack, in all; 0 means not at all")
	seed    = flag.Uint64("seed", 0, "seed of what is attacked; 0 means the time")
	only    = flag.String("only", "", "names of the only attacks to run, separated by commas")
	binary  = flag.String("program", "", "the kioku to attack; empty means to build it")
)

// Limits of what is said about broken promises at the end of the output.
const (
	shownPromises = 8
	shownRunes    = 240
)

// program is the binary that is attacked.
var program string

// build builds the program, with the tags of this test, unless one was named.
func build(t *testing.T) {
	t.Helper()
	if program = *binary; program != "" {
		return
	}
	program = filepath.Join(t.TempDir(), "kioku")
	args := []string{"build", "-o", program}
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if s.Key == "-tags" || s.Key == "-race" {
			args = append(args, s.Key+"="+s.Value)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "go", append(args, "kioku/cmd/kioku")...).CombinedOutput(); err != nil {
		t.Fatalf("build the program: %v\n%s", err, out)
	}
}

// soak is one run: its attacks, and what they did and found.
type soak struct {
	*testing.T
	rand *rand.Rand

	mu       sync.Mutex
	table    []row    // guarded by mu
	promises []string // guarded by mu; the promises that were broken, and why the run ended early
}

// row is one figure of the table.
type row struct{ name, value string }

// add adds a figure to the table.
func (s *soak) add(name, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.table = append(s.table, row{name, fmt.Sprintf(format, args...)})
}

// broken fails the run: a promise does not hold.
func (s *soak) broken(format string, args ...any) {
	s.Helper()
	s.Errorf("PROMISE BROKEN: "+format, args...)
	s.keep(fmt.Sprintf(format, args...))
}

// Fatalf ends the run, and keeps the reason for the end of the output.
func (s *soak) Fatalf(format string, args ...any) {
	s.Helper()
	s.keep(fmt.Sprintf(format, args...))
	s.T.Fatalf(format, args...)
}

// Fatal is Fatalf without a format.
func (s *soak) Fatal(args ...any) {
	s.Helper()
	s.Fatalf("%s", fmt.Sprint(args...))
}

// keep keeps what is wrong for the end of the output.
func (s *soak) keep(promise string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.promises = append(s.promises, promise)
}

// summarize prints the table, and after it what is wrong again in short, because often only the end of an output is kept.
func (s *soak) summarize(out io.Writer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, r := range s.table {
		fmt.Fprintf(w, "%s\t%s\n", r.name, r.value)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i, promise := range s.promises {
		if i == shownPromises {
			fmt.Fprintf(out, "and %d more broken promises\n", len(s.promises)-i)
			break
		}
		fmt.Fprintf(out, "PROMISE BROKEN: %.*s\n", shownRunes, promise)
	}
	return nil
}

// attack is one way to attack the daemon.
type attack struct {
	name string
	// share of the time; the sum over all attacks is 1.
	share float64
	run   func(s *soak, d time.Duration)
}

// Hazards A01, A04, A12, D12, G04: what the daemon has acknowledged survives all of it, damage heals, and answers say what they
// lack.
func TestSoak(t *testing.T) {
	if *minutes <= 0 {
		t.Skip("attacks only with -minutes: make soak")
	}
	build(t)
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	total := time.Duration(*minutes * float64(time.Minute))
	t.Logf("seed %d, %s", *seed, total)
	s := &soak{T: t, rand: rand.New(rand.NewPCG(*seed, 0))}
	start := time.Now()
	defer func() { // also after Fatal
		s.add("seed", "%d", *seed)
		s.add("took", "%s", time.Since(start).Round(time.Second))
		if err := s.summarize(os.Stdout); err != nil {
			t.Error(err)
		}
	}()
	for _, a := range []attack{
		{"kills", 0.4, kills},
		{"damages", 0.35, damages},
		{"fulldisk", 0.1, fullDisks},
		{"crowd", 0.15, crowd},
	} {
		if *only == "" || strings.Contains(","+*only+",", ","+a.name+",") {
			a.run(s, time.Duration(a.share*float64(total)))
		}
	}
}

// What is broken is said again after the table, in short: of a long output only the end may be kept.
func TestSummarizeEndsWithWhatIsBroken(t *testing.T) {
	t.Parallel()
	s := &soak{T: t}
	s.add("kills", "%d", 8)
	s.keep("note1z is in the files 0 times" + strings.Repeat(".", 1000))
	for range shownPromises {
		s.keep("note2z is not found")
	}
	var out strings.Builder
	if err := s.summarize(&out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 1+shownPromises+1 || lines[0] != "kills  8" || len(lines[1]) > shownRunes+20 ||
		!strings.HasPrefix(lines[1], "PROMISE BROKEN: note1z is in the files 0 times") || lines[len(lines)-1] != "and 1 more broken promises" {
		t.Errorf("%q", lines)
	}
}
