//go:build unix

package derive_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"kioku"
	"kioku/derive"
	"kioku/derive/rule"
)

// cpuTime returns the time that the processors have worked for this process, which no busy machine changes much.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// benchFolder returns the folder of KIOKU_NOTES, or one of 1,000 days with 50 sections each, of which every third says something that
// the rules know.
func benchFolder(b *testing.B) string {
	b.Helper()
	if folder := os.Getenv("KIOKU_NOTES"); folder != "" {
		return folder
	}
	folder := b.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "memory"), 0o755); err != nil {
		b.Fatal(err)
	}
	for i := range 1000 {
		day := time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i).Format(time.DateOnly)
		text := "# " + day + "\n"
		for j := range 50 {
			text += fmt.Sprintf("\n## %02d:%02d - note\n", j/60, j%60)
			switch n := 50*i + j; n % 3 {
			case 0:
				text += fmt.Sprintf("Person%d moved to City%d. Nobody found the missing page %d.\n- [ ] call the printer about draft %d\n", n%300, n%97, n, n)
			case 1:
				text += fmt.Sprintf("佐藤%dさんは大阪に住んでいる。会議は第%d回。\n資料は金曜までに送る予定で、部屋は三階。\n", n%50, n)
			default:
				text += fmt.Sprintf("A walk of %d kilometres along the river with [[people/ana-%d]]; the weather held.\n", n, n%200)
			}
		}
		if err := os.WriteFile(filepath.Join(folder, "memory", day+".md"), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return folder
}

// BenchmarkRun indexes 50,000 episodes, or the notes in the folder KIOKU_NOTES, with and without derivation, and derives by rule what they say.
// It reports the time of the processors. The goal for the latter is a minute.
func BenchmarkRun(b *testing.B) {
	folder := benchFolder(b)
	rules, err := rule.New(rule.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		plain := openBench(b, kioku.Options{Workspace: folder})
		off := syncBench(b, plain)
		plain.Close()
		m := openBench(b, kioku.Options{Workspace: folder, Episodes: rules.Episodes})
		on := syncBench(b, m)
		b.ReportMetric(off.Seconds(), "sync-off-cpu-s")
		b.ReportMetric(on.Seconds(), "sync-on-cpu-s")
		b.ReportMetric(on.Seconds()/off.Seconds(), "sync-on/off")
		s, err := derive.New(derive.Options{Store: m.Derived(), Notes: m, Rules: rules})
		if err != nil {
			b.Fatal(err)
		}
		before := cpuTime(b)
		if err := s.Run(b.Context(), false, nil); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric((cpuTime(b) - before).Seconds(), "run-cpu-s")
		stats, err := m.Derived().Stats(b.Context(), time.Now())
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(stats.Episodes), "episodes")
		m.Close()
	}
}

// openBench opens a memory.
func openBench(b *testing.B, opt kioku.Options) *kioku.Memory {
	b.Helper()
	opt.StateDir = b.TempDir()
	m, err := kioku.Open(b.Context(), opt)
	if err != nil {
		b.Fatal(err)
	}
	return m
}

// syncBench syncs a memory and returns the time of the processors.
func syncBench(b *testing.B, m *kioku.Memory) time.Duration {
	b.Helper()
	before := cpuTime(b)
	if _, err := m.Sync(b.Context(), kioku.SyncOptions{}, nil); err != nil {
		b.Fatal(err)
	}
	return cpuTime(b) - before
}
