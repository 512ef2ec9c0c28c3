package render

import (
	"strings"
	"testing"
	"time"

	"kioku/bench"
	"kioku/indexer"
)

// clock is a time that a test moves.
type clock struct{ time.Time }

func (c *clock) now() time.Time { return c.Time }

func TestMeterIsSilentDuringQuickWork(t *testing.T) {
	t.Parallel()
	for _, terminal := range []bool{false, true} {
		var out strings.Builder
		c := &clock{time.Unix(0, 0)}
		m := NewMeter(&out, terminal, c.now)
		m.Step(indexer.Progress{Phase: "index", FilesDone: 1, FilesTotal: 2})
		c.Time = c.Add(900 * time.Millisecond)
		m.Step(indexer.Progress{Phase: "index", FilesDone: 2, FilesTotal: 2})
		m.Clear()
		if out.Len() > 0 {
			t.Errorf("terminal %v: got %q", terminal, out.String())
		}
	}
}

func TestMeterWritesALineNowAndThen(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	c := &clock{time.Unix(0, 0)}
	m := NewMeter(&out, false, c.now)
	for i := range 13 {
		m.Step(indexer.Progress{Phase: "index", FilesDone: i, FilesTotal: 13, Chunks: 2 * i})
		c.Time = c.Add(time.Second)
	}
	m.Clear()
	want := "kioku: index: 5 of 13 files, 10 passages\nkioku: index: 10 of 13 files, 20 passages\n"
	if out.String() != want {
		t.Errorf("got %q", out.String())
	}
}

func TestMeterBarTellsTheTimeLeft(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	c := &clock{time.Unix(0, 0)}
	m := NewMeter(&out, true, c.now)
	frame := func(after time.Duration, p *indexer.Progress) string {
		out.Reset()
		c.Time = c.Add(after)
		if p == nil {
			m.Tell()
		} else {
			m.Step(*p)
		}
		return strings.TrimPrefix(out.String(), "\r\x1b[2K")
	}
	if got := frame(900*time.Millisecond, nil); got != "" {
		t.Errorf("too early: %q", got)
	}
	if got := frame(100*time.Millisecond, nil); !strings.Contains(got, "wait") || !strings.Contains(got, " 1s") {
		t.Errorf("before the first step: %q", got)
	}
	if got := frame(3*time.Second, &indexer.Progress{Phase: "embed", EmbedTotal: 500}); !strings.Contains(got, "embed  4s ") || strings.Contains(got, "left") {
		t.Errorf("with nothing done: %q", got)
	}
	if got := frame(6*time.Second, &indexer.Progress{Phase: "embed", Embedded: 100, EmbedTotal: 500}); !strings.Contains(got, "10s, 24s left") || !strings.Contains(got, "100/500") {
		t.Errorf("a fifth done: %q", got)
	}
	if got := frame(5*time.Second, nil); !strings.Contains(got, "15s, 44s left") {
		t.Errorf("without a step: %q", got)
	}
	if got := frame(time.Second, &indexer.Progress{Phase: "embed", Embedded: 50, EmbedTotal: 500}); strings.Contains(got, "left") {
		t.Errorf("where the count begins again: %q", got)
	}
	if got := frame(4*time.Second, &indexer.Progress{Phase: "embed", Embedded: 100, EmbedTotal: 500}); !strings.Contains(got, "20s, 16s left") {
		t.Errorf("a fifth of the new count: %q", got)
	}
}

func TestMeterCountsChunksWhileItEmbeds(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	c := &clock{time.Unix(0, 0)}
	m := NewMeter(&out, false, c.now)
	c.Time = c.Add(6 * time.Second)
	m.Step(indexer.Progress{Phase: "embed", Embedded: 64, EmbedTotal: 210})
	if want := "kioku: embed: 64 of 210 passages\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestMeterTellsOfWaiting(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	c := &clock{time.Unix(0, 0)}
	m := NewMeter(&out, false, c.now)
	for range 12 {
		c.Time = c.Add(time.Second)
		m.Tell()
	}
	if want := "kioku: waiting for the index, 5s\nkioku: waiting for the index, 10s\n"; out.String() != want {
		t.Errorf("got %q", out.String())
	}
}

// "scan: 0 of 0" never appears: while files are counted, only the phase is shown.
func TestMeterNeverCountsToZero(t *testing.T) {
	t.Parallel()
	for _, terminal := range []bool{false, true} {
		var out strings.Builder
		c := &clock{time.Unix(0, 0)}
		m := NewMeter(&out, terminal, c.now)
		for range 7 {
			c.Time = c.Add(time.Second)
			m.Step(indexer.Progress{Phase: "scan"})
		}
		shown := out.String()
		m.Clear()
		if !strings.Contains(shown, "scan") || strings.Contains(shown, "0 of 0") || strings.Contains(shown, "0/") || strings.Contains(shown, "%") {
			t.Errorf("terminal %v: got %q", terminal, shown)
		}
		if terminal && !strings.HasSuffix(out.String(), "\r\x1b[2K") {
			t.Errorf("the phase is not removed: %q", out.String())
		}
	}
}

func TestMeterBarIsDrawnAndRemoved(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	c := &clock{time.Unix(0, 0)}
	m := NewMeter(&out, true, c.now)
	c.Time = c.Add(2 * time.Second)
	m.Step(indexer.Progress{Phase: "index", FilesDone: 3, FilesTotal: 9})
	m.Clear()
	got := out.String()
	if !strings.Contains(got, "3/9") || strings.Contains(got, "\n") {
		t.Errorf("got %q", got)
	}
	if !strings.HasSuffix(got, "\r\x1b[2K") {
		t.Errorf("the bar stays: %q", got)
	}
}

func TestMeterBenchTellsOfProgress(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	c := &clock{}
	m := NewMeter(&out, false, c.now)
	for i := range 12 {
		m.Bench(bench.Progress{Set: "trio", Phase: bench.PhaseAsk, Done: i, Total: 12})
		c.Time = c.Add(1e9)
	}
	if want := "kioku: trio: ask: 5 of 12\nkioku: trio: ask: 10 of 12\n"; out.String() != want {
		t.Errorf("got %q", out.String())
	}
	out.Reset()
	m = NewMeter(&out, true, c.now)
	c.Time = c.Add(2e9)
	m.Bench(bench.Progress{Set: "trio", Phase: bench.PhaseAsk, Done: 3, Total: 12})
	m.Clear()
	if !strings.Contains(out.String(), "3/12") || strings.Contains(out.String(), "\n") {
		t.Errorf("got %q", out.String())
	}
}
