package client

import (
	"context"

	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// Search returns the passages that answer q best. It returns an *memory.InputError for a query that cannot be answered as it
// stands, a blank one for example.
func (c *Client) Search(ctx context.Context, q memory.Query) (memory.Answer, error) {
	ctx, cancel := c.call(ctx)
	defer cancel()
	req := &kiokuv1.MemorySearchRequest{
		Agent: c.agent, Query: q.Text, MaxResults: int32Of(q.MaxResults), MinScore: q.MinScore,
		Sources: q.Filter.Sources, PathPrefix: q.Filter.PathPrefix, Since: q.Filter.Since, Until: q.Filter.Until, AskTime: kiokuv1.TimeOf(q.Now),
		Queries: q.Queries, Kinds: q.Kinds, AsOfTime: kiokuv1.TimeOf(q.AsOf), IncludeSuperseded: q.IncludeSuperseded, Clauses: q.Clauses,
	}
	for _, t := range q.Context {
		req.Context = append(req.Context, &kiokuv1.ConversationTurn{Speaker: t.Speaker, Text: t.Text})
	}
	if q.MaxSensitivity != nil {
		req.MaxSensitivity = q.MaxSensitivity.String()
	}
	resp, err := c.memory.MemorySearch(ctx, req)
	if err != nil {
		return memory.Answer{}, c.failed("search memory", err)
	}
	answer := memory.Answer{
		Mode: resp.GetMode(), Provider: resp.GetProvider(), Model: resp.GetModel(), Index: state(resp.GetIndex()), Took: resp.GetTook().AsDuration(),
		Abstained: resp.GetAbstained(), Withheld: int(resp.GetWithheldCount()),
	}
	for _, u := range resp.GetUnits() {
		answer.Units = append(answer.Units, memory.FoundUnit{Unit: UnitOf(u.GetUnit()), Text: u.GetUnit().GetText(), Score: u.GetScore(), Names: u.GetNames()})
	}
	if answer.Provider == "none" {
		answer.Provider = ""
	}
	for _, r := range resp.GetResults() {
		answer.Hits = append(answer.Hits, hit(r))
	}
	for _, d := range resp.GetDegraded() {
		answer.Degraded = append(answer.Degraded, memory.Degradation{Code: d.GetCode(), Text: d.GetText()})
	}
	return answer, nil
}

func hit(r *kiokuv1.SearchResult) memory.Hit {
	return memory.Hit{
		Path: r.GetPath(), StartLine: int(r.GetStartLine()), EndLine: int(r.GetEndLine()), Score: r.GetScore(),
		Snippet: r.GetSnippet(), SnippetStart: int(r.GetSnippetStartLine()), SnippetEnd: int(r.GetSnippetEndLine()),
		Source: r.GetSource(), Headings: r.GetHeading(), Date: r.GetDate(),
		VectorScore: r.GetVectorScore(), TextScore: r.GetTextScore(), Weak: r.GetWeak(), Origin: OriginOf(r),
	}
}

func state(i *kiokuv1.IndexState) memory.IndexStats {
	st := memory.IndexStats{
		Generation: i.GetGeneration(), Files: int(i.GetFileCount()), Chunks: int(i.GetChunkCount()), PendingFiles: int(i.GetPendingFileCount()),
	}
	if i.GetLastSyncTime() != nil {
		st.LastSync = i.GetLastSyncTime().AsTime()
	}
	return st
}

// Get returns lines of a file. It returns memory.ErrNotFound for one that is missing or no memory, and an *memory.InputError for a
// path that could never be one.
func (c *Client) Get(ctx context.Context, req memory.GetRequest) (memory.Excerpt, error) {
	ctx, cancel := c.call(ctx)
	defer cancel()
	resp, err := c.memory.MemoryGet(ctx, &kiokuv1.MemoryGetRequest{
		Agent: c.agent, Path: req.Path, FromLine: int32Of(req.From), LineCount: int32Of(req.Lines),
	})
	if err != nil {
		return memory.Excerpt{}, c.failed("get memory", err)
	}
	return memory.Excerpt{
		Path: resp.GetPath(), Text: resp.GetText(), From: int(resp.GetFromLine()), Lines: int(resp.GetLineCount()),
		TotalLines: int(resp.GetTotalLineCount()), Truncated: resp.GetTruncated(), NextFrom: int(resp.GetNextLine()),
	}, nil
}

// Append adds a note to today's file or to MEMORY.md. It returns memory.ErrDenied for a token without the right to write.
// After memory.ErrUnreachable or a deadline it is not known whether the note was written; the same note, or one with the same
// Key, may be sent again and is written once.
func (c *Client) Append(ctx context.Context, note memory.Note) (memory.Appended, error) {
	ctx, cancel := c.call(ctx)
	defer cancel()
	req := &kiokuv1.MemoryAppendRequest{
		Agent: c.agent, Text: note.Text, Target: note.Target, Category: note.Category, IdempotencyKey: note.Key, Source: note.Source,
		KeepSecrets: note.KeepSecrets, Session: note.Session,
	}
	setOrigin(req, note.Origin)
	resp, err := c.memory.MemoryAppend(ctx, req)
	if err != nil {
		return memory.Appended{}, c.failed("append to memory", err)
	}
	a := memory.Appended{
		Path: resp.GetPath(), StartLine: int(resp.GetStartLine()), Deduplicated: resp.GetOutcome() == kiokuv1.OutcomeDeduplicated,
		Secrets: secrets(resp.GetSecrets()),
	}
	if s := resp.GetSimilar(); s != nil {
		a.Similar = &memory.SimilarNote{Path: s.GetPath(), Line: int(s.GetLine()), Text: s.GetText()}
	}
	return a, nil
}

// Update replaces a text in a file of what stays true. It returns an *memory.InputError if the old text does not occur exactly
// once, and memory.ErrDenied for a token without the right to write.
func (c *Client) Update(ctx context.Context, u memory.Update) (memory.Updated, error) {
	ctx, cancel := c.call(ctx)
	defer cancel()
	resp, err := c.memory.MemoryUpdate(ctx, &kiokuv1.MemoryUpdateRequest{
		Agent: c.agent, Path: u.Path, OldText: u.OldText, NewText: u.NewText, Reason: u.Reason, Source: u.Source, KeepSecrets: u.KeepSecrets,
	})
	if err != nil {
		return memory.Updated{}, c.failed("update memory", err)
	}
	return memory.Updated{
		Path: resp.GetPath(), StartLine: int(resp.GetStartLine()), Revision: resp.GetRevision(), Secrets: secrets(resp.GetSecrets()),
	}, nil
}

func secrets(replaced []*kiokuv1.ReplacedSecret) []memory.ReplacedSecret {
	var out []memory.ReplacedSecret
	for _, s := range replaced {
		out = append(out, memory.ReplacedSecret{Kind: s.GetKind(), Reference: s.GetReference()})
	}
	return out
}
