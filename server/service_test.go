package server_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"kioku"
	"kioku/client"
	"kioku/embed"
	"kioku/indexer"
	"kioku/internal/modelhttp"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
	"kioku/store"
)

func TestMemorySearchReturnsEveryField(t *testing.T) {
	t.Parallel()
	synced := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	client := local(t, agents(&fakeMemory{search: func(context.Context, memory.Query) (memory.Answer, error) {
		return memory.Answer{
			Mode: memory.ModeHybrid, Provider: "openai", Model: "small",
			Degraded: []memory.Degradation{{Code: memory.IndexStale, Text: "2 files wait"}},
			Hits: []memory.Hit{{
				Path: "memory/2026-02-01.md", StartLine: 3, EndLine: 9, Score: 0.8, Snippet: "会議は木曜", SnippetStart: 4, SnippetEnd: 5,
				Source: "memory", Headings: "# 予定", Date: "2026-02-01", VectorScore: 0.7, TextScore: 0.6, Weak: true,
				Trace: &memory.Trace{RerankRank: 4, RerankScore: -2.5, Rank: 1, VectorRank: 2, TextRank: 3, VectorScore: 0.7, TextScore: 0.6, VectorWeight: 0.7,
					TextWeight: 0.3, Merged: 0.67, DateBonus: 0.3, Decay: 0.9, AgeDays: 28, MMRSimilarity: 0.1, MMRScore: 0.5,
					PairShare: 0.05, BestPartShare: 0.15, ChunkShare: 0.3,
					Terms: []memory.TermShare{{Term: "会議", IDF: 2.5, Count: 1, Share: 0.5}}},
			}},
			Index: memory.IndexStats{Generation: 7, Files: 2, Chunks: 5, PendingFiles: 1, LastSync: synced},
			Took:  3 * time.Millisecond,
		}, nil
	}}))
	got, err := client.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Agent: "main", Query: "会議", Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	want := &kiokuv1.MemorySearchResponse{
		Provider: "openai", Model: "small", Mode: "hybrid", Took: durationpb.New(3 * time.Millisecond),
		Degraded: []*kiokuv1.Degradation{{Code: "index_stale", Text: "2 files wait"}},
		Index:    &kiokuv1.IndexState{Generation: 7, FileCount: 2, ChunkCount: 5, PendingFileCount: 1, LastSyncTime: timestamppb.New(synced)},
		Results: []*kiokuv1.SearchResult{{
			Path: "memory/2026-02-01.md", StartLine: 3, EndLine: 9, Score: 0.8, Snippet: "会議は木曜", SnippetStartLine: 4, SnippetEndLine: 5,
			Source: "memory", Heading: "# 予定", Date: "2026-02-01", VectorScore: 0.7, TextScore: 0.6, Weak: true,
			Citation: "memory/2026-02-01.md#L3-L9",
			Trace: &kiokuv1.Trace{ScoreParts: &kiokuv1.ScoreParts{}, RerankRank: 4, RerankScore: -2.5, Rank: 1, VectorRank: 2, TextRank: 3, VectorScore: 0.7, TextScore: 0.6, VectorWeight: 0.7,
				TextWeight: 0.3, Merged: 0.67, DateBonus: 0.3, Decay: 0.9, AgeDays: 28, MmrSimilarity: 0.1, MmrScore: 0.5,
				PairShare: 0.05, BestPartShare: 0.15, ChunkShare: 0.3,
				Terms: []*kiokuv1.TermShare{{Term: "会議", Idf: 2.5, Count: 1, Share: 0.5}}},
		}},
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

func TestMemorySearchWithoutVectorsNamesTheProviderNone(t *testing.T) {
	t.Parallel()
	resp, err := local(t, agents(&fakeMemory{})).MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Agent: "main", Query: "tea"})
	if err != nil {
		t.Fatal(err)
	}
	if resp.GetProvider() != "none" || resp.GetIndex().GetLastSyncTime() != nil {
		t.Errorf("provider = %q, last sync = %v; want none and nil", resp.GetProvider(), resp.GetIndex().GetLastSyncTime())
	}
}

