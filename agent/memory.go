package agent

import (
	"context"
	"time"

	kiokuv1 "kioku/proto/kioku/v1"
)

// Query is a question to a memory.
type Query struct {
	// Text in any language, at most 4 KiB.
	Text string
	// MaxResults is the most hits; 0 means the service's default (6), at most 100.
	MaxResults int
	// MinScore in [0,1] replaces the service's threshold where it is set.
	MinScore *float64
	// Sources ("memory", "extra", "sessions") to search; none means all.
	Sources []string
	// PathPrefix of the files to search.
	PathPrefix string
	// Since and Until are days (YYYY-MM-DD), inclusive; empty for none.
	Since, Until string
	// Now is the moment of the question; zero means the service's clock.
	Now time.Time
}

// Answer is the outcome of a search.
type Answer struct {
	// Hits, best first; none where nothing is good enough.
	Hits []Hit
	// Mode says which channels ran: "hybrid", "vector" or "keyword".
	Mode string
	// Degraded is what the answer had to do without.
	Degraded []Degradation
	// PendingFiles counts files that have changed and are not indexed yet.
	PendingFiles int
}

// Hit is a passage of a memory file. Lines are 1-based and inclusive.
type Hit struct {
	Path               string
	StartLine, EndLine int
	// Score in [0,1] is comparable between queries.
	Score   float64
	Snippet string
	// SnippetStart and SnippetEnd are the lines of Snippet.
	SnippetStart, SnippetEnd int
	// Source is "memory", "extra" or "sessions".
	Source string
	// Headings above the passage: "# Projects > ## Acme".
	Headings string
	// Date of the file (YYYY-MM-DD), empty where it has none.
	Date string
	// Citation is "path#L3-L9".
	Citation string
}

// Degradation is one thing that an answer had to do without: a stable code and a sentence for people.
type Degradation struct {
	Code, Text string
}

// GetRequest asks for lines of a memory file.
type GetRequest struct {
	// Path as a hit gives it.
	Path string
	// From is the first line, 0 means 1; Lines how many, 0 means 120.
	From, Lines int
}

// Excerpt is a run of lines of a file.
type Excerpt struct {
	Path string
	// Text is whole lines, at most 12,000 characters; empty beyond the end of the file.
	Text string
	// From is the first line of Text and Lines how many there are.
	From, Lines int
	TotalLines  int
	// Truncated says that fewer lines came than were asked for although the file has more.
	Truncated bool
	// NextFrom is the line to go on from, 0 at the end of the file.
	NextFrom int
}

// Targets of a note.
const (
	Daily    = "daily"
	LongTerm = "long_term"
)

// Sources of a note.
const (
	SourceUser  = "user"  // a person has written it
	SourceAgent = "agent" // a model has, in its own words
	SourceTool  = "tool"  // a model has, after it has read what a tool returned in the same turn
	SourceFlush = "flush" // a model has, before a compaction
)

// Note is text to remember.
type Note struct {
	Text string
	// Target is Daily (also when empty) or LongTerm.
	Target string
	// Category heads the section of a daily note; empty means "note".
	Category string
	// Key makes the call idempotent: a second note with the same key is not written.
	Key string
	// Source says where the note is from and is recorded beside it: one of the sources below, or empty for nothing.
	Source string
}

// Appended says where a note is.
type Appended struct {
	Path      string
	StartLine int
	// Deduplicated says that the same text or key was there before, and nothing was written.
	Deduplicated bool
}

// Search returns the passages that answer q best. It returns an *InputError for a query that cannot be answered as it
// stands, a blank one for example.
func (c *Client) Search(ctx context.Context, q Query) (Answer, error) {
	ctx, cancel := c.call(ctx)
	defer cancel()
	req := &kiokuv1.MemorySearchRequest{
		Agent: c.agent, Query: q.Text, MaxResults: int32Of(q.MaxResults), MinScore: q.MinScore,
		Sources: q.Sources, PathPrefix: q.PathPrefix, Since: q.Since, Until: q.Until,
	}
	if !q.Now.IsZero() {
		req.Now = q.Now.Format(time.RFC3339)
	}
	resp, err := c.memory.MemorySearch(ctx, req)
	if err != nil {
		return Answer{}, c.failed("search memory", err)
	}
	answer := Answer{Mode: resp.GetMode(), PendingFiles: int(resp.GetIndex().GetPendingFiles())}
	for _, r := range resp.GetResults() {
		answer.Hits = append(answer.Hits, hit(r))
	}
	for _, d := range resp.GetDegraded() {
		answer.Degraded = append(answer.Degraded, Degradation{Code: d.GetCode(), Text: d.GetText()})
	}
	return answer, nil
}

func hit(r *kiokuv1.SearchResult) Hit {
	return Hit{
		Path: r.GetPath(), StartLine: int(r.GetStartLine()), EndLine: int(r.GetEndLine()), Score: r.GetScore(),
		Snippet: r.GetSnippet(), SnippetStart: int(r.GetSnippetStartLine()), SnippetEnd: int(r.GetSnippetEndLine()),
		Source: r.GetSource(), Headings: r.GetHeading(), Date: r.GetDate(), Citation: r.GetCitation(),
	}
}

// Get returns lines of a file. It returns ErrNotFound for one that is missing or no memory, and an *InputError for a
// path that could never be one.
func (c *Client) Get(ctx context.Context, req GetRequest) (Excerpt, error) {
	ctx, cancel := c.call(ctx)
	defer cancel()
	resp, err := c.memory.MemoryGet(ctx, &kiokuv1.MemoryGetRequest{
		Agent: c.agent, Path: req.Path, From: int32Of(req.From), Lines: int32Of(req.Lines),
	})
	if err != nil {
		return Excerpt{}, c.failed("get memory", err)
	}
	return Excerpt{
		Path: resp.GetPath(), Text: resp.GetText(), From: int(resp.GetFrom()), Lines: int(resp.GetLines()),
		TotalLines: int(resp.GetTotalLines()), Truncated: resp.GetTruncated(), NextFrom: int(resp.GetNextFrom()),
	}, nil
}

// Append adds a note to today's file or to MEMORY.md. It returns ErrDenied for a token without the right to write.
// After ErrUnavailable or a deadline it is not known whether the note was written; the same note, or one with the same
// Key, may be sent again and is written once.
func (c *Client) Append(ctx context.Context, note Note) (Appended, error) {
	ctx, cancel := c.call(ctx)
	defer cancel()
	resp, err := c.memory.MemoryAppend(ctx, &kiokuv1.MemoryAppendRequest{
		Agent: c.agent, Text: note.Text, Target: note.Target, Category: note.Category, IdempotencyKey: note.Key, Source: note.Source,
	})
	if err != nil {
		return Appended{}, c.failed("append to memory", err)
	}
	return Appended{
		Path: resp.GetPath(), StartLine: int(resp.GetStartLine()), Deduplicated: resp.GetDeduplicated(),
	}, nil
}
