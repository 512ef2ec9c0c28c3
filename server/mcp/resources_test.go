package mcp_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kioku/server/mcp"
)

// MCP: resources for MEMORY.md and the latest daily notes.
func TestResourcesAreTheCuratedNotes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", map[string]map[string]string{"main": notes})
	for _, version := range versions {
		s := w.must(clientOptions{version: version})
		wantResources(t, s, "kioku:///MEMORY.md", "kioku:///memory/2025-01-03.md", "kioku:///memory/2026-03-01.md", "kioku:///memory/2026-03-02.md", mcp.StatusURI)
		for uri, want := range map[string]string{
			"kioku:///MEMORY.md":            "猫の名前はミケ。",
			"kioku:///memory/Ferry.md":      "The ferry leaves at six.",
			"kioku:///memory/2026-03-02.md": "A red\x1b[31m sky\u202e and \uFFFD.",
		} {
			read, err := s.ReadResource(t.Context(), readParams(uri))
			if err != nil || !strings.Contains(read.Contents[0].Text, want) || read.Contents[0].MIMEType != "text/markdown" {
				t.Errorf("%s: %s = %+v, %v", version, uri, read, err)
			}
		}
		for _, uri := range []string{"kioku:///nope.md", "kioku:///../secret.md", "kioku:///", "kioku://host/MEMORY.md", "file:///etc/passwd"} {
			if read, err := s.ReadResource(t.Context(), readParams(uri)); err == nil {
				t.Errorf("%s: %s = %+v", version, uri, read)
			}
		}
	}
}

// wantResources fails unless the list has exactly these URIs.
func wantResources(t *testing.T, s *sdk.ClientSession, want ...string) {
	t.Helper()
	if got := resources(t, s); !slices.Equal(got, want) {
		t.Errorf("resources %q, want %q", got, want)
	}
}

// resources returns the URIs of the list.
func resources(t *testing.T, s *sdk.ClientSession) []string {
	t.Helper()
	list, err := s.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var uris []string
	for _, r := range list.Resources {
		uris = append(uris, r.URI)
	}
	slices.Sort(uris)
	return uris
}

// MCP: subscriptions send updates when notes change, and list_changed when a new day begins.
func TestResourcesTellWhatChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", map[string]map[string]string{"main": notes})
	for _, version := range []string{"2025-11-25", "2025-06-18", "2026-07-28"} {
		updated, changed := make(chan string, 100), make(chan struct{}, 100)
		opt := clientOptions{version: version}
		opt.ResourceUpdatedHandler = func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI }
		opt.ResourceListChangedHandler = func(context.Context, *sdk.ResourceListChangedRequest) { changed <- struct{}{} }
		s := w.must(opt)
		resources(t, s)
		for _, uri := range []string{"kioku:///MEMORY.md", "kioku:///memory/Ferry.md"} {
			if err := s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
				t.Fatalf("%s: %v", version, err)
			}
		}
		if version < "2026" {
			hears(t, version, changed, struct{}{}) // the list was empty before
		}
		for _, name := range []string{"MEMORY.md", "memory/Ferry.md"} {
			w.write("main", name, notes[name]+version)
			w.sync("main")
			hears(t, version, updated, "kioku:///"+name)
		}
		if version < "2026" { // newer clients open a stream for the list as such
			w.write("main", "memory/2026-04-01.md", "# 2026-04-01\n\nA new day.\n")
			w.sync("main")
			hears(t, version, changed, struct{}{})
			if got := resources(t, s); !slices.Contains(got, "kioku:///memory/2026-04-01.md") || slices.Contains(got, "kioku:///memory/2025-01-03.md") {
				t.Errorf("%s: resources %q", version, got)
			}
			w.remove("main", "memory/2026-04-01.md")
			w.sync("main")
			hears(t, version, changed, struct{}{})
			wantResources(t, s, "kioku:///MEMORY.md", "kioku:///memory/2025-01-03.md", "kioku:///memory/2026-03-01.md", "kioku:///memory/2026-03-02.md", mcp.StatusURI)
		}
		s.Close()
	}
}

// hears fails unless a value arrives.
func hears[T comparable](t *testing.T, version string, from chan T, want T) {
	t.Helper()
	for {
		select {
		case got := <-from:
			if got == want {
				return
			}
		case <-time.After(patience):
			t.Fatalf("%s: %v does not arrive", version, want)
		}
	}
}

// until fails unless something becomes true.
func until(t *testing.T, what string, isTrue func() bool) {
	t.Helper()
	for begun := time.Now(); !isTrue(); {
		if time.Since(begun) > patience {
			t.Fatalf("no %s", what)
		}
	}
}

// MCP: prompts "recall" and "flush".
func TestPromptsRecallAndFlush(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", map[string]map[string]string{"main": notes})
	for _, version := range versions {
		s := w.must(clientOptions{version: version})
		for name, wants := range map[string][]string{
			mcp.PromptRecall: {"untrusted data", "Ito plumbing", "</recalled-memories id=", "\n\nwho repaired the boiler?"},
			mcp.PromptFlush:  {"memory_append", "Save now"},
		} {
			got, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: name, Arguments: map[string]string{"question": "who repaired the boiler?"}})
			if err != nil {
				t.Fatalf("%s: %s: %v", version, name, err)
			}
			for _, want := range wants {
				if text := got.Messages[0].Content.(*sdk.TextContent).Text; !strings.Contains(text, want) {
					t.Errorf("%s: %s lacks %q:\n%s", version, name, want, text)
				}
			}
		}
		var invalid *jsonrpc.Error
		if _, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: mcp.PromptRecall}); !errors.As(err, &invalid) || invalid.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("%s: without a question: %v", version, err)
		}
	}
}

// MCP: paths of notes are completed.
func TestCompletionCompletesPaths(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", map[string]map[string]string{"main": notes})
	got, err := w.must(clientOptions{}).Complete(t.Context(), &sdk.CompleteParams{
		Ref: &sdk.CompleteReference{Type: "ref/resource", URI: "kioku:///{+path}"}, Argument: sdk.CompleteParamsArgument{Name: "path", Value: "memory/2026"},
	})
	if want := []string{"memory/2026-03-01.md", "memory/2026-03-02.md"}; err != nil || !slices.Equal(got.Completion.Values, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// MCP: what an operation answers that only reads is a resource, with the rights of the client; others are none.
func TestOperationsAreResources(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "tokens:\n"+token("tok-a", "[ann]", false), map[string]map[string]string{"ann": notes, "bob": notes})
	s := w.must(clientOptions{token: "tok-a", path: "/ann"})
	for name, want := range map[string]string{"activity": `"2026-03-01"`, "agents": `"id":"ann"`, "revisions": `[]`} {
		got, err := s.ReadResource(t.Context(), readParams("kioku://operations/"+name))
		if err != nil || len(got.Contents) != 1 || !strings.Contains(got.Contents[0].Text, want) || strings.Contains(got.Contents[0].Text, "bob") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for _, name := range []string{"sync", "notes", "none", "council/tasks", "events"} {
		if got, err := s.ReadResource(t.Context(), readParams("kioku://operations/"+name)); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
