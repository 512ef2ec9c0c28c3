package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "github.com/mattn/go-sqlite3" // an index of OpenClaw

	"kioku/internal/testkit"
)

// kioku config openclaw takes over workspace and settings of OpenClaw, says what it does not take, and is idempotent; --dry-run
// writes nothing, and the files of OpenClaw stay as they are.
func TestImportOpenClawTakesOverWhatItCan(t *testing.T) {
	s := newSandbox(t, nil)
	state, notes := t.TempDir(), t.TempDir()
	note := "The heron nests by the weir."
	writeTestFile(t, filepath.Join(notes, "memory", "2026-01-02.md"), note+"\n")
	writeTestFile(t, filepath.Join(state, "openclaw.json"), `{ // JSON5
	agents: { defaults: { workspace: '`+notes+`' }, entries: { main: {}, gone: {} } },
	memory: { search: { provider: 'openai-compatible', model: 'toy', store: { path: 'x' }, query: { maxResults: 4 },
		remote: { baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'sk-secret' }, }, },
}`)
	before := readTestFile(t, filepath.Join(state, "openclaw.json"))
	take := func(args ...string) takeoverReport {
		t.Helper()
		out := s.raw(append([]string{"config", "openclaw", "--from", state, "--json"}, args...)...)
		var r takeoverReport
		if err := json.Unmarshal([]byte(out.stdout), &r); err != nil || out.code != exitOK || strings.Contains(out.stdout, "sk-secret") {
			t.Fatalf("%v: %+v", err, out)
		}
		return r
	}
	plan := take("--dry-run")
	if _, err := os.Stat(plan.Config); err == nil || !plan.DryRun || len(plan.Settings) != 5 {
		t.Errorf("%+v", plan)
	}
	got := take()
	var settings, left []string
	for _, one := range got.Settings {
		settings = append(settings, one.Key+"="+one.Value)
	}
	for _, one := range got.Left {
		left = append(left, one.Key)
	}
	want := []string{"model=toy", "provider=openai", "query.maxResults=4", "remote.baseUrl=http://127.0.0.1:1/v1", "workspace=" + notes}
	if d := cmp.Diff(want, settings); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"memory.search.remote.apiKey", "memory.search.store", "agents.gone"}, left); d != "" {
		t.Error(d)
	}
	agents := []takenAgent{{ID: "main", Workspace: notes}}
	if d := cmp.Diff(agents, got.Agents); d != "" {
		t.Error(d)
	}
	written := readTestFile(t, got.Config)
	for _, one := range take().Settings {
		if !one.Unchanged {
			t.Errorf("%s is set again", one.Key)
		}
	}
	if readTestFile(t, got.Config) != written || strings.Contains(written, "sk-secret") {
		t.Errorf("the config file is now %s", readTestFile(t, got.Config))
	}
	if d := cmp.Diff(before, readTestFile(t, filepath.Join(state, "openclaw.json"))); d != "" {
		t.Errorf("OpenClaw's file has changed: %s", d)
	}
	s.raw("config", "openclaw", "--from", filepath.Join(state, "none")).wants(t, exitError, "--from")
}

// writeTestFile writes a file and the folders above it.
func writeTestFile(t *testing.T, path, text string) {
	t.Helper()
	testkit.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	testkit.Must(t, os.WriteFile(path, []byte(text), 0o600))
}

// readTestFile returns the content of a file.
func readTestFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
