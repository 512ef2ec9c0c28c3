package server

import (
	"bytes"
	"io"
	"net"
	"testing"
	"testing/iotest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// frames are what a client of HTTP/2 sends: its settings and what a test adds, then a request.
func frames(t testing.TB, contentType string, more func(*http2.Framer)) []byte {
	t.Helper()
	var b, block bytes.Buffer
	b.WriteString(http2.ClientPreface)
	f := http2.NewFramer(&b, nil)
	f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 20})
	if more != nil {
		more(f)
	}
	enc := hpack.NewEncoder(&block)
	for _, field := range []hpack.HeaderField{{Name: ":method", Value: "POST"}, {Name: ":path", Value: "/"}, {Name: ":scheme", Value: "http"}, {Name: "content-type", Value: contentType}} {
		enc.WriteField(field)
	}
	f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block.Bytes(), EndHeaders: true})
	f.WriteData(1, true, []byte("hello"))
	return b.Bytes()
}

// sentConn is a connection on which a client has sent something, and reads nothing.
type sentConn struct {
	net.Conn
	io.Reader
}

func (c sentConn) Read(p []byte) (int, error)  { return c.Reader.Read(p) }
func (c sentConn) Write(p []byte) (int, error) { return len(p), nil }
func (c sentConn) SetDeadline(time.Time) error { return nil }

// sends returns a connection on which a client sends something, byte by byte if it is slow.
func sends(sent []byte, slow bool) net.Conn {
	if slow {
		return sentConn{Reader: iotest.OneByteReader(bytes.NewReader(sent))}
	}
	return sentConn{Reader: bytes.NewReader(sent)}
}

// Whoever takes over a connection reads all that the client has sent, but for pings, which are answered, and the
// acknowledgement of the settings that the client was sent.
func TestSniffReturnsAllThatWasSent(t *testing.T) {
	t.Parallel()
	plain := frames(t, "application/grpc", nil)
	ack := func(f *http2.Framer) { f.WriteSettingsAck() }
	early := frames(t, "application/grpc", ack)
	var late bytes.Buffer
	late.Write(plain)
	f := http2.NewFramer(&late, nil)
	f.WriteSettingsAck()
	f.WriteSettingsAck() // that of the settings of whoever takes over
	f.WritePing(false, [8]byte{1})
	var after bytes.Buffer
	after.Write(plain)
	f = http2.NewFramer(&after, nil)
	f.WriteSettingsAck()
	f.WritePing(false, [8]byte{1})
	for _, c := range []struct {
		name       string
		sent, want []byte
		grpc       bool
	}{
		{"HTTP/1.1", []byte("POST / HTTP/1.1\r\n\r\nhello"), []byte("POST / HTTP/1.1\r\n\r\nhello"), false},
		{"like a preface", []byte("PRI * HTTP/1.1\r\n\r\n"), []byte("PRI * HTTP/1.1\r\n\r\n"), false},
		{"gRPC", plain, plain, true},
		{"gRPC with a codec", frames(t, "application/grpc+proto", nil), frames(t, "application/grpc+proto", nil), true},
		{"gRPC on the web", frames(t, "application/json", nil), frames(t, "application/json", nil), false},
		{"early acknowledgement", early, plain, true},
		{"early ping", frames(t, "application/grpc", func(f *http2.Framer) { ack(f); f.WritePing(false, [8]byte{}) }), plain, true},
		{"late acknowledgement", late.Bytes(), after.Bytes(), true},
	} {
		for _, slow := range []bool{false, true} {
			isGRPC, all, err := sniff(sends(c.sent, slow))
			if err != nil || isGRPC != c.grpc {
				t.Errorf("%s: gRPC %v, %v", c.name, isGRPC, err)
				continue
			}
			if slow {
				all = iotest.OneByteReader(all)
			}
			if got, err := io.ReadAll(all); err != nil || !bytes.Equal(got, c.want) {
				t.Errorf("%s, slow %v: %v\ngot  %q\nwant %q", c.name, slow, err, got, c.want)
			}
		}
	}
}

// Hazard D12: What a client sends before its first request is bounded, also within one header, which continues for ever.
func TestSniffBoundsWhatItReads(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		times int
		more  func(*http2.Framer)
	}{
		"settings":     {20_000, func(f *http2.Framer) { f.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: 1}) }},
		"unknown":      {20, func(f *http2.Framer) { f.WriteRawFrame(0xfa, 0, 0, make([]byte, 10_000)) }},
		"too large":    {1, func(f *http2.Framer) { f.WriteRawFrame(0xfa, 0, 0, make([]byte, 20_000)) }},
		"window sizes": {20_000, func(f *http2.Framer) { f.WriteWindowUpdate(0, 1) }},
		"a header": {1, func(f *http2.Framer) {
			f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0x82}})
			for range 100_000 {
				f.WriteContinuation(1, false, nil)
			}
		}},
	} {
		sent := bytes.NewReader(frames(t, "application/grpc", func(f *http2.Framer) {
			for range c.times {
				c.more(f)
			}
		}))
		_, _, err := sniff(sentConn{Reader: sent})
		if read := int(sent.Size()) - sent.Len(); err == nil || read > maxSniffed+64<<10 {
			t.Errorf("%s: %d of %d bytes are read, %v", name, read, sent.Size(), err)
		}
	}
}

// FuzzSniff tries bytes of any kind: what is handed over begins with what was sent, unless frames were taken out.
func FuzzSniff(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Add(frames(f, "application/grpc", nil))
	f.Add(frames(f, "text/html", func(f *http2.Framer) { f.WriteSettingsAck(); f.WritePing(false, [8]byte{}) }))
	f.Fuzz(func(t *testing.T, sent []byte) {
		isGRPC, all, err := sniff(sends(sent, false))
		if err != nil {
			return
		}
		got, _ := io.ReadAll(all)
		h2 := bytes.HasPrefix(sent, []byte(http2.ClientPreface))
		if isGRPC && !h2 || !h2 && !bytes.Equal(got, sent) || h2 && !bytes.HasPrefix(got, []byte(http2.ClientPreface)) || len(got) > len(sent) {
			t.Errorf("gRPC %v: sent %q, got %q", isGRPC, sent, got)
		}
	})
}