func TestMemorySearchPassesEveryFieldOn(t *testing.T) {
	t.Parallel()
	var got memory.Query
	client := local(t, agents(&fakeMemory{search: func(_ context.Context, q memory.Query) (memory.Answer, error) {
		got = q
		return memory.Answer{}, nil
	}}))
	score := 0.5
	_, err := client.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{
		Agent: "main", Query: "茶", MaxResults: 9, MinScore: &score, Sources: []string{"memory", "extra"}, PathPrefix: "memory/2026",
		Since: "2026-01-02", Until: "2026-02-03T23:30:00-05:00", Explain: true, AskTime: timestamppb.New(time.Date(2026, 3, 1, 1, 0, 0, 0, time.UTC)), Granularity: "chunk", MaxSnippetChars: 300,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := memory.Query{
		Text: "茶", MaxResults: 9, MinScore: &score, Explain: true, Granularity: "chunk", SnippetChars: 300,
		Filter: memory.Filter{Sources: []string{"memory", "extra"}, PathPrefix: "memory/2026", Since: "2026-01-02", Until: "2026-02-03T23:30:00-05:00"},
		Now:    time.Date(2026, 3, 1, 1, 0, 0, 0, time.UTC),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("query (-want +got):\n%s", diff)
	}
}

func TestMemorySearchPutsAskTimeIntoTheZoneOfTheService(t *testing.T) {
	t.Parallel()
	var got time.Time
	opt := agents(&fakeMemory{search: func(_ context.Context, q memory.Query) (memory.Answer, error) {
		got = q.Now
		return memory.Answer{}, nil
	}})
	opt.Location = time.FixedZone("Tokyo", 9*3600)
	late := timestamppb.New(time.Date(2026, 1, 19, 20, 0, 0, 0, time.UTC))
	if _, err := local(t, opt).MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Agent: "main", Query: "x", AskTime: late}); err != nil {
		t.Fatal(err)
	}
	if day := got.Format(time.DateOnly); day != "2026-01-20" {
		t.Errorf("the day is %s, want 2026-01-20", day)
	}
}

func TestMemorySearchNamesABadField(t *testing.T) {
	t.Parallel()
	client := local(t, agents(&fakeMemory{}))
	_, err := client.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Agent: "main", Query: "tea", AskTime: &timestamppb.Timestamp{Seconds: -1 << 60}})
	wantViolation(t, err, "ask_time")
}

