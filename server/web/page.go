package web

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku/internal/text"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server/httpapi"
)

// page is what the layout and the template of a view show.
type page struct {
	// View of the page; its Name is "problem" for a page about an error.
	View view
	// Title of the window, before the name of the program; empty means that of the view.
	Title string
	// Views of the navigation.
	Views []view
	// Agents that the caller may reach.
	Agents []string
	// Agent whose memory the page shows; empty if there is none.
	Agent string
	// AgentParam is Agent if links have to name it, because there are several.
	AgentParam string
	// Script and Style report whether the view has these files.
	Script, Style bool
	// HasToken is true if the caller has logged in on this page.
	HasToken bool
	// Version of the program.
	Version string
	// Data of the view.
	Data any
}

// loader returns what the template of a view shows.
type loader func(s *site, r *http.Request, agent string) (any, error)

// problem is an error as a page shows it.
type problem struct {
	// Status of the response.
	Status int
	// Title is what went wrong, in one sentence.
	Title string
	// Detail is the message of the service; may be empty.
	Detail string
	// Hint is what to do about it; may be empty.
	Hint string
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
	s.render(w, http.StatusOK, v.Name, p)
}

// newPage returns the page of a view without its data. It returns NotFound if the request names an agent that the caller cannot reach.
func (s *site) newPage(r *http.Request, v view) (page, error) {
	p := page{View: v, Views: views, Version: s.version, Script: hasStatic(v.Name + ".js"), Style: hasStatic(v.Name + ".css"), HasToken: hasToken(r)}
	agents, err := s.agents(r.Context())
	if err != nil {
		return p, err
	}
	p.Agents, p.Agent = agents, r.URL.Query().Get("agent")
	if p.Agent == "" && len(agents) > 0 {
		p.Agent = agents[0]
	}
	if len(agents) > 1 {
		p.AgentParam = p.Agent
	}
	if p.Agent != "" && !slices.Contains(agents, p.Agent) {
		return p, status.Errorf(codes.NotFound, "no agent %q", p.Agent)
	}
	return p, nil
}

// agents returns the ids of the agents that the caller may reach.
func (s *site) agents(ctx context.Context) ([]string, error) {
	resp, err := s.memory.ListAgents(ctx, &kiokuv1.ListAgentsRequest{})
	if status.Code(err) == codes.Unimplemented {
		return nil, nil // a server without memories
	}
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, a := range resp.GetAgents() {
		ids = append(ids, a.GetId())
	}
	return ids, nil
}

// render writes a page. The response has the status code. It panics if a template fails.
func (s *site) render(w http.ResponseWriter, code int, name string, p page) {
	var body bytes.Buffer
	if err := templates[name].ExecuteTemplate(&body, "layout.html", p); err != nil {
		panic(err) // the server logs it and answers
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(bytes.Map(visible, body.Bytes())) // the client may be gone
}

// visible drops the characters that would control a terminal or reorder the text around them, such as those in the name of a note. Addresses
// keep them, because they are escaped there.
func visible(r rune) rune {
	if text.Forbidden(r) {
		return -1
	}
	return r
}

// fail answers with a page about err, or sends a caller without a valid token to the login.
func (s *site) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, context.Canceled) {
		return // the client is gone
	}
	var elsewhere redirect
	if errors.As(err, &elsewhere) {
		http.Redirect(w, r, elsewhere.to, http.StatusSeeOther)
		return
	}
	if status.Code(err) == codes.Unauthenticated {
		http.Redirect(w, r, "/login?next="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
		return
	}
	s.renderProblem(w, r, problemOf(err))
}

// problemOf returns an error of a service as a page shows it.
func problemOf(err error) problem {
	p := problem{Status: http.StatusInternalServerError, Title: "Something went wrong", Detail: status.Convert(err).Message(),
		Hint: "The log of the server has the cause."}
	switch status.Code(err) {
	case codes.NotFound:
		p.Status, p.Title, p.Hint = http.StatusNotFound, "There is nothing here", "It may have been moved or deleted. The list of notes has what is there now."
	case codes.InvalidArgument, codes.OutOfRange:
		p.Status, p.Title, p.Hint = http.StatusBadRequest, "The address of this page is not valid", "Go back, or start from the list of notes."
	case codes.PermissionDenied:
		p.Status, p.Title, p.Hint = http.StatusForbidden, "Your token does not allow this", "Log in with another token."
	case codes.Unavailable:
		p.Status, p.Title, p.Hint = http.StatusServiceUnavailable, "The memory cannot be read now", "Try again in a moment."
	case codes.ResourceExhausted, codes.DeadlineExceeded:
		p.Status, p.Title, p.Hint = http.StatusServiceUnavailable, "The service is busy", "Try again in a moment."
	}
	return p
}

// renderProblem writes a page about a problem. Its navigation leads to the first agent, if the agents can be listed.
func (s *site) renderProblem(w http.ResponseWriter, r *http.Request, about problem) {
	p := page{View: view{Name: "problem", Title: about.Title}, Views: views, Version: s.version, HasToken: hasToken(r), Data: about}
	if agents, err := s.agents(r.Context()); err == nil && len(agents) > 0 {
		p.Agents, p.Agent = agents, agents[0]
	}
	s.render(w, about.Status, "problem", p)
}

// hasToken reports whether the request carries a token in a cookie.
func hasToken(r *http.Request) bool {
	c, err := r.Cookie(httpapi.TokenCookie(r))
	return err == nil && c.Value != ""
}
