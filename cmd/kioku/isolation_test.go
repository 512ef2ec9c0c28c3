package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"kioku/server"
)

const (
	// secretWord is in a note of the agent that a token must not reach, and in no request.
	secretWord = "xyzzy"
	secretFile = "memory/plan-quokka.md"
)

// doors is a daemon with agents, and a token that does not reach one of them, nova.
type doors struct {
	address string
	// token of who tries, and the agent that it does not reach.
	token, other string
	// secrets are what no answer contains.
	secrets []string
	// paths are how nova's note is asked for.
	paths []string
}

// openDoors starts a daemon that serves two agents, and returns what a token for one of them must not see.
func openDoors(t *testing.T) doors {
	t.Helper()
	s := newSandbox(t, notes())
	nova := t.TempDir()
	note := filepath.Join(nova, secretFile)
	if err := os.Mkdir(filepath.Dir(note), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(note, []byte("# Zanzibar treaty\n\n- The password is "+secretWord+".\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "KIOKU_TOKENS=tokens: [{name: laptop, sha256: "+hashToken("for main")+", agents: [main], write: true}, {name: desk, sha256: "+
		hashToken("for nova")+", agents: [nova]}]")
	_, address := s.serve("--agent", "nova="+nova)
	up := "../" + filepath.Base(nova) + "/" + secretFile
	d := doors{address, "for main", "nova", []string{secretWord, nova, `"nova"`}, []string{secretFile, note, up}}
	if _, answer := d.get(t, "for nova", http.MethodGet, "/v1/search?query=Zanzibar+treaty", nil); !strings.Contains(answer, secretWord) {
		t.Fatalf("nova's own token does not find the note: %s", answer)
	}
	return d
}

// checkSecrets fails if an answer contains what the token must not see.
func (d doors) checkSecrets(t *testing.T, what, answer string) {
	t.Helper()
	for _, secret := range d.secrets {
		if strings.Contains(answer, secret) {
			t.Errorf("%s tells %s: %s", what, secret, answer)
		}
	}
}

// get returns the status and the whole answer to a request with a token, with its headers. A stream of what the token reaches is read for a second.
func (d doors) get(t *testing.T, token, method, target string, body []byte) (int, string) {
	t.Helper()
	limit := patience
	if strings.Contains(target, "/events") && !strings.Contains(target, "agent=") {
		limit = time.Second
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, "http://"+d.address+target, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	r.Header.Set("X-Request-Id", "same")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil && limit < patience && ctx.Err() != nil {
		return 0, ""
	}
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
	resp.Header.Del("Date")
	return resp.StatusCode, fmt.Sprint(resp.Header) + string(answer)
}

// fill sets the fields of a request as somebody does who wants nova's note: for an agent, which may be empty, by a path.
func fill(m protoreflect.Message, agent, path string) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		text, known := map[protoreflect.Name]string{
			"agent": agent, "path": path, "query": "Zanzibar treaty", "message": "Zanzibar treaty?", "text": "a note", "session": "s",
		}[field.Name()]
		switch {
		case field.Name() == "shared_agents" && agent != "":
			m.Mutable(field).List().Append(protoreflect.ValueOfString(agent))
		case field.Kind() == protoreflect.StringKind && !field.IsList() && known:
			m.Set(field, protoreflect.ValueOfString(text))
		case field.Kind() == protoreflect.MessageKind && !field.IsList() && !field.IsMap() && field.Message().ParentFile().Package() == "kioku.v1":
			fill(m.Mutable(field).Message(), agent, path)
		case field.Name() == "messages":
			one := m.Mutable(field).List().AppendMutable().Message()
			set := one.Descriptor().Fields()
			one.Set(set.ByName("id"), protoreflect.ValueOfString("m1"))
			one.Set(set.ByName("role"), protoreflect.ValueOfString("user"))
			one.Set(set.ByName("text"), protoreflect.ValueOfString("Zanzibar treaty?"))
		}
	}
}

// Hazard C05: by HTTP, with a token for one agent every route answers for another agent as for one that is not there, and
// tells nothing of it where the request names none, whichever routes there are.
func TestNoRouteReachesAnotherAgent(t *testing.T) {
	t.Parallel()
	openDoors(t).checkRoutes(t)
}

// checkRoutes asks every route for what the token does not reach.
func (d doors) checkRoutes(t *testing.T) {
	t.Helper()
	for _, o := range server.Operations() {
		a := o.About()
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			d.checkOperation(t, a)
		})
	}
	for _, page := range []string{"/?agent=X", "/search?agent=X&q=Zanzibar+treaty", "/notes?agent=X", "/note?agent=X&path=memory/plan-quokka.md",
		"/timeline?agent=X", "/map?agent=X", "/turns?agent=X", "/live?agent=X", "/metrics", "/healthz", "/readyz", "/elsewhere/X"} {
		_, nova := d.get(t, d.token, http.MethodGet, strings.Replace(page, "X", d.other, 1), nil)
		_, nobody := d.get(t, d.token, http.MethodGet, strings.Replace(page, "X", "nobody", 1), nil)
		if !strings.HasPrefix(page, "/metrics") && nova != strings.ReplaceAll(nobody, "nobody", d.other) {
			t.Errorf("%s tells nova from nobody:\n%s\n%s", page, nova, nobody)
		}
		doors{secrets: d.secrets[:2]}.checkSecrets(t, page, nova)
	}
}

// with returns a context with the token.
func (d doors) with(t *testing.T) context.Context {
	return metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+d.token)
}

