package mcp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kioku/agent/tools"
	"kioku/server/mcp"
)

// reply is what the server answers to a request over HTTP.
type reply struct {
	code   int
	header http.Header
	body   string
}

// post sends a JSON-RPC message.
func (w *world) post(path, message string, header ...string) reply {
	w.t.Helper()
	return w.send(http.MethodPost, path, message, header...)
}

// send sends a request with headers, as "Name: value".
func (w *world) send(method, path, message string, header ...string) reply {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, "http://"+w.address+"/mcp"+path, bytes.NewReader([]byte(message)))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		if r.Header.Set(name, value); name == "Host" {
			r.Host = value
		}
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, string(body)}
}

// wants fails unless the reply is an error of JSON-RPC with this code of HTTP and this text.
func (r reply) wants(t *testing.T, code int, text string) {
	t.Helper()
	var got struct {
		JSONRPC string
		Error   struct{ Message string }
	}
	if err := json.Unmarshal([]byte(r.body), &got); err != nil || r.code != code || got.JSONRPC != "2.0" || !strings.Contains(got.Error.Message, text) {
		t.Errorf("got %d %q, want %d with %q", r.code, r.body, code, text)
	}
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// twoAgents serves ann and bob to tokens for one of them or both.
func twoAgents(t *testing.T) *world {
	return newWorld(t, "tokens:\n"+token("tok-ann", "[ann]", true)+token("tok-bob", "[bob]", true)+token("tok-both", "[ann, bob]", true), map[string]map[string]string{
		"ann": {"MEMORY.md": "# Ann\n\nAnn likes the harbour.\n", "memory/2026-01-01.md": "# 2026-01-01\n\nThe harbour was calm.\n"},
		"bob": {"MEMORY.md": "# Bob\n\nBob hides the treasure in the harbour.\n", "memory/2026-01-02.md": "# 2026-01-02\n\nsecret treasure [[MEMORY]]\n"},
	})
}

// Hazards C05, C08: the token chooses the agent; one for several agents must name one in the path; errors are those of JSON-RPC.
func TestTokenChoosesTheAgent(t *testing.T) {
	t.Parallel()
	w := twoAgents(t)
	for _, version := range versions {
		for _, c := range []struct{ token, path, want string }{
			{"tok-ann", "", "Ann"}, {"tok-ann", "/ann", "Ann"}, {"tok-bob", "", "Bob"}, {"tok-both", "/bob", "Bob"}, {"tok-both", "/ann", "Ann"},
		} {
			_, text := call(t, w.must(clientOptions{token: c.token, path: c.path, version: version}), tools.Get, map[string]any{"path": "MEMORY.md"})
			if !strings.Contains(text, "# "+c.want) {
				t.Errorf("%s %s at %q reads %q", version, c.token, c.path, text)
			}
		}
	}
	w.post("", initialize).wants(t, http.StatusUnauthorized, "token is required")
	if got := w.post("", initialize).header.Get("WWW-Authenticate"); !strings.HasPrefix(got, "Bearer") {
		t.Errorf("WWW-Authenticate is %q", got)
	}
	w.post("", initialize, "Authorization: Bearer wrong").wants(t, http.StatusUnauthorized, "unknown token")
	w.post("", initialize, "Authorization: Bearer tok-both").wants(t, http.StatusBadRequest, "/mcp/ann, /mcp/bob")
	w.post("/bob", initialize, "Authorization: Bearer tok-ann").wants(t, http.StatusNotFound, "no such agent")
	w.post("/nobody", initialize, "Authorization: Bearer tok-ann").wants(t, http.StatusNotFound, "no such agent")
}

// Hazard C05: with a token for one agent, no tool, resource, prompt or completion tells anything of another agent, whatever the
// request says. What must not be told is told to the token of that agent.
func TestNothingReachesAnotherAgent(t *testing.T) {
	t.Parallel()
	w := twoAgents(t)
	for _, version := range versions {
		ann, bob := w.askEverything("tok-ann", version), w.askEverything("tok-bob", version)
		for _, secret := range []string{"Bob hides", "secret treasure", "kioku:///memory/2026-01-02.md", `# 2026-01-02`} {
			if strings.Contains(ann, secret) || !strings.Contains(bob, secret) {
				t.Errorf("%s: %q is told to ann: %v\nann is told:\n%s\nbob is told:\n%s", version, secret, strings.Contains(ann, secret), ann, bob)
			}
		}
		if strings.Contains(ann, `"`+w.folders["bob"]+`"`) || !strings.Contains(ann, "Ann likes the harbour") {
			t.Errorf("%s: bob's folder, or nothing of ann, is told:\n%s", version, ann)
		}
	}
}

// askEverything returns all that a client is told that tries to get at the agent bob in every way.
func (w *world) askEverything(token, version string) string {
	w.t.Helper()
	s := w.must(clientOptions{token: token, version: version})
	var said strings.Builder
	keep := func(v any, err error) {
		data, marshalErr := json.Marshal(v)
		if marshalErr != nil {
			w.t.Fatal(marshalErr)
		}
		fmt.Fprintf(&said, "%s %v\n", data, err)
	}
	list, err := s.ListTools(w.t.Context(), nil)
	if err != nil || len(list.Tools) == 0 {
		w.t.Fatal(err)
	}
	for _, tool := range list.Tools {
		for _, arguments := range argumentsOf(tool) {
			keep(s.CallTool(w.t.Context(), &sdk.CallToolParams{Name: tool.Name, Arguments: arguments}))
		}
	}
	keep(s.ListResources(w.t.Context(), nil))
	keep(s.ListResourceTemplates(w.t.Context(), nil))
	for _, name := range []string{"MEMORY.md", "memory/2026-01-02.md", "../" + "bob/MEMORY.md", w.folders["bob"] + "/MEMORY.md"} {
		result, err := s.ReadResource(w.t.Context(), readParams("kioku:///"+name))
		if err != nil {
			continue // it names what was asked for
		}
		keep(result, nil)
	}
	prompts, err := s.ListPrompts(w.t.Context(), nil)
	if err != nil || len(prompts.Prompts) == 0 {
		w.t.Fatal(err)
	}
	for _, p := range prompts.Prompts {
		keep(s.GetPrompt(w.t.Context(), &sdk.GetPromptParams{Name: p.Name, Arguments: map[string]string{"question": "treasure in the harbour of bob"}}))
	}
	keep(s.Complete(w.t.Context(), &sdk.CompleteParams{
		Ref: &sdk.CompleteReference{Type: "ref/resource", URI: "kioku:///{+path}"}, Argument: sdk.CompleteParamsArgument{Name: "path"},
	}))
	return said.String()
}

// argumentsOf returns arguments that try to reach the agent bob with a tool: each text parameter names bob or one of its files.
func argumentsOf(tool *sdk.Tool) []map[string]any {
	schema := tool.InputSchema.(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	var all []map[string]any
	for _, text := range []string{"bob", "treasure harbour", "MEMORY.md", "memory/2026-01-02.md", "../bob/MEMORY.md"} {
		arguments := map[string]any{}
		for name, p := range properties {
			if p := p.(map[string]any); p["type"] == "string" && (name == "query" || name == "path" || name == "text") {
				arguments[name] = text
			}
		}
		all = append(all, arguments, map[string]any{"agent": "bob", "query": text, "path": text, "text": text})
	}
	return all
}

// Hazards C05, C08: a session belongs to the token that opened it, and to its path. To another token it is not there.
func TestSessionBelongsToItsToken(t *testing.T) {
	t.Parallel()
	w := twoAgents(t)
	opened := w.post("/ann", initialize, "Authorization: Bearer tok-ann")
	id := opened.header.Get("Mcp-Session-Id")
	if opened.code != http.StatusOK || id == "" {
		t.Fatalf("%+v", opened)
	}
	const read = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"memory_get","arguments":{"path":"MEMORY.md"}}}`
	session := "Mcp-Session-Id: " + id
	if got := w.post("/ann", read, session, "Authorization: Bearer tok-ann"); got.code != http.StatusOK || !strings.Contains(got.body, "Ann likes") {
		t.Errorf("its own token gets %+v", got)
	}
	for _, other := range [][]string{{"/ann", "tok-bob"}, {"/ann", "tok-both"}, {"/bob", "tok-bob"}, {"/bob", "tok-ann"}, {"", "tok-ann"}} {
		for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
			got := w.send(method, other[0], read, session, "Authorization: Bearer "+other[1])
			got.wants(t, http.StatusNotFound, "session not found")
		}
	}
	w.post("/ann", read, session).wants(t, http.StatusNotFound, "session not found")
	w.post("/ann", read, "Mcp-Session-Id: made-up", "Authorization: Bearer tok-ann").wants(t, http.StatusNotFound, "session not found")
	if got := w.send(http.MethodDelete, "/ann", "", session, "Authorization: Bearer tok-ann"); got.code != http.StatusNoContent {
		t.Errorf("its own token cannot end it: %+v", got)
	}
	until(t, "end of the session", func() bool {
		return w.post("/ann", read, session, "Authorization: Bearer tok-ann").code == http.StatusNotFound
	})
}

// Hazard D12: one client can open a number of sessions, and others still can.
func TestSessionsOfOneClientAreBounded(t *testing.T) {
	t.Parallel()
	w := twoAgents(t)
	codes := map[int]int{}
	var last reply
	for range 140 {
		last = w.post("/ann", initialize, "Authorization: Bearer tok-ann")
		codes[last.code]++
	}
	last.wants(t, http.StatusTooManyRequests, "may have no more")
	if codes[http.StatusOK] != 128 || last.header.Get("Retry-After") == "" {
		t.Errorf("got %v", codes)
	}
	if got := w.post("/bob", initialize, "Authorization: Bearer tok-bob"); got.code != http.StatusOK {
		t.Errorf("another client gets %+v", got)
	}
}

// Hazards C11, D13: what is no JSON-RPC, too long, or of another site is refused.
func TestForeignRequestsAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", map[string]map[string]string{"main": notes})
	for name, c := range map[string]struct {
		got  reply
		want int
	}{
		"foreign origin": {w.post("", initialize, "Origin: https://evil.example"), http.StatusForbidden},
		"cross-site":     {w.post("", initialize, "Sec-Fetch-Site: cross-site"), http.StatusForbidden},
		"an image":       {w.send(http.MethodGet, "", "", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"), http.StatusForbidden},
		"foreign host":   {w.post("", initialize, "Host: evil.example"), http.StatusForbidden},
		"form":           {w.post("", initialize, "Content-Type: text/plain"), http.StatusUnsupportedMediaType},
		"no JSON":        {w.post("", "hello"), http.StatusBadRequest},
		"too long":       {w.post("", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"`+strings.Repeat("x", 4<<20)+`"}}`), http.StatusRequestEntityTooLarge},
		"other method":   {w.send(http.MethodPut, "", initialize), http.StatusMethodNotAllowed},
		"no session":     {w.send(http.MethodGet, "", ""), http.StatusBadRequest},
	} {
		if c.got.code != c.want {
			t.Errorf("%s: %+v, want %d", name, c.got, c.want)
		}
	}
}

