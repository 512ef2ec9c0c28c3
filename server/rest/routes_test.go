package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server/rest"
)

// HTTP/JSON for every RPC under /v1/: each method of each service of the proto has a route, and each route calls its method.
func TestRoutesReachEveryMethod(t *testing.T) {
	t.Parallel()
	missing := map[string]bool{}
	for _, file := range []protoreflect.FileDescriptor{kiokuv1.File_kioku_v1_memory_proto, kiokuv1.File_kioku_v1_agent_proto} {
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				missing[fmt.Sprintf("/%s/%s", service.FullName(), service.Methods().Get(j).Name())] = true
			}
		}
	}
	for _, route := range rest.Routes() {
		name := fmt.Sprintf("/%s/%s", route.RPC.Parent().FullName(), route.RPC.Name())
		delete(missing, name)
		t.Run(route.Method+" "+route.Path, func(t *testing.T) {
			t.Parallel()
			if !strings.HasPrefix(route.Path, "/v1/") {
				t.Error("the route is not under /v1/")
			}
			conn := &fakeConn{err: errDone}
			body := ""
			if route.Body {
				body = "{}"
			}
			w := send(t, handler(t, conn), route.Method, strings.NewReplacer("{path=**}", "a/b.md", "{id}", "9f3c21").Replace(route.Path), body)
			if got, _ := conn.last(); got != name {
				t.Errorf("the route calls %q, want %s; %d %s", got, name, w.Code, w.Body)
			}
		})
	}
	for name := range missing {
		t.Errorf("%s has no route: give it an option google.api.http in the proto", name)
	}
}

// document is what the test reads of the OpenAPI document.
type document struct {
	Swagger string
	Info    struct{ Title, Description, Version string }
	Paths   map[string]map[string]struct {
		Summary, OperationID string
		Parameters           []struct {
			Name, In string
			Required bool
			Schema   map[string]any
		}
		Responses map[string]struct {
			Description string
			Schema      map[string]any
		}
	}
	Definitions map[string]struct {
		Properties map[string]map[string]any
	}
}

// The OpenAPI document is served and describes every route, with the comments of the proto, and every reference in it has its
// definition.
func TestOpenAPIDescribesEveryRoute(t *testing.T) {
	t.Parallel()
	w := send(t, handler(t, &fakeConn{}), http.MethodGet, "/v1/openapi.json", "")
	onDisk, err := os.ReadFile("openapi.swagger.json")
	if err != nil || w.Body.String() != string(onDisk) || w.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("the document is not served as it is checked in: %d, %v", w.Code, err)
	}
	var doc document
	if err := json.Unmarshal(onDisk, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Swagger != "2.0" || doc.Info.Title == "" || doc.Info.Version == "" {
		t.Errorf("the document begins with %+v", doc.Info)
	}
	described, ids := 0, map[string]bool{}
	for _, route := range rest.Routes() {
		path := strings.Replace(route.Path, "{path=**}", "{path}", 1)
		op, ok := doc.Paths[path][strings.ToLower(route.Method)]
		if !ok {
			t.Errorf("%s %s is not in the document: run make proto", route.Method, path)
			continue
		}
		described++
		if !strings.HasPrefix(op.Summary, string(route.RPC.Name())+" ") || ids[op.OperationID] {
			t.Errorf("%s %s: summary %q, id %q", route.Method, path, op.Summary, op.OperationID)
		}
		ids[op.OperationID] = true
		if op.Responses["default"].Schema["$ref"] != "#/definitions/ErrorResponse" {
			t.Errorf("%s %s: the error is %v", route.Method, path, op.Responses["default"])
		}
		if want := "#/definitions/" + string(route.RPC.Output().Name()); op.Responses["200"].Schema["$ref"] != want {
			t.Errorf("%s %s: the answer is %v, want %s", route.Method, path, op.Responses["200"].Schema, want)
		}
		for _, p := range op.Parameters {
			if p.In == "path" && !strings.Contains(path, "{"+p.Name+"}") {
				t.Errorf("%s %s: no %s in the path", route.Method, path, p.Name)
			}
		}
	}
	for _, ops := range doc.Paths {
		described -= len(ops)
	}
	if described != 0 {
		t.Errorf("the document describes %d routes that do not exist", -described)
	}
	for _, ref := range references(onDisk) {
		if _, ok := doc.Definitions[ref]; !ok {
			t.Errorf("nothing defines %s", ref)
		}
	}
	if text := fmt.Sprint(doc.Definitions["SearchResult"].Properties["score"]["description"]); !strings.HasPrefix(text, "Confidence in [0,1]") {
		t.Errorf("the score is described as %q", text)
	}
}

