package derivetest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"kioku/llm"
)

// Request is one request of a model.
type Request struct {
	// Purpose is the contract that it asks for, "facts"; empty if its prompt names none.
	Purpose string
	// Path of the HTTP request.
	Path string
	// Header of the HTTP request.
	Header http.Header
	// Body as it was sent.
	Body string
	// System is the system prompt, and User the texts of the other messages, joined by blank lines.
	System, User string
	// Step is the name of the step that answered; empty if none did.
	Step string
}

// Server is a scripted model server. It is safe for concurrent use.
type Server struct {
	// URL of the server on this computer. One that does not listen is reached by RoundTrip only.
	URL string

	// report is told what went wrong.
	report func(format string, args ...any)

	mu       sync.Mutex // guards what follows
	steps    []*step
	requests []Request
}

// New starts a server with a script, which runs until the end of the test.
func New(t testing.TB, script string) *Server {
	t.Helper()
	s := Unstarted(t, script)
	server := httptest.NewServer(s)
	s.URL = server.URL
	t.Cleanup(server.Close)
	return s
}

// Unstarted returns a server that does not listen: it answers as Transport of a model.
func Unstarted(t testing.TB, script string) *Server {
	t.Helper()
	s, err := Parse(script, t.Errorf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.checkUsed)
	return s
}

// Parse returns a server with a script that does not listen, for use outside of tests: as a handler. It calls report for each request
// that no step answers. The error says what is wrong with the script.
func Parse(script string, report func(format string, args ...any)) (*Server, error) {
	steps, err := parseScript(script)
	if err != nil {
		return nil, fmt.Errorf("script of the model server: %w", err)
	}
	return &Server{URL: "http://localhost", report: report, steps: steps}, nil
}

// Add appends further steps. A script that cannot be read is reported.
func (s *Server) Add(script string) {
	steps, err := parseScript(script)
	if err != nil {
		s.report("script of the model server: %v", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, steps...)
}

// checkUsed reports the steps that have answers left.
func (s *Server) checkUsed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, step := range s.steps {
		if !step.unlimited && step.left > 0 {
			s.report("the model was not asked for step %s, %d times", step.name, step.left)
		}
	}
}

// Requests returns the requests so far that ask a model, in the order in which they came.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Config returns the settings of a model that asks the server, once a call.
func (s *Server) Config() llm.Config {
	return llm.Config{Provider: "openai", Model: "scripted", BaseURL: s.URL, APIKey: "sk-test-scripted", Window: 32_000, MaxRetries: -1}
}

// Model returns the model of Config.
func (s *Server) Model() llm.Model {
	m, err := llm.New(s.Config())
	if err != nil {
		s.report("%v", err)
		return nil
	}
	return m
}

// RoundTrip implements http.RoundTripper without a network, for tests in virtual time: as Transport of llm.Config.
func (s *Server) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	if err := s.serve(w, r); err != nil {
		return nil, err
	}
	resp := w.Result()
	resp.Request = r
	return resp, nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.serve(w, r) != nil {
		panic(http.ErrAbortHandler) // breaks the connection
	}
}

// serve answers a request. It returns an error if the connection is to break.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if !strings.HasSuffix(r.URL.Path, chatPath) {
		http.NotFound(w, r) // what is asked about the server
		return nil
	}
	req, err := readChat(body)
	if err != nil {
		s.report("the model server cannot read a request: %v", err)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return nil
	}
	req.Path, req.Header, req.Body = r.URL.Path, r.Header.Clone(), string(body)
	if m := task.FindStringSubmatch(req.System); m != nil {
		req.Purpose = m[1]
	}
	step := s.next(req)
	if step == nil {
		s.report("an unexpected request for %q: %.2000s", req.Purpose, req.User)
		http.Error(w, `{"error":{"message":"no step of the script answers this"}}`, http.StatusInternalServerError)
		return nil
	}
	if step.delay > 0 {
		select {
		case <-time.After(step.delay):
		case <-r.Context().Done():
			return r.Context().Err()
		}
	}
	return step.write(w)
}

var task = regexp.MustCompile(`(?m)^Task: (\S+)$`)

// next records a request and takes an answer of its step, nil if there is none.
func (s *Server) next(req Request) *step {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found *step
	for _, step := range s.steps {
		if step.answers(req) {
			found = step
			break
		}
	}
	if found != nil {
		req.Step = found.name
		if !found.unlimited {
			found.left--
		}
	}
	s.requests = append(s.requests, req)
	return found
}

// write writes the answer of a step.
func (s *step) write(w http.ResponseWriter) error {
	body, kind := []byte(s.text), "application/json"
	if s.status == http.StatusOK && !s.raw {
		body, kind = chatBody(s), "text/event-stream"
	}
	w.Header().Set("Content-Type", kind)
	for name, values := range s.header {
		w.Header()[http.CanonicalHeaderKey(name)] = values
	}
	w.WriteHeader(s.status)
	if !s.cut {
		_, err := w.Write(body)
		return err
	}
	if _, err := w.Write(body[:len(body)/2]); err != nil {
		return err
	}
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
	return fmt.Errorf("step %s cuts the connection", s.name)
}

// sse returns server-sent events.
func sse(events ...[]byte) []byte {
	return append(append([]byte("data: "), bytes.Join(events, []byte("\n\ndata: "))...), "\n\n"...)
}

// texts joins the texts of messages.
func texts(list []string) string { return strings.Join(list, "\n\n") }
