package server_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc/codes"

	"kioku/internal/testkit"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

// dialTCP connects to an address until the test ends.
func dialTCP(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(soon)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// wantServed checks that a server still answers a call and a request.
func wantServed(t *testing.T, p ported) {
	t.Helper()
	if _, err := kiokuv1.NewMemoryServiceClient(dial(t, p.address)).ListAgents(t.Context(), &kiokuv1.ListAgentsRequest{}); err != nil {
		t.Errorf("gRPC: %v", err)
	}
	if _, body := get(t, httpClient(t, false, ""), p.url("/")); body != "[\"main\"]\n" {
		t.Errorf("HTTP: %s", body)
	}
}

// Hazard D12: A client that begins nothing, or nothing that can be understood, loses its connection within the time to begin a
// request, and holds up nobody.
func TestPortClosesConnectionsThatBeginNothing(t *testing.T) {
	t.Parallel()
	p := onPort(t, agents(&fakeMemory{}), nil, func(s *server.Server) { s.SetBeginTimeout(3 * time.Second) })
	preface := []byte(http2.ClientPreface)
	opened := make(map[string]net.Conn)
	for name, sent := range map[string][]byte{
		"silence":                    nil,
		"half a request line":        []byte("GET / HT"),
		"half a preface":             preface[:10],
		"half a header":              []byte("GET / HTTP/1.1\r\nHost: localhost\r\nX: "),
		"a preface and garbage":      append(bytes.Clone(preface), bytes.Repeat([]byte("garbage!"), 100)...),
		"a preface and a huge frame": append(bytes.Clone(preface), 0xff, 0xff, 0xff, 4, 0, 0, 0, 0, 0),
		"garbage":                    bytes.Repeat([]byte{0xff, 0, 7}, 1000),
		"a TLS handshake":            {0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0},
	} {
		opened[name] = dialTCP(t, p.address)
		if _, err := opened[name].Write(sent); err != nil {
			t.Fatal(err)
		}
	}
	for name, conn := range opened {
		if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: the connection stays open: %v", name, err)
		}
	}
	wantServed(t, p)
	eventually(t, func() bool { return p.OpenConnections() <= 2 })
}

// Hazard D12: A client that sends a byte now and then is not waited for longer than one that sends nothing.
func TestPortDoesNotWaitForASlowloris(t *testing.T) {
	t.Parallel()
	p := onPort(t, agents(&fakeMemory{}), nil, func(s *server.Server) { s.SetBeginTimeout(3 * time.Second) })
	for _, text := range []string{http2.ClientPreface, "GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"} {
		conn := dialTCP(t, p.address)
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			io.Copy(io.Discard, conn)
		}()
		for _, b := range []byte(text[:len(text)-1]) { // the last byte never comes
			conn.Write([]byte{b})
			select {
			case <-closed:
			case <-time.After(20 * time.Millisecond):
			}
		}
		select {
		case <-closed:
		case <-time.After(soon / 2):
			t.Errorf("the connection is open after %q", text)
		}
	}
	wantServed(t, p)
}

// Hazard D12: Idle connections of one machine take at most its share; the unix socket answers beside them, and the machine too, once
// they are closed.
func TestPortSurvivesIdleConnections(t *testing.T) {
	t.Parallel()
	opt := agents(&fakeMemory{})
	opt.Limits.Connections = 200
	p := onPort(t, opt, nil, nil)
	var idle []net.Conn
	for range 1000 {
		conn, err := net.Dial("tcp", p.address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		idle = append(idle, conn)
	}
	eventually(t, func() bool { return p.OpenConnections() == 50 })
	if _, body := get(t, httpClient(t, false, p.socket), "http://localhost/"); body != "[\"main\"]\n" {
		t.Errorf("on the socket: %s", body)
	}
	for _, conn := range idle {
		conn.Close()
	}
	eventually(t, func() bool { return p.OpenConnections() <= 1 })
	wantServed(t, p)
}

// Hazard D12: A connection too many gets an answer that says why, over HTTP as over gRPC.
func TestPortTellsHTTPWhyAConnectionIsRefused(t *testing.T) {
	t.Parallel()
	opt := agents(&fakeMemory{})
	opt.Limits.Connections = 4 // one of each machine
	p := onPort(t, opt, nil, nil)
	if _, body := get(t, httpClient(t, false, ""), p.url("/")); body != "[\"main\"]\n" {
		t.Fatal(body)
	}
	resp, body := get(t, httpClient(t, false, ""), p.url("/"))
	wantRefusal(t, resp, body, 429, "use one for all calls")
	if resp.Header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After is %q", resp.Header.Get("Retry-After"))
	}
}

