package server

import (
	"context"
	"fmt"

	"kioku/internal/text"
	"kioku/memory"
	"kioku/server/op"
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
	Revisions            op.Op[OfAgent, []memory.Revision]
	List, ListByPost     op.Op[ListNotes, NoteList]
	Links                op.Op[AgentPath, memory.Links]
	Chunks               op.Op[AgentPath, memory.Chunks]
	Activity             op.Op[DaysOf, memory.Activity]
	Explain              op.Op[ExplainSearch, memory.Explanation]
	Agents               op.Op[None, []Agent]
}

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
			func(ctx context.Context, in GetNote) (memory.Excerpt, error) {
				m, err := authorize(ctx, s.opt.Agents, &in)
				if err != nil {
					return memory.Excerpt{}, err
				}
				return m.Get(ctx, in.GetRequest)
			}),
		Append: op.New("append", "POST /v1/notes", rightWrite, "Writes a note. One with a key that was written before is not written again.",
			func(ctx context.Context, in AppendNote) (memory.Appended, error) {
				m, err := authorizeWrite(ctx, s.opt.Agents, &in)
				if err != nil {
					return memory.Appended{}, err
				}
				return m.Append(ctx, in.Note)
			}),
		Update: op.New("update", "POST /v1/notes:update", rightWrite, "Replaces a text in a note of what stays true.",
			func(ctx context.Context, in UpdateNote) (memory.Updated, error) {
				m, err := authorizeWrite(ctx, s.opt.Agents, &in)
				if err != nil {
					return memory.Updated{}, err
				}
				return m.Update(ctx, in.Update)
			}),
		Undo: op.New("undo", "POST /v1/notes:undo", rightWrite, "Takes an update back.",
			func(ctx context.Context, in UndoUpdate) (memory.Updated, error) {
				m, err := authorizeWrite(ctx, s.opt.Agents, &in)
				if err != nil {
					return memory.Updated{}, err
				}
				return m.Undo(ctx, in.Revision)
			}),
		Revisions: op.New("undo list", "GET /v1/revisions", rightAgent, "Lists the updates, the latest first. Long texts are cut.",
			func(ctx context.Context, in OfAgent) ([]memory.Revision, error) {
				m, err := authorize(ctx, s.opt.Agents, &in)
				if err != nil {
					return nil, err
				}
				all, err := m.Revisions(ctx)
				all = all[:min(len(all), maxRevisions)]
				for i := range all {
					all[i].OldText, all[i].NewText = text.Head(all[i].OldText, maxShownText), text.Head(all[i].NewText, maxShownText)
				}
				return all, err
			}),
		List: op.New("ls", "GET /v1/files", rightAgent, "Lists files of the index.",
			func(ctx context.Context, in ListNotes) (NoteList, error) {
				m, err := authorize(ctx, s.opt.Agents, &in, checkCount("page_size", in.Limit))
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
			func(ctx context.Context, in AgentPath) (memory.Links, error) {
				m, err := authorize(ctx, s.opt.Agents, &in)
				if err != nil {
					return memory.Links{}, err
				}
				return m.Links(ctx, in.Path)
			}),
		Chunks: op.New("chunks", "GET /v1/chunks/{path...}", rightAgent, "Returns the chunks of a note.",
			func(ctx context.Context, in AgentPath) (memory.Chunks, error) {
				m, err := authorize(ctx, s.opt.Agents, &in)
				if err != nil {
					return memory.Chunks{}, err
				}
				return m.Chunks(ctx, in.Path)
			}),
		Activity: op.New("activity", "GET /v1/activity", rightAgent, "Returns what a memory has of each day.",
			func(ctx context.Context, in DaysOf) (memory.Activity, error) {
				m, err := authorize(ctx, s.opt.Agents, &in)
				if err != nil {
					return memory.Activity{}, err
				}
				return m.Activity(ctx, in.Since, in.Until)
			}),
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
			for _, id := range reachable(ctx, s.opt.Agents) {
				m := s.opt.Agents[id]
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
	o.SearchByPost, o.ListByPost = o.Search, o.List
	o.SearchByPost.Route, o.ListByPost.Route = "POST /v1/search", "POST /v1/files"
	return o
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
