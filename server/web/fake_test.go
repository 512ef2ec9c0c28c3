package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server/httpapi"
	"kioku/server/web"
)

// fakeConn answers calls for the agent nova from notes in memory.
type fakeConn struct {
	// notes are texts by path.
	notes map[string]string
	// links of each note.
	links map[string]*kiokuv1.Links
	// agents that are listed; nova if nil.
	agents []string
	// err fails all calls.
	err error
	// token that the cookie of a request must have; empty for none.
	token string
}

type cookieKey struct{}

// Invoke answers a call.
func (c *fakeConn) Invoke(ctx context.Context, method string, request, response any, _ ...grpc.CallOption) error {
	if c.err != nil {
		return c.err
	}
	if got, _ := ctx.Value(cookieKey{}).(string); got != c.token {
		return status.Error(codes.Unauthenticated, "no token")
	}
	answer, err := c.answer(request)
	if err == nil {
		proto.Merge(response.(proto.Message), answer)
	}
	return err
}

// answer returns the answer to a request.
func (c *fakeConn) answer(request any) (proto.Message, error) {
	switch r := request.(type) {
	case *kiokuv1.ListAgentsRequest:
		resp := &kiokuv1.ListAgentsResponse{}
		ids := c.agents
		if ids == nil {
			ids = []string{"nova"}
		}
		for _, id := range ids {
			resp.Agents = append(resp.Agents, &kiokuv1.Agent{Id: id})
		}
		return resp, nil
	case *kiokuv1.MemoryGetRequest:
		return c.get(r)
	case *kiokuv1.ListLinksRequest:
		return &kiokuv1.ListLinksResponse{Links: c.links[r.GetPath()]}, nil
	case *kiokuv1.ListFilesRequest:
		resp := &kiokuv1.ListFilesResponse{}
		for path := range c.notes {
			resp.Files = append(resp.Files, &kiokuv1.File{Path: path, ChunkCount: 1})
		}
		return resp, nil
	}
	return nil, status.Error(codes.Unimplemented, fmt.Sprintf("%T", request))
}

// get returns at most 120 lines and 12,000 characters of a note.
func (c *fakeConn) get(r *kiokuv1.MemoryGetRequest) (proto.Message, error) {
	text, ok := c.notes[r.GetPath()]
	if !ok {
		return nil, status.Error(codes.NotFound, "no such file")
	}
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	resp := &kiokuv1.MemoryGetResponse{Path: r.GetPath(), FromLine: max(1, r.GetFromLine()), TotalLineCount: int32(len(lines))}
	for i := int(resp.FromLine); i <= len(lines); i++ {
		if resp.LineCount > 0 && len(resp.Text)+len(lines[i-1]) > 12_000 {
			resp.NextLine, resp.Truncated = int32(i), true
			break
		}
		resp.Text += lines[i-1]
		resp.LineCount++
	}
	return resp, nil
}

// NewStream fails: the page has no streams of its own.
func (c *fakeConn) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, status.Error(codes.Unimplemented, "no streams")
}

// ask returns the answer of the page to a request.
func ask(t *testing.T, c *fakeConn, r *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	if cookie, err := r.Cookie(httpapi.TokenCookie(r)); err == nil {
		r = r.WithContext(context.WithValue(r.Context(), cookieKey{}, cookie.Value))
	}
	w := httptest.NewRecorder()
	web.New(web.Options{Conn: c, Version: "v1"}).ServeHTTP(w, r)
	return w
}

// get returns the answer to a GET request.
func get(t *testing.T, c *fakeConn, target string) *httptest.ResponseRecorder {
	t.Helper()
	return ask(t, c, httptest.NewRequest("GET", target, nil))
}

// read returns the reader's page about a text as the note n.md in the folder notes.
func read(t *testing.T, text string, links ...*kiokuv1.Link) string {
	t.Helper()
	c := &fakeConn{notes: map[string]string{"notes/n.md": text}, links: map[string]*kiokuv1.Links{"notes/n.md": {Path: "notes/n.md", Outgoing: links}}}
	w := get(t, c, "/note?path=notes/n.md")
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// article returns the part of a page with the note.
func article(t *testing.T, page string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, `id="text"`)
	inside, _, ended := strings.Cut(rest, "</article>")
	if !found || !ended {
		t.Fatalf("no article in\n%s", page)
	}
	_, inside, _ = strings.Cut(inside, ">")
	return inside
}

// form returns a POST request with fields.
func form(target string, fields url.Values) *http.Request {
	r := httptest.NewRequest("POST", target, strings.NewReader(fields.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return r
}
