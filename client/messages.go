package client

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// Messages is the memory of an agent over the messages of gRPC.
type Messages struct {
	memory  kiokuv1.MemoryServiceClient
	target  string
	agent   string
	timeout time.Duration
}

// OverMessages returns the memory of an agent over a connection to its service, which stays the caller's to close.
func OverMessages(service kiokuv1.MemoryServiceClient, agent string) *Messages {
	return &Messages{memory: service, target: "the memory service", agent: agent, timeout: defaultTimeout}
}

// call bounds a call in time.
func (c *Messages) call(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, c.timeout)
}

// Search returns the passages that answer q best. It returns an *memory.InputError for a query that cannot be answered as it
// stands, a blank one for example.
func (c *Messages) Search(ctx context.Context, q memory.Query) (memory.Answer, error) {
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
func (c *Messages) Get(ctx context.Context, req memory.GetRequest) (memory.Excerpt, error) {
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
func (c *Messages) Append(ctx context.Context, note memory.Note) (memory.Appended, error) {
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
func (c *Messages) Update(ctx context.Context, u memory.Update) (memory.Updated, error) {
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

// serviceError is an error of package memory, or of package context, in the words of a service.
type serviceError struct {
	error
	message string
}

// Error returns what the service says.
func (e *serviceError) Error() string { return e.message }

// Unwrap returns the error that can be tested for.
func (e *serviceError) Unwrap() error { return e.error }

// failed turns the error of a call into one of package memory, or of package context. No other function reads a status.
func (c *Messages) failed(step string, err error) error {
	st := status.Convert(err)
	kind, message := kindOf(st), st.Message()
	switch {
	case st.Code() == codes.InvalidArgument:
		return fmt.Errorf("%s: %w", step, inputError(st))
	case isTooLarge(st):
		return fmt.Errorf("%s: %w", step, &memory.InputError{Field: "request", Problem: "is too large for the service, send less at a time: " + message})
	case kind == nil:
		return fmt.Errorf("%s: %s", step, message)
	case kind == memory.ErrUnreachable:
		return fmt.Errorf("%s at %s: %w (does kioku serve run?): %s", step, c.target, kind, message)
	case kind == context.DeadlineExceeded:
		return fmt.Errorf("%s at %s: %w", step, c.target, kind)
	case !strings.Contains(message, kind.Error()):
		message = kind.Error() + ": " + message
	}
	return fmt.Errorf("%s: %w", step, &serviceError{kind, message})
}

// isTooLarge reports whether gRPC has refused a message for its size, in its own words.
func isTooLarge(st *status.Status) bool {
	return st.Code() == codes.ResourceExhausted && strings.Contains(st.Message(), "larger than max")
}

// kindOf returns the error that a status stands for: the one that the service names, else the one of its code; nil if it
// is no known one.
func kindOf(st *status.Status) error {
	for _, d := range st.Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok && info.GetDomain() == memory.ErrorDomain {
			return memory.ErrorOf(info.GetReason())
		}
	}
	switch st.Code() {
	case codes.NotFound:
		return memory.ErrNotFound
	case codes.PermissionDenied, codes.Unauthenticated:
		return memory.ErrDenied
	case codes.ResourceExhausted:
		return memory.ErrBusy
	case codes.Unavailable:
		return memory.ErrUnreachable
	case codes.DeadlineExceeded:
		return context.DeadlineExceeded
	case codes.Canceled:
		return context.Canceled
	}
	return nil
}

// inputError returns the first field violation of a status, or its message if it has none.
func inputError(st *status.Status) error {
	for _, d := range st.Details() {
		bad, ok := d.(*errdetails.BadRequest)
		if !ok || len(bad.GetFieldViolations()) == 0 {
			continue
		}
		v := bad.GetFieldViolations()[0]
		return &memory.InputError{Field: v.GetField(), Problem: v.GetDescription()}
	}
	return &memory.InputError{Field: "request", Problem: st.Message()}
}

// int32Of returns the nearest number that fits.
func int32Of(n int) int32 { return int32(min(max(n, math.MinInt32), math.MaxInt32)) }

// setOrigin sets whose words a note is made of; a request without them says that they are the owner's.
func setOrigin(req *kiokuv1.MemoryAppendRequest, o *memory.Origin) {
	if o == nil {
		return
	}
	req.Channel, req.Author = o.Channel, &kiokuv1.Author{}
	for i, a := range o.Authors {
		author := &kiokuv1.Author{Id: a.ID, Name: a.Name, IsOwner: a.IsOwner}
		if i == 0 {
			req.Author = author
		} else {
			req.MoreAuthors = append(req.MoreAuthors, author)
		}
	}
}

// OriginOf returns whose words a result is made of, nil if they are the owner's.
func OriginOf(r *kiokuv1.SearchResult) *memory.Origin {
	if r.GetAuthor() == nil {
		return nil
	}
	o := &memory.Origin{Channel: r.GetChannel()}
	for _, a := range append([]*kiokuv1.Author{r.GetAuthor()}, r.GetMoreAuthors()...) {
		o.Authors = append(o.Authors, memory.Author{ID: a.GetId(), Name: a.GetName(), IsOwner: a.GetIsOwner()})
	}
	return o
}

// UnitOf returns a unit as package memory has it. The ids of rows and episodes, keys of facts and loops, and the inputs of summaries do
// not leave a service, and are empty.
func UnitOf(u *kiokuv1.Unit) memory.Unit {
	out := memory.Unit{
		UID: u.GetId(), Kind: u.GetKind(), State: u.GetState(), OccurredAt: timeOf(u.GetOccurredTime()), RecordedAt: timeOf(u.GetRecordedTime()),
		ChangedAt: timeOf(u.GetChangedTime()), Source: u.GetSource(), Trust: u.GetTrust(), Confidence: u.GetConfidence(), Salience: u.GetSalience(),
		Sensitivity: sensitivityOf(u.GetSensitivity()), Pinned: u.GetPinned(), Version: int(u.GetVersion()),
		Fact: factOf(u.GetFact()), Loop: loopOf(u.GetLoop()), Summary: summaryOf(u.GetSummary()),
	}
	for _, e := range u.GetEvidence() {
		out.Evidence = append(out.Evidence, memory.Evidence{
			Path: e.GetPath(), StartLine: int(e.GetStartLine()), EndLine: int(e.GetEndLine()), Quote: e.GetQuote(), Speaker: e.GetSpeaker(),
			Maker: e.GetMaker(), Confidence: e.GetConfidence(), At: timeOf(e.GetSaidTime()),
		})
	}
	return out
}

// timeOf returns the time of a message, the zero time if there is none.
func timeOf(t *timestamppb.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.AsTime()
}

// sensitivityOf returns the sensitivity with a name. One that a later service has is as good as secret.
func sensitivityOf(name string) memory.Sensitivity {
	switch name {
	case "", memory.Normal.String():
		return memory.Normal
	case memory.Private.String():
		return memory.Private
	}
	return memory.Secret
}

func factOf(f *kiokuv1.Fact) *memory.Fact {
	if f == nil {
		return nil
	}
	out := &memory.Fact{
		Subject: refOf(f.GetSubject()), Predicate: f.GetPredicate(), Object: f.GetObject(), From: f.GetValidFrom(), To: f.GetValidTo(),
		SupersededBy: f.GetSupersededBy(), Opposes: f.GetConflicts(),
	}
	if f.GetObjectEntity() != nil {
		ref := refOf(f.GetObjectEntity())
		out.ObjectEntity = &ref
	}
	return out
}

func refOf(r *kiokuv1.EntityRef) memory.EntityRef {
	return memory.EntityRef{Type: r.GetType(), Name: r.GetName(), Qualifier: r.GetQualifier()}
}

func loopOf(l *kiokuv1.Loop) *memory.Loop {
	if l == nil {
		return nil
	}
	return &memory.Loop{
		Status: l.GetStatus(), Text: l.GetText(), Due: l.GetDue(), OpenedAt: timeOf(l.GetOpenedTime()), ExpiresAt: timeOf(l.GetExpireTime()),
		ClosedAt: timeOf(l.GetClosedTime()),
	}
}

func summaryOf(s *kiokuv1.Summary) *memory.Summary {
	if s == nil {
		return nil
	}
	out := &memory.Summary{
		Scope: s.GetScope(), Key: s.GetKey(), From: s.GetFromDay(), To: s.GetToDay(), Text: s.GetText(), Relationship: s.GetRelationship(),
		Stale: s.GetStale(),
	}
	for _, e := range s.GetEvents() {
		out.Events = append(out.Events, memory.KeyEvent{Why: e.GetWhy()})
	}
	return out
}
