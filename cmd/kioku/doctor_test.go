package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/internal/testkit"
)

// found is what kioku doctor --json has found, by check.
type found map[string]struct{ Level, Text, Next string }

// examine runs kioku doctor and returns its findings.
func (s *sandbox) examine(args ...string) (found, outcome) {
	s.t.Helper()
	got := s.run(append([]string{"doctor", "--json"}, args...)...)
	var d struct {
		Level    string
		Findings []struct{ Check, Level, Text, Next string }
	}
	if err := json.Unmarshal([]byte(got.stdout), &d); err != nil {
		s.t.Fatalf("%v: %+v", err, got)
	}
	all := found{}
	for _, f := range d.Findings {
		if f.Level != "ok" && f.Next == "" {
			s.t.Errorf("%s does not say what to do: %s", f.Check, f.Text)
		}
		all[f.Check] = struct{ Level, Text, Next string }{f.Level, f.Text, f.Next}
	}
	return all, got
}

// wants fails unless a check has a level and its text and advice contain texts.
func (f found) wants(t *testing.T, check, level, text, next string) {
	t.Helper()
	if got := f[check]; got.Level != level || !strings.Contains(got.Text, text) || !strings.Contains(got.Next, next) {
		t.Errorf("%s: %+v, want %s %q %q", check, got, level, text, next)
	}
}

// A set-up without faults: every finding is ok, and the exit code 0. The names of the checks do not change.
func TestDoctorOfASoundSetUp(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, map[string]string{"MEMORY.md": "# Memory\n\nThe laptop stays awake while caffeinate runs, and the battery of the macbook drains.\n"})
	s.must("model", "add", staticModel(t, "tiny"))
	s.must("index")
	all, got := s.examine("--strict")
	var checks []string
	for check, f := range all {
		checks = append(checks, check)
		if f.Level != "ok" && check != "model.vectors" && check != "model.languages" { // the small model knows few of the words
			t.Errorf("%s: %+v", check, f)
		}
	}
	for _, check := range []string{"settings", "workspace", "state", "disk", "provider", "model.files", "model.vectors", "index", "index.integrity", "clock", "daemon"} {
		if all[check].Level == "" {
			t.Errorf("%s is not checked; there are %q", check, checks)
		}
	}
	all.wants(t, "index", "ok", "1 file, 1 passage", "")
	all.wants(t, "model.vectors", all["model.vectors"].Level, "texts of 250 characters a second here", "")
	if strings.Contains(got.stdout, "fail") && got.code != exitError {
		t.Errorf("exit %d", got.code)
	}
	if entries, err := os.ReadDir(s.state); err != nil || strings.Contains(fmt.Sprint(entries), "doctor") {
		t.Errorf("it leaves something behind: %v %v", entries, err)
	}
}

func TestDoctorChangesNothing(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	all, got := s.examine()
	all.wants(t, "index", "warn", "there is no index yet", "kioku index")
	all.wants(t, "provider", "ok", "none: notes are found by their words", "")
	if _, err := os.Stat(s.state); err == nil || got.code != exitOK {
		t.Errorf("exit %d; the state folder was made: %v", got.code, err)
	}
	if _, got := s.examine("--strict"); got.code != exitDegraded {
		t.Errorf("exit %d", got.code)
	}
}

// embeddingServer answers as an OpenAI-compatible server: with a status, or with vectors of some dimensions, which are the same for
// all texts if same is true.
func embeddingServer(t *testing.T, status, dims int, same bool) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status != http.StatusOK {
			w.WriteHeader(status)
			return
		}
		var req struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			t.Error(err)
		}
		type item struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		var data []item
		for i := range req.Input {
			v := make([]float32, dims)
			if v[0] = 1; !same && i == len(req.Input)-1 {
				v[0], v[1] = .1, 1
			}
			data = append(data, item{i, v})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// closedPort returns a port among the hundred from first at which nothing listens.
func closedPort(t *testing.T, first int) int {
	t.Helper()
	for port := first; port < first+100; port++ {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		testkit.Must(t, l.Close())
		return port
	}
	t.Skip("no port is free")
	return 0
}

// Providers: reachable, wrong key, wrong dimension, cosine sanity, unreachable server.
func TestDoctorOfAProvider(t *testing.T) {
	t.Parallel()
	good := embeddingServer(t, 200, 8, false)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for name, c := range map[string]struct {
		args              []string
		level, text, next string
		code              int
	}{
		"sound":         {[]string{"--base-url", good}, "ok", "8 dimensions, ", "", exitOK},
		"unreachable":   {[]string{"--base-url", closed.URL}, "fail", "refused", "start the server at 127.0.0.1:", exitError},
		"port 403..":    {[]string{"--base-url", fmt.Sprintf("http://127.0.0.1:%d", closedPort(t, 40300))}, "fail", "refused", "start the server at 127.0.0.1:", exitError},
		"wrong key":     {[]string{"--base-url", embeddingServer(t, 401, 0, false), "--set", "remote.apiKey=x"}, "fail", "401", "kioku config set remote.apiKey", exitError},
		"wrong dims":    {[]string{"--base-url", good, "--dims", "16"}, "fail", "dimensions", "dims", exitError},
		"no meaning":    {[]string{"--base-url", embeddingServer(t, 200, 8, true)}, "fail", "do not tell a paraphrase from a stranger", "choose an embedding model", exitError},
		"no such model": {[]string{"--base-url", embeddingServer(t, 404, 0, false)}, "fail", "404", "provider's settings", exitError},
		"offline":       {[]string{"--base-url", "https://models.example", "--offline"}, "warn", "offline is set", "add a local model", exitOK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, got := newSandbox(t, notes()).examine(append(c.args, "--model", "m")...)
			all.wants(t, "provider.answer", c.level, c.text, c.next)
			if got.code != c.code {
				t.Errorf("exit %d: %s", got.code, got.stderr)
			}
		})
	}
}

