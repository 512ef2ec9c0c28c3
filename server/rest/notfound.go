package rest

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku/internal/text"
	"kioku/server/httpapi"
)

// routingError answers a request that no route takes.
func (h *Handler) routingError(_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, httpStatus int) {
	asked := r.Method + " " + text.Shorten(r.URL.Path, 200)
	methods := h.methodsOf(r.URL.Path)
	switch {
	case len(methods) > 0 && !slices.Contains(methods, r.Method):
		w.Header().Set("Allow", strings.Join(methods, ", "))
		err := status.Errorf(codes.Unimplemented, "there is no route %q; this path takes %s", asked, strings.Join(methods, " and "))
		httpapi.WriteError(w, httpapi.WithStatus(err, http.StatusMethodNotAllowed))
	case httpStatus == http.StatusNotFound:
		httpapi.WriteError(w, status.Errorf(codes.NotFound, "there is no route %q; %s", asked, h.nearRoutes(r.URL.Path)))
	default:
		httpapi.WriteError(w, status.Errorf(codes.InvalidArgument, "the path of %q cannot be read", asked))
	}
}

// methodsOf returns the HTTP methods that a path takes.
func (h *Handler) methodsOf(path string) []string {
	var methods []string
	for _, route := range h.routes {
		if route.matches(path) {
			methods = append(methods, route.Method)
			if route.Method == http.MethodGet && !route.RPC.IsStreamingServer() {
				methods = append(methods, http.MethodHead)
			}
		}
	}
	if path == openAPIPath {
		methods = []string{http.MethodGet, http.MethodHead}
	}
	slices.Sort(methods)
	return slices.Compact(methods)
}

// nearRoutes names the routes whose path is most like a path, and where all are.
func (h *Handler) nearRoutes(path string) string {
	paths := make([]string, len(h.routes))
	for i, route := range h.routes {
		paths[i] = strings.TrimSuffix(route.Path, "/"+filePath)
	}
	near := text.Nearest(strings.TrimRight(path, "/"), paths)
	var names []string
	for i, route := range h.routes {
		if near != "" && paths[i] == near {
			names = append(names, route.name())
		}
	}
	if len(names) == 0 {
		return openAPIPath + " describes all routes"
	}
	return "did you mean " + strings.Join(names, " or ") + "? " + openAPIPath + " describes all routes"
}
