package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kioku/memory"
	"kioku/server"
)

// refusal is what a request is refused with.
type refusal struct {
	Error struct {
		Code, Message, Hint, RequestID string
		RetryAfterSeconds              int
	}
}

// wantRefusal checks that a response is a refusal whose hint says what to do.
func wantRefusal(t *testing.T, resp *http.Response, body string, code int, hint string) {
	t.Helper()
	var r refusal
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		t.Errorf("the body is no JSON: %q", body)
	}
	if resp.StatusCode != code || !strings.Contains(r.Error.Hint, hint) || r.Error.Code == "" || r.Error.RequestID != resp.Header.Get("X-Request-Id") {
		t.Errorf("got %d %s, want %d and %q", resp.StatusCode, body, code, hint)
	}
}

// counting answers 200 and counts its requests.
func counting(n *atomic.Int32) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { n.Add(1) })
}

// Hazard C11: A request for a foreign host, as one of DNS rebinding is, is refused and told what to set; addresses, localhost and
// the hosts of the setting are answered.
func TestHTTPRefusesForeignHosts(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	opt := agents(&fakeMemory{})
	opt.Hosts = []string{"kioku.example", "proxy.example:8443"}
	p := onPort(t, opt, counting(&n), nil)
	_, port, _ := net.SplitHostPort(p.address)
	for _, h2 := range []bool{false, true} {
		c := httpClient(t, h2, "")
		for host, want := range map[string]int{
			p.address: 200, "localhost:" + port: 200, "LOCALHOST": 200, "localhost.": 200, "notes.localhost:" + port: 200, "[::1]:" + port: 200,
			"192.0.2.7": 200, "kioku.example": 200, "KIOKU.example:443": 200, "proxy.example:8443": 200,
			"proxy.example": 403, "evil.example": 403, "evil.example:" + port: 403, "localhost.evil.example": 403, "127.0.0.1.evil.example": 403,
			"kioku.example.evil.example": 403, "evilkioku.example": 403,
		} {
			req, err := http.NewRequestWithContext(t.Context(), "GET", p.url("/x"), nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Host = host
			before := n.Load()
			resp, body := send(t, c, req)
			if want == 403 {
				wantRefusal(t, resp, body, 403, "http.hosts")
			}
			if resp.StatusCode != want || (n.Load() > before) != (want == 200) {
				t.Errorf("%s: %d, want %d; the handler was asked: %v", host, resp.StatusCode, want, n.Load() > before)
			}
		}
	}
	conn, err := net.Dial("tcp", p.address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET /x HTTP/1.0\r\n\r\n")
	if line, err := bufio.NewReader(conn).ReadString('\n'); !strings.Contains(line, "403") {
		t.Errorf("without a host: %q, %v", line, err)
	}
}

// Hazard C11: A browser's request from a foreign site is refused, whatever its method and its content, also one for an image or a
// frame, which has no Origin; those of the own page and of the sites of the setting are answered, and so is a link to a page. No
// response lets a foreign site read it.
func TestHTTPRefusesForeignOrigins(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	opt := agents(&fakeMemory{})
	opt.Origins = []string{"https://trusted.example"}
	p := onPort(t, opt, counting(&n), nil)
	c := httpClient(t, false, "")
	own, evil := "http://"+p.address, "http://evil.example"
	for _, r := range []struct {
		method, path string
		header       []string
		want         int
	}{
		{"GET", "/v1/notes", nil, 200},
		{"POST", "/v1/notes", nil, 200},
		{"GET", "/v1/notes", []string{"Origin", own}, 200},
		{"POST", "/v1/notes", []string{"Origin", own, "Sec-Fetch-Site", "same-origin"}, 200},
		{"POST", "/v1/notes", []string{"Origin", "https://trusted.example", "Sec-Fetch-Site", "cross-site"}, 200},
		{"GET", "/v1/notes", []string{"Origin", evil}, 403},
		{"POST", "/v1/notes", []string{"Origin", evil, "Content-Type", "text/plain"}, 403},
		{"OPTIONS", "/v1/notes", []string{"Origin", evil, "Access-Control-Request-Method", "POST"}, 403},
		{"POST", "/v1/notes", []string{"Origin", "null"}, 403},
		{"POST", "/v1/notes", []string{"Origin", ""}, 403},
		{"POST", "/v1/notes", []string{"Origin", own, "Origin", evil}, 403},
		{"POST", "/v1/notes", []string{"Origin", own + ".evil.example"}, 403},
		{"POST", "/v1/notes", []string{"Origin", "http://127.0.0.1:1"}, 403},
		{"POST", "/v1/notes", []string{"Sec-Fetch-Site", "cross-site", "Content-Type", "text/plain"}, 403},
		{"POST", "/v1/notes", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"GET", "/v1/search", []string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "cors", "Sec-Fetch-Dest", "empty"}, 200},
		{"GET", "/v1/search", []string{"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 200},
		{"GET", "/v1/search", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}, 403},
		{"HEAD", "/note", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "empty"}, 403},
		{"GET", "/note", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "script"}, 403},
		{"GET", "/note", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, 403},
		{"GET", "/note", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 200},
		{"POST", "/login", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 403},
		{"GET", "/v1/search", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 403},
		{"GET", "/mcp", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 403},
		{"GET", "/mcp/main", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 403},
		{"GET", "/metrics", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 403},
		{"GET", "/debug/pprof/", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 403},
	} {
		req, err := http.NewRequestWithContext(t.Context(), r.method, p.url(r.path), nil)
		if err != nil {
			t.Fatal(err)
		}
		before := n.Load()
		resp, body := send(t, c, req, r.header...)
		if r.want == 403 && r.method != "HEAD" {
			wantRefusal(t, resp, body, 403, "http.origins")
		}
		if resp.StatusCode != r.want || (n.Load() > before) != (r.want == 200) {
			t.Errorf("%s %s %q: %d, want %d", r.method, r.path, r.header, resp.StatusCode, r.want)
		}
		for name := range resp.Header {
			if strings.HasPrefix(name, "Access-Control") {
				t.Errorf("%s %q: has the header %s", r.method, r.header, name)
			}
		}
	}
	opt.Origins = []string{"trusted.example"}
	if _, err := server.New(opt); err == nil || !strings.Contains(err.Error(), "https://example.org") {
		t.Errorf("an origin without a scheme: %v", err)
	}
}

