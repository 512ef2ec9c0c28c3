package rest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	kiokuv1 "kioku/proto/kioku/v1"
)

// A search is the same by GET and by POST: every field has its place in the query, except conditions, which a body takes.
func TestSearchReadsQueryAndBody(t *testing.T) {
	t.Parallel()
	score := 0.5
	want := &kiokuv1.MemorySearchRequest{
		Agent: "ann", Query: "会議 & 茶", MaxResults: 9, MinScore: &score, Sources: []string{"memory", "extra"}, Since: "2026-01-02",
		Explain: true, AskTime: timestamppb.New(time.Date(2026, 3, 1, 1, 0, 0, 0, time.UTC)),
	}
	const query = "agent=ann&query=%E4%BC%9A%E8%AD%B0+%26+%E8%8C%B6&maxResults=9&minScore=0.5&sources=memory&sources=extra" +
		"&since=2026-01-02&explain=true&askTime=2026-03-01T01:00:00Z"
	const body = `{"agent":"ann","query":"会議 & 茶","maxResults":9,"minScore":0.5,"sources":["memory","extra"],
		"since":"2026-01-02","explain":true,"askTime":"2026-03-01T01:00:00Z"}`
	for name, ask := range map[string]func(http.Handler) int{
		"GET": func(h http.Handler) int { return send(t, h, "GET", "/v1/search?"+query, "").Code },
		"GET with names of proto": func(h http.Handler) int {
			return send(t, h, "GET", "/v1/search?"+strings.ReplaceAll(query, "maxResults", "max_results"), "").Code
		},
		"POST": func(h http.Handler) int { return send(t, h, "POST", "/v1/search", body).Code },
		"POST with names of proto": func(h http.Handler) int {
			return send(t, h, "POST", "/v1/search", strings.ReplaceAll(body, "askTime", "ask_time")).Code
		},
	} {
		t.Run(name, func(t *testing.T) {
			conn := &fakeConn{}
			code := ask(handler(t, conn))
			_, got := conn.last()
			if diff := cmp.Diff(proto.Message(want), got, protocmp.Transform()); diff != "" || code != http.StatusOK {
				t.Errorf("%d, request (-want +got):\n%s", code, diff)
			}
		})
	}
	conn := &fakeConn{}
	send(t, handler(t, conn), "POST", "/v1/search", `{"query":"tea","filter":[{"field":"tags","op":"in","values":["a","b"]}]}`)
	_, got := conn.last()
	filtered := &kiokuv1.MemorySearchRequest{Query: "tea", Filter: []*kiokuv1.Condition{{Field: "tags", Op: "in", Values: []string{"a", "b"}}}}
	if diff := cmp.Diff(proto.Message(filtered), got, protocmp.Transform()); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

// Responses are proto3 JSON with the reference's names; lists and numbers without a value are there.
func TestSearchAnswersProto3JSON(t *testing.T) {
	t.Parallel()
	h := handler(t, &fakeConn{answer: func(_ context.Context, _, response proto.Message) error {
		proto.Merge(response, &kiokuv1.MemorySearchResponse{Mode: "keyword", Provider: "none", Took: durationpb.New(3 * time.Millisecond),
			Index:   &kiokuv1.IndexState{Generation: 7},
			Results: []*kiokuv1.SearchResult{{Path: "会議.md", StartLine: 3, EndLine: 4, Score: 0.5, Snippet: "<b>茶</b> \u2028"}}})
		return nil
	}})
	w := send(t, h, "POST", "/v1/search", `{"query":"茶"}`)
	var got map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	first := got["results"].([]any)[0].(map[string]any)
	if first["path"] != "会議.md" || first["startLine"] != 3.0 || first["snippet"] != "<b>茶</b> \u2028" || first["weak"] != false {
		t.Errorf("result = %v", first)
	}
	if degraded, ok := got["degraded"].([]any); !ok || len(degraded) != 0 || got["mode"] != "keyword" || got["took"] != "0.003s" {
		t.Errorf("answer = %v", got)
	}
	if got["index"].(map[string]any)["generation"] != "7" {
		t.Errorf("index = %v", got["index"])
	}
	if body := w.Body.String(); strings.Count(body, "\n") != 1 || !strings.HasSuffix(body, "}\n") || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%q is not one line of application/json", body)
	}
	empty := send(t, handler(t, &fakeConn{}), "GET", "/v1/search?query=x", "")
	if !strings.Contains(empty.Body.String(), `"results":[]`) {
		t.Errorf("%s has no empty list of results", empty.Body)
	}
}

