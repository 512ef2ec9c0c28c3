// Package front puts the doors of Kioku over HTTP together: each is a handler of its own, for its paths, and all of them call
// the services of the server.
package front

import (
	"net/http"

	"kioku/server/mcp"
	"kioku/server/op"
	"kioku/server/web"
)

// Options are what the doors need.
type Options struct {
	// Operations adds the routes of operations to a mux; nil adds none.
	Operations func(*http.ServeMux)
	// Version of the program.
	Version string
	// Metrics returns what answers /metrics for whoever a connection knows; nil leaves it out.
	Metrics func(conn http.RoundTripper) http.Handler
}

// New returns the handler of all doors.
func New(opt Options) http.Handler {
	mux := http.NewServeMux()
	if opt.Operations != nil {
		opt.Operations(mux)
	}
	mux.Handle("/", web.New(web.Options{Operations: mux, Version: opt.Version}))
	if opt.Metrics != nil {
		mux.Handle("GET /metrics", opt.Metrics(op.Local{Handler: mux}))
	}
	door := mcp.NewHandler(mcp.HTTPOptions{Conn: op.Local{Handler: mux}, Version: opt.Version})
	mux.Handle("/mcp", door)
	mux.Handle("/mcp/{agent}", door)
	return mux
}
