package kioku

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kioku/agent/session"
	"kioku/indexer"
	"kioku/llm"
	"kioku/memory"
)

// spoken reads transcripts as the program does.
func spoken(line []byte) (text, day string) {
	text, at := session.Spoken(line)
	if text == "" {
		return "", ""
	}
	return text, at.Format(time.DateOnly)
}

// talks opens the memory of an agent with transcripts, and returns the folder of these.
func talks(t *testing.T, state, agent string, files map[string]string) (*Memory, string) {
	t.Helper()
	folder, err := session.Folder(state, agent)
	if err != nil {
		t.Fatal(err)
	}
	m := openMemory(t, Options{Agent: agent, StateDir: state, Workspace: workspace(t, files), Now: clock("2026-01-10T12:00:00Z"), Location: time.UTC,
		Index: IndexOptions{Sessions: indexer.Sessions{Folder: folder, Spoken: spoken}}})
	return m, folder
}

// transcript writes a session in which these messages are said, one a day from 2026-01-05 on.
func transcript(t *testing.T, folder, id string, messages ...llm.Message) {
	t.Helper()
	s, _, err := session.Open(folder, id, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range messages {
		at := time.Date(2026, 1, 5+i, 12, 0, 0, 0, time.UTC)
		if _, err := s.Append(session.Entry{Kind: session.KindMessage, Message: &m, Time: at}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// conversation is a question, a call of a tool, its result, and an answer of two lines.
func conversation() []llm.Message {
	return []llm.Message{
		{Role: llm.RoleUser, Text: "Which windmill did we rent?"},
		{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "c", Name: "read", Input: json.RawMessage(`{}`)}}},
		{Role: llm.RoleTool, ToolCallID: "c", ToolName: "read", Text: "zeppelin passwords"},
		{Role: llm.RoleAssistant, Text: "The green windmill\nin Kinderdijk."},
	}
}

func TestSessionsAreFoundByLineAndDay(t *testing.T) {
	m, folder := talks(t, t.TempDir(), "main", map[string]string{"MEMORY.md": "- A windmill is no watermill.\n"})
	transcript(t, folder, "20260105-120000-abc", conversation()...)
	if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	got, err := m.Search(t.Context(), memory.Query{Text: "green windmill Kinderdijk", Filter: memory.Filter{Sources: []string{memory.SourceSessions}}})
	if err != nil || len(got.Hits) != 1 {
		t.Fatalf("got %+v, %v", got.Hits, err)
	}
	h := got.Hits[0]
	want := "User: Which windmill did we rent?\n\n\nAssistant: The green windmill in Kinderdijk."
	if h.Path != "sessions/20260105-120000-abc.jsonl" || h.Source != memory.SourceSessions || h.Date != "2026-01-05" ||
		h.Snippet != want || h.StartLine != 1 || h.EndLine != 4 {
		t.Errorf("got %+v", h)
	}
	if hits := find(t, m, "zeppelin passwords"); len(hits) > 0 {
		t.Errorf("the result of a tool is found: %v", hits)
	}
	for source, path := range map[string]string{memory.SourceSessions: h.Path, memory.SourceMemory: "MEMORY.md"} {
		got, err := m.Search(t.Context(), memory.Query{Text: "windmill", Filter: memory.Filter{Sources: []string{source}}})
		if err != nil || len(got.Hits) != 1 || got.Hits[0].Path != path {
			t.Errorf("%s: got %+v, %v", source, got.Hits, err)
		}
	}
}

func TestGetRendersTranscript(t *testing.T) {
	m, folder := talks(t, t.TempDir(), "main", nil)
	transcript(t, folder, "s", conversation()...)
	ex, err := m.Get(t.Context(), memory.GetRequest{Path: "sessions/s.jsonl"})
	want := "User: Which windmill did we rent?\n\n\nAssistant: The green windmill in Kinderdijk.\n"
	if err != nil || ex.Text != want || ex.TotalLines != 4 {
		t.Errorf("got %+v, %v", ex, err)
	}
	ex, err = m.Get(t.Context(), memory.GetRequest{Path: "sessions/s.jsonl", From: 4, Lines: 1})
	if err != nil || ex.Text != "Assistant: The green windmill in Kinderdijk.\n" {
		t.Errorf("line 4: %+v, %v", ex, err)
	}
	for _, path := range []string{"sessions/t.jsonl", "sessions/../sessions/s.jsonl", "sessions/s.jsonl.torn", filepath.Join(folder, "s.jsonl")} {
		if ex, err := m.Get(t.Context(), memory.GetRequest{Path: path}); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("%s: %+v, %v", path, ex, err)
		}
	}
}

// A torn line says nothing, a huge one is cut for chunks and pages, and bad bytes do no harm.
func TestSessionsSkipStrangeLines(t *testing.T) {
	m, folder := talks(t, t.TempDir(), "main", nil)
	huge := strings.Repeat("The lighthouse keeper counted waves. ", 20_000) + "Finally the albatross came."
	transcript(t, folder, "s", llm.Message{Role: llm.RoleUser, Text: huge})
	path := filepath.Join(folder, "s.jsonl")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := "not JSON\n" + `{"id":"2","time":"2026-01-06T00:00:00Z","kind":"message","message":{"role":"user","text":"pelican ` + "\xff" + `\u0000"}}` + "\n" +
		`{"id":"3","time":"2026-01-06T00:00:00Z","kind":"message","message":{"role":"user","text":"flamingo`
	if _, err := f.WriteString(lines); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]int{"albatross": 1, "pelican": 3} {
		got, err := m.Search(t.Context(), memory.Query{Text: word})
		if err != nil || len(got.Hits) == 0 || got.Hits[0].SnippetStart > want || got.Hits[0].SnippetEnd < want || !strings.Contains(got.Hits[0].Snippet, word) {
			t.Errorf("%s: %+v, %v", word, got.Hits, err)
		}
	}
	if hits := find(t, m, "flamingo"); len(hits) > 0 {
		t.Errorf("a torn line is found: %v", hits)
	}
	ex, err := m.Get(t.Context(), memory.GetRequest{Path: "sessions/s.jsonl", From: 2})
	if err != nil || ex.Text != "\nUser: pelican \ufffd\n" || ex.TotalLines != 3 {
		t.Errorf("got %+v, %v", ex, err)
	}
}

