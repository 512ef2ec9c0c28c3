package server

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"kioku"
	"slices"
	"time"

	"kioku/indexer"
	"kioku/internal/modelhttp"
	"kioku/internal/text"
	"kioku/memory"
	"kioku/server/op"
	"kioku/vectors"
)

// Requests to a memory.
type (
	// SearchNotes is a question.
	SearchNotes struct {
		OfAgent
		memory.Query
		MaxSensitivity string `json:"max_sensitivity,omitempty"` // normal, private (the default) or secret
	}
	// ExplainSearch asks what became of a line, or of the best passage of a file if the line is 0, in a search.
	ExplainSearch struct {
		SearchNotes
		Path string `json:"path,omitempty"`
		Line int    `json:"line,omitempty"`
	}
	// GetNote asks for lines of a file.
	GetNote struct {
		OfAgent
		memory.GetRequest
	}
	// AppendNote is a note to be written.
	AppendNote struct {
		OfAgent
		memory.Note
	}
	// UpdateNote is a text that takes the place of another.
	UpdateNote struct {
		OfAgent
		memory.Update
	}
	// UndoUpdate names an update that is to be taken back; without a revision it is the last one.
	UndoUpdate struct {
		OfAgent
		Revision string `json:"revision,omitempty"`
	}
	// ForgetNotes asks for something to be forgotten.
	ForgetNotes struct {
		OfAgent
		memory.Forget
	}
	// TidyNotes asks what may be tidied, after it has removed what is accepted.
	TidyNotes struct {
		OfAgent
		Accept []string `json:"accept,omitempty"`
	}
	// ListNotes selects files of the index.
	ListNotes struct {
		OfAgent
		memory.FileQuery
	}
	// DaysOf are days of an agent, inclusive; empty means no bound.
	DaysOf struct {
		OfAgent
		Since string `json:"since,omitempty"`
		Until string `json:"until,omitempty"`
	}
	// NoteList is a part of the files of an index.
	NoteList struct {
		memory.FileList
		Index memory.IndexStats `json:"index"`
	}
	// IndexStatus is the state of a memory, and of the service as far as the caller may know it.
	IndexStatus struct {
		kioku.Status
		Version string `json:"version"`
		// Offline reports that nothing is sent to another machine.
		Offline bool `json:"offline,omitempty"`
		// Egress is what the process has sent since its start, for all agents; none for callers that may not reach all of them.
		Egress []modelhttp.Use `json:"egress,omitempty"`
		// SlowCalls are calls to the agent that took a quarter of a second or more, the most recent first. Streams do not count.
		SlowCalls []SlowCall `json:"slow_calls,omitempty"`
	}
	// SlowCall is a call that took long.
	SlowCall struct {
		Method    string        `json:"method"`
		Code      string        `json:"code"`
		Took      time.Duration `json:"took"`
		Start     time.Time     `json:"start_time"`
		RequestID string        `json:"request_id"`
	}
	// SyncIndex asks for a sync.
	SyncIndex struct {
		OfAgent
		indexer.SyncOptions
	}
	// SyncStep is a step of a sync or rebuild: progress, or the report at the end.
	SyncStep struct {
		Progress *indexer.Progress `json:"progress,omitempty"`
		Report   *SyncDone         `json:"report,omitempty"`
	}
	// SyncDone is what a sync wrote, what it could not do, and the state of the index after it.
	SyncDone struct {
		kioku.SyncReport
		Index    memory.IndexStats    `json:"index"`
		Degraded []memory.Degradation `json:"degraded,omitempty"`
	}
	// MapOf asks for the map of a memory.
	MapOf struct {
		OfAgent
		memory.MapQuery
	}
	// Agent is a memory that the caller may reach.
	Agent struct {
		ID        string `json:"id"`
		Workspace string `json:"workspace"`
		// Index is nil if the state of the index cannot be read.
		Index *memory.IndexStats `json:"index,omitempty"`
	}
)

