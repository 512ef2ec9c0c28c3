package server_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kioku/server"
)

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

// A body that is not said to be JSON, as plain curl -d sends it, is refused with what to send.
func TestHTTPRefusesABodyThatIsNotSaidToBeJSON(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	p := onPort(t, agents(&fakeMemory{}), mux, func(s *server.Server) { s.HandleOperations(mux) })
	for _, kind := range []string{"", "application/x-www-form-urlencoded", "text/plain"} {
		req, err := http.NewRequestWithContext(t.Context(), "POST", p.url("/v1/notes"), strings.NewReader(`{"text":"tea"}`))
		if err != nil {
			t.Fatal(err)
		}
		resp, body := send(t, httpClient(t, false, ""), req, "Content-Type", kind)
		wantRefusal(t, resp, body, 415, "send the header Content-Type: application/json")
		if !strings.Contains(body, `"code":"INVALID_ARGUMENT"`) {
			t.Errorf("%q: %s", kind, body)
		}
	}
}
