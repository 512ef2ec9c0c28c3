package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kioku/internal/testkit"
)

// remote starts a daemon with TLS and returns its address, the file of its authority and the arguments of a client of it.
func (s *sandbox) remote(tokens string) (address string, authority *testkit.Authority) {
	s.t.Helper()
	authority = testkit.NewAuthority(s.t)
	cert, key := authority.Issue(s.t, s.t.TempDir(), "kioku.example", time.Now().Add(30*24*time.Hour))
	path := filepath.Join(s.home, "tokens.yaml")
	if err := os.WriteFile(path, []byte("tokens:\n"+tokens), 0o600); err != nil {
		s.t.Fatal(err)
	}
	_, address = s.serve("--token-file", path, "--tls-cert", cert, "--tls-key", key, "--tls-client-ca", authority.File)
	return address, authority
}

// Hazard C09: a command reaches a daemon elsewhere with a certificate, and is told why without one.
func TestSearchOfADaemonElsewhere(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	address, authority := s.remote("- name: a\n  san: laptop.example\n  agents: [main]\n")
	cert, key := authority.Issue(t, t.TempDir(), "laptop.example", time.Now().Add(time.Hour))

	client := newSandbox(t, nil)
	shown := []string{"--target", address, "--tls-ca", authority.File, "--tls-cert", cert, "--tls-key", key}
	if got := client.must(append(shown, "search", "boiler pressure")...); !strings.Contains(got, "boiler pressure fell") {
		t.Errorf("search prints %s", got)
	}
	client.run(append(shown, "append", "a note")...).wants(t, exitError, "may read but not write")
	client.run(append(shown, "search", "boiler", "--agent", "other")...).wants(t, exitError, "does not serve agent other")
	client.run(append(shown, "search", "boiler", "--no-daemon")...).wants(t, exitUsage, "--target")
	client.run("search", "boiler", "--target", address, "--tls-ca", authority.File).wants(t, exitError, "--tls-cert")
	client.run("search", "boiler", "--target", address).wants(t, exitError, "--tls-ca")
	other := testkit.NewAuthority(t)
	client.run("search", "boiler", "--target", address, "--tls-ca", other.File, "--tls-cert", cert, "--tls-key", key).
		wants(t, exitError, "signed by unknown authority")
	client.run("search", "boiler", "--target", address, "--tls-cert", cert).wants(t, exitUsage, "client.cert and client.key belong together")
}

// --target host:port --token-file F for every command that a daemon can answer.
func TestTargetAndTokenFileReachADaemonElsewhere(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	tokens, token := filepath.Join(s.home, "tokens.yaml"), filepath.Join(t.TempDir(), "token")
	for path, text := range map[string]string{
		tokens: "tokens:\n- name: a\n  sha256: " + hashToken("open sesame") + "\n  agents: [main]\n  write: true\n", token: "open sesame\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, address := s.serve("--token-file", tokens)
	elsewhere := newSandbox(t, nil)
	elsewhere.env = systemEnv() // without a home, a state folder or a workspace
	for _, args := range [][]string{
		{"search", "boiler"}, {"explain", "boiler"}, {"get", "MEMORY.md"}, {"get", "memory/*.md"}, {"ls"}, {"links", "MEMORY.md"},
		{"append", "--to", "long_term", "The ferry leaves at six."}, {"status"}, {"index"}, {"prompt", "boiler"}, {"chat", "--echo"},
	} {
		got := elsewhere.raw(append(args, "--target", address, "--token-file", token)...)
		if got.code != exitOK && args[0] != "prompt" && args[0] != "chat" {
			t.Errorf("%q: exit %d: %s", args, got.code, got.stderr)
		}
		elsewhere.raw(append(args, "--target", address)...).wants(t, exitError, "requires a token", "--token-file")
	}
	if got := read(t, s.workspace, "MEMORY.md"); !strings.Contains(got, "The ferry leaves at six.") {
		t.Errorf("the note is not there: %s", got)
	}
	elsewhere.raw("search", "x", "--target", address, "--token-file", "gone").wants(t, exitUsage, "--token-file: client.token: ", "gone")
	elsewhere.raw("append", "x", "--target", "long_term").wants(t, exitUsage, "client.target", "host:port", "--to long_term")
	elsewhere.raw("index", "--all", "--target", address, "--token-file", token).wants(t, exitUsage, "on another machine")
}
