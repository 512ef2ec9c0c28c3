package server_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku"
	"kioku/embed"
	"kioku/indexer"
	"kioku/internal/modelhttp"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
	"kioku/server/op"
	"kioku/store"
	"kioku/vectors"
)

// opsOf reaches the operations of a server of one memory in this process.
func opsOf(t *testing.T, m server.Memory) http.RoundTripper {
	t.Helper()
	return newServer(t, agents(m)).LocalOperations()
}

// wantViolation checks that an error names a field of a request, over gRPC or of an operation.
func wantViolation(t *testing.T, err error, field string) {
	t.Helper()
	if said, ok := errors.AsType[*op.Error](err); ok {
		if said.Code != "INVALID_ARGUMENT" || len(said.Fields) != 1 || said.Fields[0].Field != field {
			t.Errorf("%s: got %+v", field, said)
		}
		return
	}
	st := status.Convert(err)
	if st.Code() != codes.InvalidArgument || len(st.Details()) != 1 {
		t.Errorf("%s: got %v, want InvalidArgument with one detail", field, err)
		return
	}
	bad, ok := st.Details()[0].(*errdetails.BadRequest)
	if !ok || len(bad.GetFieldViolations()) != 1 || bad.GetFieldViolations()[0].GetField() != field {
		t.Errorf("details = %v, want a violation of %q", st.Details(), field)
	}
}

// codeOf returns the code of an error of an operation.
func codeOf(err error) string {
	if said, ok := errors.AsType[*op.Error](err); ok {
		return said.Code
	}
	return ""
}

// steps reads a stream to its end.
func steps[T any](parts iter.Seq2[T, error]) (all []T, err error) {
	for part, err := range parts {
		if err != nil {
			return all, err
		}
		all = append(all, part)
	}
	return all, nil
}

