package op_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/memory"
	"kioku/server/httpapi"
	"kioku/server/op"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

type tagIn struct {
	Agent string    `json:"agent,omitempty"`
	Tag   string    `json:"tag"`
	Most  int       `json:"max_results,omitempty"`
	Kinds []string  `json:"kinds,omitempty"`
	Since time.Time `json:"since,omitzero"`
	Deep  *bool     `json:"deep,omitempty"`
}

type tagOut struct {
	Notes int    `json:"notes"`
	Asked tagIn  `json:"asked"`
	Text  string `json:"text"`
}

var tags = op.Op[tagIn, tagOut]{"tag show", "GET /v1/tags/{tag}", "read", "Counts the notes of a tag. It is a test.",
	func(_ context.Context, in tagIn) (tagOut, error) {
		if in.Tag == "none" {
			return tagOut{}, memory.ErrNotFound
		}
		return tagOut{Notes: len(in.Tag), Asked: in, Text: "<日本>"}, nil
	}}

var add = op.Op[tagIn, tagOut]{"tag add", "POST /v1/tags/{tag}", "write", "Adds a tag.",
	func(_ context.Context, in tagIn) (tagOut, error) { return tagOut{Asked: in}, nil }}

type part struct {
	N int `json:"n"`
}

func (p part) EventID() uint64 { return uint64(p.N) }

var watch = op.Stream[tagIn, part]{"tag watch", "GET /v1/tags/{tag}/events", "read", "Watches a tag.",
	func(ctx context.Context, in tagIn) iter.Seq2[part, error] {
		return func(yield func(part, error) bool) {
			if in.Tag == "none" {
				yield(part{}, memory.ErrNotFound)
				return
			}
			last, _ := op.LastEventID(ctx)
			for n := int(last) + 1; n <= in.Most; n++ {
				if !yield(part{n}, nil) {
					return
				}
			}
			if in.Tag == "fails" {
				yield(part{}, memory.ErrClosed)
			}
		}
	}}

// serve returns the handler of the operations above.
func serve(t *testing.T) http.Handler {
	t.Helper()
	mux := http.NewServeMux()
	refuse := func(w http.ResponseWriter, _ *http.Request, err error) {
		code := codes.InvalidArgument
		if errors.Is(err, memory.ErrNotFound) {
			code = codes.NotFound
		}
		if _, ok := status.FromError(err); !ok {
			err = status.Error(code, err.Error())
		}
		httpapi.WriteError(w, err)
	}
	op.Handler(mux, func(w http.ResponseWriter, r *http.Request, a op.About, in any, run func(context.Context) error) {
		if _, ok := in.(*tagIn); !ok || a.Right == "" {
			t.Errorf("%s is asked with %T", a.Name, in)
		}
		if err := run(r.Context()); err != nil {
			refuse(w, r, err)
		}
	}, refuse, tags, add, watch)
	return mux
}

