package main

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// kioku join starts a daemon if none runs, and prints the socket on which it answers over HTTP; a second one prints the same.
func TestJoinPrintsTheSocketOfTheDaemon(t *testing.T) {
	s := newSandbox(t, map[string]string{"MEMORY.md": "The heron nests by the weir.\n"})
	var r joinReport
	if out := s.must("join", "--json", "--idle", "2s"); json.Unmarshal([]byte(out), &r) != nil || !filepath.IsAbs(r.Socket) || r.Agent != "main" {
		t.Fatal(out)
	}
	if again := strings.TrimSpace(s.must("join")); again != r.Socket {
		t.Errorf("joined %s, and then %s", r.Socket, again)
	}
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", r.Socket)
	}}}
	defer client.CloseIdleConnections()
	resp, err := client.Get("http://localhost/v1/notes/MEMORY.md")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(text), "heron") {
		t.Errorf("%s, %v", text, err)
	}
	s.run("join", "--no-daemon").wants(t, exitError, "works through a daemon")
}
