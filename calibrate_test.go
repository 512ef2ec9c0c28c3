package kioku

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"kioku/memory"
	"kioku/search"
)

// companyNotes writes a workspace of n notes and opens its memory.
func companyNotes(t *testing.T, n int, opt Options) (*Memory, Options) {
	t.Helper()
	opt.Workspace, opt.StateDir = t.TempDir(), t.TempDir()
	if err := os.MkdirAll(filepath.Join(opt.Workspace, "memory"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		text := fmt.Sprintf("# Note %d\n\nThe invoice of the supplier with number %d, and the pump of the harbour.\n", i, i)
		if err := os.WriteFile(filepath.Join(opt.Workspace, "memory", fmt.Sprintf("n%d.md", i)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m, err := Open(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	return m, opt
}

// syncAndCalibrate does what a watch does.
func syncAndCalibrate(t *testing.T, m *Memory) {
	t.Helper()
	if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	if err := m.Calibrate(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// calibrationOf returns what the index says of the probes.
func calibrationOf(t *testing.T, m *Memory) search.Calibration {
	t.Helper()
	var c search.Calibration
	err := m.store.View(t.Context(), false, func(r search.Reader) error {
		c = r.Index().Calibration
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Probes are asked once after a sync that changed much, and stored in the index.
func TestCalibrateAfterASyncThatChangedMuch(t *testing.T) {
	m, opt := companyNotes(t, 40, Options{})
	syncAndCalibrate(t, m)
	first := calibrationOf(t, m)
	if first.Chunks != 40 || first.Probes == "" {
		t.Fatalf("%+v", first)
	}
	if err := os.WriteFile(filepath.Join(opt.Workspace, "memory", "one.md"), []byte("one more\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	syncAndCalibrate(t, m)
	if again := calibrationOf(t, m); again != first {
		t.Errorf("asked again after one note: %+v", again)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	reader, err := Open(t.Context(), Options{Workspace: opt.Workspace, StateDir: opt.StateDir, Mode: ReadOnly})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if got := calibrationOf(t, reader); got != first {
		t.Errorf("another process reads %+v, want %+v", got, first)
	}
}

// Neither a sync nor a search waits for the probes: a command that ends asks them after its answer.
func TestCalibrateKeepsNoQueryWaiting(t *testing.T) {
	defer func(d time.Duration) { closingProbes = d }(closingProbes)
	closingProbes = time.Minute // this machine may be busy
	m, opt := companyNotes(t, 40, Options{})
	if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	if c := calibrationOf(t, m); c.Probes != "" {
		t.Errorf("the sync of a query asked the probes: %+v", c)
	}
	if _, err := m.Search(t.Context(), memory.Query{Text: "invoice of the supplier"}); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m, err := Open(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if c := calibrationOf(t, m); c.Chunks != 40 {
		t.Errorf("%+v", c)
	}
}

// Each probe waits for its turn as the search of a client of its own, not as that of the client whose query began the sync.
func TestCalibrateWaitsForItsTurn(t *testing.T) {
	type caller struct{}
	running, most, asked, strangers := 0, 0, 0, 0
	opt := Options{Search: search.Options{Admit: func(ctx context.Context) (func(), error) {
		running++
		asked++
		most = max(most, running)
		if ctx.Value(caller{}) != nil {
			strangers++
		}
		return func() { running-- }, nil
	}}}
	m, _ := companyNotes(t, 40, opt)
	defer m.Close()
	if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	if err := m.Calibrate(context.WithValue(t.Context(), caller{}, true)); err != nil {
		t.Fatal(err)
	}
	if asked < 50 || most != 1 || strangers != 0 {
		t.Errorf("%d probes, %d at a time, %d as another's", asked, most, strangers)
	}
}

// A watch asks the probes with vectors when a backfill ends whole, without another sync, and stops asking when it is closed.
func TestCalibrateAtTheEndOfABackfill(t *testing.T) {
	models := newModels()
	models.pause = 5 * time.Millisecond
	m, _ := companyNotes(t, 40, Options{Embedder: models.client(t, "first")})
	defer m.Close()
	watched := make(chan error, 1)
	go func() { watched <- m.Watch(t.Context()) }()
	for deadline := time.Now().Add(2 * time.Minute); calibrationOf(t, m).Space == ""; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the probes were not asked with vectors: %+v", calibrationOf(t, m))
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	<-watched
}
