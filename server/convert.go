package server

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"kioku"
	"kioku/indexer"
	"kioku/internal/modelhttp"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// maxAnswer is the maximum size of an answer in bytes: less than half of a message, because invalid bytes may double when they
// are made valid.
const maxAnswer = maxMessage/2 - 64<<10

// maxSkipped is the maximum number of skipped files in a status.
const maxSkipped = 500

// truncated is the code of an answer that lacks results to fit into a message.
const truncated = "truncated"

// convertAll converts each element of a list; it returns nil for an empty list.
func convertAll[From, To any](list []From, convert func(From) To) []To {
	var out []To
	for _, from := range list {
		out = append(out, convert(from))
	}
	return out
}

func searchResponse(a memory.Answer) *kiokuv1.MemorySearchResponse {
	resp := &kiokuv1.MemorySearchResponse{
		Provider: providerName(a.Provider), Model: a.Model, Mode: a.Mode,
		Degraded: convertAll(a.Degraded, degradation), Index: indexState(a.Index), Results: convertAll(a.Hits, searchResult),
		Units: convertAll(a.Units, foundUnit), Abstained: a.Abstained, WithheldCount: int32Of(a.Withheld),
	}
	if a.Took > 0 {
		resp.Took = durationpb.New(a.Took)
	}
	return resp
}

func foundUnit(f memory.FoundUnit) *kiokuv1.FoundUnit {
	return &kiokuv1.FoundUnit{Unit: unitMessage(f.Unit), Score: f.Score, Names: f.Names}
}

// fitAnswer drops the last results, and then units, until the response fits into a message, and reports that in degraded.
func fitAnswer(resp *kiokuv1.MemorySearchResponse) {
	all := len(resp.Results) + len(resp.Units)
	for len(resp.Results) > 0 && proto.Size(resp) > maxAnswer {
		resp.Results = resp.Results[:len(resp.Results)-1]
	}
	for len(resp.Units) > 0 && proto.Size(resp) > maxAnswer {
		resp.Units = resp.Units[:len(resp.Units)-1]
	}
	if n := all - len(resp.Results) - len(resp.Units); n > 0 {
		resp.Degraded = append(resp.Degraded, &kiokuv1.Degradation{
			Code: truncated, Text: fmt.Sprintf("%d of %d results did not fit into the message; ask for fewer or shorter ones", n, all),
		})
	}
}

func searchResult(h memory.Hit) *kiokuv1.SearchResult {
	channel, author, more := originParts(h.Origin)
	return &kiokuv1.SearchResult{
		Channel: channel, Author: author, MoreAuthors: more,
		Path: h.Path, StartLine: int32Of(h.StartLine), EndLine: int32Of(h.EndLine), Score: h.Score,
		Snippet: h.Snippet, SnippetStartLine: int32Of(h.SnippetStart), SnippetEndLine: int32Of(h.SnippetEnd),
		Source: h.Source, VectorScore: h.VectorScore, TextScore: h.TextScore,
		Citation: h.Cite(),
		Heading:  h.Headings, Date: h.Date, Trace: traceOf(h.Trace), Weak: h.Weak,
	}
}

func traceOf(t *memory.Trace) *kiokuv1.Trace {
	if t == nil {
		return nil
	}
	return &kiokuv1.Trace{
		Rank: int32Of(t.Rank), VectorRank: int32Of(t.VectorRank), TextRank: int32Of(t.TextRank),
		VectorScore: t.VectorScore, TextScore: t.TextScore, VectorWeight: t.VectorWeight, TextWeight: t.TextWeight,
		Cosine: t.Cosine, WindowCosine: t.WindowCosine, WindowStartLine: int32Of(t.WindowStart), WindowEndLine: int32Of(t.WindowEnd),
		WindowMean: t.WindowMean, Similarity: t.Similarity, CosineMean: t.CosineMean, CosineDeviation: t.CosineDeviation,
		Merged: t.Merged, DateBonus: t.DateBonus, NameBonus: t.NameBonus, NameConfidence: t.NameConfidence, Decay: t.Decay, AgeDays: t.AgeDays,
		MmrSimilarity: t.MMRSimilarity, MmrScore: t.MMRScore,
		PairShare: t.PairShare, BestPartShare: t.BestPartShare, ChunkShare: t.ChunkShare,
		Missing: t.Missing, DateConfidence: t.DateConfidence,
		RerankRank: int32Of(t.RerankRank), RerankScore: t.RerankScore,
		ScoreParts: &kiokuv1.ScoreParts{Words: t.Parts.Words, Meaning: t.Parts.Meaning, Date: t.Parts.Date, Name: t.Parts.Name},
		Unembedded: t.Unembedded,
		Terms:      convertAll(t.Terms, termShare),
	}
}

