package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kioku/internal/testkit"
)

// copied makes a copy of the small set under another name.
func copied(t *testing.T, s *sandbox, name string) string {
	t.Helper()
	dir := filepath.Join(s.home, name)
	testkit.Must(t, os.CopyFS(dir, os.DirFS(trio(t))))
	return dir
}

func TestBenchRetrievalCompareNamesEachProviderOnce(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, nil)
	got := s.raw("bench", "retrieval", trio(t), "--compare", " none , hash ")
	got.wants(t, exitOK)
	if !strings.Contains(got.stdout, "provider none, ") || !strings.Contains(got.stdout, "provider hash hash-256, ") {
		t.Errorf("got %s", got.stdout)
	}
	for _, tc := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--compare", "none, none"}, "--compare names none twice"},
		{[]string{"--compare", "none,,hash"}, "contains an empty name"},
		{[]string{"--compare", ""}, "contains an empty name"},
		{[]string{"--compare", " "}, "contains an empty name"},
		{[]string{"--compare", "none", "--provider", "hash"}, "omit --provider"},
		{[]string{"--compare", "none", "--set", "provider=hash"}, "omit --provider"},
	} {
		s.raw(append([]string{"bench", "retrieval", trio(t)}, tc.flags...)...).wants(t, exitUsage, tc.want)
	}
}

func TestBenchRetrievalCallsAGroupWithoutANameNone(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, nil)
	own := copied(t, s, "own")
	file := filepath.Join(own, "queries.jsonl")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Must(t, os.WriteFile(file, []byte(strings.Replace(string(text), `"category": "single", `, "", 1)), 0o644))
	if got := s.raw("bench", "retrieval", own, "--by", "category"); !strings.Contains(got.stdout, "\n  category none  ") {
		t.Errorf("exit %d: %s%s", got.code, got.stdout, got.stderr)
	}
}

func TestBenchRetrievalEndsAtASignalAndLeavesNothing(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, nil)
	asked := make(chan struct{}, 100)
	provider := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		// Only a server that has read the request notices that its client is gone.
		_, _ = io.Copy(io.Discard, r.Body)
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	defer provider.Close()
	for sig, code := range map[syscall.Signal]int{syscall.SIGHUP: 129, syscall.SIGTERM: 143, syscall.SIGINT: exitInterrupted} {
		if signal.Ignored(sig) {
			continue // as nohup has it, for this test and for what it starts
		}
		for len(asked) > 0 { // by the process before
			<-asked
		}
		temporary := t.TempDir()
		s.env = append(systemEnv(), "HOME="+s.home, "TMPDIR="+temporary)
		p := s.start("bench", "retrieval", trio(t), "--provider", "openai", "--model", "m", "--base-url", provider.URL)
		select {
		case <-asked:
		case <-time.After(patience):
			t.Fatal("the provider is not asked")
		}
		p.signal(sig)
		if got, _ := p.ends(); got != code {
			t.Errorf("%v: exit %d, want %d; it said %q", sig, got, code, p.said)
		}
		if left, err := os.ReadDir(temporary); err != nil || len(left) != 0 {
			t.Errorf("%v: %v is left, %v", sig, left, err)
		}
	}
}

func TestBenchGoldenRefusesAPlaceThatDoesNotExist(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	file := filepath.Join(s.workspace, "questions.yaml")
	for place, want := range map[string]string{
		"path: nope.md":                            "questions.yaml:2: nope.md is not a file of this memory",
		"path: memory.md":                          "questions.yaml:2: memory.md is not a file of this memory",
		"path: MEMORY.md\n  lines: 1-900":          "questions.yaml:2: MEMORY.md has 5 lines, the answer ends at 900",
		"path: ./memory/2026-01-10.md\n  lines: 6": "questions.yaml:2: memory/2026-01-10.md has 5 lines",
	} {
		s.write("questions.yaml", "# checked\n- question: boiler pressure?\n  "+place+"\n")
		got := s.run("bench", "golden", file)
		got.wants(t, exitError, want)
		if strings.Contains(got.stdout, "FAIL") {
			t.Errorf("%s: a miss: %s", place, got.stdout)
		}
	}
	s.write("questions.yaml", "- question: boiler pressure?\n  path: ./memory/2026-01-10.md\n  lines: 3-5\n")
	s.run("bench", "golden", file).wants(t, exitOK)
	for _, n := range []string{"0", "-1", "1000"} {
		s.run("bench", "golden", file, "-n", n).wants(t, exitUsage, "--max-results is "+n+"; it must be at least 1 and at most 100")
	}
	s.write("questions.yaml", "- question: boiler pressure?\n  path: MEMORY.md\n---\n- question: boiler?\n  path: MEMORY.md\n")
	s.run("bench", "golden", file).wants(t, exitError, "questions.yaml:3: a second document begins")
}