// Hazard C11: Each response forbids frames, guessing of types and referrers, also one that refuses.
func TestHTTPResponsesHaveSecurityHeaders(t *testing.T) {
	t.Parallel()
	p := onPort(t, agents(&fakeMemory{}), counting(new(atomic.Int32)), nil)
	for _, origin := range []string{"http://" + p.address, "http://evil.example"} {
		resp, _ := get(t, httpClient(t, false, ""), p.url("/"), "Origin", origin)
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
			"Content-Security-Policy": "frame-ancestors 'none'", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := resp.Header.Get(name); !strings.Contains(got, want) {
				t.Errorf("%s: %s is %q", origin, name, got)
			}
		}
	}
}

// Hazard C08: A token in the URL is no token, and no log line has the query of a URL.
func TestHTTPTakesNoTokenFromTheURL(t *testing.T) {
	t.Parallel()
	var log buffer
	opt := agents(&fakeMemory{})
	opt.Log, opt.Tokens = logTo(&log), openTokens(t, tokenLine("a", "tok-a", "main", false))
	p := onPort(t, opt, nil, nil)
	for _, query := range []string{"token=tok-a", "access_token=tok-a", "authorization=Bearer+tok-a", "kioku_token=tok-a"} {
		if _, body := get(t, httpClient(t, false, ""), p.url("/x?"+query)); body != "UNAUTHENTICATED\n" {
			t.Errorf("%s: %s", query, body)
		}
	}
	if strings.Contains(log.String(), "tok-a") || !strings.Contains(log.String(), `"/x"`) {
		t.Errorf("the log holds a token, or no request:\n%s", log.String())
	}
}

