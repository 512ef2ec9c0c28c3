package server

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Hazards C08 and C14: tokens are added to and removed from a file that has only their hashes, with mode 0600, and whose comments and
// other entries stay.
func TestAddAndRevokeTokenKeepTheRestOfTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new", "tokens.yaml")
	expires := time.Date(2031, 1, 2, 3, 4, 5, 0, time.UTC)
	token := NewToken()
	if err := AddToken(t.Context(), path, TokenEntry{Name: "laptop", Agents: []string{"main", "work"}, Write: true, Expires: expires}, token); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	text, _ := os.ReadFile(path)
	if strings.Contains(string(text), token) || strings.Contains(string(text), "kioku_") {
		t.Errorf("the token itself is in the file: %s", text)
	}
	writeTokenFile(t, path, "# who may call\n"+strings.Replace(string(text), "name: laptop", "name: laptop # mine", 1), 0o600)
	if err := AddToken(t.Context(), path, TokenEntry{Name: "build", SAN: "build.example.org", Agents: []string{"*"}}, ""); err != nil {
		t.Fatal(err)
	}
	want := []TokenEntry{{Name: "laptop", Agents: []string{"main", "work"}, Write: true, Expires: expires},
		{Name: "build", SAN: "build.example.org", Agents: []string{"*"}}}
	got, err := ReadTokenFile(path)
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Error(d, err)
	}
	text, _ = os.ReadFile(path)
	if !strings.HasPrefix(string(text), "# who may call\n") || !strings.Contains(string(text), "name: laptop # mine") {
		t.Errorf("comments are lost: %s", text)
	}
	tokens, err := OpenTokens(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := tokens.find(tokenCredential(token)); !ok || c.name != "laptop" {
		t.Errorf("%v, %v", c, ok)
	}
	for _, name := range []string{"laptop", "build"} {
		if err := RevokeToken(t.Context(), path, name); err != nil {
			t.Error(err)
		}
	}
	if err := RevokeToken(t.Context(), path, "laptop"); !errors.Is(err, ErrNoToken) {
		t.Error(err)
	}
	if got, err := ReadTokenFile(path); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}

// What would make the token file invalid is not written, and a secret that is mounted stays as it is.
func TestAddTokenWritesNoFileThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tokens.yaml")
	good := TokenEntry{Name: "laptop", Agents: []string{"main"}}
	if err := AddToken(t.Context(), path, good, "x"); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(path)
	for name, e := range map[string]TokenEntry{
		"the name again": {Name: "laptop", Agents: []string{"main"}}, "no agents": {Name: "a"}, "no name": {Agents: []string{"main"}},
		"no agent": {Name: "a", Agents: []string{"../b"}},
	} {
		if err := AddToken(t.Context(), path, e, "y"); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if after, _ := os.ReadFile(path); string(after) != string(before) {
		t.Errorf("the file has changed: %s", after)
	}
	if err := os.Chmod(path, 0o440); err != nil {
		t.Fatal(err)
	}
	if err := AddToken(t.Context(), path, TokenEntry{Name: "b", Agents: []string{"main"}}, "z"); err == nil || !strings.Contains(err.Error(), "0440") {
		t.Error(err)
	}
	writeTokenFile(t, filepath.Join(filepath.Dir(path), "bad.yaml"), "tokens: [{name: a", 0o600)
	if err := AddToken(t.Context(), filepath.Join(filepath.Dir(path), "bad.yaml"), good, "z"); err == nil {
		t.Error("a file that cannot be parsed is edited")
	}
}

// Of tokens that are added at once none is lost.
func TestAddTokenLosesNoneOfSeveralAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tokens.yaml")
	var group sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		group.Go(func() {
			if err := AddToken(t.Context(), path, TokenEntry{Name: name, Agents: []string{"main"}}, NewToken()); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if got, err := ReadTokenFile(path); err != nil || len(got) != 6 {
		t.Errorf("%v, %v", got, err)
	}
}

// Hazard C08: a token is valid until it expires, and not after it.
func TestTokenExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		day := time.Now().AddDate(0, 0, 1).UTC()
		tokens, err := ParseTokens("tokens: [{name: a, sha256: " + hashOfFoo + ", agents: [main], expires: " + day.Format(time.DateOnly) + "}]")
		if err != nil {
			t.Fatal(err)
		}
		end := time.Date(day.Year(), day.Month(), day.Day()+1, 0, 0, 0, 0, time.UTC)
		time.Sleep(time.Until(end) - time.Nanosecond)
		if _, ok := tokens.find(tokenCredential("foo")); !ok {
			t.Error("the token is not valid on its last day")
		}
		time.Sleep(time.Nanosecond)
		if _, ok := tokens.find(tokenCredential("foo")); ok {
			t.Error("the token is valid after its last day")
		}
	})
	if _, err := ParseTokens("tokens: [{name: a, sha256: " + hashOfFoo + ", agents: [main], expires: soon}]"); err == nil {
		t.Error("expires: soon is accepted")
	}
}
