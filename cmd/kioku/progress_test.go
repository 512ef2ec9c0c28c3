package main

import (
	"strings"
	"testing"
	"time"

	kiokuv1 "kioku/proto/kioku/v1"
)

// clock is a time that a test moves.
type clock struct{ time.Time }

func (c *clock) now() time.Time { return c.Time }

func TestQuickWorkIsDoneInSilence(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		var out strings.Builder
		c := &clock{time.Unix(0, 0)}
		m := newMeter(&out, terminal, c.now)
		m.step(&kiokuv1.Progress{Phase: "index", FilesDone: 1, FilesTotal: 2})
		c.Time = c.Add(900 * time.Millisecond)
		m.step(&kiokuv1.Progress{Phase: "index", FilesDone: 2, FilesTotal: 2})
		m.end()
		if out.Len() > 0 {
			t.Errorf("terminal %v: got %q", terminal, out.String())
		}
	}
}

func TestElsewhereThanOnATerminalALineComesNowAndThen(t *testing.T) {
	var out strings.Builder
	c := &clock{time.Unix(0, 0)}
	m := newMeter(&out, false, c.now)
	for i := range int32(13) {
		m.step(&kiokuv1.Progress{Phase: "index", FilesDone: i, FilesTotal: 13, Chunks: 2 * i})
		c.Time = c.Add(time.Second)
	}
	m.end()
	want := "kioku: index: 5 of 13 files, 10 chunks, 0 embedded\nkioku: index: 10 of 13 files, 20 chunks, 0 embedded\n"
	if out.String() != want {
		t.Errorf("got %q", out.String())
	}
}

func TestOnATerminalABarIsDrawnAndTakenAway(t *testing.T) {
	var out strings.Builder
	c := &clock{time.Unix(0, 0)}
	m := newMeter(&out, true, c.now)
	c.Time = c.Add(2 * time.Second)
	m.step(&kiokuv1.Progress{Phase: "index", FilesDone: 3, FilesTotal: 9})
	m.end()
	got := out.String()
	if !strings.Contains(got, "3/9") || strings.Contains(got, "\n") {
		t.Errorf("got %q", got)
	}
	if last := got[strings.LastIndex(strings.TrimRight(got, "\r"), "\r"):]; strings.Trim(last, "\r ") != "" {
		t.Errorf("the bar stays: %q", last)
	}
}
