package server

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

const (
	// maxSniffed is the maximum number of bytes that a client sends before its first request.
	maxSniffed = 128 << 10
	// maxFrame is the maximum size of a frame of HTTP/2 in bytes, as long as no other is agreed on.
	maxFrame = 16 << 10
	// firstRequestWait is the time from the settings of a client of HTTP/2 to its first request.
	firstRequestWait = time.Minute
	// maxHeader is the maximum size of the header of a request in bytes.
	maxHeader = 64 << 10
)

// sniff reads the first bytes of a connection and reports whether its client speaks gRPC; otherwise it speaks HTTP. It returns
// a reader of all that the client sends, from its first byte on. The caller sets a deadline for the first bytes, and sniff
// leaves the connection without one. gRPC is HTTP/2 with a content type of its own, so that the first request tells.
func sniff(conn net.Conn) (grpc bool, all io.Reader, err error) {
	r := bufio.NewReader(conn)
	all = r
	if h2, err := hasPreface(r); err != nil {
		return false, nil, err
	} else if h2 {
		if grpc, all, err = sniffHTTP2(conn, r); err != nil {
			return false, nil, err
		}
	}
	return grpc, all, conn.SetDeadline(time.Time{})
}

// hasPreface reports whether a client begins with the preface of HTTP/2. It consumes nothing.
func hasPreface(r *bufio.Reader) (bool, error) {
	for i := range len(http2.ClientPreface) {
		head, err := r.Peek(i + 1)
		if err != nil {
			return false, err
		}
		if head[i] != http2.ClientPreface[i] {
			return false, nil
		}
	}
	return true, nil
}

// sentBytes are what a client has sent before its first request. One header can consist of any number of frames, so every
// write is counted.
type sentBytes struct{ bytes.Buffer }

// errNoRequest is why a connection ends whose client sends much and no request.
var errNoRequest = errors.New("the client sends no request")

// Write adds bytes, at most maxSniffed in all.
func (s *sentBytes) Write(p []byte) (int, error) {
	if s.Len()+len(p) > maxSniffed {
		return 0, errNoRequest
	}
	return s.Buffer.Write(p)
}

// sniffHTTP2 is sniff for a client that speaks HTTP/2. Many clients of gRPC make no request before they have the settings of
// the server, so it sends settings. Whoever takes over the connection sends its own; the acknowledgement of the first ones is
// not for it.
func sniffHTTP2(conn net.Conn, r *bufio.Reader) (bool, io.Reader, error) {
	var record sentBytes
	tee := io.TeeReader(r, &record)
	if _, err := io.CopyN(io.Discard, tee, int64(len(http2.ClientPreface))); err != nil {
		return false, nil, err
	}
	framer := http2.NewFramer(conn, tee)
	framer.SetMaxReadFrameSize(maxFrame)
	framer.ReadMetaHeaders, framer.MaxHeaderListSize = hpack.NewDecoder(4096, nil), maxHeader
	err := framer.WriteSettings(
		http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: maxStreams},
		http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: maxHeader})
	if err != nil {
		return false, nil, err
	}
	if f, err := framer.ReadFrame(); err != nil || f.Header().Type != http2.FrameSettings {
		return false, nil, cmp.Or(err, errors.New("the client sends no settings"))
	}
	if err := conn.SetDeadline(time.Now().Add(firstRequestWait)); err != nil {
		return false, nil, err
	}
	grpc, acknowledged, err := readFirstRequest(framer, &record)
	if err != nil {
		return false, nil, err
	}
	var rest io.Reader = r
	if !acknowledged {
		rest = &skipSettingsAck{from: r}
	}
	return grpc, io.MultiReader(&record, rest), nil
}

// readFirstRequest reads frames up to the header of the first request, and reports whether the request is one of gRPC and
// whether the client has acknowledged settings. It answers pings. Pings and the acknowledgement do not stay in record.
func readFirstRequest(framer *http2.Framer, record *sentBytes) (grpc, acknowledged bool, err error) {
	for {
		before := record.Len()
		frame, err := framer.ReadFrame()
		if errors.As(err, new(http2.StreamError)) {
			return false, acknowledged, nil // a bad header, which is answered as any bad request
		}
		if err != nil {
			return false, false, err
		}
		switch f := frame.(type) {
		case *http2.MetaHeadersFrame:
			return isGRPC(f), acknowledged, nil
		case *http2.SettingsFrame:
			if f.IsAck() {
				acknowledged = true
				record.Truncate(before)
			}
		case *http2.PingFrame:
			record.Truncate(before)
			if err := framer.WritePing(true, f.Data); err != nil {
				return false, false, err
			}
		}
	}
}

// isGRPC reports whether the header of a request is one of gRPC.
func isGRPC(header *http2.MetaHeadersFrame) bool {
	for _, field := range header.RegularFields() {
		if field.Name == "content-type" {
			return strings.HasPrefix(field.Value, "application/grpc")
		}
	}
	return false
}

// skipSettingsAck reads frames of HTTP/2 and leaves out the first acknowledgement of settings.
type skipSettingsAck struct {
	from io.Reader
	// header of the next frame, of which have bytes are read.
	header [9]byte
	have   int
	// out are the bytes of a header that are not returned yet, and payload is the number of bytes that follow it.
	out     []byte
	payload int
	// done is true after the acknowledgement.
	done bool
}

// Read reads the next bytes.
func (s *skipSettingsAck) Read(p []byte) (int, error) {
	for {
		switch {
		case s.done:
			return s.from.Read(p)
		case len(s.out) > 0:
			n := copy(p, s.out)
			s.out = s.out[n:]
			return n, nil
		case s.payload > 0:
			n, err := s.from.Read(p[:min(len(p), s.payload)])
			s.payload -= n
			return n, err
		}
		if err := s.readHeader(); err != nil {
			return 0, err
		}
	}
}

// readHeader reads the header of the next frame. After an error, the next call goes on where it stopped.
func (s *skipSettingsAck) readHeader() error {
	n, err := io.ReadFull(s.from, s.header[s.have:])
	if s.have += n; err != nil {
		return err
	}
	s.have = 0
	kind, flags := http2.FrameType(s.header[3]), http2.Flags(s.header[4])
	if s.done = kind == http2.FrameSettings && flags.Has(http2.FlagSettingsAck); s.done {
		return nil
	}
	s.out = s.header[:]
	s.payload = int(s.header[0])<<16 | int(s.header[1])<<8 | int(s.header[2])
	return nil
}
