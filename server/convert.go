package server

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"kioku"
	"kioku/indexer"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// maxAnswer is the most bytes of an answer: half of a message, since bad bytes may double when they are made valid, and
// something less for what surrounds it.
const maxAnswer = maxMessage/2 - 64<<10

// maxSkipped is the most skipped files that a status names.
const maxSkipped = 500

// truncated is the code of an answer that was cut to fit into a message.
const truncated = "truncated"

func searchResponse(a memory.Answer) *kiokuv1.MemorySearchResponse {
	resp := &kiokuv1.MemorySearchResponse{
		Provider: providerName(a.Provider), Model: a.Model, Mode: a.Mode,
		Degraded: degradations(a.Degraded), Index: indexState(a.State),
	}
	if a.Took > 0 {
		resp.Took = durationpb.New(a.Took)
	}
	for _, h := range a.Hits {
		resp.Results = append(resp.Results, searchResult(h))
	}
	return resp
}

// fit drops the last results, and says so, until the response fits into a message.
func fit(resp *kiokuv1.MemorySearchResponse) {
	all := len(resp.Results)
	for len(resp.Results) > 0 && proto.Size(resp) > maxAnswer {
		resp.Results = resp.Results[:len(resp.Results)-1]
	}
	if n := all - len(resp.Results); n > 0 {
		resp.Degraded = append(resp.Degraded, &kiokuv1.Degradation{
			Code: truncated, Text: fmt.Sprintf("%d of %d results did not fit into the message; ask for fewer or shorter ones", n, all),
		})
	}
}

func searchResult(h memory.Hit) *kiokuv1.SearchResult {
	return &kiokuv1.SearchResult{
		Path: h.Path, StartLine: int32Of(h.StartLine), EndLine: int32Of(h.EndLine), Score: h.Score,
		Snippet: h.Snippet, SnippetStartLine: int32Of(h.SnippetStart), SnippetEndLine: int32Of(h.SnippetEnd),
		Source: h.Source, VectorScore: h.VectorScore, TextScore: h.TextScore,
		Citation: h.Citation(),
		Heading:  h.Headings, Date: h.Date, Trace: trace(h.Trace),
	}
}

func trace(t *memory.Trace) *kiokuv1.Trace {
	if t == nil {
		return nil
	}
	out := &kiokuv1.Trace{
		Rank: int32Of(t.Rank), VectorRank: int32Of(t.VectorRank), TextRank: int32Of(t.TextRank),
		VectorScore: t.VectorScore, TextScore: t.TextScore, VectorWeight: t.VectorWeight, TextWeight: t.TextWeight,
		Merged: t.Merged, DateBonus: t.DateBonus, Decay: t.Decay, AgeDays: t.AgeDays,
		MmrSimilarity: t.MMRSimilarity, MmrScore: t.MMRScore, KeywordBacked: t.KeywordBacked,
		PairShare: t.PairShare, BestPartShare: t.BestPartShare, ChunkShare: t.ChunkShare,
		Missing: t.Missing, DateConfidence: t.DateConfidence,
	}
	for _, term := range t.Terms {
		out.Terms = append(out.Terms, &kiokuv1.TermShare{
			Term: term.Term, Idf: term.IDF, Count: int32Of(term.Count), Share: term.Share,
		})
	}
	return out
}

func explainResponse(e memory.Explanation) *kiokuv1.ExplainResponse {
	resp := &kiokuv1.ExplainResponse{
		Answer:  searchResponse(e.Answer),
		Outcome: e.Outcome, Text: e.Text, Terms: e.Terms,
	}
	if e.Passage != nil {
		resp.Passage = searchResult(*e.Passage)
	}
	return resp
}

func getResponse(e memory.Excerpt) *kiokuv1.MemoryGetResponse {
	return &kiokuv1.MemoryGetResponse{
		Path: e.Path, Text: e.Text, FromLine: int32Of(e.From), LineCount: int32Of(e.Lines),
		TotalLineCount: int32Of(e.TotalLines), Truncated: e.Truncated, NextLine: int32Of(e.NextFrom),
	}
}

func statusResponse(st kioku.Status) *kiokuv1.StatusResponse {
	return &kiokuv1.StatusResponse{
		Agent: st.Agent, Workspace: st.Workspace, Database: st.Database, Index: indexState(st.State),
		Skipped: skippedFiles(st.Skipped), WatchMode: st.WatchMode, WatchNote: st.WatchNote, Provider: provider(st),
		DatabaseBytes: st.DatabaseBytes, WalBytes: st.WALBytes,
		EmbeddedChunkCount: int32Of(st.Embedded), CachedEmbeddingCount: int32Of(st.Cached),
		HeldBytes: st.HeldBytes, MemoryHeldBytes: st.AllHeldBytes, MemoryBudgetBytes: st.BudgetBytes,
		Degraded: degradations(st.Degraded), Unavailable: st.Unavailable, Syncing: st.Syncing,
	}
}

func provider(st kioku.Status) *kiokuv1.Provider {
	p := &kiokuv1.Provider{
		Provider: providerName(st.Space.Provider), Model: st.Space.Model, Dims: int32Of(st.Space.Dims),
		Healthy: st.Health.Healthy, RetryTime: kiokuv1.TimeOf(st.Health.RetryAt),
	}
	if st.Health.Err != nil {
		p.Error = clip(st.Health.Err.Error(), 500)
	}
	return p
}

// providerName of the zero space is "none".
func providerName(name string) string {
	if name == "" {
		return "none"
	}
	return name
}

// skippedFiles names at most maxSkipped files; an entry without a path says how many more there are.
func skippedFiles(files []memory.SkippedFile) []*kiokuv1.SkippedFile {
	var out []*kiokuv1.SkippedFile
	for i, f := range files {
		if i == maxSkipped {
			more := fmt.Sprintf("and %d more files", len(files)-maxSkipped)
			return append(out, &kiokuv1.SkippedFile{Reason: more})
		}
		out = append(out, &kiokuv1.SkippedFile{Path: clip(f.Path, 1000), Reason: clip(f.Reason, 500)})
	}
	return out
}

func degradations(list []memory.Degradation) []*kiokuv1.Degradation {
	var out []*kiokuv1.Degradation
	for _, d := range list {
		out = append(out, &kiokuv1.Degradation{Code: d.Code, Text: d.Text})
	}
	return out
}

func indexState(st memory.IndexState) *kiokuv1.IndexState {
	return &kiokuv1.IndexState{
		Generation: st.Generation, FileCount: int32Of(st.Files), ChunkCount: int32Of(st.Chunks),
		PendingFileCount: int32Of(st.PendingFiles), LastSyncTime: kiokuv1.TimeOf(st.LastSync),
	}
}

func progress(p indexer.Progress) *kiokuv1.Progress {
	return &kiokuv1.Progress{
		Phase: p.Phase, DoneFileCount: int32Of(p.FilesDone), TotalFileCount: int32Of(p.FilesTotal), ChunkCount: int32Of(p.Chunks),
		EmbeddedCount: int32Of(p.Embedded), EmbedTotalCount: int32Of(p.EmbedTotal), SkippedCount: int32Of(p.Skipped), Path: p.Path,
	}
}

func event(e kioku.Event) *kiokuv1.Event {
	return &kiokuv1.Event{
		Kind: e.Kind, Path: e.Path, Text: e.Text, ChunkCount: int32Of(e.Chunks), Generation: e.Generation, EventTime: kiokuv1.TimeOf(e.Time),
	}
}

// int32Of returns the nearest number that fits.
func int32Of(n int) int32 { return int32(min(max(n, math.MinInt32), math.MaxInt32)) }
