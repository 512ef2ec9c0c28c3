package web

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"kioku/internal/text"
	"kioku/server"
	"kioku/server/httpapi"
	"kioku/server/op"
)

// page is what the layout and the template of a view show.
type page struct {
	// View of the page; its Name is "problem" for a page about an error.
	View view
	// Views that have something to show, in the order of the navigation.
	Views []view
	// Agents that the caller may reach.
	Agents []string
	// Agent whose memory the page shows; empty if there is none.
	Agent string
	// AgentParam is Agent if links have to name it, because there are several.
	AgentParam string
	// HasToken is true if the caller has logged in on this page.
	HasToken bool
	// Version of the program.
	Version string
	// Data of the view.
	Data any
}

// Has reports whether the view has a static file of a kind, ".js" or ".css".
func (p page) Has(kind string) bool {
	_, found := staticFile(p.View.Name + kind)
	return found
}

// problem is an error as a page shows it.
type problem struct {
	// Status of the response.
	Status int
	// Title is what went wrong, in one sentence.
	Title string
	// Hint is what to do about it; may be empty.
	Hint string
	// Detail is the message of the service; may be empty.
	Detail string
}

// problems by the code of the error of an operation.
var problems = map[string]problem{
	"NOT_FOUND":          {http.StatusNotFound, "There is nothing here", "It may have been moved or deleted. The list of notes has what is there now.", ""},
	"INVALID_ARGUMENT":   {http.StatusBadRequest, "The address of this page is not valid", "Go back, or start from the list of notes.", ""},
	"PERMISSION_DENIED":  {http.StatusForbidden, "Your token does not allow this", "Log in with another token.", ""},
	"UNAVAILABLE":        {http.StatusServiceUnavailable, "The memory cannot be read now", "Try again in a moment.", ""},
	"RESOURCE_EXHAUSTED": {http.StatusServiceUnavailable, "The service is busy", "Try again in a moment.", ""},
	"DEADLINE_EXCEEDED":  {http.StatusServiceUnavailable, "The service is busy", "Try again in a moment.", ""},
}

// unforeseen is the problem of any other error.
var unforeseen = problem{http.StatusInternalServerError, "Something went wrong", "The log of the server has the cause.", ""}

// codeOf returns the code of the error of an operation, and what it says; empty for others.
func codeOf(err error) (code, message string) {
	if said, ok := errors.AsType[*op.Error](err); ok {
		return said.Code, said.Message
	}
	return "", ""
}

// serveView renders a view for the agent that the request names.
func (s *site) serveView(w http.ResponseWriter, r *http.Request, v view) {
	p, err := s.newPage(r, v)
	if err == nil && v.load != nil {
		p.Data, err = v.load(s, r, p.Agent)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.render(w, http.StatusOK, p)
}

// newPage returns the page of a view without its data: for the agent that the request names, else for the first. It returns an error if the
// caller cannot reach the agent, with a page for the first.
func (s *site) newPage(r *http.Request, v view) (page, error) {
	p := page{View: v, Version: s.version, HasToken: tokenOf(r) != ""}
	var err error
	if p.Agents, err = s.agents(r.Context()); err == nil && len(p.Agents) > 0 {
		p.Agent = p.Agents[0]
	}
	if asked := r.URL.Query().Get("agent"); slices.Contains(p.Agents, asked) {
		p.Agent = asked
	} else if asked != "" && err == nil {
		err = &op.Error{Code: "NOT_FOUND", Message: fmt.Sprintf("no agent %q", asked)}
	}
	if len(p.Agents) > 1 {
		p.AgentParam = p.Agent
	}
	for _, other := range views {
		if other.shown == nil || other.Name == v.Name || err == nil && other.shown(r.Context(), s, server.OfAgent{Agent: p.Agent}) {
			p.Views = append(p.Views, other)
		}
	}
	return p, err
}

// agents returns the ids of the agents that the caller may reach.
func (s *site) agents(ctx context.Context) ([]string, error) {
	list, err := server.Notes.Agents.Call(ctx, s.conn, server.None{})
	var ids []string
	for _, a := range list {
		ids = append(ids, a.ID)
	}
	return ids, err
}

// render writes a page. The response has the status code. It panics if a template fails.
func (s *site) render(w http.ResponseWriter, code int, p page) {
	var body bytes.Buffer
	if err := templates[p.View.Name].ExecuteTemplate(&body, "layout.html", p); err != nil {
		panic(err) // the server logs it and answers
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	// Characters that would control a terminal or reorder the text around them, such as those in the name of a note, are dropped.
	// Addresses keep them, because they are escaped there.
	visible := func(r rune) rune {
		if text.Forbidden(r) {
			return -1
		}
		return r
	}
	_, _ = w.Write(bytes.Map(visible, body.Bytes())) // the client may be gone
}

// redirect is the error of a request that another address answers.
type redirect struct{ to string }

// Error says where the answer is.
func (r redirect) Error() string { return "see " + r.to }

// fail answers with a page about err, or sends a caller without a valid token to the login.
func (s *site) fail(w http.ResponseWriter, r *http.Request, err error) {
	elsewhere, moved := errors.AsType[redirect](err)
	code, message := codeOf(err)
	switch {
	case errors.Is(err, context.Canceled): // the client is gone
	case moved:
		http.Redirect(w, r, elsewhere.to, http.StatusSeeOther)
	case code == "UNAUTHENTICATED":
		http.Redirect(w, r, "/login?next="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
	default:
		about := cmp.Or(problems[code], unforeseen)
		about.Detail = message
		s.renderProblem(w, r, about)
	}
}

// renderProblem writes a page about a problem.
func (s *site) renderProblem(w http.ResponseWriter, r *http.Request, about problem) {
	p, _ := s.newPage(r, view{Name: "problem", Title: about.Title}) // what keeps it from an agent may be the problem
	p.Data = about
	s.render(w, about.Status, p)
}

// tokenOf returns the token that a request carries in a cookie, empty if it carries none.
func tokenOf(r *http.Request) string {
	c, err := r.Cookie(httpapi.TokenCookie(r))
	if err != nil {
		return ""
	}
	return c.Value
}
