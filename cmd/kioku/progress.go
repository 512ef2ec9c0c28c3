package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"google.golang.org/grpc"

	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

const (
	// quietTime is how long work goes on before people are told of it on a terminal, lineTime elsewhere, where each
	// line stays.
	quietTime = time.Second
	lineTime  = 5 * time.Second
	// drawTime is how often a bar is drawn at most, frameTime how often while nothing happens.
	drawTime  = 100 * time.Millisecond
	frameTime = 250 * time.Millisecond
)

// meter tells people how far long work is: a bar on a terminal, a line now and then elsewhere, nothing of work that is
// done at once.
type meter struct {
	w        io.Writer
	terminal bool
	now      func() time.Time
	start    time.Time

	// mu guards what follows.
	mu   sync.Mutex
	next time.Time
	last *kiokuv1.Progress
	// counted is when the files began to be counted, which one phase after another does.
	counted time.Time
	bar     *progressbar.ProgressBar
}

func newMeter(w io.Writer, terminal bool, now func() time.Time) *meter {
	wait := lineTime
	if terminal {
		wait = quietTime
	}
	start := now()
	return &meter{w: w, terminal: terminal, now: now, start: start, counted: start, next: start.Add(wait),
		last: &kiokuv1.Progress{Phase: "wait"}}
}

// meter returns a meter on standard error.
func (a *app) meter() *meter { return newMeter(a.stderr, isTerminal(a.stderr), time.Now) }

// run lets the meter tell of time that passes without a step, until the returned function is called.
func (m *meter) run() (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(frameTime)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				m.tell()
			case <-end:
				return
			}
		}
	}()
	return func() { close(end); <-ended; m.end() }
}

// step tells of one step where it is time to.
func (m *meter) step(p *kiokuv1.Progress) {
	m.mu.Lock()
	if p.GetFilesDone() < m.last.GetFilesDone() {
		m.counted = m.now()
	}
	m.last = p
	m.mu.Unlock()
	m.tell()
}

// tell tells of the last step where it is time to.
func (m *meter) tell() {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.last
	switch {
	case m.now().Before(m.next):
	case m.terminal:
		m.next = m.now().Add(drawTime)
		m.draw(p)
	case p.GetPhase() == "wait":
		m.next = m.now().Add(lineTime)
		fmt.Fprintf(m.w, "kioku: waiting for the index, %s\n", m.now().Sub(m.start).Round(time.Second))
	default:
		m.next = m.now().Add(lineTime)
		fmt.Fprintf(m.w, "kioku: %s: %d of %d files, %d chunks, %d embedded\n",
			oneLine(p.GetPhase()), p.GetFilesDone(), p.GetFilesTotal(), p.GetChunks(), p.GetEmbedded())
	}
}

// draw draws the bar; who calls it holds mu.
func (m *meter) draw(p *kiokuv1.Progress) {
	total := int(p.GetFilesTotal())
	if m.bar == nil {
		m.bar = progressbar.NewOptions(max(total, 1), progressbar.OptionSetWriter(m.w), progressbar.OptionShowCount(),
			progressbar.OptionSetDescription(m.description(p)), progressbar.OptionSetPredictTime(false), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30))
	}
	if total > 0 && total != m.bar.GetMax() {
		m.bar.ChangeMax(total)
	}
	// A bar that is full counts as finished and is never drawn again.
	_ = m.bar.Set(min(int(p.GetFilesDone()), max(total-1, 0)))
	m.bar.Describe(m.description(p))
}

// description is the phase, the time that has passed and, once it can be told, the time that is left.
func (m *meter) description(p *kiokuv1.Progress) string {
	passed := m.now().Sub(m.start)
	text := fmt.Sprintf("%-6s %s", oneLine(p.GetPhase()), passed.Round(time.Second))
	spent := m.now().Sub(m.counted)
	if done, total := p.GetFilesDone(), p.GetFilesTotal(); done > 0 && done < total && spent >= 2*time.Second {
		left := spent * time.Duration(total-done) / time.Duration(done)
		text += fmt.Sprintf(", %s left", max(left.Round(time.Second), time.Second))
	}
	return text
}

// clear takes the bar away until the next step, so that something can be written in its place.
func (m *meter) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bar != nil {
		_ = m.bar.Clear()
	}
}

// end takes the bar away.
func (m *meter) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bar != nil {
		_ = m.bar.Finish()
	}
}

// follow shows the progress of a stream and returns its last message.
func (a *app) follow(stream grpc.ServerStreamingClient[kiokuv1.Progress], err error) (*kiokuv1.Progress, error) {
	if err != nil {
		return nil, err
	}
	m := a.meter()
	defer m.run()()
	var last *kiokuv1.Progress
	for {
		p, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF) && last != nil:
			return last, nil
		case errors.Is(err, io.EOF):
			return nil, errors.New("the service ended without a result")
		case err != nil:
			return nil, err
		}
		m.step(p)
		last = p
	}
}

// freshen brings the index in step with the folder before a question, unless a daemon does that all the time or the
// index is read as it stands. What only kioku index does, which may take long and cost embeddings, is left undone and
// told. An index that cannot be brought up to date still answers.
func (a *app) freshen(ctx context.Context, c *client) error {
	if c.memory == nil || c.readOnly {
		return nil
	}
	done, err := a.follow(c.Sync(ctx, &kiokuv1.SyncRequest{Agent: c.agent, NoRebuild: true}))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		a.notice("the index may lag behind the folder: %s", message(err))
		return nil
	}
	a.tellUndone(done.GetDegraded())
	return nil
}

// tellUndone tells what a sync for a query had to do without, and what does it.
func (a *app) tellUndone(list []*kiokuv1.Degradation) {
	for _, d := range list {
		switch d.GetCode() {
		case memory.IndexStale, memory.VectorsMissing:
			a.notice("%s; run kioku index", d.GetText())
		default:
			a.tellDegraded([]*kiokuv1.Degradation{d})
		}
	}
}

// tellDegraded tells what an answer had to do without.
func (a *app) tellDegraded(list []*kiokuv1.Degradation) {
	for _, d := range list {
		a.notice("degraded (%s): %s", d.GetCode(), d.GetText())
	}
}