func termShare(t memory.TermShare) *kiokuv1.TermShare {
	return &kiokuv1.TermShare{Term: t.Term, Idf: t.IDF, Count: int32Of(t.Count), Share: t.Share}
}

func explainResponse(e memory.Explanation) *kiokuv1.ExplainResponse {
	resp := &kiokuv1.ExplainResponse{
		Answer:  searchResponse(e.Answer),
		Outcome: e.Outcome, Text: e.Text, Terms: e.Terms,
	}
	if e.Passage != nil {
		resp.Passage = searchResult(*e.Passage)
	}
	if e.Links != nil {
		resp.Links = links(*e.Links, maxAnswer/4)
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
		Agent: st.Agent, Workspace: st.Workspace, Database: st.Sizes.Path, Index: indexState(st.Index),
		Skipped: skippedFiles(st.Skipped), WatchMode: st.Sync.WatchMode, WatchNote: st.Sync.WatchNote, Provider: provider(st),
		DatabaseBytes: st.Sizes.Database, WalBytes: st.Sizes.WAL,
		EmbeddedChunkCount: int32Of(st.Embedded), CachedEmbeddingCount: int32Of(st.Cached),
		Check:              indexCheck(st.Check),
		UnindexedFileCount: int32Of(st.Beside.Files), UnindexedMore: st.Beside.More,
		ResidentBytes: st.Sizes.Resident, MemoryResidentBytes: st.AllResidentBytes, MemoryBudgetBytes: st.BudgetBytes,
		Degraded: convertAll(st.Degraded, degradation), Unavailable: st.Sync.Unavailable, Syncing: st.Sync.Syncing,
		Transcripts: convertAll(st.Transcripts, func(f indexer.TranscriptFolder) *kiokuv1.TranscriptFolder {
			return &kiokuv1.TranscriptFolder{Source: f.Source, Folder: f.Folder}
		}),
		Backfill: backfill(st.Backfill), Reranker: clip(st.Reranker, 500), RerankerError: errorText(st.RerankerErr),
	}
}

// errorText returns the text of an error, "" for nil.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return clip(err.Error(), 500)
}

func provider(st kioku.Status) *kiokuv1.Provider {
	return &kiokuv1.Provider{
		Provider: providerName(st.Space.Provider), ActiveProvider: st.Active.Provider, ActiveModel: st.Active.Model, Model: st.Space.Model, Dims: int32Of(st.Space.Dims),
		Healthy: st.Health.Healthy, RetryTime: kiokuv1.TimeOf(st.Health.RetryAt), Reason: clip(st.ProviderReason, 500),
		Error: errorText(st.Health.Err),
	}
}

func egressUse(u modelhttp.Use) *kiokuv1.Egress {
	return &kiokuv1.Egress{
		Host: clip(u.Host, 500), Purpose: u.Purpose, Local: u.Local, RequestCount: u.Requests, RefusedCount: u.Refused,
		SentBytes: u.Bytes, LastTime: kiokuv1.TimeOf(u.Last),
	}
}

// providerName returns the name of a provider, "none" without one.
func providerName(name string) string {
	if name == "" {
		return "none"
	}
	return name
}

// skippedFiles returns at most maxSkipped files; an entry without a path reports how many more there are.
func skippedFiles(files []memory.SkippedFile) []*kiokuv1.SkippedFile {
	out := convertAll(files[:min(len(files), maxSkipped)], func(f memory.SkippedFile) *kiokuv1.SkippedFile {
		return &kiokuv1.SkippedFile{Path: clip(f.Path, 1000), Reason: clip(f.Reason, 500), Indexed: f.Indexed}
	})
	if more := len(files) - maxSkipped; more > 0 {
		out = append(out, &kiokuv1.SkippedFile{Reason: fmt.Sprintf("and %d more files", more)})
	}
	return out
}

func degradation(d memory.Degradation) *kiokuv1.Degradation {
	return &kiokuv1.Degradation{Code: d.Code, Text: d.Text}
}

func indexState(st memory.IndexStats) *kiokuv1.IndexState {
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

// int32Of returns the nearest int32.
func int32Of(n int) int32 { return int32(min(max(n, math.MinInt32), math.MaxInt32)) }

// maxFound is the maximum number of sentences about damage in a status.
const maxFound = 100

// indexCheck returns the last check of an index, nil if there was none.
func indexCheck(c *kioku.IndexCheck) *kiokuv1.IndexCheck {
	if c == nil {
		return nil
	}
	out := &kiokuv1.IndexCheck{PageCount: int32Of(c.Pages), TableCount: int32Of(c.Tables), TextCount: int32Of(c.Texts),
		WordCount: int32Of(c.Words), VectorCount: int32Of(c.Checked.Vectors), Time: kiokuv1.TimeOf(c.Time)}
	for _, found := range c.Found[:min(len(c.Found), maxFound)] {
		out.Found = append(out.Found, clip(found, 500))
	}
	return out
}
