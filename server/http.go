package server

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"kioku/server/fair"
	"kioku/server/httpapi"
)

// httpIdleTimeout is the time between two requests on a connection.
const httpIdleTimeout = 2 * time.Minute

// HandleHTTP sets what answers requests over HTTP, on all listeners and beside gRPC. The server has checked the host and the
// origin of a request before, has read its body, and calls of [Server.Conn] in the context of the request are those of its
// client. Call HandleHTTP before Serve; without it, HTTP gets the operations.
func (s *Server) HandleHTTP(h http.Handler) { s.http = h }

type connectionKey struct{}

// newHTTP returns a server for the requests that arrive over HTTP.
func (s *Server) newHTTP() *http.Server {
	h := &http.Server{
		Handler:           http.HandlerFunc(s.serveHTTP),
		ReadHeaderTimeout: s.beginTimeout,
		IdleTimeout:       httpIdleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.New(httpLog{s.opt.Log}, "", 0),
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: maxStreams, MaxReceiveBufferPerStream: 64 << 10, MaxReceiveBufferPerConnection: 1 << 20,
		},
		Protocols: &http.Protocols{},
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, connectionKey{}, conn.(*sniffed).connection)
		},
	}
	h.Protocols.SetHTTP1(true)
	h.Protocols.SetUnencryptedHTTP2(true) // also under TLS, which is off the connection already
	return h
}

// httpLog logs what net/http reports, as lines with one message so that their number is bounded.
type httpLog struct{ log *slog.Logger }

// Write logs a line.
func (l httpLog) Write(line []byte) (int, error) {
	l.log.Warn("trouble with HTTP", "err", clip(strings.TrimSpace(string(line)), 1000))
	return len(line), nil
}

// serveHTTP checks a request and answers it.
func (s *Server) serveHTTP(w http.ResponseWriter, r *http.Request) {
	conn := r.Context().Value(connectionKey{}).(*connection)
	from := origin{
		connection: conn, tokens: conn.tokens, authorization: authorization(r), onBehalf: r.Header.Get(callerHeader), requestID: requestID(r.Header.Values(requestIDHeader)),
	}
	r.TLS = conn.secure
	r.Header["Authorization"] = from.authorization // for the doors, who need not know the cookie
	patient := newPatientWriter(w, s.sendTimeout)
	patient.admit = func(size int) (*fair.Grant, error) { return s.admitResponse(r.Context(), from, size) }
	defer patient.end()
	setCommonHeaders(w.Header(), from.requestID)
	defer s.logRequest(r, from, patient, time.Now())
	defer s.recoverRequest(patient, r, from)
	if err := s.checkRequest(r, conn); err != nil {
		httpapi.WriteError(patient, err)
		return
	}
	s.answer(patient, r.WithContext(withTrace(withOrigin(r.Context(), from), r.Header)), from)
}

// withTrace returns a context whose calls have the trace of an HTTP request where one over gRPC has it, in the metadata.
func withTrace(ctx context.Context, h http.Header) context.Context {
	parent := h.Get("traceparent")
	if parent == "" {
		return ctx
	}
	return metadata.NewIncomingContext(ctx, metadata.Pairs("traceparent", parent, "tracestate", h.Get("tracestate")))
}

// checkRequest returns why a request is not answered, nil if it is. Questions for health come from machines that know no name
// of the server, and have no secret answers.
func (s *Server) checkRequest(r *http.Request, conn *connection) error {
	if err := conn.refused(); err != nil || isHealthPath(r.URL.Path) {
		return err
	}
	return cmp.Or(s.checkHost(r, conn), s.checkOrigin(r))
}

// answer reads the body of a request and has it answered. A stream of events ends when the server stops, or when the token
// of its client is revoked.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, from origin) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	if r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		c := &call{origin: from, stream: true, cancel: cancel}
		_, c.credential = s.identify(from)
		s.running.begin(c)
		defer s.running.end(c)
	}
	release, err := s.readBody(w, r, from)
	if err != nil {
		httpapi.WriteError(w, err)
		return
	}
	defer release()
	s.route(r).ServeHTTP(w, r.WithContext(ctx))
}

// route returns what answers a request.
func (s *Server) route(r *http.Request) http.Handler {
	switch {
	case isHealthPath(r.URL.Path):
		return http.HandlerFunc(s.serveHealth)
	case strings.HasPrefix(r.URL.Path, profilePath):
		return http.HandlerFunc(s.serveProfile)
	case s.http != nil:
		return s.http
	}
	return http.HandlerFunc(notFound)
}

// notFound answers a request for a path where there is nothing.
func notFound(w http.ResponseWriter, _ *http.Request) {
	httpapi.WriteError(w, status.Error(codes.NotFound, "there is nothing at this path"))
}

// identify returns who sends a request and what proves it, if they are known; otherwise a caller without rights. It only decides
// whose share a request takes, and when it ends: what a client is answered is for authenticate, which counts wrong tokens.
func (s *Server) identify(from origin) (caller, credential) {
	if from.tokens == nil {
		return owner, credential{}
	}
	cred, err := from.proof()
	if err != nil {
		return caller{}, credential{}
	}
	c, ok := from.tokens.find(cred)
	if !ok {
		return caller{}, credential{}
	}
	return c, cred
}

// authorization returns the credentials of a request: those of the header or, without it, the token in the cookie.
func authorization(r *http.Request) []string {
	if values := r.Header.Values("Authorization"); len(values) > 0 {
		return values
	}
	if c, err := r.Cookie(httpapi.TokenCookie(r)); err == nil && c.Value != "" {
		return []string{"Bearer " + c.Value}
	}
	return nil
}

// setCommonHeaders sets what all responses say. A page replaces the policy with its own.
func setCommonHeaders(h http.Header, id string) {
	h.Set("X-Request-Id", id)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
}

// recoverRequest answers a request whose handler has panicked, and logs the panic.
func (s *Server) recoverRequest(w *patientWriter, r *http.Request, from origin) {
	v := recover()
	if v == nil {
		return
	}
	if v == http.ErrAbortHandler {
		panic(v)
	}
	s.opt.Log.Error("panic in a request", "method", r.Method+" "+loggedPath(r.URL.Path), "request", from.requestID,
		"panic", clip(fmt.Sprint(v), 200), "stack", string(debug.Stack()))
	if w.status != 0 {
		panic(http.ErrAbortHandler) // the client must not take what it has for the whole
	}
	httpapi.WriteError(w, errInternal(from.requestID))
}

// loggedPath returns the beginning of a path, which tells what is asked for: /v1/notes/... The rest may be the path of a note.
func loggedPath(path string) string {
	door := "/"
	if strings.HasPrefix(path, "/v1/") {
		door = "/v1/"
	}
	name, _, more := strings.Cut(strings.TrimPrefix(path, door), "/")
	if more {
		name += "/..."
	}
	return clip(door+name, 100)
}

// logRequest logs the outcome of a request, but not its query, which may be what was searched for.
func (s *Server) logRequest(r *http.Request, from origin, w *patientWriter, start time.Time) {
	if !s.opt.Log.Enabled(r.Context(), slog.LevelDebug) {
		return
	}
	s.opt.Log.Debug("request", "method", r.Method, "url", loggedPath(r.URL.Path), "status", w.status, "took", time.Since(start),
		"request", from.requestID, "from", from.connection.from())
}