// Hazard D12: a request has a bounded number of messages, because each costs much more than its bytes.
func TestMessagesOfARequestAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", map[string]map[string]string{"main": notes})
	session := w.post("", strings.ReplaceAll(initialize, "2025-06-18", "2025-03-26")).header.Get("Mcp-Session-Id")
	batch := func(n int) reply {
		var pings []string
		for i := range n {
			pings = append(pings, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i+2))
		}
		return w.post("", "["+strings.Join(pings, ",")+"]", "Mcp-Session-Id: "+session, "Mcp-Protocol-Version: 2025-03-26")
	}
	if got := batch(100); got.code != http.StatusOK || strings.Count(got.body, `"result"`) != 100 {
		t.Errorf("100 messages: %+v", got)
	}
	batch(101).wants(t, http.StatusBadRequest, "at most 100 messages")
}

// Hazard C08: of its cookies, only the one with the token tells a client from another: a browser sends those of all programs on this
// machine. The token may come in the header too.
func TestSessionBelongsToTheTokenOfACookie(t *testing.T) {
	t.Parallel()
	w := twoAgents(t)
	_, port, _ := strings.Cut(w.address, ":")
	cookie := "kioku_token_" + port + "="
	session := "Mcp-Session-Id: " + w.post("/ann", initialize, "Cookie: other=1; "+cookie+"tok-ann").header.Get("Mcp-Session-Id")
	const ping = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	for _, header := range []string{"Cookie: " + cookie + "tok-ann; other=2; third=3", "Authorization: Bearer tok-ann"} {
		if got := w.post("/ann", ping, session, header); got.code != http.StatusOK {
			t.Errorf("%s: %+v", header, got)
		}
	}
	w.post("/ann", ping, session, "Cookie: other=1; "+cookie+"tok-both").wants(t, http.StatusNotFound, "session not found")
	w.post("/ann", ping, session, "Cookie: other=1").wants(t, http.StatusNotFound, "session not found")
}

