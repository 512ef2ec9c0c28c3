package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kioku/agent/tools"
	"kioku/memory"
	"kioku/server"
)

const (
	// scheme is the scheme of the URIs of notes: kioku:///memory/2026-01-02.md.
	scheme = "kioku"
	// markdown is the MIME type of a note.
	markdown = "text/markdown"
	// longTerm is the note of what stays true.
	longTerm = "MEMORY.md"
	// dailyFolder contains the daily notes.
	dailyFolder = "memory/"
	// latestDays is how many days of daily notes the list contains.
	latestDays = 3
	// maxNote is the maximum number of characters of a note that a resource contains.
	maxNote = 100_000
)

// noteTemplate is the template of the URIs of all notes.
var noteTemplate = &sdk.ResourceTemplate{
	Name: "note", Title: "A note", URITemplate: scheme + ":///{+path}", MIMEType: markdown,
	Description: "A file of the memory, by a path that memory_search returned.",
}

// StatusURI is the URI of the resource that says how much memory there is, how current its index is, and what searches lack.
const StatusURI = scheme + "://status"

// statusResource is the resource of the status.
var statusResource = &sdk.Resource{
	URI: StatusURI, Name: "status", Title: "Memory status", MIMEType: "text/plain",
	Description: "How many notes there are, how current the index is, what searches lack.",
}

// uriOf returns the URI of a note.
func uriOf(name string) string {
	return (&url.URL{Scheme: scheme, Path: "/" + strings.TrimPrefix(name, "/")}).String()
}

// pathOf returns the path of the note that a URI names; false if it names none.
func pathOf(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != scheme || u.Host != "" {
		return "", false
	}
	name := strings.TrimPrefix(u.Path, "/")
	return name, name != ""
}

// readNote returns a note, as much of it as there is room for.
func (s *session) readNote(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	m, ask, err := s.openForRead(ctx, req)
	if ask != nil {
		return ask, nil
	}
	if err != nil {
		return nil, errors.New(message(err))
	}
	name, ok := pathOf(req.Params.URI)
	if !ok {
		return nil, sdk.ResourceNotFoundError(req.Params.URI)
	}
	text, err := wholeNote(ctx, m.client(), name)
	var input *memory.InputError
	if errors.Is(err, memory.ErrNotFound) || errors.As(err, &input) {
		return nil, sdk.ResourceNotFoundError(req.Params.URI)
	}
	if err != nil {
		return nil, errors.New(message(err))
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: req.Params.URI, MIMEType: markdown, Text: text}}}, nil
}

// openForRead returns the memory of a resource, or the request for roots that clients of the newest version answer. Older ones are
// asked at once.
func (s *session) openForRead(ctx context.Context, req *sdk.ReadResourceRequest) (*Memory, *sdk.ReadResourceResult, error) {
	m, ask, err := s.open(ctx, req.ClientCapabilities(), req.Params.InputResponses)
	if ask == nil {
		return m, nil, err
	}
	if m := s.forList(ctx, req.Session, req.ClientCapabilities()); m != nil {
		return m, nil, nil
	}
	return nil, &sdk.ReadResourceResult{InputRequests: ask}, nil
}

// readStatus returns the status of the memory.
func (s *session) readStatus(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	m, ask, err := s.openForRead(ctx, req)
	if ask != nil {
		return ask, nil
	}
	var st server.IndexStatus
	if err == nil {
		st, err = server.Notes.Status.Call(ctx, m.Conn, m.of())
	}
	if err != nil {
		return nil, errors.New(message(err))
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: StatusURI, MIMEType: statusResource.MIMEType, Text: statusText(st)}}}, nil
}

// wholeNote returns the text of a note. A note that is too long ends with a line that says how to go on.
func wholeNote(ctx context.Context, m memory.Service, name string) (string, error) {
	var b strings.Builder
	for from := 1; ; {
		part, err := m.Get(ctx, memory.GetRequest{Path: name, From: from})
		if err != nil {
			return "", err
		}
		if b.WriteString(part.Text); part.NextFrom <= from {
			return b.String(), nil
		}
		if from = part.NextFrom; b.Len() > maxNote {
			fmt.Fprintf(&b, "\n[The note goes on at line %d of %d: %s with from %d.]\n", from, part.TotalLines, tools.Get, from)
			return b.String(), nil
		}
		if !strings.HasSuffix(part.Text, "\n") {
			b.WriteByte('\n')
		}
	}
}

// listing is the middleware that brings the list of resources up to date before it is read, and begins to watch for a
// client that wants to hear of changes.
func (s *session) listing(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		switch r := req.(type) {
		case *sdk.ListResourcesRequest:
			m := s.forList(ctx, r.Session, r.ClientCapabilities())
			if m == nil {
				break
			}
			if err := s.refresh(ctx, m); err != nil {
				return nil, errors.New(message(err))
			}
			if s.opt.brief == nil { // nobody hears of changes after a brief session
				s.watch(ctx, m, r.Session)
			}
		case *sdk.SubscriptionsListenRequest:
			if m, _, err := s.open(ctx, nil, nil); err == nil && m != nil {
				s.watch(ctx, m, r.Session)
			}
		}
		return next(ctx, method, req)
	}
}

