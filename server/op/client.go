package op

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"kioku/memory"
	"kioku/server/httpapi"
)

// Host is the host of requests to a connection that knows by itself whom it reaches.
const Host = "kioku"

// TimeoutHeader is the header with the time that a caller has for an answer, as of gRPC: 20S, 500m.
const TimeoutHeader = "Grpc-Timeout"

// maxTimeout is the maximum number in it.
const maxTimeout = 99_999_999

// Error is what a service says of a request that it did not answer.
type Error = httpapi.Error

// send sends a request, and returns its answer or the error that it is.
func send(ctx context.Context, conn http.RoundTripper, a About, in any, accept string) (*http.Response, error) {
	r, err := request(ctx, a, in)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", accept)
	if end, ok := ctx.Deadline(); ok {
		r.Header.Set(TimeoutHeader, fmt.Sprint(min(max(time.Until(end).Milliseconds(), 1), maxTimeout), "m"))
	}
	resp, err := conn.RoundTrip(r)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%w: %w", memory.ErrUnreachable, err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", memory.ErrUnreachable, err)
	}
	return nil, errorOf(body, resp.StatusCode)
}

// errorOf returns the error in a body.
func errorOf(body []byte, status int) error {
	var said struct {
		Error *Error `json:"error"`
	}
	if json.Unmarshal(body, &said) != nil || said.Error == nil {
		return fmt.Errorf("%w: it answers %d, and no error of Kioku: is another service at this address?", memory.ErrUnreachable, status)
	}
	said.Error.Status = status
	if httpapi.IsGeneral(said.Error.Hint) {
		said.Error.Hint = ""
	}
	return said.Error
}

// escapePath escapes the parts of a path, those that a server would take for a folder above, and slashes that it would drop.
func escapePath(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if parts[i] = url.PathEscape(part); part == "." || part == ".." {
			parts[i] = strings.ReplaceAll(part, ".", "%2E")
		}
	}
	escaped := strings.ReplaceAll(strings.Join(parts, "/"), "//", "%2F%2F")
	if rest, absolute := strings.CutPrefix(escaped, "/"); absolute {
		return "%2F" + rest
	}
	return escaped
}

// request returns the request of an operation.
func request(ctx context.Context, a About, in any) (*http.Request, error) {
	var members map[string]json.RawMessage
	body, err := json.Marshal(in)
	if err == nil {
		err = json.Unmarshal(body, &members)
	}
	if err != nil {
		return nil, err
	}
	path := a.Path()
	for _, name := range wildcards(path) {
		value := textOf(members[name])
		if strings.Contains(path, "{"+name+"...}") {
			value = escapePath(value)
		} else {
			value = url.PathEscape(value)
		}
		path = strings.NewReplacer("{"+name+"}", value, "{"+name+"...}", value).Replace(path)
		delete(members, name)
	}
	target := "http://" + Host + path
	if !a.InBody() {
		if query := queryOf(members, fieldsOf(reflect.ValueOf(in))); len(query) > 0 {
			target += "?" + query.Encode()
		}
		return http.NewRequestWithContext(ctx, a.Method(), target, http.NoBody)
	}
	if body, err = json.Marshal(members); err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, a.Method(), target, bytes.NewReader(body))
	if err == nil {
		r.Header.Set("Content-Type", jsonType)
	}
	return r, err
}

// queryOf returns members as a query, without those that are not set.
func queryOf(members map[string]json.RawMessage, fields map[string]reflect.Value) url.Values {
	query := url.Values{}
	for name, value := range members {
		if fields[name].IsZero() {
			continue
		}
		var list []json.RawMessage
		if json.Unmarshal(value, &list) != nil {
			list = []json.RawMessage{value}
		}
		for _, one := range list {
			query.Add(name, textOf(one))
		}
	}
	return query
}

// textOf returns a JSON value as a query has it.
func textOf(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) == nil {
		return s
	}
	return string(value)
}

// unmarshal decodes an answer. A member that it does not know is of a newer service.
func unmarshal(body []byte, out any) error {
	if err := jsonv2.Unmarshal(body, out, asText); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	return nil
}

// partOf decodes a part of a stream, or returns the error that it is.
func partOf(line []byte, out any) error {
	if bytes.HasPrefix(line, []byte(`{"error":{"code":`)) {
		return errorOf(line, http.StatusOK)
	}
	return unmarshal(line, out)
}

// maxLine bounds a part of a stream in bytes.
const maxLine = 64 << 20

// lines yields the lines of r.
func lines(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		scanner := bufio.NewScanner(r)
		scanner.Buffer(nil, maxLine)
		for scanner.Scan() {
			if len(scanner.Bytes()) > 0 && !yield(scanner.Bytes(), nil) {
				return
			}
		}
		if err := scanner.Err(); err != nil {
			yield(nil, fmt.Errorf("%w: %w", memory.ErrUnreachable, err))
		}
	}
}

// Local reaches a handler in this process: the same path as through a socket, without one.
type Local struct {
	// Handler answers.
	Handler http.Handler
}

// RoundTrip implements http.RoundTripper.
func (l Local) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	ctx, cancel := context.WithCancel(r.Context())
	body, out := io.Pipe()
	w := &localWriter{header: http.Header{}, out: out, begun: make(chan struct{})}
	panicked := make(chan any, 1)
	gone := context.AfterFunc(r.Context(), func() { _ = body.CloseWithError(context.Cause(r.Context())) }) // so that nobody waits for its reader
	go func() {
		defer gone()
		defer cancel()
		defer func() { _ = out.Close() }()
		defer w.WriteHeader(http.StatusOK)
		defer func() {
			if v := recover(); v != nil { // it is of whoever asks
				panicked <- v
				_ = out.CloseWithError(fmt.Errorf("panic: %v", v))
			}
		}()
		l.Handler.ServeHTTP(w, r.WithContext(ctx))
	}()
	select {
	case <-w.begun:
		select {
		case v := <-panicked:
			panic(v)
		default:
		}
		return &http.Response{StatusCode: w.status, Header: w.header.Clone(), Body: localBody{body, cancel}, Request: r, ContentLength: -1}, nil
	case <-ctx.Done():
		_ = body.CloseWithError(ctx.Err())
		return nil, ctx.Err()
	}
}

// localWriter is the answer of a handler in this process.
type localWriter struct {
	header http.Header
	out    *io.PipeWriter
	once   sync.Once
	status int
	begun  chan struct{}
}

// Header implements http.ResponseWriter.
func (w *localWriter) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *localWriter) WriteHeader(status int) {
	w.once.Do(func() {
		w.status = status
		close(w.begun)
	})
}

// Write implements http.ResponseWriter.
func (w *localWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if len(b) == 0 {
		return 0, nil
	}
	return w.out.Write(b)
}

// Flush implements http.Flusher.
func (w *localWriter) Flush() { w.WriteHeader(http.StatusOK) }

// SetReadDeadline does nothing: the body is here.
func (w *localWriter) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing: nobody is slow.
func (w *localWriter) SetWriteDeadline(time.Time) error { return nil }

// localBody ends the request when it is closed.
type localBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close implements io.Closer.
func (b localBody) Close() error {
	b.cancel()
	return errors.Join(b.ReadCloser.Close())
}
