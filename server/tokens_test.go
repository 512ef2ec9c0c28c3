package server

import (
	"crypto/sha256"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	hashOfFoo = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"
	hashOfBar = "fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9"
)

func writeTokenFile(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// tokenCredential returns the credential of a token.
func tokenCredential(token string) credential { return credential{hash: sha256.Sum256([]byte(token))} }

func TestOpenTokensReadsCallers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tokens.yaml")
	writeTokenFile(t, path, `
tokens:
  - name: laptop
    sha256: `+hashOfFoo+`
    agents: [main, work]
  - name: desk
    sha256: `+strings.ToUpper(hashOfBar)+`
    agents: "*"
    write: true
`, 0o600)
	tokens, err := OpenTokens(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	laptop, ok := tokens.find(tokenCredential("foo"))
	want := caller{name: "laptop", agents: []string{"main", "work"}}
	if diff := cmp.Diff(want, laptop, cmp.AllowUnexported(caller{}, councilRights{})); diff != "" || !ok {
		t.Errorf("laptop (-want +got):\n%s", diff)
	}
	if laptop.reaches("other") || !laptop.reaches("work") {
		t.Error("laptop reaches other agents than its own")
	}
	if desk, ok := tokens.find(tokenCredential("bar")); !ok || !desk.write || !desk.reaches("other") {
		t.Errorf("desk = %+v, %v", desk, ok)
	}
	if c, ok := tokens.find(tokenCredential("baz")); ok || c.reaches("main") {
		t.Errorf("an unknown token is %+v", c)
	}
}

// A token file that is no regular file is called what it is, and nothing waits for it.
func TestOpenTokensNamesWhatIsNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{pipe: "is a named pipe, not a regular file", dir: "is a folder", "/dev/null": "is a device"} {
		_, err := OpenTokens(path, nil)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "chmod") {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

func TestOpenTokensRefusesABadFile(t *testing.T) {
	t.Parallel()
	entry := func(s string) string { return "tokens:\n  - {" + s + "}\n" }
	good := "name: a, sha256: " + hashOfFoo + ", agents: [main]"
	cases := []struct {
		name, text string
		mode       os.FileMode
		want       string
	}{
		{"group may read", entry(good), 0o640, "chmod 600"},
		{"all may write", entry(good), 0o602, "chmod 600"},
		{"all may read what its owner writes", entry(good), 0o644, "440 for the secret of a container"},
		{"empty", "", 0o600, "tokens: []"},
		{"other document", "users: []", 0o600, "users"},
		{"unknown key", entry(good + ", admin: true"), 0o600, "admin"},
		{"no name", entry("sha256: " + hashOfFoo + ", agents: [main]"), 0o600, "name"},
		{"no agents", entry("name: a, sha256: " + hashOfFoo), 0o600, "agents"},
		{"bad agent", entry("name: a, sha256: " + hashOfFoo + ", agents: [../b]"), 0o600, "../b"},
		{"short hash", entry("name: a, sha256: abcd, agents: [main]"), 0o600, "64"},
		{"token for hash", entry("name: a, sha256: hunter2, agents: [main]"), 0o600, "64"},
		{"hash and name", entry(good + ", san: a.example"), 0o600, "not both"},
		{"san twice", "tokens:\n  - {name: a, san: x, agents: a}\n  - {name: b, san: x, agents: b}\n", 0o600, "twice"},
		{"twice", "tokens:\n  - {" + good + "}\n  - {" + good + "}\n", 0o600, "twice"},
		{"no yaml", "tokens: [", 0o600, "yaml"},
		{"huge", "# " + strings.Repeat("x", maxTokenFile), 0o600, "larger"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "tokens.yaml")
			writeTokenFile(t, path, c.text, c.mode)
			_, err := OpenTokens(path, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Fatalf("err = %v, want the path and %q", err, c.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error tells a token: %v", err)
			}
		})
	}
	if _, err := OpenTokens(filepath.Join(t.TempDir(), "none"), nil); err == nil {
		t.Error("a missing file is no error")
	}
	if _, err := OpenTokens(t.TempDir(), nil); err == nil {
		t.Error("a folder is no error")
	}
}

// A secret of a container is a file that others may read and nobody can write.
func TestOpenTokensOfAContainer(t *testing.T) {
	t.Parallel()
	for _, mode := range []os.FileMode{0o400, 0o440, 0o444} {
		path := filepath.Join(t.TempDir(), "kioku-tokens")
		writeTokenFile(t, path, "tokens: [{name: a, sha256: "+hashOfFoo+", agents: [main]}]", mode)
		if _, err := OpenTokens(path, nil); err != nil {
			t.Errorf("mode %04o: %v", mode, err)
		}
	}
}

// Tokens may come from a variable instead of a file.
func TestParseTokens(t *testing.T) {
	t.Parallel()
	tokens, err := ParseTokens("tokens: [{name: a, sha256: " + hashOfFoo + ", agents: [main]}]")
	if err != nil {
		t.Fatal(err)
	}
	if found, ok := tokens.find(credential{hash: sha256.Sum256([]byte("foo"))}); !ok || found.name != "a" {
		t.Errorf("got %+v, %v", found, ok)
	}
	if _, ok := tokens.find(credential{hash: sha256.Sum256([]byte("bar"))}); ok {
		t.Error("an unknown token is accepted")
	}
	if _, err := ParseTokens("secret123"); err == nil || strings.Contains(err.Error(), "secret123") {
		t.Errorf("got %v", err)
	}
}

// Hazard C08: tokens rotate without a restart, a bad file keeps the old ones, and an empty list lets nobody in.
func TestTokensFollowTheirFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.yaml")
	var log strings.Builder
	synctest.Test(t, func(t *testing.T) {
		line := func(hash string) string { return "tokens:\n  - {name: a, sha256: " + hash + ", agents: '*'}\n" }
		writeTokenFile(t, path, line(hashOfFoo), 0o600)
		tokens, err := OpenTokens(path, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		check := func(step string, foo, bar bool) {
			t.Helper()
			_, isFoo := tokens.find(tokenCredential("foo"))
			_, isBar := tokens.find(tokenCredential("bar"))
			if isFoo != foo || isBar != bar {
				t.Errorf("%s: foo %v, bar %v; want %v, %v", step, isFoo, isBar, foo, bar)
			}
		}
		replace := func(text string, mode os.FileMode) {
			t.Helper()
			writeTokenFile(t, path+".new", text, mode)
			if err := os.Rename(path+".new", path); err != nil {
				t.Fatal(err)
			}
		}
		replace(line(hashOfBar), 0o600)
		check("within the second", true, false)
		time.Sleep(time.Second)
		check("after a second", false, true)

		replace("tokens: [", 0o600)
		time.Sleep(time.Second)
		check("bad file", false, true)
		time.Sleep(time.Second)
		check("bad file, later", false, true)
		if n := strings.Count(log.String(), "keeping the old tokens"); n != 1 {
			t.Errorf("the bad file was logged %d times:\n%s", n, log.String())
		}

		replace(line(hashOfFoo), 0o644)
		time.Sleep(time.Second)
		check("file that others may read", false, true)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		check("no file", false, true)
		replace(line(hashOfFoo), 0o600)
		time.Sleep(time.Second)
		check("good file", true, false)
		replace("tokens: []\n", 0o600)
		time.Sleep(time.Second)
		check("empty list", false, false)
	})
}

func FuzzParseTokens(f *testing.F) {
	f.Add([]byte("tokens: []"))
	f.Add([]byte("tokens:\n  - {name: a, sha256: " + hashOfFoo + ", agents: [main]}\n"))
	f.Add([]byte("tokens: &a [*a]"))
	f.Add([]byte("tokens:\n  - name: \xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := parseTokens(data)
		if err != nil {
			return
		}
		for _, e := range entries {
			if e.caller.name == "" || len(e.caller.agents) == 0 {
				t.Errorf("accepted %+v", e.caller)
			}
		}
	})
}
