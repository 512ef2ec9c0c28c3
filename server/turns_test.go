package server_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"

	"kioku/agent/turns"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
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

// ListTurns returns the record of a sidecar: layers, recalled passages with their scores and what was left out and why, flushes and
// compactions.
func TestListTurnsReturnsTheRecord(t *testing.T) {
	t.Parallel()
	flush := turns.Entry{Time: march, Kind: turns.KindFlush, Session: "talk", Flush: &turns.Flush{Outcome: "done", Covered: 3, Notes: []turns.Note{{Path: "a.md", Line: 4}}}}
	compaction := turns.Entry{Time: march, Kind: turns.KindCompaction, Compaction: &turns.Compaction{Before: 9, After: 4}}
	client := localAgents(t, beside(t, server.Options{}, map[string]server.Sidecar{"main": withTurns(t, promptOf("talk", "main"), flush, compaction)}))
	resp, err := client.ListTurns(t.Context(), &kiokuv1.ListTurnsRequest{Agent: "main"})
	if err != nil || len(resp.GetTurns()) != 3 || !resp.GetKept() || resp.GetMessagesKept() || len(resp.GetSessions()) != 2 {
		t.Fatalf("%v, %v", resp, err)
	}
	want := &kiokuv1.Turn{Kind: "prompt", Session: "talk", Time: kiokuv1.TimeOf(march), Tokens: 30,
		Layers: []*kiokuv1.PromptLayer{{Name: "identity", Chars: 90, Tokens: 30}}, Cuts: []*kiokuv1.PromptCut{{Part: "USER.md", FromTokens: 9, ToTokens: 1}},
		Recall: &kiokuv1.RecallReport{
			Recalled: []*kiokuv1.RecalledMemory{{Agent: "main", Path: "of-main.md", StartLine: 1, EndLine: 2, Score: 0.5, VectorScore: 0.75, TextScore: 0.25, Date: "2026-03-01"}},
			LeftOut:  []*kiokuv1.RecalledMemory{{Agent: "main", Path: "out-main.md", Reason: "no room"}},
			Searches: []*kiokuv1.RecallSearch{{Agent: "main", HitCount: 1, Mode: "hybrid"}}}}
	ignore := protocmp.IgnoreFields(&kiokuv1.Turn{}, "id")
	if diff := cmp.Diff(want, resp.Turns[2], protocmp.Transform(), ignore, protocmp.IgnoreFields(&kiokuv1.RecallReport{}, "took"),
		protocmp.IgnoreFields(&kiokuv1.RecallSearch{}, "took")); diff != "" {
		t.Error(diff)
	}
	if f := resp.Turns[1].GetFlush(); f.GetCoveredCount() != 3 || f.GetNotes()[0].GetLine() != 4 || resp.Turns[0].GetCompaction().GetTokensAfter() != 4 {
		t.Errorf("%v\n%v", resp.Turns[1], resp.Turns[0])
	}
	page, err := client.ListTurns(t.Context(), &kiokuv1.ListTurnsRequest{Agent: "main", PageSize: 2})
	if err != nil || len(page.GetTurns()) != 2 || page.GetNextPageToken() == "" {
		t.Fatalf("%v, %v", page, err)
	}
	page, err = client.ListTurns(t.Context(), &kiokuv1.ListTurnsRequest{Agent: "main", PageSize: 2, PageToken: page.GetNextPageToken()})
	if err != nil || len(page.GetTurns()) != 1 || page.GetNextPageToken() != "" {
		t.Errorf("%v, %v", page, err)
	}
	for field, req := range map[string]*kiokuv1.ListTurnsRequest{"page_size": {PageSize: 201}, "since": {Since: "March"}} {
		_, err = client.ListTurns(t.Context(), req)
		wantViolation(t, err, field)
	}
}

// Hazard C05: a turn that somebody else made with a shared agent tells a token that may not reach that agent nothing of it, neither in the
// turns nor in the counts of days.
func TestTurnsHideAgentsThatTheCallerMayNotReach(t *testing.T) {
	t.Parallel()
	sidecars := map[string]server.Sidecar{"ann": withTurns(t, promptOf("s", "ann", "bob")), "bob": withTurns(t)}
	conn := dial(t, besideOnTCP(t, server.Options{Tokens: openTokens(t, tokenLine("a", "tok-a", "[ann]", false)), Location: time.UTC}, sidecars))
	resp, err := kiokuv1.NewAgentServiceClient(conn).ListTurns(with(t, "tok-a"), &kiokuv1.ListTurnsRequest{Agent: "ann"})
	if err != nil || strings.Contains(fmt.Sprint(resp), "bob") || len(resp.GetTurns()[0].GetRecall().GetRecalled()) != 1 {
		t.Errorf("%v, %v", resp, err)
	}
	days, err := kiokuv1.NewMemoryServiceClient(conn).Activity(with(t, "tok-a"), &kiokuv1.ActivityRequest{Agent: "ann"})
	if err != nil || len(days.GetDays()) != 2 || days.Days[0].GetRecalledCount() != 1 || days.Days[1].GetUsedCount() != 1 {
		t.Errorf("%v, %v", days, err)
	}
}