// MemoryOps are the operations on notes and their index.
type MemoryOps struct {
	Search, SearchByPost op.Op[SearchNotes, memory.Answer]
	Get                  op.Op[GetNote, memory.Excerpt]
	Append               op.Op[AppendNote, memory.Appended]
	Update               op.Op[UpdateNote, memory.Updated]
	Undo                 op.Op[UndoUpdate, memory.Updated]
	Forget               op.Op[ForgetNotes, memory.Forgotten]
	Tidy                 op.Op[TidyNotes, memory.Tidied]
	Revisions            op.Op[OfAgent, []memory.Revision]
	List, ListByPost     op.Op[ListNotes, NoteList]
	Links                op.Op[AgentPath, memory.Links]
	Chunks               op.Op[AgentPath, memory.Chunks]
	Activity             op.Op[DaysOf, memory.Activity]
	Explain              op.Op[ExplainSearch, memory.Explanation]
	Agents               op.Op[None, []Agent]
	Map                  op.Op[MapOf, memory.Map]
	Status               op.Op[OfAgent, IndexStatus]
	Estimate             op.Op[OfAgent, vectors.Estimate]
	Sync                 op.Stream[SyncIndex, SyncStep]
	Rebuild              op.Stream[OfAgent, SyncStep]
	Events               op.Stream[OfAgent, kioku.Event]
}

const (
	// maxAnswer is about the maximum size of an answer with many parts, in bytes.
	maxAnswer = maxMessage/2 - 64<<10
	// maxSkipped is the maximum number of skipped files in a status.
	maxSkipped = 500
	// maxShownText is the maximum number of characters of a text in a list of revisions, and maxRevisions that of the revisions.
	maxShownText = 1000
	maxRevisions = 1000
)

// truncated is the code of an answer that lacks results to fit into a message.
const truncated = "truncated"

// errNoMap is what callers are told about a map that could not be made.
var errNoMap = errors.New("the map could not be made; the log has the cause")

// Notes are the operations on notes and their index, for clients.
var Notes = memoryOps(nil)

