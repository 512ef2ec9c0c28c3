package server

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"
)

const (
	// httpHeaderTimeout is the time for the header of a request over HTTP/1.
	httpHeaderTimeout = 10 * time.Second
	// httpIdleTimeout is the time between two requests on a connection.
	httpIdleTimeout = 2 * time.Minute
	// TokenCookie is the name of the cookie that can carry a token instead of the header Authorization.
	TokenCookie = "kioku_token"
)

// HandleHTTP sets what answers requests over HTTP, on all listeners and beside gRPC. The server has checked the host and the
// origin of a request before, and calls of [Server.Conn] in the context of the request are those of its client. Call
// HandleHTTP before Serve; without it, HTTP gets only the answers of the server itself.
func (s *Server) HandleHTTP(h http.Handler) { s.http = h }

type connectionKey struct{}

// newHTTP returns a server for the requests that arrive over HTTP.
func (s *Server) newHTTP() *http.Server {
	h := &http.Server{
		Handler:           s.httpHandler(),
		ReadHeaderTimeout: httpHeaderTimeout,
		IdleTimeout:       httpIdleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.opt.Log.Handler(), slog.LevelDebug),
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: int(s.opt.MaxStreams), MaxReceiveBufferPerStream: 64 << 10, MaxReceiveBufferPerConnection: 1 << 20},
		Protocols:         &http.Protocols{},
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, connectionKey{}, conn.(*sniffed).connection)
		},
	}
	h.Protocols.SetHTTP1(true)
	h.Protocols.SetUnencryptedHTTP2(true) // also under TLS, which is off the connection already
	return h
}

// httpHandler returns the handler of all requests over HTTP.
func (s *Server) httpHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn := r.Context().Value(connectionKey{}).(*connection)
		r.TLS = conn.secure
		from := origin{connection: conn, tokens: conn.tokens, authorization: authorization(r), requestID: requestID(r.Header.Values(requestIDHeader))}
		w.Header().Set(requestIDHeader, from.requestID)
		if s.http == nil {
			http.NotFound(w, r)
			return
		}
		s.http.ServeHTTP(w, r.WithContext(withOrigin(r.Context(), from)))
	})
}

// authorization returns the credentials of a request: those of the header or, without it, the token in the cookie.
func authorization(r *http.Request) []string {
	if values := r.Header.Values("Authorization"); len(values) > 0 {
		return values
	}
	if c, err := r.Cookie(TokenCookie); err == nil && c.Value != "" {
		return []string{"Bearer " + c.Value}
	}
	return nil
}
