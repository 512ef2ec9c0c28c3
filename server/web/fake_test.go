package web_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku/memory"
	"kioku/server"
	"kioku/server/httpapi"
	"kioku/server/op"
	"kioku/server/web"
)

// fakeMemory answers operations for the agent nova from notes in memory.
type fakeMemory struct {
	// notes are texts by path.
	notes map[string]string
	// links of each note.
	links map[string][]memory.Link
	// agents that are listed; nova if nil.
	agents []string
	// err fails all calls.
	err error
	// token that the cookie of a request must have; empty for none.
	token string
}

type cookieKey struct{}

// operations returns the handler of the operations that the page uses.
func (m *fakeMemory) operations() http.Handler {
	o := server.Notes
	o.Agents.Do = func(context.Context, server.None) (list []server.Agent, _ error) {
		if m.agents == nil {
			return []server.Agent{{ID: "nova"}}, nil
		}
		for _, id := range m.agents {
			list = append(list, server.Agent{ID: id})
		}
		return list, nil
	}
	o.Get.Do = func(_ context.Context, in server.GetNote) (memory.Excerpt, error) {
		text, ok := m.notes[in.Path]
		if !ok {
			return memory.Excerpt{}, memory.ErrNotFound
		}
		return in.Excerpt(text), nil
	}
	o.Links.Do = func(_ context.Context, in server.AgentPath) (memory.Links, error) {
		return memory.Links{Path: in.Path, Out: m.links[in.Path]}, nil
	}
	o.List.Do = func(_ context.Context, in server.ListNotes) (list server.NoteList, _ error) {
		for path := range m.notes {
			if strings.HasPrefix(path, in.PathPrefix) {
				list.Files = append(list.Files, memory.File{Path: path, Chunks: 1})
			}
		}
		return list, nil
	}
	refuse := func(w http.ResponseWriter, _ *http.Request, err error) {
		if errors.Is(err, memory.ErrNotFound) {
			err = status.Error(codes.NotFound, err.Error())
		}
		httpapi.WriteError(w, err)
	}
	mux := http.NewServeMux()
	op.Handler(mux, func(w http.ResponseWriter, r *http.Request, _ op.About, _ any, run func(context.Context) error) {
		err := m.err
		if got, _ := r.Context().Value(cookieKey{}).(string); err == nil && got != m.token {
			err = status.Error(codes.Unauthenticated, "no token")
		}
		if err == nil {
			err = run(r.Context())
		}
		if err != nil {
			refuse(w, r, err)
		}
	}, refuse, o.Agents, o.Get, o.Links, o.List)
	return mux
}

// ask returns the answer of the page to a request.
func ask(t *testing.T, m *fakeMemory, r *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	if cookie, err := r.Cookie(httpapi.TokenCookie(r)); err == nil {
		r = r.WithContext(context.WithValue(r.Context(), cookieKey{}, cookie.Value))
	}
	w := httptest.NewRecorder()
	web.New(web.Options{Operations: m.operations(), Version: "v1"}).ServeHTTP(w, r)
	return w
}

// get returns the answer to a GET request.
func get(t *testing.T, m *fakeMemory, target string) *httptest.ResponseRecorder {
	t.Helper()
	return ask(t, m, httptest.NewRequest("GET", target, nil))
}

// read returns the reader's page about a text as the note n.md in the folder notes.
func read(t *testing.T, text string, links ...memory.Link) string {
	t.Helper()
	m := &fakeMemory{notes: map[string]string{"notes/n.md": text}, links: map[string][]memory.Link{"notes/n.md": links}}
	w := get(t, m, "/note?path=notes/n.md")
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