// memoryOps returns the operations on the notes of a server.
func memoryOps(s *Server) MemoryOps {
	o := MemoryOps{
		Search: op.New("search", "GET /v1/search", rightAgent, "Returns the passages that answer a question best.",
			func(ctx context.Context, in SearchNotes) (memory.Answer, error) {
				m, err := s.searched(ctx, &in)
				if err != nil {
					return memory.Answer{}, err
				}
				a, err := m.Search(ctx, in.Query)
				fitHits(&a)
				return a, err
			}),
		Get: op.New("get", "GET /v1/notes/{path...}", rightAgent, "Returns lines of a note.",
			asksMemory(s, authorize, func(ctx context.Context, m Memory, in GetNote) (memory.Excerpt, error) {
				return m.Get(ctx, in.GetRequest)
			})),
		Append: op.New("append", "POST /v1/notes", RightWrite, "Writes a note. One with a key that was written before is not written again.",
			func(ctx context.Context, in AppendNote) (memory.Appended, error) {
				origin, bad := originOf(in.Origin, in.Target)
				m, err := authorizeWrite(ctx, s.memories, &in, bad)
				if err != nil {
					return memory.Appended{}, err
				}
				in.Origin = origin
				added, err := m.Append(ctx, in.Note)
				if origin != nil {
					added.Similar = nil // a line of private memory is not told to others
				}
				return added, err
			}),
		Update: op.New("update", "POST /v1/notes:update", RightWrite, "Replaces a text in a note of what stays true.",
			asksMemory(s, authorizeWrite, func(ctx context.Context, m Memory, in UpdateNote) (memory.Updated, error) {
				return m.Update(ctx, in.Update)
			})),
		Undo: op.New("undo", "POST /v1/notes:undo", RightWrite, "Takes an update back.",
			asksMemory(s, authorizeWrite, func(ctx context.Context, m Memory, in UndoUpdate) (memory.Updated, error) {
				return m.Undo(ctx, in.Revision)
			})),
		Forget: op.New("forget", "POST /v1/forget", RightWrite, "Finds the places that say something, forgets or corrects some of them, or takes that back.",
			asksMemory(s, authorizeWrite, func(ctx context.Context, m Memory, in ForgetNotes) (memory.Forgotten, error) {
				return m.Forget(ctx, in.Forget)
			})),
		Tidy: op.New("tidy", "POST /v1/tidy", RightWrite, "Tells which entries of MEMORY.md say what others say, or the contrary, and removes those that are accepted.",
			asksMemory(s, authorizeWrite, func(ctx context.Context, m Memory, in TidyNotes) (memory.Tidied, error) {
				return m.Tidy(ctx, in.Accept)
			})),
		Revisions: op.New("undo list", "GET /v1/revisions", rightAgent, "Lists the updates, the latest first. Long texts are cut.",
			asksMemory(s, authorize, func(ctx context.Context, m Memory, in OfAgent) ([]memory.Revision, error) {
				all, err := m.Revisions(ctx)
				all = all[:min(len(all), maxRevisions)]
				for i := range all {
					all[i].OldText, all[i].NewText = text.Head(all[i].OldText, maxShownText), text.Head(all[i].NewText, maxShownText)
				}
				return all, err
			})),
		List: op.New("ls", "GET /v1/files", rightAgent, "Lists files of the index.",
			func(ctx context.Context, in ListNotes) (NoteList, error) {
				m, err := authorize(ctx, s.memories, &in, checkCount("page_size", in.Limit))
				if err != nil {
					return NoteList{}, err
				}
				list, err := m.Files(ctx, in.FileQuery)
				if err != nil {
					return NoteList{}, err
				}
				size := 0
				for i, f := range list.Files {
					if size += 200 + len(f.Path) + len(f.Title) + len(f.Skipped) + sizeOf(f.Tags) + sizeOf(f.Aliases); size > maxAnswer && i > 0 {
						list.Files, list.Next = list.Files[:i], list.Files[i-1].Path
						break
					}
				}
				state, err := m.IndexStats(ctx)
				return NoteList{list, state}, err
			}),
		Links: op.New("links", "GET /v1/links/{path...}", rightAgent, "Returns the links between a note and others.",
			asksMemory(s, authorize, func(ctx context.Context, m Memory, in AgentPath) (memory.Links, error) {
				return m.Links(ctx, in.Path)
			})),
		Chunks: op.New("chunks", "GET /v1/chunks/{path...}", rightAgent, "Returns the chunks of a note.",
			asksMemory(s, authorize, func(ctx context.Context, m Memory, in AgentPath) (memory.Chunks, error) {
				return m.Chunks(ctx, in.Path)
			})),
		Activity: op.New("activity", "GET /v1/activity", rightAgent, "Returns what a memory has of each day.",
			asksMemory(s, authorize, func(ctx context.Context, m Memory, in DaysOf) (memory.Activity, error) {
				days, err := m.Activity(ctx, in.Since, in.Until)
				if side, ok := s.sidecars[in.Agent]; ok && err == nil {
					err = s.addTurns(ctx, in, side.Turns(), &days)
				}
				days.Today = time.Now().In(s.opt.Location).Format(time.DateOnly)
				days.Days = days.Days[max(0, len(days.Days)-maxDays):]
				return days, err
			})),
		Explain: op.New("explain", "POST /v1/explain", rightAgent, "Takes the scores of a search apart, and tells what became of a passage.",
			func(ctx context.Context, in ExplainSearch) (memory.Explanation, error) {
				m, err := s.searched(ctx, &in.SearchNotes)
				if err != nil {
					return memory.Explanation{}, err
				}
				in.Explain = true
				e, err := m.Explain(ctx, in.Query, in.Path, in.Line)
				fitHits(&e.Answer)
				return e, err
			}),
		Agents: op.New("agents", "GET /v1/agents", "", "Lists the agents that the caller may reach.", func(ctx context.Context, _ None) ([]Agent, error) {
			var list []Agent
			if len(s.opt.Agents) == 0 && s.opt.Memory != nil { // of another server
				all, err := memoryOps(nil).Agents.Call(ctx, s.opt.Memory, None{})
				ids := reachable(ctx, s.sidecars)
				return slices.DeleteFunc(all, func(a Agent) bool { return !slices.Contains(ids, a.ID) }), forwardedError(err)
			}
			for _, id := range reachable(ctx, s.memories) {
				m, ok := s.opt.Agents[id]
				if !ok { // of the cluster, and perhaps not open here
					list = append(list, Agent{ID: id})
					continue
				}
				a := Agent{ID: id, Workspace: m.Workspace()}
				state, err := m.IndexStats(ctx)
				switch {
				case ctx.Err() != nil:
					return nil, ctx.Err()
				case err != nil:
					s.opt.Log.Warn("cannot read the state of an index", "agent", id, "err", err)
				default:
					a.Index = &state
				}
				list = append(list, a)
			}
			return list, nil
		}),
	}
	o.Map = op.New("map", "GET /v1/map", rightAgent, "Returns the map of a memory as far as there is one.", func(ctx context.Context, in MapOf) (memory.Map, error) {
		m, err := authorize(ctx, s.memories, &in, checkCount("max_points", in.MaxPoints))
		if err != nil {
			return memory.Map{}, err
		}
		drawn, err := m.Map(ctx, in.MapQuery)
		if drawn.Err != nil {
			drawn.Err = errNoMap
		}
		return drawn, err
	})
	o.Status = op.New("status", "GET /v1/status", rightAgent, "Describes the index of an agent.", s.indexStatus)
	o.Estimate = op.New("estimate", "GET /v1/estimate", rightAgent, "Tells what it takes to embed the chunks without a vector.",
		asksMemory(s, authorize, func(ctx context.Context, m Memory, in OfAgent) (vectors.Estimate, error) {
			return m.Estimate(ctx)
		}))
	o.Sync = op.NewStream("sync", "POST /v1/sync", rightAgent, "Updates the index from the folder. Removing files needs the right to write.",
		func(ctx context.Context, in SyncIndex) iter.Seq2[SyncStep, error] {
			reach := authorize[Memory]
			if in.Prune {
				reach = authorizeWrite[Memory]
			}
			m, err := reach(ctx, s.memories, &in)
			return syncSteps(ctx, m, err, func(ctx context.Context, step func(indexer.Progress)) (kioku.SyncReport, error) {
				return m.Sync(ctx, in.SyncOptions, step)
			})
		})
	o.Rebuild = op.NewStream("rebuild", "POST /v1/rebuild", RightWrite, "Rebuilds the index from the files, which may cost embeddings.",
		func(ctx context.Context, in OfAgent) iter.Seq2[SyncStep, error] {
			m, err := authorizeWrite(ctx, s.memories, &in)
			return syncSteps(ctx, m, err, func(ctx context.Context, step func(indexer.Progress)) (kioku.SyncReport, error) {
				return m.Rebuild(ctx, step)
			})
		})
	o.Events = op.NewStream("events", "GET /v1/events", rightAgent, "Streams the events of an index, from when it answers.", s.indexEvents)
	o.SearchByPost, o.ListByPost = o.Search, o.List
	o.SearchByPost.Route, o.ListByPost.Route = "POST /v1/search", "POST /v1/files"
	return o
}