// Hazard C05: what one agent has talked about is found and read by no other, whatever the path.
func TestSessionsOfOtherAgentsAreClosed(t *testing.T) {
	state := t.TempDir()
	ann, annFolder := talks(t, state, "ann", nil)
	bob, bobFolder := talks(t, state, "bob", map[string]string{"MEMORY.md": "- Bob likes windmills.\n"})
	transcript(t, annFolder, "s", llm.Message{Role: llm.RoleUser, Text: "Ann's secret windmill"})
	transcript(t, bobFolder, "b", llm.Message{Role: llm.RoleUser, Text: "Bob's own windmill"})
	for _, m := range []*Memory{ann, bob} {
		if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	got, err := bob.Search(t.Context(), memory.Query{Text: "windmill"})
	if err != nil || len(got.Hits) == 0 {
		t.Fatalf("got %+v, %v", got.Hits, err)
	}
	for _, h := range got.Hits {
		if strings.Contains(h.Snippet, "Ann") || h.Path == "sessions/s.jsonl" {
			t.Errorf("bob finds %+v", h)
		}
	}
	for _, path := range []string{
		"sessions/s.jsonl", "sessions/../../ann/sessions/s.jsonl", filepath.Join(annFolder, "s.jsonl"), "sessions/%2e%2e/ann/s.jsonl", "../ann/sessions/s.jsonl",
	} {
		if ex, err := bob.Get(t.Context(), memory.GetRequest{Path: path}); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("bob reads %s: %+v, %v", path, ex, err)
		}
	}
	if err := os.Symlink(filepath.Join(annFolder, "s.jsonl"), filepath.Join(bobFolder, "s.jsonl")); err != nil {
		t.Fatal(err)
	}
	if ex, err := bob.Get(t.Context(), memory.GetRequest{Path: "sessions/s.jsonl"}); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("bob reads through a link: %+v, %v", ex, err)
	}
}

func TestSearchDefersSmallTranscriptChanges(t *testing.T) {
	m, folder := talks(t, t.TempDir(), "main", nil)
	transcript(t, folder, "s", llm.Message{Role: llm.RoleUser, Text: "The heron stood still."})
	if hits := find(t, m, "heron"); len(hits) != 1 {
		t.Errorf("the first search of an index finds %v", hits)
	}
	transcript(t, folder, "s", llm.Message{Role: llm.RoleUser, Text: "Then the kingfisher dived."})
	addNote(t, m, memory.Note{Text: "unrelated"})
	<-m.catchUp(t.Context())
	if hits := find(t, m, "kingfisher"); len(hits) > 0 {
		t.Errorf("one message was not waited with: %v", hits)
	}
	if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	if hits := find(t, m, "kingfisher"); len(hits) != 1 {
		t.Errorf("after a sync: %v", hits)
	}
}

// A passage of a transcript tells who has said its lines, also while the file goes on or is gone.
func TestSessionsSayWhoSaidIt(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "sessions")
	m := openMemory(t, Options{Workspace: workspace(t, nil), StateDir: t.TempDir(), Location: time.UTC,
		Index: IndexOptions{Sessions: indexer.Sessions{Folder: folder, Spoken: spoken, Origin: session.Origin}}})
	s, _, err := session.Open(folder, "talk", session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"The heron nests in the reeds.", "The stork nests on the chimney."} {
		e := session.Entry{Kind: session.KindMessage, Message: &llm.Message{Role: llm.RoleUser, Text: text}}
		if i == 0 {
			e.Said = memory.Said{Author: &ana, Channel: "discord:general", Group: true}
		}
		if _, err := s.Append(e); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Append(session.Entry{Kind: session.KindMessage, Message: &llm.Message{Role: llm.RoleAssistant, Text: strings.Repeat("A long answer about nothing. ", 60)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	syncAll(t, m)
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{"heron reeds": "Ana (not the owner) in discord:general", "stork chimney": ""} {
		found, err := m.Search(t.Context(), memory.Query{Text: query, MaxResults: 1})
		if err != nil || len(found.Hits) != 1 || found.Hits[0].Origin.String() != want {
			t.Errorf("%s: %+v, %v, want the origin %q", query, found.Hits, err, want)
		}
	}
}
