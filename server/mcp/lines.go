package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxLine is the maximum length of a message of a client in bytes.
const maxLine = 16 << 20

// lines is a reader of the lines of a client that are JSON. It answers every other line with an error.
type lines struct {
	in   *bufio.Reader
	out  *lineWriter
	rest []byte // of the line that has been read in part
}

// Read reads the next line that is JSON, or more of it. Every error is an io.EOF: only it ends a session.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.next()
		switch line = bytes.TrimSpace(line); {
		case len(line) > maxLine:
			l.out.refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("a message has more than %d bytes", maxLine))
		case len(line) == 0:
		case !json.Valid(line):
			l.out.refuse(jsonrpc.CodeParseError, "a line is no JSON; each message is one line")
		default:
			l.rest = append(line, '\n')
		}
		switch {
		case err == nil || len(l.rest) > 0:
		case errors.Is(err, io.EOF):
			return 0, io.EOF
		default:
			return 0, fmt.Errorf("%w: %w", io.EOF, err)
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// next reads the next line. Of one that is too long it returns a little more than maxLine bytes.
func (l *lines) next() (line []byte, err error) {
	for {
		part, err := l.in.ReadSlice('\n')
		if len(line) <= maxLine {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// Close does nothing.
func (l *lines) Close() error { return nil }

// lineWriter writes whole lines, one at a time. Closing it does nothing.
type lineWriter struct {
	mu  sync.Mutex
	out io.Writer // guarded by mu
}

// Write writes a line.
func (w *lineWriter) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(line)
}

// refuse answers what is no request. If the answer cannot be written, the client is gone, which the end of its input shows.
func (w *lineWriter) refuse(code int, why string) {
	_, _ = w.Write(append(rpcError(code, why), '\n'))
}

// Close does nothing.
func (w *lineWriter) Close() error { return nil }
