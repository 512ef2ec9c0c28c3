package server_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
	"kioku/server/httpapi"
	"kioku/server/op"
)

// ported is a server that answers gRPC and HTTP on loopback and on a unix socket.
type ported struct {
	*server.Server
	address, socket string
	stop            func() error
}

// url returns the URL of a path over TCP.
func (p ported) url(path string) string { return "http://" + p.address + path }

// onPort serves a server whose HTTP is answered by a handler. Prepare changes the server before; it may be nil.
func onPort(t *testing.T, opt server.Options, h http.Handler, prepare func(*server.Server)) ported {
	t.Helper()
	s := newServer(t, opt)
	if prepare != nil {
		prepare(s)
	}
	if h == nil {
		h = listing(s)
	}
	s.HandleHTTP(h)
	socket := filepath.Join(t.TempDir(), "s", "kioku.sock")
	unix, err := server.ListenUnix(socket)
	if err != nil {
		t.Fatal(err)
	}
	tcp, err := server.ListenTCP("127.0.0.1:0", server.TCPOptions{Tokens: opt.Tokens})
	if err != nil {
		t.Fatal(err)
	}
	return ported{s, tcp.Addr().String(), socket, serve(t, s, unix, tcp)}
}

// listing answers with the agents that the client may reach, or with the code of the error.
func listing(s *server.Server) http.Handler {
	mux := http.NewServeMux()
	s.HandleOperations(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		list, err := server.Notes.Agents.Call(r.Context(), op.Local{Handler: mux}, server.None{})
		if err != nil {
			http.Error(w, codeOf(err), http.StatusTeapot)
			return
		}
		var ids []string
		for _, a := range list {
			ids = append(ids, a.ID)
		}
		json.NewEncoder(w).Encode(ids)
	})
}

// httpClient returns a client that speaks HTTP/1.1 or HTTP/2 without TLS, over the unix socket if there is one.
func httpClient(t *testing.T, h2 bool, socket string) *http.Client {
	t.Helper()
	tr := &http.Transport{Protocols: &http.Protocols{}}
	tr.Protocols.SetHTTP1(!h2)
	tr.Protocols.SetUnencryptedHTTP2(h2)
	if socket != "" {
		tr.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		}
	}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// get returns what a GET request with a header is answered with.
func get(t *testing.T, c *http.Client, url string, header ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return send(t, c, req, header...)
}

// send returns what a request with a header is answered with.
func send(t *testing.T, c *http.Client, req *http.Request, header ...string) (*http.Response, string) {
	t.Helper()
	for i := 0; i < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

// One port speaks gRPC, HTTP/1.1 and h2c, on every listener; each caller has the same rights in all three.
func TestPortSpeaksAllProtocols(t *testing.T) {
	t.Parallel()
	opt := server.Options{
		Agents: map[string]server.Memory{"ann": &fakeMemory{}, "bob": &fakeMemory{}},
		Tokens: openTokens(t, tokenLine("a", "tok-a", "ann", false)),
	}
	p := onPort(t, opt, nil, nil)
	cookie := httpapi.TokenCookie(httptest.NewRequest("GET", p.url("/"), nil))
	for name, h2 := range map[string]bool{"HTTP/1.1": false, "h2c": true} {
		t.Run(name, func(t *testing.T) {
			tcp, unix := httpClient(t, h2, ""), httpClient(t, h2, p.socket)
			for _, c := range []struct {
				what   string
				client *http.Client
				header []string
				want   string
			}{
				{"no token", tcp, nil, "UNAUTHENTICATED\n"},
				{"bearer", tcp, []string{"Authorization", "Bearer tok-a"}, "[\"ann\"]\n"},
				{"cookie", tcp, []string{"Cookie", cookie + "=tok-a"}, "[\"ann\"]\n"},
				{"cookie of another port", tcp, []string{"Cookie", "kioku_token_1=tok-a"}, "UNAUTHENTICATED\n"},
				{"wrong cookie", tcp, []string{"Cookie", cookie + "=tok-b"}, "UNAUTHENTICATED\n"},
				{"header before cookie", tcp, []string{"Cookie", cookie + "=tok-a", "Authorization", "Bearer x"}, "UNAUTHENTICATED\n"},
				{"unix socket", unix, nil, "[\"ann\",\"bob\"]\n"},
			} {
				resp, body := get(t, c.client, p.url("/"), c.header...)
				if body != c.want || (resp.ProtoMajor == 2) != h2 {
					t.Errorf("%s: %s over %s, want %s", c.what, body, resp.Proto, c.want)
				}
			}
		})
	}
	client := kiokuv1.NewMemoryServiceClient(dial(t, p.address))
	if resp, err := client.ListAgents(with(t, "tok-a"), &kiokuv1.ListAgentsRequest{}); err != nil || len(resp.GetAgents()) != 1 {
		t.Errorf("gRPC: %v, %v", resp, err)
	}
}

// A client may name its request, and finds the name in the response; a name that is none is replaced.
func TestRequestIDIsTakenOver(t *testing.T) {
	t.Parallel()
	p := onPort(t, agents(&fakeMemory{}), nil, nil)
	c := httpClient(t, false, "")
	if resp, _ := get(t, c, p.url("/"), "X-Request-Id", "abc-1.2_3"); resp.Header.Get("X-Request-Id") != "abc-1.2_3" {
		t.Errorf("got %q", resp.Header.Get("X-Request-Id"))
	}
	for _, bad := range []string{"", "a b", "a;b", `"><script>`, "é", strings.Repeat("a", 65)} {
		resp, _ := get(t, c, p.url("/"), "X-Request-Id", bad)
		if id := resp.Header.Get("X-Request-Id"); len(id) != 16 {
			t.Errorf("%q is answered with %q", bad, id)
		}
	}
}
