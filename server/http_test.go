package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"os"
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
		if _, body := get(t, httpClient(t, false, ""), p.url("/x?"+query)); body != "Unauthenticated\n" {
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

// Hazard D13: A body above 4 MiB is refused with 413 and the limit, also one without a length.
func TestHTTPRefusesALargeBody(t *testing.T) {
	t.Parallel()
	var got atomic.Int64
	p := onPort(t, agents(&fakeMemory{}), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got.Store(int64(len(body)))
	}), nil)
	for _, h2 := range []bool{false, true} {
		c := httpClient(t, h2, "")
		for _, chunked := range []bool{false, true} {
			for size, want := range map[int]int{0: 200, 10: 200, 4 << 20: 200, 4<<20 + 1: 413, 5 << 20: 413} {
				var body io.Reader = strings.NewReader(strings.Repeat("x", size))
				if chunked {
					body = io.MultiReader(body)
				}
				req, err := http.NewRequestWithContext(t.Context(), "POST", p.url("/"), body)
				if err != nil {
					t.Fatal(err)
				}
				got.Store(-1)
				resp, err := c.Do(req)
				if err != nil {
					if want == 413 && !h2 {
						continue // HTTP/1.1 may lose the answer when the connection is closed while the client still sends
					}
					t.Fatal(err)
				}
				answer, _ := io.ReadAll(resp.Body)
				resp.Body.Close()
				if want == 413 {
					wantRefusal(t, resp, string(answer), 413, "send less at a time")
				} else if resp.StatusCode != want || got.Load() != int64(size) {
					t.Errorf("%d bytes, chunked %v: %d, the handler got %d", size, chunked, resp.StatusCode, got.Load())
				}
			}
		}
	}
}

// Hazard D12: A body that does not arrive in time costs its request, and the bytes it was admitted for are given back.
func TestHTTPDoesNotWaitForASlowBody(t *testing.T) {
	t.Parallel()
	opt := agents(&fakeMemory{})
	opt.Limits.Bytes = 16 << 20
	p := onPort(t, opt, counting(new(atomic.Int32)), func(s *server.Server) { s.SetReceiveTimeout(100 * time.Millisecond) })
	for range 8 {
		conn, err := net.Dial("tcp", p.address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\nx", 4<<20)
		conn.SetReadDeadline(time.Now().Add(soon))
		if line, err := bufio.NewReader(conn).ReadString('\n'); !strings.Contains(line, "408") {
			t.Errorf("got %q, %v", line, err)
		}
	}
	eventually(t, func() bool { return p.BodyBytes() == 0 })
}

// Hazard D12: Bodies of clients without a token take memory of their own and bounded; others are not held up by them.
func TestHTTPBoundsBodiesOfStrangers(t *testing.T) {
	t.Parallel()
	opt := agents(&fakeMemory{})
	opt.Tokens = openTokens(t, tokenLine("a", "tok-a", "main", false))
	p := onPort(t, opt, nil, nil)
	for range 20 {
		conn, err := net.Dial("tcp", p.address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\nx", 4<<20)
	}
	eventually(t, func() bool { return p.AnonymousBodyBytes() == 8<<20 })
	req, err := http.NewRequestWithContext(t.Context(), "POST", p.url("/"), strings.NewReader(strings.Repeat("x", 4<<20)))
	if err != nil {
		t.Fatal(err)
	}
	if _, body := send(t, httpClient(t, false, ""), req, "Authorization", "Bearer tok-a"); body != "[\"main\"]\n" {
		t.Errorf("a client with a token gets %s", body)
	}
	if got := p.AnonymousBodyBytes(); got != 8<<20 {
		t.Errorf("strangers have %d bytes", got)
	}
}

// Hazard D12: A client that does not read its response costs only itself: the write fails after a while.
func TestHTTPDoesNotWaitForASlowReader(t *testing.T) {
	t.Parallel()
	for _, h2 := range []bool{false, true} {
		ended := make(chan error, 1)
		p := onPort(t, agents(&fakeMemory{}), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			part := make([]byte, 1<<20)
			for {
				if _, err := w.Write(part); err != nil {
					ended <- err
					return
				}
			}
		}), func(s *server.Server) { s.SetSendTimeout(100 * time.Millisecond) })
		req, err := http.NewRequestWithContext(t.Context(), "GET", p.url("/"), nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := httpClient(t, h2, "").Do(req)
		if err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			if !h2 && !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("the write ends with %v", err)
			}
		case <-time.After(soon):
			t.Error("the handler waits for a client that does not read")
		}
		resp.Body.Close()
	}
}

// Hazard D12: Responses that a client does not read take its share of the bytes in flight, however many connections it has; what
// exceeds it is refused, and another client is answered.
func TestHTTPBoundsResponsesThatAreNotRead(t *testing.T) {
	t.Parallel()
	opt := agents(&fakeMemory{})
	opt.Limits.Bytes = 80 << 20
	opt.Tokens = openTokens(t, tokenLine("a", "tok-a", "main", false), tokenLine("b", "tok-b", "main", false))
	response := make([]byte, 10<<20)
	p := onPort(t, opt, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(response) }), nil)
	var conns []*net.TCPConn
	for range 40 {
		conn, err := net.DialTCP("tcp", nil, net.TCPAddrFromAddrPort(netip.MustParseAddrPort(p.address)))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetReadBuffer(4 << 10)
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer tok-a\r\n\r\n")
		conns = append(conns, conn)
	}
	begins := make(chan string, len(conns))
	for _, conn := range conns {
		go func() {
			line := make([]byte, len("HTTP/1.1 200"))
			if _, err := io.ReadFull(conn, line); err == nil {
				begins <- string(line)
			}
		}()
	}
	answers := map[string]int{}
	for range len(conns) - 16 {
		select {
		case line := <-begins:
			answers[line]++
		case <-time.After(soon):
			t.Fatalf("more than 16 responses wait, %v", answers)
		}
	}
	if want := (map[string]int{"HTTP/1.1 200": 2, "HTTP/1.1 429": 22}); !maps.Equal(answers, want) {
		t.Errorf("answers %v, want %v", answers, want)
	}
	if got := p.ResponseBytes(); got != 20<<20 {
		t.Errorf("%d bytes are in flight", got)
	}
	if resp, body := get(t, httpClient(t, false, ""), p.url("/"), "Authorization", "Bearer tok-b"); resp.StatusCode != 200 || len(body) != len(response) {
		t.Errorf("another client: %d, %d bytes", resp.StatusCode, len(body))
	}
	for _, conn := range conns {
		conn.Close()
	}
	eventually(t, func() bool { return p.ResponseBytes() == 0 })
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