// asksMemory returns what an operation does that asks the memory of the agent of its request, which the caller reaches by reach.
func asksMemory[In, Out any, P interface {
	*In
	agentRequest
}](s *Server, reach func(context.Context, among[Memory], agentRequest, ...error) (Memory, error), do func(context.Context, Memory, In) (Out, error),
) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, in In) (out Out, err error) {
		m, err := reach(ctx, s.memories, P(&in))
		if err != nil {
			return out, err
		}
		return do(ctx, m, in)
	}
}

// searched returns the memory of a search, and completes its query. Secrets are for who may write.
func (s *Server) searched(ctx context.Context, in *SearchNotes) (Memory, error) {
	m, ceiling, err := s.memoryUpTo(ctx, in, in.MaxSensitivity)
	in.Query.MaxSensitivity, in.Now = ceiling, s.inZone(in.Now)
	if err == nil {
		err = in.CheckRecall()
	}
	return m, err
}

// fitHits drops the last hits of an answer that is too large, and says so.
func fitHits(a *memory.Answer) {
	size := 0
	for i, h := range a.Hits {
		size += 500 + len(h.Path) + len(h.Snippet) + len(h.Headings)
		if h.Trace != nil {
			size += 1000 + 100*len(h.Trace.Terms)
		}
		if size > maxAnswer {
			a.Degraded = append(a.Degraded, memory.Degradation{
				Code: truncated, Text: fmt.Sprintf("%d of %d results did not fit into the message; ask for fewer or shorter ones", len(a.Hits)-i, len(a.Hits)),
			})
			a.Hits = a.Hits[:i]
			return
		}
	}
}

// sizeOf returns the size of texts in bytes.
func sizeOf(texts []string) int {
	n := 0
	for _, t := range texts {
		n += len(t)
	}
	return n
}