// services returns the services that a daemon says it has.
func (d doors) services(t *testing.T, conn *grpc.ClientConn) []string {
	t.Helper()
	stream, err := reflectionpb.NewServerReflectionClient(conn).ServerReflectionInfo(d.with(t))
	if err != nil {
		t.Fatal(err)
	}
	list := &reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}}
	if err := stream.Send(list); err != nil {
		t.Fatal(err)
	}
	resp, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range resp.GetListServicesResponse().GetService() {
		names = append(names, s.GetName())
	}
	return names
}

// callAny calls any method as [fill] makes its request, and returns its first answer.
func (d doors) callAny(t *testing.T, conn *grpc.ClientConn, method protoreflect.MethodDescriptor, agent, path string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(d.with(t), patience)
	defer cancel()
	request := dynamicpb.NewMessage(method.Input())
	fill(request, agent, path)
	name := fmt.Sprintf("/%s/%s", method.Parent().FullName(), method.Name())
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: method.IsStreamingServer()}, name)
	if err != nil {
		return "", err
	}
	if err := stream.SendMsg(request); err != nil {
		return "", err
	}
	if err := stream.CloseSend(); err != nil {
		return "", err
	}
	resp := dynamicpb.NewMessage(method.Output())
	err = stream.RecvMsg(resp)
	return fmt.Sprint(resp), err
}

// Hazard C05: by gRPC, every method of every service that the daemon says it has; a service that is new here needs a look.
func TestNoServiceReachesAnotherAgent(t *testing.T) {
	t.Parallel()
	openDoors(t).checkServices(t)
}

// checkServices asks every method of every service for what the token does not reach.
func (d doors) checkServices(t *testing.T) {
	t.Helper()
	conn, _ := dial(t, d.address)
	tried := 0
	for _, name := range d.services(t, conn) {
		if !strings.HasPrefix(name, "kioku.v1.") {
			if !slices.Contains([]string{"grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"}, name) {
				t.Errorf("nobody has looked at what %s tells of agents", name)
			}
			continue
		}
		desc, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(name))
		if err != nil {
			t.Fatal(err)
		}
		methods := desc.(protoreflect.ServiceDescriptor).Methods()
		for i := range methods.Len() {
			method := methods.Get(i)
			if method.Input().Fields().Len() == 0 {
				answer, err := d.callAny(t, conn, method, "", "")
				d.checkSecrets(t, string(method.Name()), fmt.Sprint(answer, err))
				continue
			}
			tried++
			answer, nova := d.callAny(t, conn, method, d.other, d.paths[0])
			_, nobody := d.callAny(t, conn, method, "nobody", d.paths[0])
			if status.Code(nova) != codes.NotFound || fmt.Sprint(nova) != fmt.Sprint(nobody) {
				t.Errorf("%s: for nova %v, for nobody %v", method.Name(), nova, nobody)
			}
			d.checkSecrets(t, string(method.Name()), fmt.Sprint(answer, nova))
		}
	}
	if tried < 20 {
		t.Errorf("only %d methods were tried", tried)
	}
}

