package server_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kioku/agent/turns"
	"kioku/memory"
	"kioku/server"
)

// march is the time of recorded turns.
var march = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// withTurns returns a sidecar with recorded turns.
func withTurns(t *testing.T, entries ...turns.Entry) *fakeSidecar {
	t.Helper()
	log := turns.New(turns.Options{Folder: filepath.Join(t.TempDir(), "turns")})
	for _, e := range entries {
		log.Record(e)
	}
	return &fakeSidecar{turns: log}
}

// promptOf is a turn that recalled passages of agents.
func promptOf(session string, agents ...string) turns.Entry {
	e := turns.Entry{Time: march, Kind: turns.KindPrompt, Session: session, Tokens: 30, Layers: []turns.Layer{{Name: "identity", Chars: 90, Tokens: 30}},
		Cuts: []turns.Cut{{Part: "USER.md", From: 9, To: 1}}, Recall: &turns.Recall{}}
	for _, id := range agents {
		e.Recall.In = append(e.Recall.In, turns.Passage{Agent: id, Path: "of-" + id + ".md", Start: 1, End: 2, Score: 0.5, Vector: 0.75, Words: 0.25, Date: "2026-03-01"})
		e.Recall.Out = append(e.Recall.Out, turns.Passage{Agent: id, Path: "out-" + id + ".md", Reason: "no room"})
		e.Recall.Searches = append(e.Recall.Searches, turns.Search{Agent: id, Hits: 1, Mode: "hybrid"})
	}
	return e
}

// The record of a sidecar is listed as it is: layers, recalled passages with their scores and what was left out and why, flushes and
// compactions.
func TestTurnsAreTheRecord(t *testing.T) {
	t.Parallel()
	flush := turns.Entry{Time: march, Kind: turns.KindFlush, Session: "talk", Flush: &turns.Flush{Outcome: "done", Covered: 3, Notes: []turns.Note{{Path: "a.md", Line: 4}}}}
	compaction := turns.Entry{Time: march, Kind: turns.KindCompaction, Compaction: &turns.Compaction{Before: 9, After: 4}}
	conn := beside(t, server.Options{}, map[string]server.Sidecar{"main": withTurns(t, promptOf("talk", "main"), flush, compaction)}).LocalOperations()
	list := func(in server.TurnsOf) (server.TurnList, error) {
		return server.Beside.Turns.Call(t.Context(), conn, in)
	}
	got, err := list(server.TurnsOf{})
	if err != nil || !got.Kept || got.MessagesKept || len(got.Sessions) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	if diff := cmp.Diff([]turns.Entry{compaction, flush, promptOf("talk", "main")}, got.Entries, cmpopts.IgnoreFields(turns.Entry{}, "ID")); diff != "" {
		t.Error(diff)
	}
	page, err := list(server.TurnsOf{PageSize: 2})
	if err != nil || len(page.Entries) != 2 || page.Next == "" {
		t.Fatalf("%+v, %v", page, err)
	}
	page, err = list(server.TurnsOf{PageSize: 2, PageToken: page.Next})
	if err != nil || len(page.Entries) != 1 || page.Next != "" {
		t.Errorf("%+v, %v", page, err)
	}
	for field, in := range map[string]server.TurnsOf{"page_size": {PageSize: 201}, "since": {Since: "March"}} {
		_, err = list(in)
		var input *memory.InputError
		if !errors.As(err, &input) || input.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// Hazard C05: a turn that somebody else made with a shared agent tells a token that may not reach that agent nothing of it, neither in the
// turns nor in the counts of days.
func TestTurnsHideAgentsThatTheCallerMayNotReach(t *testing.T) {
	t.Parallel()
	sidecars := map[string]server.Sidecar{"ann": withTurns(t, promptOf("s", "ann", "bob")), "bob": withTurns(t)}
	conn := overHTTP{besideOnTCP(t, server.Options{Tokens: openTokens(t, tokenLine("a", "tok-a", "[ann]", false)), Location: time.UTC}, sidecars), "tok-a"}
	got, err := server.Beside.Turns.Call(t.Context(), conn, server.TurnsOf{})
	if err != nil || len(got.Entries[0].Recall.In) != 1 || len(got.Entries[0].Recall.Out) != 1 || len(got.Entries[0].Recall.Searches) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	days, err := server.Notes.Activity.Call(t.Context(), conn, server.DaysOf{})
	if err != nil || len(days.Days) != 2 || days.Days[0].Recalled != 1 || days.Days[1].Used != 1 {
		t.Errorf("%+v, %v", days, err)
	}
}

// The activity joins what memory has of each day with what was recalled of it and on it.
func TestActivityJoinsNotesAndTurns(t *testing.T) {
	t.Parallel()
	m := &fakeMemory{activity: func(_ context.Context, since, until string) (memory.Activity, error) {
		if since != "2026-01-01" || until != "" {
			t.Errorf("since %q until %q", since, until)
		}
		return memory.Activity{Undated: 4, Days: []memory.ActivityDay{{Date: "2026-03-01", Notes: 2, Chunks: 5, Changed: 1}}}, nil
	}}
	s := beside(t, server.Options{Agents: map[string]server.Memory{"main": m}, Location: time.UTC}, map[string]server.Sidecar{"main": withTurns(t, promptOf("s", "main"))})
	got, err := server.Notes.Activity.Call(t.Context(), s.LocalOperations(), server.DaysOf{Since: "2026-01-01"})
	if err != nil || got.Today == "" {
		t.Fatalf("%+v, %v", got, err)
	}
	want := memory.Activity{Undated: 4, TurnsKept: true, Today: got.Today, Days: []memory.ActivityDay{
		{Date: "2026-03-01", Notes: 2, Chunks: 5, Changed: 1, Recalled: 1}, {Date: "2026-03-02", Turns: 1, Used: 1}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A map says why it could not be made, and not what the cause was.
func TestMapTellsNoCause(t *testing.T) {
	t.Parallel()
	s := newServer(t, agents(&fakeMemory{drawn: func(_ context.Context, q memory.MapQuery) (memory.Map, error) {
		return memory.Map{Version: "v1", TotalChunks: q.MaxPoints, Err: errors.New("/secret/place")}, nil
	}}))
	got, err := server.Notes.Map.Call(t.Context(), s.LocalOperations(), server.MapOf{MapQuery: memory.MapQuery{MaxPoints: 7}})
	if err != nil || got.TotalChunks != 7 || got.Err == nil || strings.Contains(got.Err.Error(), "secret") {
		t.Errorf("%+v, %v", got, err)
	}
}