// An operation is found through a socket and in this process, and both give the same.
func TestOperationAnswersThroughEveryDoor(t *testing.T) {
	t.Parallel()
	h := serve(t)
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	deep := true
	in := tagIn{Agent: "a b", Tag: "x/y ?&", Most: 3, Kinds: []string{"p", "q,r"}, Since: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Deep: &deep}
	for name, conn := range map[string]http.RoundTripper{"local": op.Local{Handler: h}, "socket": toServer{s.URL}} {
		got, err := tags.Call(t.Context(), conn, in)
		if want := (tagOut{Notes: 6, Asked: in, Text: "<日本>"}); err != nil || cmp.Diff(want, got) != "" {
			t.Errorf("%s: %v %s", name, err, cmp.Diff(want, got))
		}
		if got, err := add.Call(t.Context(), conn, in); err != nil || cmp.Diff(in, got.Asked) != "" {
			t.Errorf("%s: %v %s", name, err, cmp.Diff(in, got.Asked))
		}
		if _, err := tags.Call(t.Context(), conn, tagIn{Tag: "none"}); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
		said := ""
		for p, err := range watch.Call(t.Context(), conn, tagIn{Tag: "fails", Most: 3}) {
			said += fmt.Sprint(p.N, err != nil, " ")
		}
		if said != "1 false 2 false 3 false 0 true " {
			t.Errorf("%s: watched %s", name, said)
		}
		for _, err := range watch.Call(t.Context(), conn, tagIn{Tag: "none"}) {
			if !errors.Is(err, memory.ErrNotFound) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// The path of a file arrives as it is, whatever it looks like in an address.
func TestOperationTakesAnyPath(t *testing.T) {
	t.Parallel()
	type file struct {
		Path string `json:"path"`
	}
	read := op.New("read", "GET /v1/notes/{path...}", "read", "Reads a file.", func(_ context.Context, in file) (file, error) { return in, nil })
	mux := http.NewServeMux()
	op.Handler(mux, func(w http.ResponseWriter, r *http.Request, _ op.About, _ any, run func(context.Context) error) {
		if err := run(r.Context()); err != nil {
			t.Error(err)
		}
	}, func(_ http.ResponseWriter, _ *http.Request, err error) { t.Error(err) }, read)
	for _, path := range []string{"a.md", "a/b c?.md", "/home/ann/notes/a.md", "//a//b.md", "../a/./b", "..", "a%2Fb", "a\u2066/b/"} {
		if got, err := read.Call(t.Context(), op.Local{Handler: mux}, file{path}); err != nil || got.Path != path {
			t.Errorf("%q arrives as %q, %v", path, got.Path, err)
		}
	}
}

// toServer sends requests to a test server.
type toServer struct{ url string }

func (s toServer) RoundTrip(r *http.Request) (*http.Response, error) {
	r.URL.Host = strings.TrimPrefix(s.url, "http://")
	return http.DefaultTransport.RoundTrip(r)
}

// A wrong request is answered with what is wrong with it.
func TestBadRequestsNameTheField(t *testing.T) {
	t.Parallel()
	h := serve(t)
	for _, c := range []struct{ method, target, kind, body, says string }{
		{"GET", "/v1/tags/a?max_result=3", "", "", "did you mean max_results?"},
		{"GET", "/v1/tags/a?maxResults=three", "", "", "maxResults: must be a whole number"},
		{"GET", "/v1/tags/a?max_results=3&max_results=4", "", "", "has 2 values"},
		{"GET", "/v1/tags/a?tag=b", "", "", "is in the path already"},
		{"GET", "/v1/tags/a?since=today", "", "", "must be a time such as"},
		{"GET", "/v1/tags/a?deep=perhaps", "", "", "must be true or false"},
		{"GET", "/v1/tags/%ff", "", "", "is not valid UTF-8"},
		{"POST", "/v1/tags/a?agent=b", "", "", "takes all of the request from its body"},
		{"POST", "/v1/tags/a", "application/json", `{"agnt":"b"}`, "did you mean agent?"},
		{"POST", "/v1/tags/a", "application/json", `{"max_results":"b"}`, "max_results: must be a whole number, not string"},
		{"POST", "/v1/tags/a", "application/json", `[1]`, "must be a JSON object"},
		{"POST", "/v1/tags/a", "application/json", `{"agent":`, "is no JSON"},
		{"POST", "/v1/tags/a", "application/json", `{} {}`, "more than one value"},
		{"POST", "/v1/tags/a", "text/plain", `{}`, `"hint":"send the header Content-Type: application/json, as curl --json does"`},
		{"POST", "/v1/tags/a", "", `{}`, `"code":"INVALID_ARGUMENT"`},
		{"POST", "/v1/tags/a", "application/json", `{"kinds":[` + strings.Repeat(`"",`, 200_000) + `""]}`, "send less at a time"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, c.target, strings.NewReader(c.body))
		r.Header.Set("Content-Type", c.kind)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		want := http.StatusBadRequest
		if c.kind == "text/plain" || c.kind == "" && c.body != "" {
			want = http.StatusUnsupportedMediaType
		}
		if w.Code != want || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s %s %.60s: %d %s, want %q", c.method, c.target, c.body, w.Code, w.Body, c.says)
		}
	}
}

// A browser gets events with their numbers, and goes on behind the last one.
func TestStreamIsServedAsEvents(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/v1/tags/a/events?max_results=5", nil)
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Last-Event-ID", "3")
	w := httptest.NewRecorder()
	serve(t).ServeHTTP(w, r)
	want := "retry: 3000\n\nid: 4\ndata: {\"n\":4}\n\nid: 5\ndata: {\"n\":5}\n\n"
	if diff := cmp.Diff(want, w.Body.String()); diff != "" || w.Header().Get("Content-Type") != "text/event-stream" {
		t.Errorf("%s", diff)
	}
}

// An answer that the client has already is not sent again.
func TestAnswersAreTagged(t *testing.T) {
	t.Parallel()
	h := serve(t)
	get := func(tag string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/v1/tags/a", nil)
		r.Header.Set("If-None-Match", tag)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	first := get("")
	again := get(first.Header().Get("ETag"))
	if body, _ := io.ReadAll(again.Body); first.Code != 200 || again.Code != 304 || len(body) > 0 {
		t.Errorf("%d, then %d %s", first.Code, again.Code, body)
	}
}

// The document of the routes has every operation with its parameters.
func TestOpenAPIDescribesOperations(t *testing.T) {
	t.Parallel()
	doc, err := op.OpenAPI("Test", "1", tags, add, watch)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"/v1/tags/{tag}":{"get":`, `"operationId":"tag_show"`, `"summary":"Counts the notes of a tag."`, `"in":"path","name":"tag"`,
		`"in":"query","name":"max_results"`, `"requestBody"`, `"application/x-ndjson"`, `"format":"date-time"`} {
		if !strings.Contains(string(doc), want) {
			t.Errorf("the document lacks %s: %s", want, doc)
		}
	}
}

// A member of a body may be written in camelCase, as the contract of memory_search has it; one that is there twice is refused.
func TestOperationTakesMembersInCamelCase(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	fail := func(w http.ResponseWriter, _ *http.Request, err error) { httpapi.WriteError(w, err) }
	op.Handler(mux, func(w http.ResponseWriter, r *http.Request, _ op.About, _ any, run func(context.Context) error) {
		if err := run(r.Context()); err != nil {
			fail(w, r, err)
		}
	}, fail, add)
	for body, want := range map[string]string{
		`{"maxResults": 3, "kinds": ["maxResults"]}`: `"max_results":3,"kinds":["maxResults"]`,
		`{"maxResults": 3, "max_results": 4}`:        `maxResults`,
		`{"maxresultsx": 3}`:                         `is no member of this request`,
	} {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/v1/tags/tea", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %s", body, w.Body)
		}
	}
}
