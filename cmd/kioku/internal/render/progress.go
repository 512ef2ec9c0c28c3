package render

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"kioku/bench"
	"kioku/indexer"
	"kioku/memory"
)

const (
	// quietTime is how long work goes on before a terminal shows progress. In a file, in which each line stays, it is lineTime.
	quietTime = time.Second
	lineTime  = 5 * time.Second
	// drawTime is the minimum time between two drawings of a bar, frameTime the time between drawings without a step.
	drawTime  = 100 * time.Millisecond
	frameTime = 250 * time.Millisecond
	// barWidth is the width of a bar.
	barWidth = 30
)

// Meter shows the progress of long work: a bar on a terminal, a line now and then elsewhere. It shows nothing of short work.
type Meter struct {
	w        io.Writer
	terminal bool
	now      func() time.Time
	start    time.Time

	// mu guards the fields below.
	mu   sync.Mutex
	next time.Time
	last step
	// counted is when the current phase began to count.
	counted time.Time
	// drawn is true while something stands on the line of the terminal.
	drawn bool
}

// step is how far a piece of work is. A step without a phase waits for the index.
type step struct {
	phase string
	// unit is the text after the numbers.
	unit        string
	done, total int
}

// NewMeter returns a meter that writes to w.
func NewMeter(w io.Writer, terminal bool, now func() time.Time) *Meter {
	wait := lineTime
	if terminal {
		wait = quietTime
	}
	start := now()
	return &Meter{w: w, terminal: terminal, now: now, start: start, counted: start, next: start.Add(wait)}
}

// Meter returns a meter on standard error.
func (o *Output) Meter() *Meter { return NewMeter(o.Stderr, IsTerminal(o.Stderr), time.Now) }

// Run shows progress also while no step is reported, until the returned function is called.
func (m *Meter) Run() (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(frameTime)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				m.Tell()
			case <-end:
				return
			}
		}
	}()
	return func() { close(end); <-ended; m.Clear() }
}

// Step shows a step of a sync if it is time to.
func (m *Meter) Step(p indexer.Progress) {
	s := step{phase: p.Phase, done: p.FilesDone, total: p.FilesTotal, unit: fmt.Sprintf(" files, %d passages", p.Chunks)}
	if s.phase == indexer.PhaseEmbed {
		s.done, s.total, s.unit = p.Embedded, p.EmbedTotal, " passages"
	}
	m.step(s)
}

func (m *Meter) step(s step) {
	m.mu.Lock()
	if s.done < m.last.done || s.phase == indexer.PhaseEmbed && m.last.phase != indexer.PhaseEmbed {
		m.counted = m.now()
	}
	m.last = s
	m.mu.Unlock()
	m.Tell()
}

// Tell shows the last step if it is time to.
func (m *Meter) Tell() {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.last
	switch {
	case m.now().Before(m.next):
	case m.terminal:
		m.next = m.now().Add(drawTime)
		m.draw(s)
	case s.phase == "":
		m.next = m.now().Add(lineTime)
		fmt.Fprintf(m.w, "kioku: waiting for the index, %s\n", m.now().Sub(m.start).Round(time.Second))
	case s.total == 0:
		m.next = m.now().Add(lineTime)
		fmt.Fprintf(m.w, "kioku: %s, %s\n", CleanLine(s.phase), m.now().Sub(m.start).Round(time.Second))
	default:
		m.next = m.now().Add(lineTime)
		fmt.Fprintf(m.w, "kioku: %s: %d of %d%s\n", CleanLine(s.phase), s.done, s.total, s.unit)
	}
}

// draw draws the phase, and a bar once it is known how much there is to do. The caller holds mu.
func (m *Meter) draw(s step) {
	m.erase()
	text := m.description(s)
	if s.total > 0 {
		full := barWidth * min(s.done, s.total) / s.total
		text += fmt.Sprintf(" [%s%s] %d/%d", strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), s.done, s.total)
	}
	fmt.Fprint(m.w, text)
	m.drawn = true
}

// erase removes what stands on the line. The caller holds mu.
func (m *Meter) erase() {
	if m.drawn {
		fmt.Fprint(m.w, "\r\x1b[2K")
	}
	m.drawn = false
}

// description returns the phase, the time that has passed and, once it is known, the time that is left.
func (m *Meter) description(s step) string {
	passed := m.now().Sub(m.start)
	text := fmt.Sprintf("%-6s %s", CleanLine(cmp.Or(s.phase, "wait")), passed.Round(time.Second))
	spent := m.now().Sub(m.counted)
	if s.done > 0 && s.done < s.total && spent >= 2*time.Second {
		left := spent * time.Duration(s.total-s.done) / time.Duration(s.done)
		text += fmt.Sprintf(", %s left", max(left.Round(time.Second), time.Second))
	}
	return text
}

// Clear removes the bar until the next step, so that something can be written in its place.
func (m *Meter) Clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.erase()
}

// Bench shows a step of a measurement if it is time to.
func (m *Meter) Bench(p bench.Progress) {
	m.step(step{phase: p.Set + ": " + p.Phase, done: p.Done, total: p.Total})
}

// Bytes shows how far a download or copy is, in megabytes, if it is time to. A negative total is not known.
func (m *Meter) Bytes(phase string, done, total int64) {
	const mega = 1_000_000
	m.step(step{phase: phase, unit: " MB", done: int(done / mega), total: int(max(total, 0) / mega)})
}

// TellUndone reports what a sync before a query left undone, and the command that does it.
func (o *Output) TellUndone(list []memory.Degradation) {
	for _, d := range list {
		switch d.Code {
		case memory.IndexStale, memory.VectorsMissing:
			o.Notice("%s; run kioku index", d.Text)
		default:
			o.TellDegraded([]memory.Degradation{d})
		}
	}
}

// TellDegraded reports what an answer lacks.
func (o *Output) TellDegraded(list []memory.Degradation) {
	for _, d := range list {
		o.Notice("degraded (%s): %s", d.Code, d.Text)
	}
}