func wantViolation(t *testing.T, err error, field string) {
	t.Helper()
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

func TestExplainNamesFieldsOfItsSearchAsSuch(t *testing.T) {
	t.Parallel()
	client := local(t, agents(&fakeMemory{explain: func(_ context.Context, q memory.Query, path string, _ int) (memory.Explanation, error) {
		if path == "" {
			return memory.Explanation{}, &memory.InputError{Field: "query", Problem: "is blank"}
		}
		return memory.Explanation{}, &memory.InputError{Field: "path", Problem: "is no path"}
	}}))
	_, err := client.Explain(t.Context(), &kiokuv1.ExplainRequest{})
	wantViolation(t, err, "search")
	_, err = client.Explain(t.Context(), &kiokuv1.ExplainRequest{Search: &kiokuv1.MemorySearchRequest{Agent: "-"}})
	wantViolation(t, err, "search.agent")
	_, err = client.Explain(t.Context(), &kiokuv1.ExplainRequest{Search: &kiokuv1.MemorySearchRequest{Agent: "main"}})
	wantViolation(t, err, "search.query")
	_, err = client.Explain(t.Context(), &kiokuv1.ExplainRequest{Search: &kiokuv1.MemorySearchRequest{Agent: "main"}, Path: "\x01"})
	wantViolation(t, err, "path")
}

func TestExplainReturnsOutcomePassageAndIndex(t *testing.T) {
	t.Parallel()
	client := local(t, agents(&fakeMemory{
		explain: func(_ context.Context, q memory.Query, path string, line int) (memory.Explanation, error) {
			if !q.Explain || path != "MEMORY.md" || line != 4 {
				t.Errorf("engine was asked for %v %q %d", q.Explain, path, line)
			}
			return memory.Explanation{
				Answer:  memory.Answer{Mode: memory.ModeKeyword, Index: memory.IndexStats{Generation: 3, PendingFiles: 1}},
				Outcome: memory.BelowThreshold, Text: "0.12 < 0.18",
				Passage: &memory.Hit{Path: path, StartLine: 4, EndLine: 4, Score: 0.12}, Terms: []string{"tea"},
			}, nil
		},
	}))
	got, err := client.Explain(t.Context(), &kiokuv1.ExplainRequest{
		Search: &kiokuv1.MemorySearchRequest{Agent: "main", Query: "tea"}, Path: "MEMORY.md", Line: 4,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := &kiokuv1.ExplainResponse{
		Answer:  &kiokuv1.MemorySearchResponse{Provider: "none", Mode: "keyword", Index: &kiokuv1.IndexState{Generation: 3, PendingFileCount: 1}},
		Outcome: "below_threshold", Text: "0.12 < 0.18", Terms: []string{"tea"},
		Passage: &kiokuv1.SearchResult{Path: "MEMORY.md", StartLine: 4, EndLine: 4, Score: 0.12, Citation: "MEMORY.md#L4-L4"},
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("explanation (-want +got):\n%s", diff)
	}
}

func TestMemoryGetAndMemoryAppendPassEveryFieldOnAndBack(t *testing.T) {
	t.Parallel()
	client := local(t, agents(&fakeMemory{
		get: func(_ context.Context, req memory.GetRequest) (memory.Excerpt, error) {
			return memory.Excerpt{Path: req.Path, Text: "a\nb", From: req.From, Lines: 2, TotalLines: math.MaxInt, Truncated: true, NextFrom: req.From + 2}, nil
		},
		append: func(_ context.Context, n memory.Note) (memory.Appended, error) {
			want := memory.Note{Text: "お茶が好き", Target: "long_term", Category: "taste", Key: "k1", Source: "tool"}
			if diff := cmp.Diff(want, n); diff != "" {
				t.Errorf("note (-want +got):\n%s", diff)
			}
			return memory.Appended{Path: "MEMORY.md", StartLine: 12, Deduplicated: true}, nil
		},
	}))
	got, err := client.MemoryGet(t.Context(), &kiokuv1.MemoryGetRequest{Agent: "main", Path: "MEMORY.md", FromLine: 5, LineCount: 2})
	if err != nil {
		t.Fatal(err)
	}
	want := &kiokuv1.MemoryGetResponse{Path: "MEMORY.md", Text: "a\nb", FromLine: 5, LineCount: 2, TotalLineCount: math.MaxInt32, Truncated: true, NextLine: 7}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("excerpt (-want +got):\n%s", diff)
	}
	added, err := client.MemoryAppend(t.Context(), &kiokuv1.MemoryAppendRequest{
		Agent: "main", Text: "お茶が好き", Target: "long_term", Category: "taste", IdempotencyKey: "k1", Source: "tool",
	})
	if err != nil {
		t.Fatal(err)
	}
	wantAdded := &kiokuv1.MemoryAppendResponse{Path: "MEMORY.md", StartLine: 12, Outcome: "deduplicated"}
	if diff := cmp.Diff(wantAdded, added, protocmp.Transform()); diff != "" {
		t.Errorf("appended (-want +got):\n%s", diff)
	}
}

// A client and the service pass every field of notes, updates and undos on and back, with the secrets that were left out. (C13)
func TestNotesAndUpdatesPassSecretsAndRevisionsOnAndBack(t *testing.T) {
	t.Parallel()
	secrets := []memory.ReplacedSecret{{Kind: "AWS key", Reference: "[secret AKIA…8D1Z left out]"}}
	wantNote := memory.Note{Text: "x", KeepSecrets: true}
	added := memory.Appended{Path: "MEMORY.md", StartLine: 2, Secrets: secrets, Similar: &memory.SimilarNote{Path: "MEMORY.md", Line: 4, Text: "- tea"}}
	wantUpdate := memory.Update{Path: "USER.md", OldText: "a", NewText: "b", Reason: "c", Source: "agent", KeepSecrets: true}
	updated := memory.Updated{Path: "USER.md", StartLine: 3, Revision: "r1", Secrets: secrets}
	opt := agents(&fakeMemory{
		append: func(_ context.Context, n memory.Note) (memory.Appended, error) {
			if diff := cmp.Diff(wantNote, n); diff != "" {
				t.Error(diff)
			}
			return added, nil
		},
		update: func(_ context.Context, u memory.Update) (memory.Updated, error) {
			if diff := cmp.Diff(wantUpdate, u); diff != "" {
				t.Error(diff)
			}
			return updated, nil
		},
		undo: func(_ context.Context, revision string) (memory.Updated, error) {
			return memory.Updated{Path: "USER.md", StartLine: 3, Revision: revision + "!"}, nil
		},
		revisions: func(context.Context) ([]memory.Revision, error) {
			return []memory.Revision{{ID: "r1", Time: time.Unix(7, 0), Path: "USER.md", Line: 3, OldText: "a", NewText: "b", Reason: "c", Source: "agent", Undoes: "r0", Undone: true}}, nil
		},
	})
	c, err := client.Dial(onTCP(t, opt), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got, err := c.Append(t.Context(), wantNote); err != nil || !cmp.Equal(got, added) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := c.Update(t.Context(), wantUpdate); err != nil || !cmp.Equal(got, updated) {
		t.Errorf("%+v, %v", got, err)
	}
	undone, err := local(t, opt).MemoryUndo(t.Context(), &kiokuv1.MemoryUndoRequest{Agent: "main", Revision: "r1"})
	if err != nil || undone.GetPath() != "USER.md" || undone.GetStartLine() != 3 || undone.GetRevision() != "r1!" {
		t.Errorf("%v, %v", undone, err)
	}
	list, err := local(t, opt).ListRevisions(t.Context(), &kiokuv1.ListRevisionsRequest{Agent: "main"})
	if err != nil {
		t.Fatal(err)
	}
	want := &kiokuv1.ListRevisionsResponse{Revisions: []*kiokuv1.Revision{{
		Revision: "r1", UpdateTime: timestamppb.New(time.Unix(7, 0)), Path: "USER.md", Line: 3, OldText: "a", NewText: "b", Reason: "c", Source: "agent",
		Undoes: "r0", Undone: true,
	}}}
	if diff := cmp.Diff(want, list, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

// Hazard F06: a key that comes again with another text is an error of its own kind.
func TestMemoryAppendReportsAConflict(t *testing.T) {
	t.Parallel()
	client := local(t, agents(&fakeMemory{append: func(context.Context, memory.Note) (memory.Appended, error) {
		return memory.Appended{}, fmt.Errorf("append to MEMORY.md: %w", memory.ErrConflict)
	}}))
	_, err := client.MemoryAppend(t.Context(), &kiokuv1.MemoryAppendRequest{Agent: "main", Text: "x", IdempotencyKey: "k"})
	if status.Code(err) != codes.AlreadyExists || !strings.Contains(err.Error(), "use another key") {
		t.Errorf("got %v", err)
	}
}

func TestStatusReportsProviderHealthAndVersion(t *testing.T) {
	t.Parallel()
	retry := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	opt := agents(&fakeMemory{status: func(context.Context) (kioku.Status, error) {
		return kioku.Status{
			Workspace: "/w", Sizes: store.Sizes{Path: "/s/main.sqlite", Database: 10, WAL: 20, Resident: 30}, Embedded: 4, Cached: 5,
			Sync: indexer.SyncState{WatchMode: "polling", WatchNote: "no watches left", Unavailable: []string{"/gone"}, Syncing: true}, AllResidentBytes: 40, BudgetBytes: 50,
			Space: embed.Space{Provider: "openai", Model: "small", Dims: 3}, Health: embed.Health{Err: errBoom, RetryAt: retry},
			Skipped:  []memory.SkippedFile{{Path: "memory/big.md", Reason: "larger than 10 MiB"}},
			Degraded: []memory.Degradation{{Code: memory.ProviderDown, Text: "down"}},
		}, nil
	}})
	opt.Version = "v1.2.3"
	got, err := local(t, opt).Status(t.Context(), &kiokuv1.StatusRequest{Agent: "main"})
	if err != nil {
		t.Fatal(err)
	}
	want := &kiokuv1.StatusResponse{
		Agent: "main", Workspace: "/w", Database: "/s/main.sqlite", Index: &kiokuv1.IndexState{}, WatchMode: "polling", WatchNote: "no watches left",
		Provider:      &kiokuv1.Provider{Provider: "openai", Model: "small", Dims: 3, Error: errBoom.Error(), RetryTime: timestamppb.New(retry)},
		DatabaseBytes: 10, WalBytes: 20, EmbeddedChunkCount: 4, CachedEmbeddingCount: 5, ResidentBytes: 30, MemoryResidentBytes: 40, MemoryBudgetBytes: 50, Unavailable: []string{"/gone"}, Syncing: true, Version: "v1.2.3",
		Skipped:  []*kiokuv1.SkippedFile{{Path: "memory/big.md", Reason: "larger than 10 MiB"}},
		Degraded: []*kiokuv1.Degradation{{Code: "provider_down", Text: "down"}},
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

// Every outbound request of the process is listed by host and purpose, with those that were refused because it is offline.
func TestStatusListsWhatIsSent(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	network := modelhttp.NewNetwork(modelhttp.NetworkOptions{Now: func() time.Time { return now }})
	network.SetOffline(true)
	c := &http.Client{Transport: network.Transport("embeddings")}
	if _, err := c.Post("https://models.example/v1", "", nil); !errors.Is(err, modelhttp.ErrOffline) {
		t.Fatal(err)
	}
	opt := agents(&fakeMemory{status: func(context.Context) (kioku.Status, error) { return kioku.Status{}, nil }})
	opt.Network = network
	got, err := local(t, opt).Status(t.Context(), &kiokuv1.StatusRequest{Agent: "main"})
	if err != nil {
		t.Fatal(err)
	}
	want := []*kiokuv1.Egress{{Host: "models.example", Purpose: "embeddings", RefusedCount: 1, LastTime: timestamppb.New(now)}}
	if diff := cmp.Diff(want, got.GetEgress(), protocmp.Transform()); diff != "" || !got.GetOffline() {
		t.Errorf("offline %v, egress (-want +got):\n%s", got.GetOffline(), diff)
	}
}

// Hazard C05: A status tells nothing of what other agents have sent and occupy, unless its caller may reach all agents.
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
	opt := server.Options{
		Agents: map[string]server.Memory{"ann": m, "bob": m}, Network: network,
		Tokens: openTokens(t, tokenLine("ann", "tok-ann", "[ann]", true), tokenLine("all", "tok-all", `"*"`, false), tokenLine("both", "tok-both", "[ann, bob]", false)),
	}
	client := kiokuv1.NewMemoryServiceClient(dial(t, onTCP(t, opt)))
	for token, all := range map[string]bool{"tok-ann": false, "tok-all": true, "tok-both": true} {
		got, err := client.Status(with(t, token), &kiokuv1.StatusRequest{Agent: "ann"})
		if err != nil {
			t.Fatal(err)
		}
		told := []bool{len(got.GetEgress()) > 0, got.GetMemoryResidentBytes() > 0, got.GetMemoryBudgetBytes() > 0, got.GetResidentBytes() > 0, got.GetOffline()}
		if diff := cmp.Diff([]bool{all, all, all, true, true}, told); diff != "" {
			t.Errorf("%s: what is told (-want +got):\n%s", token, diff)
		}
	}
}

func TestListAgentsIsSortedAndSurvivesABrokenIndex(t *testing.T) {
	t.Parallel()
	broken := &fakeMemory{workspace: "/b", state: func(context.Context) (memory.IndexStats, error) { return memory.IndexStats{}, errBoom }}
	fine := &fakeMemory{workspace: "/a", state: func(context.Context) (memory.IndexStats, error) { return memory.IndexStats{Files: 3}, nil }}
	client := local(t, server.Options{Agents: map[string]server.Memory{"zoe": fine, "bob": broken}})
	got, err := client.ListAgents(t.Context(), &kiokuv1.ListAgentsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	want := &kiokuv1.ListAgentsResponse{Agents: []*kiokuv1.Agent{
		{Id: "bob", Workspace: "/b"}, {Id: "zoe", Workspace: "/a", Index: &kiokuv1.IndexState{FileCount: 3}},
	}}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
}

// Hazard D13: a response that would not fit into a message is cut and says so; a request that does not is refused.
func TestMessagesStayWithinTheirLimit(t *testing.T) {
	t.Parallel()
	huge := memory.Answer{}
	for range 100 {
		huge.Hits = append(huge.Hits, memory.Hit{Path: "memory/a.md", Snippet: strings.Repeat("字\xff", 30_000)})
	}
	many := make([]memory.SkippedFile, 200_000)
	for i := range many {
		many[i] = memory.SkippedFile{Path: "memory/" + strings.Repeat("x", 200) + ".md", Reason: "binary"}
	}
	client := local(t, agents(&fakeMemory{
		search: func(context.Context, memory.Query) (memory.Answer, error) { return huge, nil },
		explain: func(context.Context, memory.Query, string, int) (memory.Explanation, error) {
			return memory.Explanation{Answer: huge}, nil
		},
		status: func(context.Context) (kioku.Status, error) { return kioku.Status{Skipped: many}, nil },
	}))
	found, err := client.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Agent: "main", Query: "tea"})
	if err != nil {
		t.Fatal(err)
	}
	degraded := found.GetDegraded()
	if n := len(found.GetResults()); n == 0 || n == 100 || len(degraded) != 1 || degraded[0].GetCode() != "truncated" {
		t.Errorf("%d results, degraded %v; want some results and the code truncated", n, degraded)
	}
	explained, err := client.Explain(t.Context(), &kiokuv1.ExplainRequest{Search: &kiokuv1.MemorySearchRequest{Agent: "main", Query: "tea"}})
	if err != nil || len(explained.GetAnswer().GetResults()) == 0 {
		t.Errorf("explain: %d results, err %v", len(explained.GetAnswer().GetResults()), err)
	}
	st, err := client.Status(t.Context(), &kiokuv1.StatusRequest{Agent: "main"})
	if err != nil {
		t.Fatal(err)
	}
	if last := st.GetSkipped()[len(st.GetSkipped())-1]; last.GetReason() != "and 199500 more files" || proto.Size(st) > 4<<20 {
		t.Errorf("last skipped = %v in %d bytes", last, proto.Size(st))
	}
	_, err = onSocketClient(t, &fakeMemory{}).MemoryAppend(t.Context(), &kiokuv1.MemoryAppendRequest{Agent: "main", Text: strings.Repeat("x", 5<<20)})
	wantCode(t, err, codes.ResourceExhausted)
	if !strings.Contains(status.Convert(err).Message(), "larger than max") {
		t.Errorf("message %q does not tell the limit", status.Convert(err).Message())
	}
}

func onSocketClient(t *testing.T, m server.Memory) kiokuv1.MemoryServiceClient {
	t.Helper()
	return kiokuv1.NewMemoryServiceClient(onSocket(t, agents(m)))
}

// Hazard D10: what an answer had to do without reaches the caller, with results and without.
func TestMemorySearchSaysWhyAnAnswerIsEmpty(t *testing.T) {
	t.Parallel()
	client := local(t, agents(&fakeMemory{search: func(context.Context, memory.Query) (memory.Answer, error) {
		return memory.Answer{Mode: memory.ModeKeyword, Degraded: []memory.Degradation{
			{Code: memory.ProviderDown, Text: "no embeddings"}, {Code: memory.NoMatch, Text: "no term matches"},
		}}, nil
	}}))
	resp, err := client.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Agent: "main", Query: "tea"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range resp.GetDegraded() {
		got = append(got, d.GetCode())
	}
	if diff := cmp.Diff([]string{"provider_down", "no_match"}, got); diff != "" || resp.GetMode() != "keyword" {
		t.Errorf("mode %q, codes (-want +got):\n%s", resp.GetMode(), diff)
	}
}
