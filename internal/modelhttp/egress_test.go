package modelhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/internal/modelhttp"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// echoServer answers each request with its body.
func echoServer(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) }))
	t.Cleanup(s.Close)
	return s
}

// dialTo returns a dialer that reaches a server under every name.
func dialTo(s *httptest.Server) modelhttp.Dialer {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, s.Listener.Addr().String())
	}
}

// failDial fails the test if anything is dialled.
func failDial(t *testing.T) modelhttp.Dialer {
	return func(_ context.Context, _, address string) (net.Conn, error) {
		t.Errorf("%s was dialled", address)
		return nil, errors.New("no network in this test")
	}
}

func post(n *modelhttp.Network, purpose, url, body string) (string, error) {
	c := &http.Client{Transport: n.Transport(purpose)}
	resp, err := c.Post(url, "text/plain", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return string(answer), err
}

// Every outbound request is counted by host and purpose, with its bytes and the last time.
func TestUsesCountRequestsByHostAndPurpose(t *testing.T) {
	t.Parallel()
	s := echoServer(t)
	n := modelhttp.NewNetwork(modelhttp.NetworkOptions{Dial: dialTo(s), Now: func() time.Time { return now }})
	for _, r := range [][3]string{
		{"embeddings", "http://models.example:8080/v1", "tea"}, {"embeddings", "http://Models.example/v1", "coffee"},
		{"language model", "http://models.example/v1", "hello"}, {"embeddings", "http://localhost:1234", "local"},
	} {
		if got, err := post(n, r[0], r[1], r[2]); err != nil || got != r[2] {
			t.Fatalf("%v: %q, %v", r, got, err)
		}
	}
	want := []modelhttp.Use{
		{Host: "localhost", Purpose: "embeddings", Local: true, Requests: 1, Bytes: 5, Last: now},
		{Host: "models.example", Purpose: "embeddings", Requests: 2, Bytes: 9, Last: now},
		{Host: "models.example", Purpose: "language model", Requests: 1, Bytes: 5, Last: now},
	}
	if diff := cmp.Diff(want, n.Uses()); diff != "" {
		t.Error(diff)
	}
}

// Offline makes any outbound call impossible: nothing is dialled, not even a name server or a proxy, and the refusal is counted.
func TestOfflineDialsNothing(t *testing.T) {
	t.Parallel()
	n := modelhttp.NewNetwork(modelhttp.NetworkOptions{Dial: failDial(t), Now: func() time.Time { return now }})
	n.SetOffline(true)
	for _, url := range []string{"http://models.example/v1", "https://10.1.2.3/", "http://[2001:db8::1]/", "http://localhost.example/", "http://0.0.0.0/"} {
		if _, err := post(n, "embeddings", url, "secret"); !errors.Is(err, modelhttp.ErrOffline) {
			t.Errorf("%s: %v", url, err)
		}
	}
	if _, err := n.Dialer("memory service")(t.Context(), "tcp", "memory.example:7600"); !errors.Is(err, modelhttp.ErrOffline) {
		t.Error(err)
	}
	for _, u := range n.Uses() {
		if u.Requests != 0 || u.Bytes != 0 || u.Refused == 0 || u.Local {
			t.Errorf("%+v", u)
		}
	}
}

// An open connection to another machine is of no use once the network is offline.
func TestOfflineHoldsForOpenConnections(t *testing.T) {
	t.Parallel()
	n := modelhttp.NewNetwork(modelhttp.NetworkOptions{Dial: dialTo(echoServer(t))})
	if _, err := post(n, "embeddings", "http://models.example/", "tea"); err != nil {
		t.Fatal(err)
	}
	n.SetOffline(true)
	if _, err := post(n, "embeddings", "http://models.example/", "tea"); !errors.Is(err, modelhttp.ErrOffline) {
		t.Error(err)
	}
	n.SetOffline(false)
	if _, err := post(n, "embeddings", "http://models.example/", "tea"); err != nil {
		t.Error(err)
	}
}

// Loopback addresses are no other machine, so that a model server on this machine works offline. Names of this machine are not
// looked up.
func TestOfflineReachesThisMachine(t *testing.T) {
	t.Parallel()
	s := echoServer(t)
	var dialled []string
	n := modelhttp.NewNetwork(modelhttp.NetworkOptions{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		dialled = append(dialled, address)
		return dialTo(s)(ctx, network, address)
	}})
	n.SetOffline(true)
	for _, url := range []string{"http://127.0.0.1:1", "http://localhost:2", "http://[::1]:3", "http://models.localhost:4"} {
		if got, err := post(n, "embeddings", url, "tea"); err != nil || got != "tea" {
			t.Errorf("%s: %q, %v", url, got, err)
		}
	}
	if diff := cmp.Diff([]string{"127.0.0.1:1", "127.0.0.1:2", "[::1]:3", "127.0.0.1:4"}, dialled); diff != "" {
		t.Error(diff)
	}
}

// Connections that are no HTTP requests are counted too.
func TestDialerCountsConnections(t *testing.T) {
	t.Parallel()
	n := modelhttp.NewNetwork(modelhttp.NetworkOptions{Dial: dialTo(echoServer(t)), Now: func() time.Time { return now }})
	conn, err := n.Dialer("memory service")(t.Context(), "tcp", "memory.example:7600")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	want := []modelhttp.Use{{Host: "memory.example", Purpose: "memory service", Requests: 1, Bytes: 5, Last: now}}
	if diff := cmp.Diff(want, n.Uses()); diff != "" {
		t.Error(diff)
	}
}

// HTTP_PROXY, HTTPS_PROXY and NO_PROXY of the environment are respected, and no proxy is used offline. The environment is read
// once in a process, so the requests are those of another one.
func TestProxyOfTheEnvironment(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProxyInAProcess$", "-test.v")
	cmd.Env = append(os.Environ(), "EGRESS_PROXY_TEST=1", "http_proxy=", "https_proxy=", "no_proxy=",
		"HTTP_PROXY=http://127.0.0.1:3128", "HTTPS_PROXY=http://127.0.0.1:3129", "NO_PROXY=direct.example")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var dialled []string
	for line := range strings.Lines(string(out)) {
		if address, ok := strings.CutPrefix(strings.TrimSpace(line), "dialled "); ok {
			dialled = append(dialled, address)
		}
	}
	if diff := cmp.Diff([]string{"127.0.0.1:3128", "127.0.0.1:3129", "direct.example:80", "127.0.0.1:80"}, dialled); diff != "" {
		t.Errorf("%s\n%s", diff, out)
	}
}

// TestProxyInAProcess is the process of TestProxyOfTheEnvironment.
func TestProxyInAProcess(t *testing.T) {
	if os.Getenv("EGRESS_PROXY_TEST") == "" {
		t.Skip("a part of TestProxyOfTheEnvironment")
	}
	n := modelhttp.NewNetwork(modelhttp.NetworkOptions{Dial: func(_ context.Context, _, address string) (net.Conn, error) {
		fmt.Println("dialled", address)
		return nil, errors.New("no network in this test")
	}})
	for _, url := range []string{"http://models.example/", "https://models.example/", "http://direct.example/", "http://127.0.0.1/"} {
		if _, err := post(n, "embeddings", url, "tea"); err == nil {
			t.Errorf("%s answers", url)
		}
	}
	n.SetOffline(true)
	if _, err := post(n, "embeddings", "http://models.example/", "tea"); !errors.Is(err, modelhttp.ErrOffline) {
		t.Error(err)
	}
}
