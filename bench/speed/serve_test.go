package speed

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// newEnv is what a bench of a test works in.
func newEnv(t *testing.T) *Env {
	t.Helper()
	f := NewFixtures(t.TempDir())
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return &Env{Dir: t.TempDir(), Size: 200, Fixtures: f, Step: func(int, int) {}}
}

func TestBothWaysOfAskingAnswerAlike(t *testing.T) {
	e := newEnv(t)
	m, err := e.index(t.Context(), 300, 0)
	if err != nil {
		t.Fatal(err)
	}
	c, end, err := serveMemory(t.Context(), m, e.Dir)
	if err != nil {
		t.Fatal(err)
	}
	var over, within []string
	for _, q := range questions(5) {
		resp, err := c.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Agent: m.Agent(), Query: q})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range resp.GetResults() {
			over = append(over, r.GetPath())
		}
		a, err := m.Search(t.Context(), memory.Query{Text: q})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range a.Hits {
			within = append(within, h.Path)
		}
	}
	if diff := cmp.Diff(within, over); diff != "" || len(over) == 0 {
		t.Errorf("%d results %s", len(over), diff)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	if _, err := c.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Agent: m.Agent(), Query: "x"}); err == nil {
		t.Error("it answers after its end")
	}
}

func TestGRPCIsMeasuredUntilItIsToldToEnd(t *testing.T) {
	e := newEnv(t)
	ctx, cancel := context.WithCancel(t.Context())
	e.Step = func(done, _ int) {
		if done == 1 {
			cancel()
		}
	}
	if _, _, err := benchGRPC(ctx, e); err == nil || ctx.Err() == nil {
		t.Errorf("got %v, context %v", err, ctx.Err())
	}
}

func TestTheProviderAnswersOverLoopbackAsInTheProcess(t *testing.T) {
	p := provider{8}
	base, end, err := serveProvider(p)
	if err != nil {
		t.Fatal(err)
	}
	const asked = `{"input":["one: a","two: b"]}`
	var bodies [2]string
	for i, transport := range []http.RoundTripper{p, http.DefaultTransport} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/v1/embeddings", strings.NewReader(asked))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.Body.Close() != nil {
			t.Fatal(err)
		}
		bodies[i] = string(text)
	}
	if bodies[0] != bodies[1] || strings.Count(bodies[0], "embedding") != 2 {
		t.Errorf("got %q", bodies)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
}

// program writes a shell script that stands for the binary.
func program(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestADaemonThatDoesNotStartSaysWhy(t *testing.T) {
	e := newEnv(t)
	if _, err := e.startDaemon(t.Context(), "ws", "state"); err == nil || !strings.Contains(err.Error(), "no kioku binary") {
		t.Errorf("without a program: %v", err)
	}
	e.Program = program(t, "echo 'kioku: the disk is full' >&2; exit 1\n")
	if _, err := e.startDaemon(t.Context(), "ws", "state"); err == nil || !strings.Contains(err.Error(), "start daemon: it ended: kioku: the disk is full") {
		t.Errorf("one that fails: %v", err)
	}
}

func TestADaemonThatIsNeverReadyEndsWithTheRun(t *testing.T) {
	e := newEnv(t)
	e.Program = program(t, "exec cat\n")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := e.startDaemon(ctx, "ws", "state"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestTheMemoryOfAProcessIsWhatItHoldsItself(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("mapped files are told apart on Linux alone")
	}
	const size = 64_000_000
	own := func() float64 {
		t.Helper()
		mb, err := ownMemory(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		return mb
	}
	before := own()
	f, err := os.Create(filepath.Join(t.TempDir(), "mapped"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	mapped, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED|syscall.MAP_POPULATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(mapped)
	if mb := own() - before; mb > 20 {
		t.Errorf("64 MB of a mapped file make %v MB", mb)
	}
	before = own()
	held := bytes.Repeat([]byte{1}, size)
	if mb := own() - before; mb < 50 {
		t.Errorf("64 MB of its own make %v MB", mb)
	}
	runtime.KeepAlive(held)
}

func TestFieldsOfAProcessAreSummedUp(t *testing.T) {
	const status = "Name:\tcat\nVmRSS:\t 9000 kB\nRssAnon:\t    1000 kB\nVmSwap:\t 500 kB\n"
	if got := kilobytes([]byte(status), "RssAnon:", "VmSwap:", "Missing:"); got != 1.536 {
		t.Errorf("got %v MB", got)
	}
}
