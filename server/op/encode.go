package op

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"iter"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"kioku/internal/text"
	"kioku/server/httpapi"
)

const (
	// heartbeatPause is the time without an event after which a client gets a comment, so that proxies and clients see that the
	// stream lives.
	heartbeatPause = 15 * time.Second
	// reconnectPause is the time after which a browser connects again.
	reconnectPause = 3 * time.Second
)

// maxError is the maximum number of bytes of an error in an answer.
const maxError = 500

// asText are the options by which durations are texts, "1.5ms", and errors too. Bytes that are no UTF-8 become U+FFFD.
var asText = json.JoinOptions(jsontext.AllowInvalidUTF8(true),
	json.WithMarshalers(json.JoinMarshalers(
		json.MarshalFunc(func(d time.Duration) ([]byte, error) { return []byte(strconv.Quote(d.String())), nil }),
		json.MarshalFunc(func(e error) ([]byte, error) {
			return jsontext.AppendQuote(nil, strings.ToValidUTF8(text.HeadBytes(e.Error(), maxError), "\uFFFD"))
		}))),
	json.WithUnmarshalers(json.JoinUnmarshalers(
		json.UnmarshalFunc(func(b []byte, d *time.Duration) (err error) {
			*d, err = time.ParseDuration(strings.Trim(string(b), `"`))
			return err
		}),
		json.UnmarshalFunc(func(b []byte, e *error) error {
			said, err := jsontext.AppendUnquote(nil, b)
			*e = errors.New(string(said))
			return err
		}))))

// written are the options by which answers are written. What is left out of files is left out of them.
var written = json.JoinOptions(json.Deterministic(true), jsonv1.OmitEmptyWithLegacySemantics(true), asText)

// Marshal returns a value as JSON, as operations answer. A list without elements is [], and not null.
func Marshal(v any) ([]byte, error) { return json.Marshal(v, written) }

// marshalLine returns a value as JSON on one line, with its line break.
func marshalLine(v any) ([]byte, error) {
	b, err := Marshal(v)
	return append(b, '\n'), err
}

// writeAnswer writes an answer. One to GET has an ETag, and no body if the client has it already.
func writeAnswer(w http.ResponseWriter, r *http.Request, out any) error {
	body, err := marshalLine(out)
	if err != nil {
		return err
	}
	return writeBody(w, r, body)
}

// writeBody writes an answer that is JSON.
func writeBody(w http.ResponseWriter, r *http.Request, body []byte) error {
	header := w.Header()
	header.Set("Content-Type", jsonType)
	header.Set("Cache-Control", "no-store")
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		tag := etagOf(body)
		header.Set("ETag", tag)
		header.Set("Cache-Control", "private, no-cache")
		header.Set("Vary", "Authorization, Cookie")
		if matchesTag(r.Header.Values("If-None-Match"), tag) {
			header.Del("Content-Type")
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // a client that is gone needs none
	return nil
}

// tookField is how the JSON of an answer begins to say how long it took.
var tookField = []byte(`"took":"`)

// etagOf returns the tag of a body, a hash of it. The generation of the index would not do: ages, the provider, the settings and
// the clock change an answer without a new generation. How long a search took does not count: such a tag is weak.
func etagOf(body []byte) string {
	weak := ""
	sum := sha256.New()
	if before, after, ok := bytes.Cut(body, tookField); ok {
		weak = "W/"
		sum.Write(before)
		_, body, _ = bytes.Cut(after, []byte(`"`))
	}
	sum.Write(body)
	return weak + `"` + hex.EncodeToString(sum.Sum(nil)[:16]) + `"`
}

// matchesTag reports whether one of the tags of a request is the tag of the answer, by the weak comparison of RFC 9110.
func matchesTag(headers []string, tag string) bool {
	for _, header := range headers {
		for one := range strings.SplitSeq(header, ",") {
			one = strings.TrimSpace(one)
			if one == "*" || strings.TrimPrefix(one, "W/") == strings.TrimPrefix(tag, "W/") {
				return true
			}
		}
	}
	return false
}

// streamKey is the key of the stream that a context belongs to, and readyKey that of what tells its client that it begins.
type (
	streamKey struct{}
	readyKey  struct{}
)

// OnReady returns a context of a stream whose client is told by ready that nothing is missed from then on.
func OnReady(ctx context.Context, ready func()) context.Context {
	return context.WithValue(ctx, readyKey{}, ready)
}

// errorsKey is the key of what is told of errors.
type errorsKey struct{}

// WithErrors says what is told of an error that ends a stream which has begun.
func WithErrors(ctx context.Context, tell func(context.Context, error) error) context.Context {
	return context.WithValue(ctx, errorsKey{}, tell)
}

// Ready tells the client of a stream that nothing which happens from now on is missed, before there is a first part.
func Ready(ctx context.Context) {
	if ready, ok := ctx.Value(readyKey{}).(func()); ok {
		ready()
	}
}

// LastEventID returns the number of the last part that the client of a stream has, which has lost its connection; ok is false for a
// new one.
func LastEventID(ctx context.Context) (id uint64, ok bool) {
	if s, is := ctx.Value(streamKey{}).(*partWriter); is && s.again {
		return s.lastID, true
	}
	return 0, false
}

// Numbered is a part of a stream with a number of its own, from which a client can go on.
type Numbered interface{ EventID() uint64 }

// writeParts writes the parts of a stream: as server-sent events if the request accepts them, else as JSON, one a line. An error
// before the first part is returned; a later one is written as the event "failure", since "error" is that of a browser for a lost
// connection.
func writeParts(w http.ResponseWriter, r *http.Request, parts func(context.Context) iter.Seq2[any, error]) error {
	s := &partWriter{response: w, control: http.NewResponseController(w), events: acceptsEvents(r)}
	if last := r.Header.Get("Last-Event-ID"); last != "" && s.events {
		s.again = true
		s.lastID, _ = strconv.ParseUint(last, 10, 64)
	}
	if tell, ok := r.Context().Value(errorsKey{}).(func(context.Context, error) error); ok {
		s.tell = func(err error) error { return tell(r.Context(), err) }
	}
	ctx := OnReady(context.WithValue(r.Context(), streamKey{}, s), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		_ = s.begin()
	})
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var beating sync.WaitGroup
	defer beating.Wait()
	defer cancel()
	beating.Go(func() { s.beat(ctx) })
	for part, err := range parts(ctx) {
		if err != nil {
			return s.fail(w, err)
		}
		if err := s.send(part); err != nil {
			return nil // the client is gone, and nobody is left to tell the error to
		}
	}
	return s.fail(w, context.Cause(r.Context()))
}