// A question and its answer pass through an operation whole, and the time of the question falls on the day of the service.
func TestSearchPassesOnAndBack(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	answer := memory.Answer{
		Mode: memory.ModeHybrid, Provider: "openai", Model: "small", Degraded: []memory.Degradation{{Code: memory.IndexStale, Text: "2 files wait"}},
		Hits: []memory.Hit{{Path: "memory/2026-02-01.md", StartLine: 3, EndLine: 9, Score: 0.8, Snippet: "会議は木曜 \uFFFD", SnippetStart: 4, SnippetEnd: 5,
			Source: "memory", Headings: "# 予定", Date: "2026-02-01", VectorScore: 0.7, TextScore: 0.6, Weak: true, Citation: "memory/2026-02-01.md#L3-L9",
			Origin: &memory.Origin{Channel: "discord:general", Authors: []memory.Author{{ID: "u1", Name: "Ana"}}},
			Trace:  &memory.Trace{Rank: 1, VectorRank: 2, Merged: 0.67, Decay: 0.9, Terms: []memory.TermShare{{Term: "会議", IDF: 2.5, Count: 1, Share: 0.5}}}}},
		Units: []memory.FoundUnit{{Unit: memory.Unit{UID: "9f", Kind: "fact", State: "validated"}, Text: "Ines lives in Porto", Score: 0.5, Names: []string{"Ines"}}},
		Index: memory.IndexStats{Generation: 7, Files: 2, Chunks: 5, PendingFiles: 1, LastSync: at}, Took: 3 * time.Millisecond, Abstained: "no", Withheld: 2,
	}
	var got memory.Query
	opt := agents(&fakeMemory{search: func(_ context.Context, q memory.Query) (memory.Answer, error) {
		got = q
		bad := answer
		bad.Hits = []memory.Hit{answer.Hits[0]}
		bad.Hits[0].Snippet = "会議は木曜 \xff" // of a note that is no UTF-8
		return bad, nil
	}})
	opt.Location = time.FixedZone("Tokyo", 9*3600)
	score := 0.5
	q := memory.Query{
		Text: "茶", MaxResults: 9, MaxPerFile: 2, MinScore: &score, Explain: true, Granularity: "chunk", SnippetChars: 300, Clauses: true,
		Filter:  memory.Filter{Sources: []string{"memory"}, PathPrefix: "memory/2026", Since: "2026-01-02", Until: "2026-02-03", Where: []memory.Condition{{Field: "tags", Op: "in", Values: []string{"x"}}}},
		Now:     time.Date(2026, 1, 19, 20, 0, 0, 0, time.UTC),
		Context: []memory.Turn{{Speaker: "user", Text: "Tea?"}}, Queries: []string{"chai"}, Kinds: []string{"fact"}, AsOf: at, IncludeSuperseded: true,
	}
	back, err := server.Notes.SearchByPost.Call(t.Context(), newServer(t, opt).LocalOperations(), server.SearchNotes{Query: q, MaxSensitivity: "normal"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(answer, back, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	normal := memory.Normal
	q.MaxSensitivity = &normal
	if diff := cmp.Diff(q, got); diff != "" || got.Now.Format(time.DateOnly) != "2026-01-20" {
		t.Errorf("query (-want +got):\n%s\nof %s", diff, got.Now)
	}
}

// Notes, updates and their undo pass through operations whole, and errors keep their kind.
func TestNotesPassOnAndBack(t *testing.T) {
	t.Parallel()
	secrets := []memory.ReplacedSecret{{Kind: "AWS key", Reference: "[secret left out]"}}
	added := memory.Appended{Path: "MEMORY.md", StartLine: 2, Secrets: secrets, Similar: &memory.SimilarNote{Path: "MEMORY.md", Line: 4, Text: "- tea"}}
	updated := memory.Updated{Path: "USER.md", StartLine: 3, Revision: "r1", Secrets: secrets}
	revision := memory.Revision{ID: "r1", Time: time.Unix(7, 0).UTC(), Path: "USER.md", Line: 3, OldText: "a", NewText: "b", Reason: "c", Source: "agent", Undoes: "r0", Undone: true}
	note := memory.Note{Text: "お茶が好き", Target: "long_term", Category: "taste", Key: "k1", Source: "tool", KeepSecrets: true, Session: "s"}
	update := memory.Update{Path: "USER.md", OldText: "a", NewText: "b", Reason: "c", Source: "agent", KeepSecrets: true}
	excerpt := memory.Excerpt{Path: "MEMORY.md", Text: "a\nb", From: 5, Lines: 2, TotalLines: 99, Truncated: true, NextFrom: 7}
	var asked []any
	conn := opsOf(t, &fakeMemory{
		get: func(_ context.Context, r memory.GetRequest) (memory.Excerpt, error) {
			asked = append(asked, r)
			return excerpt, nil
		},
		append: func(_ context.Context, n memory.Note) (memory.Appended, error) {
			asked = append(asked, n)
			if n.Key == "taken" {
				return memory.Appended{}, fmt.Errorf("append to MEMORY.md: %w", memory.ErrConflict)
			}
			return added, nil
		},
		update: func(_ context.Context, u memory.Update) (memory.Updated, error) {
			asked = append(asked, u)
			return updated, nil
		},
		undo: func(_ context.Context, id string) (memory.Updated, error) {
			asked = append(asked, id)
			return updated, nil
		},
		revisions: func(context.Context) ([]memory.Revision, error) { return []memory.Revision{revision}, nil },
	})
	ops := server.Notes
	var got []any
	add := func(v any, err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
		got = append(got, v)
	}
	read := memory.GetRequest{Path: "memory/茶 & more.md", From: 5, Lines: 2}
	add(ops.Get.Call(t.Context(), conn, server.GetNote{GetRequest: read}))
	add(ops.Append.Call(t.Context(), conn, server.AppendNote{Note: note}))
	add(ops.Update.Call(t.Context(), conn, server.UpdateNote{Update: update}))
	add(ops.Undo.Call(t.Context(), conn, server.UndoUpdate{Revision: "r1"}))
	add(ops.Revisions.Call(t.Context(), conn, server.OfAgent{}))
	if diff := cmp.Diff([]any{excerpt, added, updated, updated, []memory.Revision{revision}}, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{read, note, update, "r1"}, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	// Hazard F06: a key that comes again with another text is an error of its own kind.
	_, err := ops.Append.Call(t.Context(), conn, server.AppendNote{Note: memory.Note{Text: "x", Key: "taken"}})
	if !errors.Is(err, memory.ErrConflict) {
		t.Errorf("a conflict: %v", err)
	}
}

// A page of files that is too large ends early, and says where it goes on.
func TestFilesStayWithinAMessage(t *testing.T) {
	t.Parallel()
	var many memory.FileList
	for i := range 10_000 {
		many.Files = append(many.Files, memory.File{Path: fmt.Sprintf("%05d.md", i), Title: strings.Repeat("x", 500)})
	}
	conn := opsOf(t, &fakeMemory{files: func(context.Context, memory.FileQuery) (memory.FileList, error) { return many, nil }})
	list, err := server.Notes.List.Call(t.Context(), conn, server.ListNotes{})
	if n := len(list.Files); err != nil || n < 1000 || n == 10_000 || list.Next != list.Files[n-1].Path {
		t.Errorf("%d files, next %q, %v", n, list.Next, err)
	}
	_, err = server.Notes.List.Call(t.Context(), conn, server.ListNotes{FileQuery: memory.FileQuery{Limit: -1}})
	wantViolation(t, err, "page_size")
}

// A status tells what the memory has, the version, and errors as texts; of many skipped files it counts the rest.
func TestStatusTellsWhatTheMemoryHas(t *testing.T) {
	t.Parallel()
	many := make([]memory.SkippedFile, 200_000)
	st := kioku.Status{
		Workspace: "/w", Sizes: store.Sizes{Path: "/s/main.sqlite", Database: 10, WAL: 20, Resident: 30}, Embedded: 4, Skipped: many,
		Sync: indexer.SyncState{WatchMode: "polling", Unavailable: []string{"/gone"}, Syncing: true, LastErr: errBoom}, AllResidentBytes: 40, BudgetBytes: 50,
		Space: embed.Space{Provider: "openai", Model: "small", Dims: 3}, Health: embed.Health{Err: errBoom, RetryAt: time.Unix(9, 0).UTC()}, RerankerErr: errBoom,
		Degraded: []memory.Degradation{{Code: memory.ProviderDown, Text: "down"}}, Backfill: vectors.State{Running: true, Total: 9, Left: time.Minute},
		Check: &kioku.IndexCheck{Checked: store.Checked{Pages: 3, Found: []string{"a row"}}, Time: time.Unix(8, 0).UTC()},
	}
	opt := agents(&fakeMemory{status: func(context.Context) (kioku.Status, error) { return st, nil }})
	opt.Version = "v1.2.3"
	got, err := server.Notes.Status.Call(t.Context(), newServer(t, opt).LocalOperations(), server.OfAgent{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(got.Skipped); n != 501 || got.Skipped[500].Reason != "and 199500 more files" {
		t.Errorf("%d skipped files", n)
	}
	got.Skipped, st.Skipped = nil, nil
	want := server.IndexStatus{Status: st, Version: "v1.2.3"}
	want.Agent = "main"
	sameText := cmp.Comparer(func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) })
	if diff := cmp.Diff(want, got, sameText, cmpopts.IgnoreUnexported(indexer.SyncState{}), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

// Hazard C05: what a process sends and how much memory all agents take is told to those who may reach all of them.
func TestStatusHidesOtherAgents(t *testing.T) {
	t.Parallel()
	network := modelhttp.NewNetwork(modelhttp.NetworkOptions{})
	network.SetOffline(true)
	if _, err := (&http.Client{Transport: network.Transport("embeddings")}).Get("https://models.of.bob.example/v1"); !errors.Is(err, modelhttp.ErrOffline) {
		t.Fatal(err)
	}
	m := &fakeMemory{status: func(context.Context) (kioku.Status, error) {
		return kioku.Status{Sizes: store.Sizes{Resident: 30}, AllResidentBytes: 40, BudgetBytes: 50}, nil
	}}
	address := onTCP(t, server.Options{
		Agents: map[string]server.Memory{"ann": m, "bob": m}, Network: network,
		Tokens: openTokens(t, tokenLine("ann", "tok-ann", "[ann]", true), tokenLine("all", "tok-all", `"*"`, false), tokenLine("both", "tok-both", "[ann, bob]", false)),
	})
	for token, all := range map[string]bool{"tok-ann": false, "tok-all": true, "tok-both": true} {
		got, err := server.Notes.Status.Call(t.Context(), overHTTP{address, token}, server.OfAgent{Agent: "ann"})
		if err != nil {
			t.Fatal(err)
		}
		told := []bool{len(got.Egress) > 0, got.AllResidentBytes > 0, got.BudgetBytes > 0, got.Sizes.Resident > 0, got.Offline}
		if diff := cmp.Diff([]bool{all, all, all, true, true}, told); diff != "" {
			t.Errorf("%s: what is told (-want +got):\n%s", token, diff)
		}
	}
}

func TestAgentsAreSortedAndSurviveABrokenIndex(t *testing.T) {
	t.Parallel()
	broken := &fakeMemory{workspace: "/b", state: func(context.Context) (memory.IndexStats, error) { return memory.IndexStats{}, errBoom }}
	fine := &fakeMemory{workspace: "/a", state: func(context.Context) (memory.IndexStats, error) { return memory.IndexStats{Files: 3}, nil }}
	s := newServer(t, server.Options{Agents: map[string]server.Memory{"zoe": fine, "bob": broken}})
	got, err := server.Notes.Agents.Call(t.Context(), s.LocalOperations(), server.None{})
	want := []server.Agent{{ID: "bob", Workspace: "/b"}, {ID: "zoe", Workspace: "/a", Index: &memory.IndexStats{Files: 3}}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// Hazard D13: an answer that would not fit into a message is cut and says so; a request that does not is refused.
func TestAnswersStayWithinTheirLimit(t *testing.T) {
	t.Parallel()
	huge := memory.Answer{}
	for range 100 {
		huge.Hits = append(huge.Hits, memory.Hit{Path: "memory/a.md", Snippet: strings.Repeat("字\xff", 30_000)})
	}
	client := local(t, agents(&fakeMemory{search: func(context.Context, memory.Query) (memory.Answer, error) { return huge, nil }}))
	found, err := client.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Agent: "main", Query: "tea"})
	if err != nil {
		t.Fatal(err)
	}
	degraded := found.GetDegraded()
	if n := len(found.GetResults()); n == 0 || n == 100 || len(degraded) != 1 || degraded[0].GetCode() != "truncated" {
		t.Errorf("%d results, degraded %v; want some results and the code truncated", n, degraded)
	}
	_, err = kiokuv1.NewMemoryServiceClient(onSocket(t, agents(&fakeMemory{}))).MemoryAppend(t.Context(),
		&kiokuv1.MemoryAppendRequest{Agent: "main", Text: strings.Repeat("x", 5<<20)})
	wantCode(t, err, codes.ResourceExhausted)
	if !strings.Contains(status.Convert(err).Message(), "larger than max") {
		t.Errorf("message %q does not tell the limit", status.Convert(err).Message())
	}
}

// A sync tells its progress, and then what it wrote and what it could not do.
func TestSyncTellsProgressAndThenAReport(t *testing.T) {
	t.Parallel()
	var got kioku.SyncOptions
	first := indexer.Progress{Phase: indexer.PhaseIndex, FilesDone: 1, FilesTotal: 2, Chunks: 3, Skipped: 1, Path: "MEMORY.md"}
	report := kioku.SyncReport{Report: indexer.Report{Files: 2, Chunks: 6, Removed: 3, Known: 7, Stale: "chunking changed", Unavailable: []string{"/gone"}, Took: time.Second},
		Embedded: 4, EmbedErr: errBoom, Refused: 2, RefusedErr: errBoom, Truncated: 3, Unembedded: 2}
	conn := opsOf(t, &fakeMemory{
		sync: func(_ context.Context, opt kioku.SyncOptions, step func(indexer.Progress)) (kioku.SyncReport, error) {
			got = opt
			step(first)
			return report, nil
		},
		state: func(context.Context) (memory.IndexStats, error) { return memory.IndexStats{Generation: 9}, nil },
	})
	options := indexer.SyncOptions{Verify: true, Prune: true, NoRebuild: true}
	all, err := steps(server.Notes.Sync.Call(t.Context(), conn, server.SyncIndex{SyncOptions: options}))
	if err != nil || len(all) != 2 || got != options || !cmp.Equal(all[0].Progress, &first) {
		t.Fatalf("%+v, %v, options %+v", all, err, got)
	}
	done := all[1].Report
	if done.Files != 2 || done.Known != 7 || done.Embedded != 4 || done.Took != time.Second || done.Index.Generation != 9 {
		t.Errorf("%+v", done)
	}
	var told []string
	for _, d := range done.Degraded {
		told = append(told, d.Code+": "+d.Text)
	}
	want := []string{
		"provider_down: some texts have no vectors: " + errBoom.Error(),
		"index_stale: the index was made with other settings: chunking changed",
		"vectors_missing: 2 passages have no vector yet",
		"vectors_missing: the embedding provider refuses 2 texts: " + errBoom.Error(),
		"vectors_missing: 3 texts have lines that are longer than the embedding model takes: the ends of these are in no vector",
		"workspace_unavailable: cannot be read now, its notes are kept: /gone",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
	if all, err = steps(server.Notes.Rebuild.Call(t.Context(), conn, server.OfAgent{})); err != nil || len(all) != 2 || !got.Verify {
		t.Errorf("a rebuild: %+v, %v", all, err)
	}
	report.EmbedErr = fmt.Errorf("%w: %w", vectors.ErrNotAdopted, errBoom)
	all, err = steps(server.Notes.Sync.Call(t.Context(), conn, server.SyncIndex{}))
	if err != nil || all[1].Report.Degraded[0].Code != memory.SpaceChanged {
		t.Errorf("with the vectors of the model before: %+v, %v", all, err)
	}
}

func TestSyncThatFailsIsAnError(t *testing.T) {
	t.Parallel()
	conn := opsOf(t, &fakeMemory{sync: func(context.Context, kioku.SyncOptions, func(indexer.Progress)) (kioku.SyncReport, error) {
		return kioku.SyncReport{}, memory.ErrReadOnly
	}})
	if _, err := steps(server.Notes.Sync.Call(t.Context(), conn, server.SyncIndex{})); !errors.Is(err, memory.ErrReadOnly) {
		t.Error(err)
	}
}

// Hazard D14: a panic in the work of a stream ends only that stream.
func TestSyncThatPanicsEndsOnlyItsStream(t *testing.T) {
	t.Parallel()
	client := local(t, agents(&fakeMemory{
		sync: func(_ context.Context, _ kioku.SyncOptions, step func(indexer.Progress)) (kioku.SyncReport, error) {
			step(indexer.Progress{Phase: indexer.PhaseScan})
			panic("no more")
		},
	}))
	_, err := last(client.Sync(t.Context(), &kiokuv1.SyncRequest{Agent: "main"}))
	wantCode(t, err, codes.Internal)
	if _, err := client.ListAgents(t.Context(), &kiokuv1.ListAgentsRequest{}); err != nil {
		t.Errorf("after the panic: %v", err)
	}
}

func TestSyncDoesNotWaitForASlowCaller(t *testing.T) {
	t.Parallel()
	synced := make(chan struct{})
	conn := opsOf(t, &fakeMemory{sync: func(_ context.Context, _ kioku.SyncOptions, step func(indexer.Progress)) (kioku.SyncReport, error) {
		defer close(synced)
		for range 10_000 {
			step(indexer.Progress{Phase: indexer.PhaseIndex, Path: string(make([]byte, 4096))})
		}
		return kioku.SyncReport{}, nil
	}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := server.Notes.Sync.Open(ctx, conn, server.SyncIndex{}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-synced:
	case <-time.After(soon):
		t.Fatal("the sync waits for a caller that does not read")
	}
}

func TestSyncEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	conn := opsOf(t, &fakeMemory{sync: func(ctx context.Context, _ kioku.SyncOptions, step func(indexer.Progress)) (kioku.SyncReport, error) {
		step(indexer.Progress{Phase: indexer.PhaseScan})
		<-ctx.Done()
		close(ended)
		return kioku.SyncReport{}, ctx.Err()
	}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := server.Notes.Sync.Open(ctx, conn, server.SyncIndex{}); err != nil {
		t.Fatal(err)
	}
	cancel()
	select {
	case <-ended:
	case <-time.After(soon):
		t.Fatal("the sync goes on without its caller")
	}
}

// Events are told from when a stream has begun, over gRPC as by an operation, until the memory ends.
func TestEventsEndWithTheMemory(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	event := kioku.Event{Event: indexer.Event{Kind: indexer.FileIndexed, Path: "MEMORY.md", Text: "t\xff", Chunks: 2, Time: at}, Generation: 4}
	fake := &fakeMemory{events: make(chan kioku.Event)}
	parts, err := server.Notes.Events.Open(t.Context(), opsOf(t, fake), server.OfAgent{})
	if err != nil {
		t.Fatal(err)
	}
	next, stop := iter.Pull2(parts)
	defer stop()
	fake.events <- event
	event.Text = "t\uFFFD"
	if got, err, _ := next(); err != nil || !cmp.Equal(event, got) {
		t.Errorf("%+v, %v", got, err)
	}
	close(fake.events)
	if _, err, _ := next(); codeOf(err) != "UNAVAILABLE" {
		t.Errorf("at the end: %v", err)
	}
	fake = &fakeMemory{events: make(chan kioku.Event)}
	stream, err := local(t, agents(fake)).WatchEvents(t.Context(), &kiokuv1.WatchEventsRequest{Agent: "main"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Header(); err != nil {
		t.Fatal(err)
	}
	fake.events <- event
	got, err := stream.Recv()
	if e := got.GetEvent(); err != nil || e.GetPath() != "MEMORY.md" || e.GetChunks() != 2 || e.GetGeneration() != 4 || !e.GetTime().AsTime().Equal(at) {
		t.Errorf("%v, %v", got, err)
	}
	close(fake.events)
	_, err = stream.Recv()
	wantCode(t, err, codes.Unavailable)
}

func TestTheAgentMayBeLeftOutIfTheCallerReachesOnlyOne(t *testing.T) {
	t.Parallel()
	asked := map[string]int{}
	counts := func(id string) *fakeMemory {
		return &fakeMemory{search: func(context.Context, memory.Query) (memory.Answer, error) {
			asked[id]++
			return memory.Answer{}, nil
		}}
	}
	opt := server.Options{Agents: map[string]server.Memory{"ann": counts("ann"), "bob": counts("bob"), "zoe": counts("zoe")}, Tokens: openTokens(t,
		tokenLine("one", "one", "[bob]", true), tokenLine("reader", "reader", "[bob]", false), tokenLine("two", "two", "[ann, bob]", true),
		tokenLine("none", "none", "[other]", true))}
	client := kiokuv1.NewMemoryServiceClient(dial(t, onTCP(t, opt)))
	search := func(token string) error {
		_, err := client.MemorySearch(with(t, token), &kiokuv1.MemorySearchRequest{Query: "tea"})
		return err
	}
	if err := search("one"); err != nil || asked["bob"] != 1 || len(asked) != 1 {
		t.Errorf("%v, asked %v", err, asked)
	}
	if _, err := client.MemoryAppend(with(t, "one"), &kiokuv1.MemoryAppendRequest{Text: "x"}); err != nil {
		t.Error(err)
	}
	_, err := client.MemoryAppend(with(t, "reader"), &kiokuv1.MemoryAppendRequest{Text: "x"})
	wantCode(t, err, codes.PermissionDenied)
	if st, err := client.Status(with(t, "one"), &kiokuv1.StatusRequest{}); err != nil || st.Agent != "bob" {
		t.Errorf("the status is of %q, %v", st.GetAgent(), err)
	}
	err = search("two")
	wantViolation(t, err, "agent")
	if err == nil || !strings.Contains(err.Error(), "ann, bob") || strings.Contains(err.Error(), "zoe") {
		t.Errorf("of several: %v, want those that the caller may reach", err)
	}
	err = search("none")
	wantViolation(t, err, "agent")
	if err == nil || strings.Contains(err.Error(), "may reach") {
		t.Errorf("of none: %v", err)
	}
}

// The same holds for AgentService.
func TestTheAgentOfASidecarMayBeLeftOut(t *testing.T) {
	t.Parallel()
	one := agentClient(t, &fakeSidecar{})
	if _, err := one.Recall(t.Context(), &kiokuv1.RecallRequest{Message: "tea"}); err != nil {
		t.Error(err)
	}
	two := localAgents(t, beside(t, server.Options{}, map[string]server.Sidecar{"ann": &fakeSidecar{}, "bob": &fakeSidecar{}}))
	_, err := two.Recall(t.Context(), &kiokuv1.RecallRequest{Message: "tea"})
	wantViolation(t, err, "agent")
}
