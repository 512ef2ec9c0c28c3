package engine_test

import (
	"testing"
	"time"

	"kioku/council"
	"kioku/council/counciltest"
	"kioku/council/engine"
)

// world is a council with scripted members and a clock.
type world struct {
	*engine.Engine
	t      *testing.T
	dir    string
	clock  *counciltest.Clock
	script *counciltest.Script
	set    council.Settings
}

// newWorld returns a council of three in a new folder.
func newWorld(t *testing.T, change func(*engine.Options)) *world {
	t.Helper()
	w := &world{t: t, dir: counciltest.Dir(t), clock: counciltest.NewClock(), script: &counciltest.Script{Votes: map[counciltest.Key]string{}}}
	w.set = counciltest.Settings(w.dir, 3)
	w.open(change)
	return w
}

// open opens the engine, again if it was closed.
func (w *world) open(change func(*engine.Options)) {
	w.t.Helper()
	w.openBy(engine.Open, change)
}

// openInline opens an engine that a test can end at any point.
func (w *world) openInline(change func(*engine.Options)) {
	w.t.Helper()
	w.openBy(engine.OpenInline, change)
}

func (w *world) openBy(open func(engine.Options) (*engine.Engine, error), change func(*engine.Options)) {
	w.t.Helper()
	o := engine.Options{Folder: w.dir + "/council", Settings: w.set, Workspace: w.dir + "/agent", Ask: w.script, Now: w.clock.Now}
	if change != nil {
		change(&o)
	}
	e, err := open(o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.Engine = e
	w.t.Cleanup(func() { e.Close() })
}

// vote scripts the votes of members in all rounds.
func (w *world) vote(votes map[string]string) {
	for name, v := range votes {
		w.script.Votes[counciltest.Key{Member: name, Phase: "opinion"}] = v
	}
}

// submit submits a task and settles it.
func (w *world) submit(t council.Task) string {
	w.t.Helper()
	t, err := w.Submit(w.t.Context(), t)
	if err != nil {
		w.t.Fatal(err)
	}
	w.settle()
	return t.ID
}

func (w *world) settle() {
	w.t.Helper()
	if err := w.Settle(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// later moves the clock and settles.
func (w *world) later(d time.Duration) {
	w.t.Helper()
	w.clock.Add(d)
	w.settle()
}

func (w *world) get(id string) engine.Detail {
	w.t.Helper()
	d, err := w.Get(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

// Check 1: the happy path.
func TestTaskIsApprovedInOneRound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.vote(map[string]string{"bee": council.VoteWithChanges})
	id := w.submit(council.Task{Title: "Buy a kettle", Description: "The old one leaks."})
	d := w.get(id)
	if d.Decision == nil || d.Decision.Decision != council.Approved || d.Decision.DecidedBy != council.ByCouncil || d.Decision.FinalRound != 1 {
		t.Fatalf("%+v", d.Decision)
	}
	if d.Status.Status != council.StatusAnnounced || d.NeedsOwner != "report" {
		t.Errorf("status %s, needs %q", d.Status.Status, d.NeedsOwner)
	}
	if n, all := w.script.Count("opinion"), w.script.Count(""); n != 3 || all != 4 {
		t.Errorf("%d opinions, %d calls", n, all)
	}
}

// As many tasks as are sent within a second have ids of their own.
func TestSubmitFindsAFreeID(t *testing.T) {
	t.Parallel()
	e, _ := openInline(t)
	for range 500 { // two of 500 have the same four digits but once in 250,000 times
		if _, err := e.Submit(t.Context(), council.Task{Title: "Buy a kettle"}); err != nil {
			t.Fatal(err)
		}
	}
}

// openInline opens an engine that does nothing until it is asked to, in the folder that it returns.
func openInline(t *testing.T) (e *engine.Engine, dir string) {
	t.Helper()
	dir = counciltest.Dir(t)
	e, err := engine.OpenInline(engine.Options{Folder: dir + "/council", Settings: counciltest.Settings(dir, 3), Workspace: dir + "/agent",
		Ask: &counciltest.Script{}, Now: counciltest.NewClock().Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e, dir
}