// What is wrong with a request is INVALID_ARGUMENT, names the field and, for an unknown one, the nearest; nothing is called.
func TestBadRequestsNameTheField(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ method, target, body, field, problem, hint string }{
		{"GET", "/v1/search?quary=x", "", "quary", "is no parameter of this route", "did you mean query?"},
		{"GET", "/v1/search?query=x&maxResults=many", "", "maxResults", `must be a whole number, not "many"`, ""},
		{"GET", "/v1/search?query=x&minScore=a", "", "minScore", `must be a number, not "a"`, ""},
		{"GET", "/v1/search?query=x&explain=maybe", "", "explain", `must be true or false, not "maybe"`, ""},
		{"GET", "/v1/search?query=x&askTime=today", "", "askTime", `must be a time such as 2026-01-19T09:30:00Z, not "today"`, ""},
		{"GET", "/v1/search?query=x&query=y", "", "query", "has 2 values", "one is possible"},
		{"GET", "/v1/search?query=%ff", "", "query", "is not valid UTF-8", ""},
		{"GET", "/v1/search?query=x&filter=tags", "", "filter", "cannot be in a query", "send the request as JSON with POST"},
		{"GET", "/v1/search?query=a;b", "", "query", "cannot be read: invalid semicolon separator in query", ""},
		{"GET", "/v1/notes/a.md?path=b.md", "", "path", "is in the path already", ""},
		{"GET", "/v1/agents?agent=x", "", "agent", "is no parameter of this route", ""},
		{"POST", "/v1/sync?agent=ann", "", "agent", "is in the query", "POST /v1/sync takes all of the request from its body"},
		{"POST", "/v1/search", `{"quary":"x"}`, "quary", "is no field of MemorySearchRequest", "did you mean query?"},
		{"POST", "/v1/search", `{"query":"x","filter":[{"field":"a"},{"feild":"b"}]}`, "filter[1].feild", "is no field of Condition", "did you mean field?"},
		{"POST", "/v1/explain", `{"search":{"query":"x","limit":3}}`, "search.limit", "is no field of MemorySearchRequest", ""},
		{"POST", "/v1/search", `{"query":"x","maxResults":"many"}`, "maxResults", `must be of the type int32, not "many"`, ""},
		{"POST", "/v1/search", `{"query":"x","query":"y"}`, "query", "is there twice", ""},
		{"POST", "/v1/search", `{"query":`, "body", "is no JSON: unexpected end of JSON input", ""},
		{"POST", "/v1/search", `["x"]`, "body", "must be a JSON object", ""},
		{"POST", "/v1/search", "{\"query\":\"\xff\"}", "body", "does not fit", ""},
		{"POST", "/v1/prune", `{"messages":[` + strings.Repeat("{},", 200_000) + `{}]}`, "body", "has more than 200000 elements", "send less at a time"},
	} {
		conn := &fakeConn{}
		w := send(t, handler(t, conn), tc.method, tc.target, tc.body)
		e := readError(t, w.Body.Bytes())
		ok := len(e.Fields) == 1 && e.Fields[0].Field == tc.field && strings.HasPrefix(e.Fields[0].Problem, tc.problem)
		if !ok || w.Code != http.StatusBadRequest || e.Code != "INVALID_ARGUMENT" || !strings.HasPrefix(e.Message, tc.field+": "+tc.problem) ||
			!strings.HasPrefix(e.Hint, tc.hint) || e.Hint == "" {
			t.Errorf("%s %s %.60s = %d %+v; want %s: %s; %s", tc.method, tc.target, tc.body, w.Code, e, tc.field, tc.problem, tc.hint)
		}
		if method, _ := conn.last(); method != "" {
			t.Errorf("%s %s calls %s", tc.method, tc.target, method)
		}
	}
}

// A body that is not JSON is refused with 415: a form or text/plain is what another site can make a browser post (C11).
func TestBodiesAreJSON(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		kind, body string
		status     int
		code       string
	}{
		{"Content-Type: text/plain", `{"text":"x"}`, 415, "INVALID_ARGUMENT"},
		{"Content-Type: application/x-www-form-urlencoded", "text=x", 415, "INVALID_ARGUMENT"},
		{"Content-Type: multipart/form-data; boundary=x", "--x--", 415, "INVALID_ARGUMENT"},
		{"Content-Type: ", `{"text":"x"}`, 415, "INVALID_ARGUMENT"},
		{"Content-Type: application/json; charset=utf-8", `{"text":"x"}`, 200, ""},
	} {
		conn := &fakeConn{}
		w := send(t, handler(t, conn), "POST", "/v1/notes", tc.body, tc.kind)
		if method, _ := conn.last(); w.Code != tc.status || (method != "") != (tc.status == 200) {
			t.Errorf("%s: %d, calls %q; want %d", tc.kind, w.Code, method, tc.status)
		}
		if tc.code == "" {
			continue
		}
		if e := readError(t, w.Body.Bytes()); e.Code != tc.code || e.Hint == "" {
			t.Errorf("%s: %+v, want %s", tc.kind, e, tc.code)
		}
	}
}

// The header X-HTTP-Method-Override and a form change no route (C11).
func TestNoHeaderChangesTheMethod(t *testing.T) {
	t.Parallel()
	conn := &fakeConn{}
	w := send(t, handler(t, conn), "POST", "/v1/status", "agent=ann", "Content-Type: application/x-www-form-urlencoded", "X-HTTP-Method-Override: GET")
	if method, _ := conn.last(); w.Code != http.StatusMethodNotAllowed || method != "" {
		t.Errorf("%d, calls %q; want 405", w.Code, method)
	}
}