// forList returns the memory for a request that cannot ask for roots as others do. It returns nil if none can be told.
func (s *session) forList(ctx context.Context, client *sdk.ServerSession, caps *sdk.ClientCapabilities) *Memory {
	m, ask, err := s.open(ctx, caps, nil)
	if ask != nil {
		//lint:ignore SA1019 clients of today name their folders by roots
		roots, asked := client.ListRoots(ctx, nil)
		if asked != nil {
			return nil
		}
		m, _, err = s.open(ctx, caps, sdk.InputResponseMap{rootsKey: roots})
	}
	if err != nil {
		return nil
	}
	return m
}

// subscribed begins to watch for a client that subscribes to a note.
func (s *session) subscribed(ctx context.Context, req *sdk.SubscribeRequest) error {
	if _, ok := pathOf(req.Params.URI); !ok {
		return sdk.ResourceNotFoundError(req.Params.URI)
	}
	m, _, err := s.open(ctx, nil, nil)
	if err != nil {
		return errors.New(message(err))
	}
	s.watch(ctx, m, req.Session)
	return nil
}

// refresh makes the list of resources what the memory contains now. Clients hear of a change.
func (s *session) refresh(ctx context.Context, m *Memory) error {
	wanted, err := curated(ctx, m)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for uri, r := range wanted {
		if !s.listed[uri] {
			s.listed[uri] = true
			s.server.AddResource(r, s.readNote)
		}
	}
	for uri := range s.listed {
		if wanted[uri] == nil {
			delete(s.listed, uri)
			s.server.RemoveResources(uri)
		}
	}
	return nil
}

// curated returns MEMORY.md and the latest daily notes, as resources by URI.
func curated(ctx context.Context, m *Memory) (map[string]*sdk.Resource, error) {
	out := map[string]*sdk.Resource{}
	add := func(f memory.File, title, description string) {
		uri := uriOf(f.Path)
		out[uri] = &sdk.Resource{
			URI: uri, Name: f.Path, Title: title, Description: description, MIMEType: markdown,
		}
	}
	top, err := files(ctx, m, memory.FileQuery{Glob: longTerm})
	if err != nil {
		return nil, err
	}
	for _, f := range top {
		if f.Path == longTerm {
			add(f, "Long-term memory", "What stays true.")
		}
	}
	daily, err := latestDaily(ctx, m)
	if err != nil {
		return nil, err
	}
	for _, f := range daily {
		add(f, "Notes of "+f.Date, "Daily notes.")
	}
	return out, nil
}

// latestDaily returns the daily notes of the latest days that have any.
func latestDaily(ctx context.Context, m *Memory) ([]memory.File, error) {
	var daily []memory.File
	for _, since := range []string{time.Now().AddDate(0, -1, 0).Format(time.DateOnly), ""} {
		found, err := files(ctx, m, memory.FileQuery{Glob: dailyFolder + "**", Filter: memory.Filter{Since: since}})
		if err != nil {
			return nil, err
		}
		daily = slices.DeleteFunc(found, func(f memory.File) bool { return !isDaily(f) })
		slices.SortStableFunc(daily, func(a, b memory.File) int { return cmp.Compare(b.Date, a.Date) })
		if days(daily) >= latestDays {
			break
		}
	}
	last := ""
	for i, n := 0, 0; i < len(daily); i++ {
		if daily[i].Date != last {
			last = daily[i].Date
			n++
		}
		if n > latestDays {
			return daily[:i], nil
		}
	}
	return daily, nil
}

// days returns the number of days of files that are sorted by their days.
func days(of []memory.File) int {
	return len(slices.CompactFunc(slices.Clone(of), func(a, b memory.File) bool { return a.Date == b.Date }))
}

// isDaily reports whether a file is a daily note: named for its day, in the folder of daily notes.
func isDaily(f memory.File) bool {
	return f.Date != "" && isDailyPath(f.Path) && strings.HasPrefix(path.Base(f.Path), f.Date)
}

// isDailyPath reports whether a path is one of a daily note.
func isDailyPath(name string) bool { return strings.HasPrefix(name, dailyFolder) }

// files returns all files that a query selects.
func files(ctx context.Context, m *Memory, q memory.FileQuery) ([]memory.File, error) {
	q.Limit = 10_000
	var all []memory.File
	for {
		list, err := server.Notes.List.Call(ctx, m.Conn, server.ListNotes{OfAgent: m.of(), FileQuery: q})
		if err != nil {
			return nil, err
		}
		all = append(all, list.Files...)
		if q.After = list.Next; q.After == "" {
			return all, nil
		}
	}
}