func TestDoctorTellsWhereTheKeyIsFound(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.env = append(s.env, "MY_KEY=secret-of-mine")
	all, got := s.examine("--offline", "--set", "remote.apiKey=env:MY_KEY")
	all.wants(t, "provider", "ok", "key from remote.apiKey (--set), env:MY_KEY", "")
	if strings.Contains(got.stdout+got.stderr, "secret-of-mine") {
		t.Error("the key is shown")
	}
}

// The local model: a missing file, a changed checksum, a model that was never added.
func TestDoctorOfABrokenModel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		breakIt    func(dir string) error
		text, next string
	}{
		"missing file": {func(dir string) error { return os.Remove(filepath.Join(dir, "tokenizer.json")) }, "tokenizer.json is missing", "kioku model add --replace --name tiny "},
		"changed sha": {func(dir string) error {
			data, err := os.ReadFile(filepath.Join(dir, "model.safetensors"))
			if err != nil {
				return err
			}
			data[len(data)-1] ^= 1
			return os.WriteFile(filepath.Join(dir, "model.safetensors"), data, 0o600)
		}, "model.safetensors has changed", "kioku model add --replace --name tiny "},
		"gone": {func(dir string) error { return os.RemoveAll(filepath.Dir(dir)) }, "there is no such model", "kioku model list"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t, notes())
			s.must("model", "add", staticModel(t, "tiny"))
			testkit.Must(t, c.breakIt(filepath.Join(s.state, "models", "tiny", "tiny")))
			all, got := s.examine("--set", "local.model=tiny")
			all.wants(t, "model.files", "fail", c.text, c.next)
			if got.code != exitError {
				t.Errorf("exit %d", got.code)
			}
		})
	}
}

// Permissions: a state folder that cannot be written or that others can read, an index that others can read, a token file that others
// can read.
func TestDoctorOfPermissions(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.must("index")
	testkit.Must(t, os.Chmod(s.state, 0o755))
	all, _ := s.examine()
	all.wants(t, "state", "warn", "other users can read", "chmod 700 ")
	testkit.Must(t, os.Chmod(s.state, 0o700))
	db := filepath.Join(s.own(), "memory", "main.sqlite")
	testkit.Must(t, os.Chmod(db, 0o644))
	all, _ = s.examine()
	all.wants(t, "state", "warn", "other users can read the index", "chmod 600 ")
	tokens := filepath.Join(s.home, "tokens.yaml")
	testkit.Must(t, os.WriteFile(tokens, []byte("tokens: []\n"), 0o644))
	all, got := s.examine("--set", "tokenFile="+tokens)
	all.wants(t, "tokens", "fail", "chmod 600", "mend the file")
	if got.code != exitError {
		t.Errorf("exit %d", got.code)
	}
	if os.Geteuid() == 0 {
		return // root may write everywhere
	}
	testkit.Must(t, os.Chmod(s.state, 0o500))
	defer os.Chmod(s.state, 0o700)
	all, _ = s.examine()
	all.wants(t, "state", "fail", "nothing can be written", "--state")
}

// A state folder that cannot be made, such as one below a file.
func TestDoctorOfAStateThatCannotBe(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	file := filepath.Join(s.home, "file")
	testkit.Must(t, os.WriteFile(file, nil, 0o600))
	s.state = filepath.Join(file, "state")
	all, got := s.examine()
	all.wants(t, "state", "fail", "not a directory", "--state")
	if got.code != exitError {
		t.Errorf("exit %d", got.code)
	}
}

func TestDoctorWithoutAWorkspace(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, nil)
	got := s.raw("doctor", "--json", "--state", s.state)
	if got.code != exitError || !strings.Contains(got.stdout, "kioku init in the folder of your notes") {
		t.Errorf("%+v", got)
	}
}

// The workspace beside which notes are not indexed, files that are skipped, changes in the future, and damage of the index.
func TestDoctorOfAnIndex(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.write("projects/heron.md", "# Heron\n")
	s.write("memory/blob.md", "a\x00b")
	s.must("index")
	late := time.Now().Add(48 * time.Hour)
	testkit.Must(t, os.Chtimes(filepath.Join(s.workspace, "MEMORY.md"), late, late))
	all, _ := s.examine()
	all.wants(t, "workspace", "warn", "1 Markdown file of it not indexed", "kioku index --all")
	all.wants(t, "index.skipped", "warn", "memory/blob.md: binary", "kioku status")
	all.wants(t, "clock", "warn", "MEMORY.md", "set the clock")
	all.wants(t, "index.integrity", "ok", "are intact", "")
	db := filepath.Join(s.own(), "memory", "main.sqlite")
	data, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	copy(data[len(data)/2:], strings.Repeat("x", 5000))
	testkit.Must(t, os.WriteFile(db, data, 0o600))
	all, got := s.examine()
	if got.code != exitError || all["index.integrity"].Level != "fail" && all["index"].Level != "fail" {
		t.Errorf("damage is not found: %+v", all)
	}
	if after, err := os.ReadFile(db); err != nil || cmp.Diff(len(data), len(after)) != "" {
		t.Errorf("the index was changed: %v", err)
	}
}
