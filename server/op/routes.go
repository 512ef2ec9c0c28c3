package op

import (
	"net/http"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku/internal/text"
	"kioku/server/httpapi"
)

// openAPIPath is the path of the document that describes all routes.
const openAPIPath = "/v1/openapi.json"

// AddDocument adds the document of operations to a mux, and the answer to requests under /v1/ that none of them takes.
func AddDocument(mux *http.ServeMux, title, version string, ops ...Any) {
	document, err := OpenAPI(title, version, ops...)
	if err != nil {
		panic(err) // of types of this program
	}
	mux.HandleFunc("GET "+openAPIPath, func(w http.ResponseWriter, r *http.Request) { _ = writeBody(w, r, document) })
	mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) { httpapi.WriteError(w, noRoute(w, r, ops)) })
}

// noRoute returns the error of a request that no operation takes.
func noRoute(w http.ResponseWriter, r *http.Request, ops []Any) error {
	asked := r.Method + " " + text.Shorten(r.URL.Path, 200)
	var methods []string
	for _, o := range ops {
		if a := o.About(); matches(a.Path(), r.URL.Path) {
			methods = append(methods, a.Method())
			if a.Method() == http.MethodGet && !a.Stream {
				methods = append(methods, http.MethodHead)
			}
		}
	}
	if len(methods) == 0 {
		return status.Errorf(codes.NotFound, "there is no route %q; %s", asked, nearRoutes(r.URL.Path, ops))
	}
	slices.Sort(methods)
	methods = slices.Compact(methods)
	w.Header().Set("Allow", strings.Join(methods, ", "))
	err := status.Errorf(codes.Unimplemented, "there is no route %q; this path takes %s", asked, strings.Join(methods, " and "))
	return httpapi.WithStatus(err, http.StatusMethodNotAllowed)
}

// matches reports whether a path is one of a pattern.
func matches(pattern, path string) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	for i, part := range want {
		switch {
		case strings.HasSuffix(part, "...}"):
			return len(got) > i
		case i >= len(got) || got[i] == "" && strings.HasPrefix(part, "{") || got[i] != part && !strings.HasPrefix(part, "{"):
			return false
		}
	}
	return len(want) == len(got)
}

// nearRoutes names the routes whose path is most like a path, and where all are.
func nearRoutes(path string, ops []Any) string {
	var paths []string
	for _, o := range ops {
		paths = append(paths, strings.TrimSuffix(o.About().Path(), "/{path...}"))
	}
	near := text.Nearest(strings.TrimRight(path, "/"), paths)
	var names []string
	for i, o := range ops {
		if near != "" && paths[i] == near {
			names = append(names, o.About().Route)
		}
	}
	if len(names) == 0 {
		return openAPIPath + " describes all routes"
	}
	return "did you mean " + strings.Join(names, " or ") + "? " + openAPIPath + " describes all routes"
}
