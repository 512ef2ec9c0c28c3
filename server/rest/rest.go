// Package rest answers the routes under /v1/: HTTP and JSON in front of the methods of the gRPC services. The routes are those of
// the proto, and each calls its method through a connection, so that the services decide who may do what.
package rest

import (
	"context"
	_ "embed"
	"errors"
	"net/http"
	"slices"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	gateway "kioku/proto/gateway/kioku/v1"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server/httpapi"
)

// OpenAPI is the OpenAPI document of the routes, which GET /v1/openapi.json answers.
//
//go:embed openapi.swagger.json
var OpenAPI []byte

// openAPIPath is the path of the OpenAPI document.
const openAPIPath = "/v1/openapi.json"

// Handler answers requests to the routes.
type Handler struct {
	conn   grpc.ClientConnInterface
	mux    *runtime.ServeMux
	routes []Route
	// byKey are the routes by method and path.
	byKey map[string]Route
}

// New returns a handler that calls the services of conn.
func New(conn grpc.ClientConnInterface) *Handler {
	h := &Handler{conn: conn, routes: Routes(), byKey: map[string]Route{}}
	for _, r := range h.routes {
		h.byKey[r.key()] = r
	}
	h.mux = runtime.NewServeMux(
		runtime.WithMarshalerOption(runtime.MIMEWildcard, marshaler{}),
		runtime.WithMiddlewares(h.checked),
		runtime.WithErrorHandler(func(_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, _ *http.Request, err error) {
			httpapi.WriteError(w, ofGateway(err))
		}),
		runtime.WithRoutingErrorHandler(h.routingError),
		// Metadata is for gRPC: a header of HTTP never becomes one, and none becomes a header.
		runtime.WithIncomingHeaderMatcher(noHeader),
		runtime.WithOutgoingHeaderMatcher(noHeader),
		runtime.WithOutgoingTrailerMatcher(noHeader),
		runtime.WithWriteContentLength(),
		// A form in the body never takes the place of a query.
		runtime.WithDisablePathLengthFallback(),
	)
	ctx := context.Background() // none uses it, and all always return nil
	_ = gateway.RegisterMemoryServiceHandlerClient(ctx, h.mux, kiokuv1.NewMemoryServiceClient(conn))
	_ = gateway.RegisterHistoryServiceHandlerClient(ctx, h.mux, kiokuv1.NewHistoryServiceClient(conn))
	_ = gateway.RegisterAgentServiceHandlerClient(ctx, h.mux, kiokuv1.NewAgentServiceClient(conn))
	return h
}

// ofGateway returns the status of an error that the gateway itself makes of a path.
func ofGateway(err error) error {
	var malformed *runtime.HTTPStatusError
	if errors.As(err, &malformed) {
		return httpapi.WithStatus(status.Error(codes.InvalidArgument, malformed.Error()), malformed.HTTPStatus)
	}
	return err
}

func noHeader(string) (string, bool) { return "", false }

// ServeHTTP answers a request. A HEAD request is answered as GET, unless that is a stream; net/http leaves out its body.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodHead && slices.Contains(h.methodsOf(r.URL.Path), http.MethodHead) {
		r = r.Clone(r.Context())
		r.Method = http.MethodGet
	}
	if r.URL.Path == openAPIPath && r.Method == http.MethodGet {
		serveOpenAPI(w, r)
		return
	}
	h.mux.ServeHTTP(w, r)
}

// checked checks a request before the gateway sees it, and answers the streams itself: the gateway has neither events nor
// heartbeats.
func (h *Handler) checked(next runtime.HandlerFunc) runtime.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request, path map[string]string) {
		pattern, _ := runtime.HTTPPattern(r.Context())
		route := h.byKey[r.Method+" "+pattern.String()]
		message, err := readRequest(r, route, path)
		if err != nil {
			httpapi.WriteError(w, err)
			return
		}
		r.Body = decodedBody{message: message}
		switch {
		case route.RPC.IsStreamingServer():
			h.serveStream(w, r, route, message)
		case r.Method == http.MethodGet:
			serveTagged(w, r, func(w http.ResponseWriter) { next(w, r, path) })
		default:
			w.Header().Set("Cache-Control", "no-store")
			next(w, r, path)
		}
	}
}

// serveOpenAPI answers the OpenAPI document.
func serveOpenAPI(w http.ResponseWriter, r *http.Request) {
	serveTagged(w, r, func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", contentType)
		w.Write(OpenAPI)
	})
}