// Hazard C13: No log line has the path of a note or what else a client names in a path, also not when a handler panics.
func TestHTTPLogsNoPathsOfNotes(t *testing.T) {
	t.Parallel()
	var log buffer
	opt := agents(&fakeMemory{})
	opt.Log = logTo(&log)
	p := onPort(t, opt, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			panic("spilled milk")
		}
	}), nil)
	for _, method := range []string{http.MethodGet, http.MethodPut} {
		for _, path := range []string{"/v1/notes/memory/secret.md", "/v1/links/%2Fhome%2Fsecret.md", "/elsewhere/secret", "/v1/status", "/", "/v1/", "/mcp"} {
			req, err := http.NewRequestWithContext(t.Context(), method, p.url(path), nil)
			if err != nil {
				t.Fatal(err)
			}
			send(t, httpClient(t, false, ""), req)
		}
	}
	said := log.String()
	for _, want := range []string{`"/v1/notes/..."`, `"/v1/links/..."`, `"/elsewhere/..."`, `"/v1/status"`, `"PUT /v1/notes/..."`, `"/mcp"`} {
		if !strings.Contains(said, want) {
			t.Errorf("the log does not contain %s", want)
		}
	}
	if strings.Contains(said, "secret") {
		t.Errorf("the log has a path:\n%s", said)
	}
}

// /healthz says that the process lives, /readyz whether its indexes can be read and have been in sync; both without a token.
// Only who may reach an agent is told its name.
func TestHealthNeedsNoTokenAndNamesNoAgents(t *testing.T) {
	t.Parallel()
	opt := server.Options{
		Agents: map[string]server.Memory{
			"secretary": &fakeMemory{state: func(context.Context) (memory.IndexStats, error) { return memory.IndexStats{}, errBoom }},
			"fresh":     &fakeMemory{},
			"well":      &fakeMemory{state: func(context.Context) (memory.IndexStats, error) { return memory.IndexStats{LastSync: time.Now()}, nil }},
		},
		Tokens: openTokens(t, tokenLine("a", "tok-a", "secretary", false)),
	}
	p := onPort(t, opt, nil, nil)
	c := httpClient(t, false, "")
	if resp, body := get(t, c, p.url("/healthz")); resp.StatusCode != 200 || body != "{\"status\":\"alive\"}\n" {
		t.Errorf("/healthz: %d %s", resp.StatusCode, body)
	}
	const unread, unsynced = "the index cannot be read; kioku status tells why", "the first sync is not done"
	for _, r := range []struct {
		header []string
		want   string
	}{
		{nil, fmt.Sprintf(`{"status":"not ready","reasons":["an agent: %s","an agent: %s"]}`, unsynced, unread)},
		{[]string{"Authorization", "Bearer tok-a"}, fmt.Sprintf(`{"status":"not ready","reasons":["an agent: %s","agent secretary: %s"]}`, unsynced, unread)},
	} {
		resp, body := get(t, c, p.url("/readyz"), r.header...)
		if resp.StatusCode != 503 || body != r.want+"\n" {
			t.Errorf("/readyz with %q: %d %s", r.header, resp.StatusCode, body)
		}
	}
	opt.Agents = map[string]server.Memory{"well": opt.Agents["well"]}
	if resp, body := get(t, c, onPort(t, opt, nil, nil).url("/readyz")); resp.StatusCode != 200 {
		t.Errorf("/readyz of a healthy server: %d %s", resp.StatusCode, body)
	}
}

// Hazard C12: Profiles are there only on the unix socket.
func TestProfilesAreOnlyOnTheUnixSocket(t *testing.T) {
	t.Parallel()
	p := onPort(t, agents(&fakeMemory{}), nil, nil)
	for path, want := range map[string]int{"/debug/pprof/": 200, "/debug/pprof/goroutine?debug=1": 200, "/debug/pprof/cmdline": 200} {
		if resp, _ := get(t, httpClient(t, false, p.socket), "http://kioku"+path); resp.StatusCode != want {
			t.Errorf("%s on the socket: %d", path, resp.StatusCode)
		}
		resp, body := get(t, httpClient(t, false, ""), p.url(path))
		wantRefusal(t, resp, body, 404, "")
	}
}

