package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kioku/internal/testkit"
)

// demoSandbox has a folder for temporary files, and a setting that a demonstration must not heed.
func demoSandbox(t *testing.T) *sandbox {
	t.Helper()
	s := newSandbox(t, notes())
	testkit.Must(t, os.Mkdir(s.tmp(), 0o700))
	s.env = append(s.env, "TMPDIR="+s.tmp(), "KIOKU_PROVIDER=nonsense")
	return s
}

func (s *sandbox) tmp() string { return filepath.Join(s.home, "tmp") }

func TestDemoAsksItsQuestionsAndCleansUp(t *testing.T) {
	t.Parallel()
	s := demoSandbox(t)
	questions := filepath.Join(s.home, "q.md")
	text := "| # | Kind | Question | Answered by |\n|---|---|---|---|\n| 1 | English, demo | How high was the boiler pressure? | x |\n" +
		"| 2 | English | Not asked? | x |\n| 3 | Chinese, demo | 苹果放在哪里？ | x |\n| 4 | Off-topic, demo | zxqv? | nothing |\n"
	testkit.Must(t, os.WriteFile(questions, []byte(text), 0o600))
	got := s.raw("demo", "--workspace", s.workspace, "--questions", questions)
	if got.code != 0 {
		t.Fatalf("exit %d: %s", got.code, got.stderr)
	}
	rest := got.stdout
	for _, want := range []string{
		"3 files, ", "Serving gRPC on 127.0.0.1:", "How high was the boiler pressure?  (English)", "memory/2026-01-10.md#L",
		`grpcurl -plaintext -d '{"agent":"main","query":"How high was the boiler pressure?","maxResults":3,"askTime":"2026-01-26T12:00:00Z"}' 127.0.0.1:`,
		"kioku.v1.MemoryService/MemorySearch", "苹果放在哪里？  (Chinese)", "memory/2026-01-12.md#L", "zxqv?  (Off-topic)", "nothing: no note",
		"The daemon ended gracefully in ",
	} {
		_, after, ok := strings.Cut(rest, want)
		if !ok {
			t.Fatalf("the demonstration lacks %q:\n%s", want, got.stdout)
		}
		rest = after
	}
	if strings.Contains(got.stdout, "Not asked?") {
		t.Error("a question that is not for the demonstration was asked")
	}
	if left, err := os.ReadDir(s.tmp()); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestDemoReportsAFailure(t *testing.T) {
	t.Parallel()
	s := demoSandbox(t)
	s.raw("demo", "--workspace", s.workspace, "--questions", "/no/such/file").wants(t, exitError, "/no/such/file", "--questions")
	empty := filepath.Join(s.home, "q.md")
	testkit.Must(t, os.WriteFile(empty, []byte("# none\n"), 0o600))
	s.raw("demo", "--workspace", s.workspace, "--questions", empty).wants(t, exitError, "contains no row")
}

// A reader that goes away, as head does, must leave neither a daemon nor a folder behind.
func TestDemoCleansUpIfNobodyReads(t *testing.T) {
	t.Parallel()
	s := demoSandbox(t)
	// More is written than a pipe holds, so that the demonstration notices.
	questions := filepath.Join(s.home, "q.md")
	testkit.Must(t, os.WriteFile(questions, []byte(strings.Repeat("| 1 | English, demo | boiler? | x |\n", 500)), 0o600))
	p := s.start("demo", "--questions", questions)
	_, address, _ := strings.Cut(p.waits(p.out, "Serving gRPC on "), "on ")
	testkit.Must(t, p.outPipe.Close())
	if code, _ := p.ends(); code != exitError {
		t.Errorf("exit %d; it said %q", code, p.said)
	}
	if conn, err := net.Dial("tcp", address); err == nil {
		conn.Close()
		t.Error("the daemon is still there")
	}
	if left, err := os.ReadDir(s.tmp()); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestStartDaemonReportsWhyItIsNotReady(t *testing.T) {
	t.Parallel()
	s := demoSandbox(t)
	questions := writeQuestions(t)
	got := s.raw("demo", "--workspace", s.workspace, "--questions", questions, "--socket", questions)
	if got.code != exitError || !strings.Contains(got.stderr, "the daemon did not start: ") || !strings.Contains(got.stderr, questions) {
		t.Errorf("exit %d: %s", got.code, got.stderr)
	}
}

func writeQuestions(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "q.md")
	testkit.Must(t, os.WriteFile(path, []byte("| 1 | English, demo | boiler? | x |\n"), 0o600))
	return path
}
