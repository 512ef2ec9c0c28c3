package server

import (
	"context"

	"kioku/internal/text"
	"kioku/memory"
	"kioku/server/op"
)

// Requests for the history of notes.
type (
	// HistoryLog asks for changes of files.
	HistoryLog struct {
		OfAgent
		memory.LogQuery
	}
	// ShowFile asks for a file as it was.
	ShowFile struct {
		OfAgent
		Path           string        `json:"path"`
		At             memory.Moment `json:"at,omitzero"`
		MaxSensitivity string        `json:"max_sensitivity,omitempty"` // normal, private (the default) or secret
	}
	// DiffFiles asks what two versions differ in.
	DiffFiles struct {
		OfAgent
		Path           string         `json:"path,omitempty"`
		From           memory.Moment  `json:"from,omitzero"`
		To             *memory.Moment `json:"to,omitempty"` // the notes as they are now if it is not set
		MaxSensitivity string         `json:"max_sensitivity,omitempty"`
	}
	// SearchThen is a question to the notes as they were.
	SearchThen struct {
		SearchNotes
		At memory.Moment `json:"at,omitzero"`
	}
	// UndoWrites says which writes of an agent are taken back.
	UndoWrites struct {
		OfAgent
		memory.UndoWrites
	}
	// AgentPath names a file or folder of an agent; an empty path means all.
	AgentPath struct {
		OfAgent
		Path string `json:"path,omitempty"`
	}
)

// HistoryOps are the operations on notes as they were.
type HistoryOps struct {
	Search op.Op[SearchThen, memory.PastAnswer]
	Log    op.Op[HistoryLog, []memory.FileChange]
	Show   op.Op[ShowFile, memory.PastFile]
	Diff   op.Op[DiffFiles, memory.Diff]
	Undo   op.Op[UndoWrites, memory.UndoneWrites]
	Purge  op.Op[AgentPath, memory.Purged]
}

// NotesThen are the operations on notes as they were, for clients.
var NotesThen = historyOps(nil)

// historyOps returns the operations on the notes of a server as they were.
func historyOps(s *Server) HistoryOps {
	return HistoryOps{
		Search: op.New("history search", "POST /v1/history:search", rightAgent, "Returns the passages of the notes as they were that answer a question best.",
			func(ctx context.Context, in SearchThen) (memory.PastAnswer, error) {
				m, err := s.searched(ctx, &in.SearchNotes)
				if err != nil {
					return memory.PastAnswer{}, err
				}
				past, err := m.SearchPast(ctx, in.Query, in.At)
				fitHits(&past.Answer)
				return past, err
			}),
		Log: op.New("history log", "GET /v1/history", rightAgent, "Lists the changes of files, the latest first. The renames of a file are followed.",
			asksMemory(s, authorize, func(ctx context.Context, m Memory, in HistoryLog) ([]memory.FileChange, error) {
				all, err := m.Log(ctx, in.LogQuery)
				size := 0
				for i, c := range all {
					if size += 200 + len(c.Path) + len(c.OldPath) + len(c.Subject) + len(c.Author); size > maxAnswer {
						return all[:i], err
					}
				}
				return all, err
			})),
		Show: op.New("history show", "GET /v1/history/file", rightAgent, "Returns a file as it was, by the path that it has now or had then. Lines above the ceiling are withheld.",
			func(ctx context.Context, in ShowFile) (memory.PastFile, error) {
				m, ceiling, err := s.memoryUpTo(ctx, &in, in.MaxSensitivity)
				if err != nil {
					return memory.PastFile{}, err
				}
				file, err := m.Show(ctx, in.Path, in.At, ceiling)
				whole := len(file.Text)
				file.Text = text.HeadBytes(file.Text, maxAnswer)
				file.Truncated = len(file.Text) < whole
				return file, err
			}),
		Diff: op.New("history diff", "GET /v1/history/diff", rightAgent, "Returns what two versions differ in, or a version and the notes as they are now.",
			func(ctx context.Context, in DiffFiles) (memory.Diff, error) {
				m, ceiling, err := s.memoryUpTo(ctx, &in, in.MaxSensitivity)
				if err != nil {
					return memory.Diff{}, err
				}
				d, err := m.Diff(ctx, memory.DiffQuery{Path: in.Path, From: in.From, To: in.To, MaxSensitivity: ceiling})
				size := 0
				for i, f := range d.Files {
					if size += 200 + len(f.Path) + len(f.Text); size > maxAnswer {
						d.More += len(d.Files) - i
						d.Files = d.Files[:i]
						break
					}
				}
				return d, err
			}),
		Undo: op.New("undo writes", "POST /v1/history/undo", RightWrite, "Takes back notes and updates of an agent, as a unit. What was edited since stays, and the answer says so.",
			func(ctx context.Context, in UndoWrites) (memory.UndoneWrites, error) {
				m, err := authorizeWrite(ctx, s.memories, &in, checkName("session", in.Session))
				if err != nil {
					return memory.UndoneWrites{}, err
				}
				return m.UndoWrites(ctx, in.UndoWrites)
			}),
		Purge: op.New("history purge", "POST /v1/history/purge", RightWrite, "Removes the versions of a file or folder from the journal, the changes that undo knows, and indexes of the past. It changes no repository of git.",
			asksMemory(s, authorizeWrite, func(ctx context.Context, m Memory, in AgentPath) (memory.Purged, error) {
				return m.PurgeHistory(ctx, in.Path)
			})),
	}
}

// memoryUpTo returns the memory of a request, and the ceiling that it names, nil if it names none. Secrets need the right to write.
func (s *Server) memoryUpTo(ctx context.Context, req agentRequest, named string) (Memory, *memory.Sensitivity, error) {
	level, bad := readSensitivity("max_sensitivity", named, memory.Private)
	reach := authorize[Memory]
	if level == memory.Secret {
		reach = authorizeWrite[Memory]
	}
	m, err := reach(ctx, s.memories, req, bad)
	if named == "" {
		return m, nil, err
	}
	return m, &level, err
}
