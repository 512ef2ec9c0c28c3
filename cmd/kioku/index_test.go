package main

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/internal/testkit"
	"kioku/memory"
	"kioku/server"
)

func TestIndexJSONIsOneObjectWithTheTotals(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.write("memory/binary.md", "a\x00b")
	first := s.object("index", "--json", "--provider", "hash")
	want := []string{"chunks", "embedded", "files", "generation", "skipped", "took"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(first))); diff != "" {
		t.Error(diff)
	}
	if first["files"] != 3.0 || first["chunks"].(float64) < 3 || first["embedded"] != first["chunks"] || first["skipped"] != 1.0 {
		t.Errorf("first run: %v", first)
	}
	again := s.object("index", "--json", "--provider", "hash")
	if again["files"] != first["files"] || again["chunks"] != first["chunks"] || again["embedded"] != 0.0 ||
		again["generation"] != first["generation"] {
		t.Errorf("nothing changed, but after %v came %v", first, again)
	}
	forced := s.object("index", "--json", "--provider", "hash", "--force")
	if forced["chunks"] != first["chunks"] || forced["embedded"] != 0.0 || forced["generation"] == first["generation"] {
		t.Errorf("--force must rebuild the index from known embeddings: %v after %v", forced, first)
	}
}

func TestIndexSaysForPeopleWhatItHolds(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, map[string]string{"MEMORY.md": "# Memory\n- one\n"})
	if out := s.must("index"); !cmp.Equal(out[:19], "1 file, 1 passage, ") {
		t.Errorf("got %q", out)
	}
}

func TestIndexReportsWhatItLeftOut(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	if got := s.run("index", "--strict"); got.code != exitOK || got.stderr != "" {
		t.Errorf("nothing was left out: exit %d: %s", got.code, got.stderr)
	}
	s.write("memory/binary.md", "a\x00b")
	s.run("index", "--strict").wants(t, exitOK, "kioku status lists what was skipped or not read, and why")
}

func TestIndexStrictFailsIfAFolderCannotBeRead(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root may read everything")
	}
	s := newSandbox(t, notes())
	s.must("index")
	memory := filepath.Join(s.workspace, "memory")
	testkit.Must(t, os.Chmod(memory, 0))
	t.Cleanup(func() { _ = os.Chmod(memory, 0o700) }) // for the removal of the folder
	s.run("index").wants(t, exitOK, "memory cannot be read", "kioku status")
	s.run("index", "--strict").wants(t, exitDegraded, "memory cannot be read", "kioku status")
}

func TestUnreadIsWhatTheSystemRefuses(t *testing.T) {
	t.Parallel()
	var st server.IndexStatus
	st.Sync.Unavailable = []string{"away"}
	st.Skipped = []memory.SkippedFile{
		{Path: "memory", Reason: "permission denied"}, {Path: "a.md", Reason: "input/output error"}, {Path: "b.md", Reason: "symbolic link"},
	}
	if diff := cmp.Diff([]string{"away", "memory", "a.md"}, unread(st)); diff != "" {
		t.Error(diff)
	}
}

func TestIndexNamesAProviderThatRefuses(t *testing.T) {
	t.Parallel()
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"error":{"message":"wrong key"}}`, http.StatusUnauthorized)
	}))
	defer provider.Close()
	s := newSandbox(t, notes())
	s.must("index")
	got := s.run("index", "--force", "--provider", "openai", "--model", "m1", "--base-url", provider.URL)
	got.wants(t, exitOK, "401: check OPENAI_API_KEY or remote.apiKey")
	if strings.Contains(got.stderr, "daemon") {
		t.Errorf("there is no daemon: %s", got.stderr)
	}
}

func TestIndexSeesWhatChanged(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	before := s.object("index", "--json")
	s.write("memory/new.md", "# New\nThe kettle is blue.\n")
	after := s.object("index", "--json")
	if after["files"].(float64) != before["files"].(float64)+1 {
		t.Errorf("before %v, after %v", before, after)
	}
}

// An interrupted run ends at once, says so, and leaves an index that the next run completes.
func TestIndexCompletesAnInterruptedRun(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	asked := make(chan struct{}, 100)
	provider := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		// Only a server that has read the request notices that its client is gone.
		_, _ = io.Copy(io.Discard, r.Body)
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	defer provider.Close()
	p := s.start("index", "--provider", "openai", "--model", "m", "--base-url", provider.URL)
	select {
	case <-asked:
	case <-time.After(patience):
		t.Fatal("the provider is not asked")
	}
	p.signal(os.Interrupt)
	if code, took := p.ends(); code != exitInterrupted || took > patience/2 || !slices.Contains(p.said, "kioku: interrupted") {
		t.Errorf("exit %d after %v; it said %q", code, took, p.said)
	}
	if out := s.must("index"); !strings.HasPrefix(out, "3 files, ") {
		t.Errorf("got %q", out)
	}
}