// Hazard D12: Connections without an authenticated call make room for others of their machine; those with one stay.
func TestPortKeepsNoPlacesForStrangers(t *testing.T) {
	t.Parallel()
	opt := agents(&fakeMemory{})
	opt.Limits.Connections = 16 // four of each machine
	opt.Tokens = openTokens(t, tokenLine("a", "tok-a", "main", false))
	p := onPort(t, opt, nil, nil)
	for range 10 {
		fmt.Fprint(dialTCP(t, p.address), http2.ClientPreface+"\x00\x00\x00\x04\x00\x00\x00\x00\x00") // its settings
		get(t, httpClient(t, false, ""), p.url("/healthz"))
	}
	var kept []*http.Client
	for range 4 {
		kept = append(kept, httpClient(t, false, ""))
	}
	for range 2 {
		for i, c := range kept {
			if _, body := get(t, c, p.url("/"), "Authorization", "Bearer tok-a"); body != "[\"main\"]\n" {
				t.Errorf("connection %d with a token: %s", i, body)
			}
		}
		if n := p.OpenConnections(); n != 4 {
			t.Errorf("%d connections are open", n)
		}
	}
	resp, body := get(t, httpClient(t, false, ""), p.url("/"), "Authorization", "Bearer tok-a")
	wantRefusal(t, resp, body, 429, "use one for all calls")
}