// references returns the names of the definitions that a document refers to.
func references(doc []byte) []string {
	var names []string
	for part := range strings.SplitSeq(string(doc), `"$ref": "#/definitions/`) {
		name, _, _ := strings.Cut(part, `"`)
		names = append(names, name)
	}
	return names[1:]
}

// The path of a file is percent-encoded once, in any language; a slash may be encoded, and a plus is a plus.
func TestNotesTakePathsInAnyLanguage(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"/v1/notes/MEMORY.md":                                                           "MEMORY.md",
		"/v1/notes/memory/2026-01-19.md":                                                "memory/2026-01-19.md",
		"/v1/notes/%E4%BC%9A%E8%AD%B0/%E6%9C%A8%E6%9B%9C%20100%25.md":                   "会議/木曜 100%.md",
		"/v1/notes/a+b%2Bc%23d%3F.md":                                                   "a+b+c#d?.md",
		"/v1/notes/%2Fhome%2Fann%2Fnotes%2Fx.md":                                        "/home/ann/notes/x.md",
		"/v1/notes/%252e%252e/x.md":                                                     "%2e%2e/x.md",
		"/v1/notes/%2e%2e/secret.md":                                                    "../secret.md", // refused by the service
		"/v1/notes/memory/%D8%A7%D9%84%D8%B9%D8%B1%D8%A8%D9%8A%D8%A9%20%F0%9F%8C%B8.md": "memory/العربية 🌸.md",
	} {
		conn := &fakeConn{}
		w := send(t, handler(t, conn), http.MethodGet, target+"?from=3&lines=5&agent=ann", "")
		_, request := conn.last()
		got, _ := request.(*kiokuv1.MemoryGetRequest)
		if got.GetPath() != want || got.GetFromLine() != 3 || got.GetLineCount() != 5 || got.GetAgent() != "ann" {
			t.Errorf("%s asks for %v, want the path %q; %s", target, got, want, w.Body)
		}
	}
	for _, target := range []string{"/v1/notes/%ff.md", "/v1/links/a%00%fe"} {
		if w := send(t, handler(t, &fakeConn{}), http.MethodGet, target, ""); w.Code != http.StatusBadRequest {
			t.Errorf("%s = %d %s, want 400: it is not UTF-8", target, w.Code, w.Body)
		}
	}
}

// An unknown route is NOT_FOUND and names the near ones; another method of a path is 405 and names those that it takes.
func TestUnknownRoutesNameTheNearOnes(t *testing.T) {
	t.Parallel()
	h := handler(t, &fakeConn{})
	for _, tc := range []struct {
		method, target string
		status         int
		allow, hint    string
	}{
		{"GET", "/v1/serch?query=x", 404, "", "did you mean GET /v1/search or POST /v1/search?"},
		{"GET", "/v1/note/MEMORY.md", 404, "", "/v1/openapi.json describes all routes"},
		{"GET", "/v1/status/", 404, "", "did you mean GET /v1/status?"},
		{"POST", "/v1/flush:chekc", 404, "", "did you mean POST /v1/flush:check?"},
		{"GET", "/v1/nothing-like-it", 404, "", "/v1/openapi.json describes all routes"},
		{"DELETE", "/v1/search", 405, "GET, HEAD, POST", "this path takes GET and HEAD and POST"},
		{"PUT", "/v1/notes/MEMORY.md", 405, "GET, HEAD", "this path takes GET and HEAD"},
		{"DELETE", "/v1/notes", 405, "GET, HEAD, POST", "this path takes GET and HEAD and POST"},
		{"POST", "/v1/openapi.json", 405, "GET, HEAD", "this path takes GET and HEAD"},
	} {
		w := send(t, h, tc.method, tc.target, "")
		e := readError(t, w.Body.Bytes())
		if w.Code != tc.status || w.Header().Get("Allow") != tc.allow || !strings.HasPrefix(e.Hint, tc.hint) {
			t.Errorf("%s %s = %d, Allow %q, %+v; want %d, %q, hint %q", tc.method, tc.target, w.Code, w.Header().Get("Allow"), e, tc.status, tc.allow, tc.hint)
		}
	}
}
