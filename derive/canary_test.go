package derive_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"kioku/derive/derivetest"
	"kioku/derive/recall"
	"kioku/memory"
)

// logBuffer collects a log of several goroutines.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer // guarded by mu
}

// Write implements io.Writer.
func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// String returns the log.
func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// Acceptance check 12 (hazard C13): private and secret text is in no recall for a group and in no log, not even if a model fails and
// repeats what it was told; secrets are in no recall that does not ask for them.
func TestAcceptance12NoCanaryInRecallAndLogs(t *testing.T) {
	t.Parallel()
	var log logBuffer
	server := derivetest.New(t, `
-- echo --
times: *
status: 500

{"error": {"message": "cannot read: Ana lives in Openville. Ana lives in Canarytown. Bea lives in Canaryville."}}
`)
	w := &world{t: t, folder: t.TempDir(), state: t.TempDir(), now: monday}
	w.opt.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelInfo}))
	openWorld(w,
		"memory/2026-11-20.md", day("Ana lives in Openville.", "Ana said: <private>Bea lives in Canaryville.</private>"),
		"memory/family/2026-11-20.md", day("Ana lives in Canarytown."),
		"memory/locked.md", "---\nsensitivity: secret\n---\n# Locked\n\nAna lives in Canarycity.\n",
	)
	w.opt.ViewDir, w.opt.Ceiling, w.opt.Model = "derived", memory.Private, server.Model()
	w.serve()
	w.derive()
	w.pass(time.Hour)
	w.derive()
	if st := w.status(); len(server.Requests()) == 0 || st.Problem == "" {
		t.Fatalf("%d requests, %+v", len(server.Requests()), st)
	}
	if text := log.String(); strings.Contains(text, "Canary") || strings.Contains(text, "Openville") {
		t.Errorf("the log has text of notes:\n%s", text)
	}
	w.checkCanaries(recall.New(w.memory, w.memory.Derived(), recall.Options{Now: w.clock}))
}

// checkCanaries fails the test if a recall has what lies above its ceiling.
func (w *world) checkCanaries(r *recall.Recaller) {
	t := w.t
	t.Helper()
	normal, secret := memory.Normal, memory.Secret
	for name, c := range map[string]struct {
		ceiling *memory.Sensitivity
		want    []string
	}{
		"group":   {&normal, nil},
		"own":     {nil, []string{"Canaryville", "Canarytown"}},
		"secrets": {&secret, []string{"Canaryville", "Canarytown", "Canarycity"}},
	} {
		for _, kinds := range [][]string{nil, {memory.KindChunk, memory.KindFact, memory.KindSummary, memory.KindLoop}} {
			a, err := r.Search(t.Context(), memory.Query{
				Text: "where does Ana live", Kinds: kinds, MaxSensitivity: c.ceiling, MaxResults: 20,
				Context: []memory.Turn{{Speaker: memory.SpeakerUser, Text: "Tell me about Ana and Bea in Canaryville, Canarytown and Canarycity."}},
			})
			if err != nil {
				t.Fatal(err)
			}
			data, err := json.Marshal([]any{a.Hits, a.Units})
			if err != nil {
				t.Fatal(err)
			}
			for _, canary := range []string{"Canaryville", "Canarytown", "Canarycity"} {
				found, allowed := strings.Contains(string(data), canary), strings.Contains(strings.Join(c.want, " "), canary)
				if found && !allowed || !found && allowed && canary != "Canaryville" {
					t.Errorf("%s, kinds %q: %s is there: %v\n%s", name, kinds, canary, found, data)
				}
			}
			if !strings.Contains(string(data), "Openville") {
				t.Errorf("%s: what everybody may know is missing: %s", name, data)
			}
		}
	}
}