// A handler that panics costs its request, not the server; the client is told the id that the log has.
func TestHTTPAnswersAPanicWithItsID(t *testing.T) {
	t.Parallel()
	var log buffer
	opt := agents(&fakeMemory{})
	opt.Log = logTo(&log)
	p := onPort(t, opt, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("spilled milk") }), nil)
	resp, body := get(t, httpClient(t, false, ""), p.url("/"), "X-Request-Id", "r-1")
	wantRefusal(t, resp, body, 500, "")
	if strings.Contains(body, "milk") || !strings.Contains(body, "r-1") || !strings.Contains(log.String(), "spilled milk") {
		t.Errorf("the client is told %s, the log has %s", body, log.String())
	}
}

// A stream of events ends at once when the server is told to end, other requests may finish within the grace.
func TestHTTPEndsStreamsAtShutdown(t *testing.T) {
	t.Parallel()
	began, release := make(chan struct{}, 2), make(chan struct{})
	opt := agents(&fakeMemory{})
	opt.Grace = time.Hour
	p := onPort(t, opt, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began <- struct{}{}
		if r.URL.Path == "/stream" {
			<-r.Context().Done()
			return
		}
		select {
		case <-release:
			fmt.Fprint(w, "finished")
		case <-r.Context().Done():
			fmt.Fprint(w, "cut off")
		}
	}), nil)
	accept := map[string]string{"/stream": "text/event-stream", "/call": "*/*"}
	answers := map[string]chan string{"/stream": make(chan string, 1), "/call": make(chan string, 1)}
	for path, answer := range answers {
		go func() {
			_, body := get(t, httpClient(t, false, ""), p.url(path), "Accept", accept[path])
			answer <- body
		}()
	}
	<-began
	<-began
	stopped := make(chan error, 1)
	go func() { stopped <- p.stop() }()
	select {
	case <-answers["/stream"]:
	case <-time.After(soon):
		t.Fatal("the stream does not end")
	}
	close(release)
	if body := <-answers["/call"]; body != "finished" {
		t.Errorf("the running request was %q", body)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// Hazard C08: A stream of events over HTTP ends when the token of its client is revoked.
func TestHTTPEndsStreamsOfARevokedToken(t *testing.T) {
	t.Parallel()
	path := writeTokens(t, "", "tokens:\n"+tokenLine("a", "tok-a", "main", false))
	tokens, err := server.OpenTokens(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	opt := agents(&fakeMemory{})
	opt.Tokens = tokens
	began := make(chan struct{})
	p := onPort(t, opt, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done()
	}), nil)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		get(t, httpClient(t, false, ""), p.url("/"), "Accept", "text/event-stream", "Authorization", "Bearer tok-a")
	}()
	<-began
	writeTokens(t, path, "tokens: []\n")
	select {
	case <-ended:
	case <-time.After(soon):
		t.Error("the stream goes on")
	}
}

// A socket that systemd listens on is served under the checks of one's own.
func TestListenOnChecksAnInheritedSocket(t *testing.T) {
	t.Parallel()
	open, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	tokens := openTokens(t, tokenLine("a", "tok-a", "main", false))
	for want, opt := range map[string]server.TCPOptions{"no token": {}, "without TLS": {Tokens: tokens}} {
		if _, err := server.ListenOn(open, opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	path := filepath.Join(t.TempDir(), "s.sock")
	unix, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	l, err := server.ListenOn(unix, server.TCPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, agents(&fakeMemory{}))
	s.HandleHTTP(listing(s))
	serve(t, s, l)
	if _, body := get(t, httpClient(t, false, path), "http://localhost/"); body != "[\"main\"]\n" {
		t.Errorf("got %s", body)
	}
}
