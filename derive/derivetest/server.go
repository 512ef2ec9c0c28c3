package derivetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"kioku/llm"
)

// Request is one request of a model.
type Request struct {
	// Purpose is the contract that it asks for, "facts"; empty if its prompt names none.
	Purpose string
	// Body as it was sent.
	Body string
	// System is the system prompt, and User the texts of the other messages, joined by blank lines.
	System, User string
	// Step is the name of the step that answered; empty if none did.
	Step string
}

// Server is a scripted model server. It is safe for concurrent use.
type Server struct {
	// URL of the server on this computer, if it listens.
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
	s, err := Parse(script, t.Errorf)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	s.URL = server.URL
	t.Cleanup(s.checkUsed)
	t.Cleanup(server.Close)
	return s
}

// Parse returns a server with a script that does not listen, for use outside of tests: as a handler. It calls report for each request
// that no step answers. The error says what is wrong with the script.
func Parse(script string, report func(format string, args ...any)) (*Server, error) {
	steps, err := parseScript(script)
	if err != nil {
		return nil, fmt.Errorf("script of the model server: %w", err)
	}
	return &Server{report: report, steps: steps}, nil
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

// Model returns a model that asks the server, once a call.
func (s *Server) Model() llm.Model {
	m, err := llm.New(llm.Config{Provider: "openai", Model: "scripted", BaseURL: s.URL, APIKey: "sk-test-scripted", Window: 32_000, MaxRetries: -1})
	if err != nil {
		s.report("%v", err)
		return nil
	}
	return m
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		http.NotFound(w, r) // what is asked about the server
		return
	}
	body, err := io.ReadAll(r.Body)
	req := Request{Body: string(body)}
	if err == nil {
		err = req.read(body)
	}
	if err != nil {
		s.report("the model server cannot read a request: %v", err)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	step := s.next(req)
	if step == nil {
		s.report("an unexpected request for %q: %.2000s", req.Purpose, req.User)
		http.Error(w, `{"error":{"message":"no step of the script answers this"}}`, http.StatusInternalServerError)
		return
	}
	step.write(w)
}

// read reads the texts of a request.
func (r *Request) read(body []byte) error {
	var c struct {
		Messages []struct{ Role, Content string }
	}
	if err := json.Unmarshal(body, &c); err != nil {
		return err
	}
	for _, m := range c.Messages {
		to := &r.User
		if m.Role == "system" {
			to = &r.System
		}
		*to = strings.TrimPrefix(*to+"\n\n"+m.Content, "\n\n")
	}
	if m := task.FindStringSubmatch(r.System); m != nil {
		r.Purpose = m[1]
	}
	return nil
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

// object is a JSON object.
type object = map[string]any

// write writes the answer of a step.
func (s *step) write(w http.ResponseWriter) {
	body, kind := s.text, "application/json"
	if s.status == http.StatusOK {
		body, kind = s.stream(), "text/event-stream"
	}
	w.Header().Set("Content-Type", kind)
	for name, values := range s.header {
		w.Header()[http.CanonicalHeaderKey(name)] = values
	}
	w.WriteHeader(s.status)
	if s.cut {
		body = body[:len(body)/2]
	}
	_, _ = io.WriteString(w, body) // the client tells if it does not come
	if s.cut {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler) // breaks the connection
	}
}

// stream returns the body of an answer in the wire format of OpenAI's chat completions.
func (s *step) stream() string {
	reason := cmp.Or(map[string]string{llm.StopEnd: "stop", llm.StopRefusal: "content_filter"}[s.stop], s.stop)
	var b strings.Builder
	for _, event := range []object{
		{"choices": []any{object{"index": 0, "delta": object{"role": "assistant", "content": s.text}}}},
		{"choices": []any{object{"index": 0, "delta": object{}, "finish_reason": reason}}},
		{"choices": []any{}, "usage": object{"prompt_tokens": s.in, "completion_tokens": s.out}},
	} {
		data, _ := json.Marshal(event) // always has a JSON form
		fmt.Fprintf(&b, "data: %s\n\n", data)
	}
	return b.String() + "data: [DONE]\n\n"
}