// Open connections of any kind do not hold up the end of a server.
func TestPortEndsWithUnknownConnections(t *testing.T) {
	t.Parallel()
	p := onPort(t, agents(&fakeMemory{}), nil, nil)
	dialTCP(t, p.address)
	dialTCP(t, p.address).Write([]byte(http2.ClientPreface))
	kept := dialTCP(t, p.address)
	fmt.Fprint(kept, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if line, err := bufio.NewReader(kept).ReadString('\n'); err != nil {
		t.Fatal(line, err)
	}
	eventually(t, func() bool { return p.OpenConnections() == 3 })
	if err := p.stop(); err != nil {
		t.Error(err)
	}
}

// h2Client speaks HTTP/2 frame by frame.
type h2Client struct {
	t *testing.T
	*http2.Framer
}

// newH2Client sends the preface and settings.
func newH2Client(t *testing.T, conn net.Conn) h2Client {
	t.Helper()
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	c := h2Client{t, http2.NewFramer(conn, conn)}
	c.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if err := c.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	return c
}

// request sends the header of a request, cut into single bytes of continuation frames.
func (c h2Client) request(fields ...string) {
	c.t.Helper()
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	for i := 0; i < len(fields); i += 2 {
		enc.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	b := block.Bytes()
	err := c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: b[:1], EndStream: true})
	for i := 1; i < len(b) && err == nil; i++ {
		err = c.WriteContinuation(1, i == len(b)-1, b[i:i+1])
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// until reads frames until one that is wanted.
func (c h2Client) until(wanted func(http2.Frame) bool) http2.Frame {
	c.t.Helper()
	for {
		f, err := c.ReadFrame()
		if err != nil {
			c.t.Fatal(err)
		}
		if wanted(f) {
			return f
		}
		if _, ok := f.(*http2.GoAwayFrame); ok {
			c.t.Fatalf("the server ends the connection: %v", f)
		}
	}
}

func isSettings(f http2.Frame) bool {
	s, ok := f.(*http2.SettingsFrame)
	return ok && !s.IsAck()
}

// A client of HTTP/2 that waits for the settings of the server, and acknowledges them, before or after its first request, is
// served by the protocol of that request; pings before it are answered.
func TestPortLearnsTheProtocolFromTheFirstRequest(t *testing.T) {
	t.Parallel()
	p := onPort(t, agents(&fakeMemory{}), nil, nil)
	for _, early := range []bool{true, false} {
		for _, contentType := range []string{"application/grpc", "application/grpc+proto", "text/html"} {
			t.Run(fmt.Sprintf("%s, early acknowledgement %v", contentType, early), func(t *testing.T) {
				c := newH2Client(t, dialTCP(t, p.address))
				c.until(isSettings)
				if early {
					c.WriteSettingsAck()
					c.WritePing(false, [8]byte{7})
					c.until(func(f http2.Frame) bool {
						ping, ok := f.(*http2.PingFrame)
						return ok && ping.IsAck() && ping.Data == [8]byte{7}
					})
				}
				c.request(":method", "POST", ":scheme", "http", ":path", kiokuv1.MemoryService_ListAgents_FullMethodName, ":authority", "localhost",
					"content-type", contentType, "te", "trailers")
				if !early {
					c.WriteSettingsAck()
				}
				c.until(isSettings)
				c.WriteSettingsAck()
				header := c.until(func(f http2.Frame) bool { _, ok := f.(*http2.MetaHeadersFrame); return ok }).(*http2.MetaHeadersFrame)
				got := ""
				for _, f := range header.RegularFields() {
					if f.Name == "content-type" {
						got = f.Value
					}
				}
				if isGRPC := got == contentType; isGRPC != (contentType != "text/html") {
					t.Errorf("answered as %q", got)
				}
				c.WritePing(false, [8]byte{9})
				c.until(func(f http2.Frame) bool {
					ping, ok := f.(*http2.PingFrame)
					return ok && ping.IsAck() && ping.Data == [8]byte{9}
				})
			})
		}
	}
}

// TLS carries HTTP/1.1 and HTTP/2 as it carries gRPC, and a certificate of a client is a name in the token file for all three.
// (C09)
func TestPortSpeaksAllProtocolsUnderTLS(t *testing.T) {
	t.Parallel()
	ca := testkit.NewAuthority(t)
	dir := t.TempDir()
	cert, key := ca.Issue(t, dir, "kioku.example", later)
	own, ownKey := ca.Issue(t, t.TempDir(), "build.example", later)
	certificates, err := server.OpenCertificates(server.TLSFiles{Cert: cert, Key: key, ClientCA: ca.File}, nil)
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := server.ParseTokens("tokens:\n- {name: build, san: build.example, agents: [ann]}\n")
	if err != nil {
		t.Fatal(err)
	}
	l, err := server.ListenTCP("127.0.0.1:0", server.TCPOptions{Tokens: tokens, TLS: certificates})
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, server.Options{Agents: map[string]server.Memory{"ann": &fakeMemory{}, "bob": &fakeMemory{}}, Tokens: tokens})
	list := listing(s)
	s.HandleHTTP(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS == nil {
			t.Error("a handler does not know of TLS")
		}
		list.ServeHTTP(w, r)
	}))
	serve(t, s, l)
	for _, h2 := range []bool{false, true} {
		for _, config := range []*tls.Config{shows(t, ca, own, ownKey), shows(t, ca, "", "")} {
			config.ServerName = "kioku.example"
			tr := &http.Transport{Protocols: &http.Protocols{}, TLSClientConfig: config}
			tr.Protocols.SetHTTP1(!h2)
			tr.Protocols.SetHTTP2(h2)
			defer tr.CloseIdleConnections()
			req, err := http.NewRequestWithContext(t.Context(), "GET", "https://"+l.Addr().String()+"/", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Host = "kioku.example"
			if config.Certificates == nil {
				if resp, err := (&http.Client{Transport: tr}).Do(req); err == nil {
					t.Errorf("without a certificate: %v", resp.Status)
				}
				continue
			}
			if resp, body := send(t, &http.Client{Transport: tr}, req); body != "[\"ann\"]\n" || (resp.ProtoMajor == 2) != h2 {
				t.Errorf("%s over %s", body, resp.Proto)
			}
			req.Host = "evil.example"
			resp, body := send(t, &http.Client{Transport: tr}, req)
			wantRefusal(t, resp, body, 403, "http.hosts")
		}
	}
	_, err = listAgents(t, l.Addr().String(), shows(t, ca, own, ownKey), "")
	wantCode(t, err, codes.OK)
}

// Hazard C09, D12: a client that does not finish its TLS handshake loses its connection in time, and the log says so.
func TestPortClosesAHalfOpenTLSHandshake(t *testing.T) {
	t.Parallel()
	ca := testkit.NewAuthority(t)
	cert, key := ca.Issue(t, t.TempDir(), "kioku.example", later)
	certificates, err := server.OpenCertificates(server.TLSFiles{Cert: cert, Key: key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := server.ListenTCP("127.0.0.1:0", server.TCPOptions{TLS: certificates})
	if err != nil {
		t.Fatal(err)
	}
	var log buffer
	opt := agents(&fakeMemory{})
	opt.Log = logTo(&log)
	s := newServer(t, opt)
	s.SetBeginTimeout(300 * time.Millisecond)
	serve(t, s, l)
	hello := []byte{0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3}
	for _, sent := range [][]byte{nil, hello} {
		conn := dialTCP(t, l.Addr().String())
		conn.Write(sent)
		if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("after %d bytes the connection stays open", len(sent))
		}
	}
	eventually(t, func() bool {
		return s.OpenConnections() == 0 && strings.Count(log.String(), "refused a TLS handshake") == 2
	})
}
