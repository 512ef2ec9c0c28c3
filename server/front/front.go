// Package front puts the doors of Kioku over HTTP together: each is a handler of its own, for its paths, and all of them call
// the services of the server.
package front

import (
	"net/http"

	"google.golang.org/grpc"

	"kioku/server/mcp"
	"kioku/server/rest"
	"kioku/server/web"
)

// Options are what the doors need.
type Options struct {
	// Conn reaches the services on behalf of the client of an HTTP request, see server.Server.Conn.
	Conn grpc.ClientConnInterface
	// Operations adds the routes of operations to a mux; nil adds none.
	Operations func(*http.ServeMux)
	// Version of the program.
	Version string
	// Metrics answers /metrics; nil leaves it out.
	Metrics http.Handler
}

// New returns the handler of all doors.
func New(opt Options) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/v1/", rest.New(opt.Conn))
	if opt.Operations != nil {
		opt.Operations(mux)
	}
	mux.Handle("/", web.New(web.Options{Operations: mux, Version: opt.Version}))
	if opt.Metrics != nil {
		mux.Handle("GET /metrics", opt.Metrics)
	}
	door := mcp.NewHandler(mcp.HTTPOptions{Conn: opt.Conn, Version: opt.Version})
	mux.Handle("/mcp", door)
	mux.Handle("/mcp/{agent}", door)
	return mux
}
