package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"kioku/internal/testkit"
)

// kioku index --estimate counts chunks, windows, tokens and requests without a request.
func TestIndexEstimateMakesNoRequest(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		http.Error(w, "no", http.StatusTeapot)
	}))
	defer srv.Close()
	s := newSandbox(t, notes())
	s.env = append(s.env, "KIOKU_REMOTE_BASE_URL="+srv.URL, "KIOKU_MODEL=m")
	args := []string{"index", "--estimate", "--provider", "openai"}
	out := s.must(args...)
	if !strings.Contains(out, "windows: ") || !strings.Contains(out, "tokens") {
		t.Errorf("told %s", out)
	}
	priced := s.object(append(args, "--json")...)
	tokens := priced["tokens"].(float64)
	if priced["chunks"].(float64) < 3 || priced["windows"].(float64) < 3 || tokens < 10 || priced["requests"] != 1.0 || priced["took"] != nil {
		t.Errorf("%v", priced)
	}
	if n := requests.Load(); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// A model in the program is timed, and nothing is sent to be paid for.
func TestIndexEstimateOfAModelInTheProgram(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	if out := s.must("index", "--estimate", "--provider", "hash"); !strings.Contains(out, "about 1 s") || !strings.Contains(out, "nothing is sent") {
		t.Errorf("told %s", out)
	}
	if out := s.must("index", "--estimate", "--provider", "none"); !strings.Contains(out, "no embedding provider") {
		t.Errorf("told %s", out)
	}
}

// An index run that is cancelled keeps what is done and says so.
func TestIndexInterruptedSaysWhatIsKept(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	asked := make(chan struct{}, 9)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // so that the server notices the end of the client
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	defer srv.Close()
	cmd := exec.CommandContext(t.Context(), program, "index", "--provider", "openai", "--workspace", s.workspace, "--state", s.state)
	cmd.Env, cmd.Dir = append(s.env, "KIOKU_REMOTE_BASE_URL="+srv.URL, "KIOKU_MODEL=m"), s.home
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	testkit.Must(t, cmd.Start())
	<-asked
	cmd.Process.Signal(os.Interrupt)
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted || !strings.Contains(stderr.String(), "what was indexed and embedded so far is kept") {
		t.Errorf("exit %d: %s", code, &stderr)
	}
}