// partWriter writes the parts of a stream.
type partWriter struct {
	response http.ResponseWriter
	control  *http.ResponseController
	events   bool
	again    bool              // the client was connected before
	tell     func(error) error // what is told of an error; nil for the error itself

	mu     sync.Mutex // guards what follows, and writes
	begun  bool
	lastID uint64
	sent   time.Time
}

// acceptsEvents reports whether a request asks for server-sent events, as EventSource of browsers does.
func acceptsEvents(r *http.Request) bool {
	for _, accept := range r.Header.Values("Accept") {
		for one := range strings.SplitSeq(accept, ",") {
			if media, _, err := mime.ParseMediaType(one); err == nil && media == eventType {
				return true
			}
		}
	}
	return false
}

// begin writes the header of the answer, once.
func (s *partWriter) begin() error {
	if s.begun {
		return nil
	}
	s.begun = true
	header := s.response.Header()
	header.Set("Content-Type", linesType)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // nginx buffers answers otherwise
	if !s.events {
		return s.write(nil)
	}
	header.Set("Content-Type", eventType)
	return s.write([]byte("retry: " + strconv.FormatInt(reconnectPause.Milliseconds(), 10) + "\n\n"))
}

// send writes a part. Numbers of events have no gaps, also across the connections of a client, unless the parts have their own.
func (s *partWriter) send(part any) error {
	line, err := marshalLine(part)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.begin(); err != nil {
		return err
	}
	if s.events {
		s.lastID++
		if n, ok := part.(Numbered); ok {
			s.lastID = n.EventID()
		}
		line = append([]byte("id: "+strconv.FormatUint(s.lastID, 10)+"\ndata: "), append(line, '\n')...)
	}
	return s.write(line)
}

// fail writes the error that ends the stream, or returns it if nothing was written yet.
func (s *partWriter) fail(w http.ResponseWriter, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		return s.begin() // a stream without parts has ended well
	}
	if !s.begun {
		return err
	}
	if s.tell != nil {
		err = s.tell(err) // which may have another cause than the end of its context
	}
	if errors.Is(err, context.Canceled) {
		return nil
	}
	line := httpapi.ErrorLine(w, err)
	if s.events {
		line = append([]byte("event: failure\ndata: "), append(line, '\n')...)
	}
	_ = s.write(line)
	return nil
}

// beat writes a comment to a reader of events now and then. Lines of JSON have none.
func (s *partWriter) beat(ctx context.Context) {
	tick := time.NewTicker(heartbeatPause)
	defer tick.Stop()
	for s.events {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			s.mu.Lock()
			if s.begun && now.Sub(s.sent) >= heartbeatPause {
				_ = s.write([]byte(": heartbeat\n\n"))
			}
			s.mu.Unlock()
		}
	}
}

// write writes bytes and sends them at once.
func (s *partWriter) write(data []byte) error {
	s.sent = time.Now()
	if _, err := s.response.Write(data); err != nil {
		return err
	}
	return s.control.Flush()
}