// MCP: the tools memory_search, memory_get, memory_append, memory_update and memory_links.
func TestToolsAreTheFive(t *testing.T) {
	t.Parallel()
	var names []string
	for _, tool := range mcp.Tools() {
		names = append(names, tool.Name)
	}
	if want := []string{"memory_search", "memory_get", "memory_append", "memory_update", "memory_links"}; !slices.Equal(names, want) {
		t.Errorf("tools %q, want %q", names, want)
	}
}

// Hazard G01: open sessions and their streams do not hold the end of the server up.
func TestOpenSessionsDoNotHoldTheServerUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", map[string]map[string]string{"main": notes})
	for _, version := range versions {
		s := w.must(clientOptions{version: version})
		if err := s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "kioku:///MEMORY.md"}); err != nil {
			t.Fatal(err)
		}
	}
	if took := w.end(); took > patience/2 {
		t.Errorf("the server ended after %s", took)
	}
}

// Hazard C05: a request that names another method in its header than in its body is refused, so that nothing of one client stays in
// what serves the calls of all.
func TestHeaderCannotNameAnotherMethod(t *testing.T) {
	t.Parallel()
	w := twoAgents(t)
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	header := []string{"Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Authorization: Bearer tok-ann"}
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{` + meta + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourcesListChanged":true},` + meta + `}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{` + meta + `}}]`,
	} {
		if got := w.post("/ann", body, header...); got.code != http.StatusBadRequest || strings.Contains(got.body, "MEMORY.md") {
			t.Errorf("%s: %+v", body, got)
		}
	}
	got := w.post("", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_get","arguments":{"path":"MEMORY.md"},`+meta+`}}`, append(header, "Mcp-Name: memory_get")...)
	if got.code != http.StatusOK || !strings.Contains(got.body, "Ann likes") {
		t.Errorf("a call gets %+v", got)
	}
}
