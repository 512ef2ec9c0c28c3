package rest

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	kiokuv1 "kioku/proto/kioku/v1"
)

// Route is one route of a method.
type Route struct {
	// Method is the HTTP method.
	Method string
	// Path is the path of the route. "{path=**}" stands for the path of a file, and a name like "{id}" for an id.
	Path string
	// RPC is the method that answers.
	RPC protoreflect.MethodDescriptor
	// Body is true if the body contains the request; else it is in the path and the query.
	Body bool
}

// key is what the gateway calls a route.
func (r Route) key() string {
	return r.Method + " " + idPath.ReplaceAllString(r.Path, "{$1=*}")
}

// name returns the route as a person writes it.
func (r Route) name() string {
	path := strings.Replace(r.Path, filePath, "PATH", 1)
	return r.Method + " " + idPath.ReplaceAllStringFunc(path, func(id string) string { return strings.ToUpper(strings.Trim(id, "{}")) })
}

// fullMethod returns the name of the method on a connection.
func (r Route) fullMethod() string {
	return "/" + string(r.RPC.Parent().FullName()) + "/" + string(r.RPC.Name())
}

// filePath is the part of a path that stands for the path of a file.
const filePath = "{path=**}"

// idPath matches the parts of a path that stand for ids and names.
var idPath = regexp.MustCompile(`\{([a-z_]+)\}`)

// matches reports whether the route has the path of a request.
func (r Route) matches(path string) bool {
	if before, ok := strings.CutSuffix(r.Path, filePath); ok {
		return strings.HasPrefix(path+"/", before)
	}
	want, got := strings.Split(r.Path, "/"), strings.Split(path, "/")
	return slices.EqualFunc(want, got, func(want, got string) bool {
		at := idPath.FindStringIndex(want)
		if at == nil {
			return want == got
		}
		id, ends := strings.CutSuffix(got, want[at[1]:])
		return ends && id != "" && !strings.Contains(id, ":")
	})
}

// Routes returns the routes of all methods, as the proto has them, in the order of their paths.
func Routes() []Route {
	var routes []Route
	for _, file := range []protoreflect.FileDescriptor{kiokuv1.File_kioku_v1_memory_proto, kiokuv1.File_kioku_v1_history_proto, kiokuv1.File_kioku_v1_agent_proto} {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				routes = append(routes, routesOf(methods.Get(j))...)
			}
		}
	}
	slices.SortFunc(routes, func(a, b Route) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method)) })
	return routes
}

// routesOf returns the routes that the proto gives a method.
func routesOf(rpc protoreflect.MethodDescriptor) []Route {
	rule, _ := proto.GetExtension(rpc.Options(), annotations.E_Http).(*annotations.HttpRule)
	var routes []Route
	for _, rule := range append([]*annotations.HttpRule{rule}, rule.GetAdditionalBindings()...) {
		switch p := rule.GetPattern().(type) {
		case *annotations.HttpRule_Get:
			routes = append(routes, Route{Method: http.MethodGet, Path: p.Get, RPC: rpc})
		case *annotations.HttpRule_Post:
			routes = append(routes, Route{Method: http.MethodPost, Path: p.Post, RPC: rpc, Body: true})
		}
	}
	return routes
}
