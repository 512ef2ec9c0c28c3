package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kioku"
	"kioku/internal/testkit"
)

// program is this test binary under the name kioku, by which it is the program.
var program string

func TestMain(m *testing.M) {
	if self, err := os.Executable(); err == nil && filepath.Base(self) == "kioku" {
		version = "v0.0.0-test"
		if limit, err := time.ParseDuration(os.Getenv(hookTimeEnv)); err == nil {
			hookTime = limit
		}
		main()
		return
	}
	os.Exit(linkAndRun(m))
}

// hookTimeEnv has the limit of a hook, which is long in tests, since a machine may be slow.
const hookTimeEnv = "TEST_HOOK_TIME"

func linkAndRun(m *testing.M) int {
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	dir, err := os.MkdirTemp(filepath.Dir(self), "kioku-test-") // a hard link has to be in the same file system
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "kioku")
	if err := os.Link(self, program); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// sandbox is a home, a workspace and a state folder of a test's own.
type sandbox struct {
	t                      testing.TB
	home, workspace, state string
	env                    []string
	stdin                  string
}

// newSandbox makes a workspace that holds files, by path.
func newSandbox(t testing.TB, files map[string]string) *sandbox {
	t.Helper()
	s := &sandbox{t: t, home: t.TempDir(), workspace: t.TempDir(), state: filepath.Join(t.TempDir(), "state")}
	s.env = append(systemEnv(), "HOME="+s.home, "TZ=UTC")
	for name, text := range files {
		s.write(name, text)
	}
	return s
}

// systemEnv is the environment of every run. It leaves out the second that the race detector waits at the end, and most of the
// garbage collections, which are a third of the time of a short run. Hooks and recalls have a minute.
func systemEnv() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0", "GOGC=off", "GOMEMLIMIT=200MiB", hookTimeEnv + "=1m", "KIOKU_RECALL_DEADLINE_MS=60000"}
}

func (s *sandbox) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.workspace, name)
	testkit.Must(s.t, os.MkdirAll(filepath.Dir(path), 0o755))
	testkit.Must(s.t, os.WriteFile(path, []byte(text), 0o644))
}

// outcome is how a run of the program ended.
type outcome struct {
	stdout, stderr string
	code           int
}

// raw runs the program with exactly these arguments.
func (s *sandbox) raw(args ...string) outcome {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var out, err bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(s.stdin), &out, &err
	cmd.Env, cmd.Dir = s.env, s.home
	var exit *exec.ExitError
	if failed := cmd.Run(); failed != nil && !errors.As(failed, &exit) {
		s.t.Fatalf("run %q: %v", args, failed)
	}
	s.checkJSON(args, out.String())
	return outcome{out.String(), err.String(), cmd.ProcessState.ExitCode()}
}

// own returns the folder with the index and the sessions of agent main in the sandbox's workspace.
func (s *sandbox) own() string {
	return filepath.Join(s.state, "folders", kioku.FolderKey(s.workspace))
}

// run runs a subcommand on the sandbox's workspace and state.
func (s *sandbox) run(args ...string) outcome {
	s.t.Helper()
	return s.raw(append(args, "--workspace", s.workspace, "--state", s.state)...)
}

// must is run for commands that have to succeed; it returns what they printed.
func (s *sandbox) must(args ...string) string {
	s.t.Helper()
	got := s.run(args...)
	if got.code != 0 {
		s.t.Fatalf("%q: exit %d: %s", args, got.code, got.stderr)
	}
	return got.stdout
}

// object is must for commands that print one JSON object.
func (s *sandbox) object(args ...string) map[string]any {
	s.t.Helper()
	var v map[string]any
	if out := s.must(args...); json.Unmarshal([]byte(out), &v) != nil {
		s.t.Fatalf("%q prints no JSON object: %s", args, out)
	}
	return v
}

// wants fails unless a run ended with code and said all of texts on stderr, on lines that begin with "kioku: ".
func (o outcome) wants(t *testing.T, code int, texts ...string) {
	t.Helper()
	if o.code != code {
		t.Errorf("exit %d, want %d; stderr: %s", o.code, code, o.stderr)
	}
	for _, text := range texts {
		if !strings.Contains(o.stderr, text) {
			t.Errorf("stderr lacks %q: %s", text, o.stderr)
		}
	}
	for line := range strings.Lines(o.stderr) {
		if !strings.HasPrefix(line, "kioku: ") {
			t.Errorf("a line on stderr is not ours: %q", line)
		}
	}
}

// notes is a small memory.
func notes() map[string]string {
	return map[string]string{
		"MEMORY.md": "# Memory\n\n## Tools\n- The task runner is called tanuki.\n- Deploys happen on Tuesday.\n",
		"memory/2026-01-10.md": "# 2026-01-10\n\n## 09:00 - heating\nThe boiler pressure fell to 0.8 bar; the valve behind the stairs was loose.\n" +
			"Refilled to 1.6 bar.\n",
		"memory/2026-01-12.md": "# 2026-01-12\n\n## 旅行\n大阪のホテルを予約した。チェックインは午後三時。\n\n## 采购\n买了三箱苹果，放在地下室。\n",
	}
}
