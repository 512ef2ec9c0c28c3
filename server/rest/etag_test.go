package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	kiokuv1 "kioku/proto/kioku/v1"
)

// Reads have an ETag: the request with it is answered 304 without a body until the answer changes. The tag of a note is strong.
func TestNotesAreTagged(t *testing.T) {
	t.Parallel()
	text := "tea"
	h := handler(t, &fakeConn{answer: func(_ context.Context, _, response proto.Message) error {
		proto.Merge(response, &kiokuv1.MemoryGetResponse{Text: text})
		return nil
	}})
	first := send(t, h, "GET", "/v1/notes/a.md", "")
	tag := first.Header().Get("ETag")
	if !strings.HasPrefix(tag, `"`) || first.Header().Get("Cache-Control") != "private, no-cache" || first.Code != http.StatusOK {
		t.Fatalf("%d %v", first.Code, first.Header())
	}
	for header, want := range map[string]int{
		tag: 304, "W/" + tag: 304, `"other", ` + tag: 304, "*": 304, `"other"`: 200, strings.Trim(tag, `"`): 200,
	} {
		w := send(t, h, "GET", "/v1/notes/a.md", "", "If-None-Match: "+header)
		if w.Code != want || (w.Body.Len() == 0) != (want == 304) || w.Header().Get("ETag") != tag {
			t.Errorf("If-None-Match %s = %d %q, want %d", header, w.Code, w.Body, want)
		}
	}
	text = "coffee"
	if w := send(t, h, "GET", "/v1/notes/a.md", "", "If-None-Match: "+tag); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "coffee") {
		t.Errorf("after a change: %d %s", w.Code, w.Body)
	}
}

// The tag of a search is weak: the time that the search took does not count, and everything else does, a note that looks like
// such a time too.
func TestSearchesAreTaggedWithoutTheirTime(t *testing.T) {
	t.Parallel()
	answer := &kiokuv1.MemorySearchResponse{}
	h := handler(t, &fakeConn{answer: func(_ context.Context, _, response proto.Message) error {
		proto.Merge(response, answer)
		return nil
	}})
	seen := map[string]string{}
	for _, tc := range []struct{ snippet, name string }{
		{"tea", "one"}, {"coffee", "two"}, {`"took":"1s"`, "three"}, {`"took":"2s"`, "four"},
	} {
		tag := ""
		for took := range 3 {
			answer = &kiokuv1.MemorySearchResponse{Took: durationpb.New(time.Duration(took+1) * time.Millisecond),
				Results: []*kiokuv1.SearchResult{{Snippet: tc.snippet}}, Model: "one"}
			w := send(t, h, "GET", "/v1/search?query=x", "", "If-None-Match: "+tag)
			if want := map[bool]int{true: 200, false: 304}[took == 0]; w.Code != want {
				t.Errorf("%s, search %d = %d, want %d", tc.name, took, w.Code, want)
			}
			tag = w.Header().Get("ETag")
		}
		if !strings.HasPrefix(tag, `W/"`) || seen[tag] != "" {
			t.Errorf("%s has the tag %s of %q", tc.name, tag, seen[tag])
		}
		seen[tag] = tc.name
	}
	answer.Model = "two"
	if w := send(t, h, "GET", "/v1/search?query=x", ""); seen[w.Header().Get("ETag")] != "" {
		t.Error("what follows the time does not count")
	}
	if w := send(t, h, "POST", "/v1/search", `{"query":"x"}`); w.Header().Get("ETag") != "" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("an answer to POST can be cached: %v", w.Header())
	}
}

// HEAD is answered as GET, but for a stream, which would not end.
func TestHeadIsAnswered(t *testing.T) {
	t.Parallel()
	h := handler(t, &fakeConn{})
	get, head := send(t, h, "GET", "/v1/status", ""), send(t, h, "HEAD", "/v1/status", "")
	if head.Code != http.StatusOK || fmt.Sprint(head.Header()) != fmt.Sprint(get.Header()) {
		t.Errorf("HEAD = %d %v, want %v", head.Code, head.Header(), get.Header())
	}
	if w := send(t, h, "HEAD", "/v1/events", ""); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET" {
		t.Errorf("HEAD of a stream = %d, Allow %q", w.Code, w.Header().Get("Allow"))
	}
}