// bearer adds the token for main to requests.
type bearer struct{}

func (bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer for main")
	return http.DefaultTransport.RoundTrip(r)
}

// openMCP opens a session of MCP over HTTP with the token for main.
func (d doors) openMCP(t *testing.T, path string) (*sdk.ClientSession, error) {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: "http://" + d.address + path, HTTPClient: &http.Client{Transport: bearer{}}, DisableStandaloneSSE: true,
	}, nil)
	if err == nil {
		t.Cleanup(func() { session.Close() })
	}
	return session, err
}

// arguments fills in what a tool or prompt takes, as somebody does who wants nova's note.
func arguments(t *testing.T, tool *sdk.Tool, path string) map[string]any {
	t.Helper()
	schema, _ := tool.InputSchema.(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	args := map[string]any{}
	for name, property := range properties {
		kind, _ := property.(map[string]any)["type"].(string)
		switch {
		case name == "path":
			args[name] = path
		case name == "query" || name == "message":
			args[name] = "Zanzibar treaty"
		case name == "text" || name == "content" || name == "old_text" || name == "new_text":
			args[name] = "a note"
		case name == "agent":
			args[name] = "nova"
		case kind == "boolean":
			args[name] = true
		}
	}
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if _, ok := args[name.(string)]; !ok {
			t.Errorf("the test does not know what to give %s as %v", tool.Name, name)
		}
	}
	return args
}

// Hazard C05: by MCP, every tool, resource and prompt of a session with the token for main; there is no session for nova.
func TestNoToolReachesAnotherAgent(t *testing.T) {
	t.Parallel()
	d := openDoors(t)
	for _, agent := range []string{"nova", "nobody"} {
		if _, err := d.openMCP(t, "/mcp/"+agent); err == nil {
			t.Errorf("the token opens /mcp/%s", agent)
		}
	}
	session, err := d.openMCP(t, "/mcp")
	if err != nil {
		t.Fatal(err)
	}
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) == 0 {
		t.Fatalf("tools: %v, %v", tools, err)
	}
	for _, tool := range tools.Tools {
		for _, path := range d.paths {
			result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool.Name, Arguments: arguments(t, tool, path)})
			d.checkSecrets(t, tool.Name, inJSON(result)+fmt.Sprint(err))
		}
	}
	resources, err := session.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	d.checkSecrets(t, "the list of resources", inJSON(resources))
	templates, err := session.ListResourceTemplates(t.Context(), nil)
	if err != nil || len(templates.ResourceTemplates) == 0 {
		t.Fatalf("templates: %v, %v", templates, err)
	}
	for _, template := range templates.ResourceTemplates {
		for _, path := range d.paths {
			uri := strings.NewReplacer("{+path}", path, "{path}", path, "{name}", path).Replace(template.URITemplate)
			if strings.Contains(uri, "{") {
				t.Errorf("the test does not know how to fill in %s", template.URITemplate)
			}
			if result, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
				t.Errorf("the resource %s can be read: %s", uri, inJSON(result))
			}
		}
	}
	d.checkPrompts(t, session)
}

// checkPrompts gets every prompt of a session.
func (d doors) checkPrompts(t *testing.T, session *sdk.ClientSession) {
	t.Helper()
	prompts, err := session.ListPrompts(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, prompt := range prompts.Prompts {
		args := map[string]string{}
		for _, a := range prompt.Arguments {
			args[a.Name] = "Zanzibar treaty?"
		}
		result, err := session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: prompt.Name, Arguments: args})
		if err != nil {
			t.Errorf("prompt %s with %v: %v", prompt.Name, slices.Collect(maps.Keys(args)), err)
		}
		d.checkSecrets(t, "prompt "+prompt.Name, inJSON(result))
	}
}

// inJSON returns a result as it is sent.
func inJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