// Activity joins what memory has of each day with what was recalled of it and on it.
func TestActivityJoinsNotesAndTurns(t *testing.T) {
	t.Parallel()
	m := &fakeMemory{activity: func(_ context.Context, since, until string) (memory.Activity, error) {
		if since != "2026-01-01" || until != "" {
			t.Errorf("since %q until %q", since, until)
		}
		return memory.Activity{Undated: 4, Days: []memory.ActivityDay{{Date: "2026-03-01", Notes: 2, Chunks: 5, Changed: 1}}}, nil
	}}
	s := beside(t, server.Options{Agents: map[string]server.Memory{"main": m}, Location: time.UTC}, map[string]server.Sidecar{"main": withTurns(t, promptOf("s", "main"))})
	resp, err := s.Local().Activity(t.Context(), &kiokuv1.ActivityRequest{Agent: "main", Since: "2026-01-01"})
	if err != nil || resp.GetToday() == "" {
		t.Fatalf("%v, %v", resp, err)
	}
	want := &kiokuv1.ActivityResponse{UndatedNoteCount: 4, TurnsKept: true, Days: []*kiokuv1.ActivityDay{
		{Date: "2026-03-01", NoteCount: 2, ChunkCount: 5, ChangedCount: 1, RecalledCount: 1}, {Date: "2026-03-02", TurnCount: 1, UsedCount: 1}}}
	if diff := cmp.Diff(want, resp, protocmp.Transform(), protocmp.IgnoreFields(&kiokuv1.ActivityResponse{}, "today")); diff != "" {
		t.Error(diff)
	}
}

// A map comes as columns that refer to its files, headings and dates, and fits into a message.
func TestMemoryMapReturnsColumns(t *testing.T) {
	t.Parallel()
	drawn := memory.Map{Version: "v1", Basis: memory.MapOfVectors, TotalChunks: 3, Made: march, Took: time.Second,
		Files:    []memory.MapFile{{Path: "unused.md"}, {Path: "a.md", Title: "A", Tags: []string{"x"}}},
		Clusters: []memory.MapCluster{{Terms: []string{"tea"}, X: 0.5, Y: 0.25, Size: 2}},
		Points: []memory.MapPoint{{X: 0.5, Y: 0.25, File: 1, StartLine: 1, EndLine: 9, Heading: "# A", Date: "2026-03-01"},
			{X: 0.75, Y: 1, File: 1, StartLine: 8, EndLine: 12, Heading: "# A", Cluster: -1}}}
	client := local(t, agents(&fakeMemory{drawn: func(_ context.Context, q memory.MapQuery) (memory.Map, error) {
		if q.KnownVersion == "large" {
			return largeMap(), nil
		}
		if q.MaxPoints != 7 || q.KnownVersion != "v0" {
			t.Errorf("%+v", q)
		}
		return drawn, nil
	}}))
	resp, err := client.MemoryMap(t.Context(), &kiokuv1.MemoryMapRequest{Agent: "main", MaxPoints: 7, KnownVersion: "v0"})
	if err != nil {
		t.Fatal(err)
	}
	want := &kiokuv1.MapPoints{X: []float32{0.5, 0.75}, Y: []float32{0.25, 1}, File: []int32{0, 0}, StartLine: []int32{1, 8}, EndLine: []int32{9, 12},
		Heading: []int32{0, 0}, Date: []int32{0, -1}, Cluster: []int32{0, -1}}
	if diff := cmp.Diff(want, resp.GetPoints(), protocmp.Transform()); diff != "" || len(resp.GetFiles()) != 1 || resp.Files[0].GetPath() != "a.md" ||
		fmt.Sprint(resp.GetHeadings(), resp.GetDates()) != "[# A] [2026-03-01]" || resp.GetClusters()[0].GetTerms()[0] != "tea" {
		t.Errorf("%v\n%s", resp, diff)
	}
	resp, err = client.MemoryMap(t.Context(), &kiokuv1.MemoryMapRequest{Agent: "main", KnownVersion: "large"})
	if err != nil || len(resp.GetPoints().GetX()) != 20_000 {
		t.Errorf("%d points of a large map, %v", len(resp.GetPoints().GetX()), err)
	}
	_, err = client.MemoryMap(t.Context(), &kiokuv1.MemoryMapRequest{Agent: "nobody"})
	wantCode(t, err, codes.NotFound)
}

// largeMap is a map with as many points as there may be, each with a file, a heading and tags of its own.
func largeMap() memory.Map {
	m := memory.Map{Version: "large"}
	for i := range 20_000 {
		m.Files = append(m.Files, memory.MapFile{Path: fmt.Sprintf("notes/%d.md", i), Tags: []string{strings.Repeat("t", 100), fmt.Sprint(i)}})
		m.Points = append(m.Points, memory.MapPoint{X: 0.1, Y: 0.2, File: i, StartLine: 1, EndLine: 2, Heading: fmt.Sprint(i, strings.Repeat("h", 200))})
	}
	return m
}
