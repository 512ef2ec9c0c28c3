package web

import (
	"net/http"

	"kioku/server/op"
)

// Options are what a page needs.
type Options struct {
	// Operations answers operations as the caller of the HTTP request that a request's context belongs to.
	Operations http.Handler
	// Version of the program, shown at the foot of each page.
	Version string
}

// site answers the requests for the page.
type site struct {
	conn    http.RoundTripper
	version string
}

// New returns the handler of the page. It answers at the paths of the views, /static/, /login and /logout, and with a page that says so
// anywhere else. Where the caller may not read, it redirects to /login.
func New(opt Options) http.Handler {
	s := &site{conn: op.Local{Handler: opt.Operations}, version: opt.Version}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /static/", serveStatic)
	for _, v := range views {
		mux.HandleFunc("GET "+v.pattern(), func(w http.ResponseWriter, r *http.Request) { s.serveView(w, r, v) })
	}
	mux.HandleFunc("GET /login", s.serveLogin)
	mux.HandleFunc("POST /login", s.takeToken)
	mux.HandleFunc("POST /logout", s.logout)
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		s.renderProblem(w, r, problem{Status: http.StatusNotFound, Title: "There is no such page", Hint: "The views of this page are named above."})
	})
	return withHeaders(mux)
}

// contentPolicy allows scripts, styles, images and requests of this origin only.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// withHeaders replaces the headers of the server that are other ones for a page: what the page may load, that its links may say where they
// come from within this origin, and how long browsers keep it.
func withHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cache-Control", "private, no-cache")
		next.ServeHTTP(w, r)
	})
}
