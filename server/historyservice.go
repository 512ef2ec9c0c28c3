package server

import (
	"cmp"
	"context"

	"google.golang.org/protobuf/proto"

	"kioku/internal/text"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// historyService implements kioku.v1.HistoryService.
type historyService struct {
	kiokuv1.UnimplementedHistoryServiceServer
	*Server
}

// Log lists changes.
func (s historyService) Log(ctx context.Context, req *kiokuv1.LogRequest) (*kiokuv1.LogResponse, error) {
	since, badSince := readTimestamp("since_time", req.GetSinceTime())
	until, badUntil := readTimestamp("until_time", req.GetUntilTime())
	m, err := authorize(ctx, s.opt.Agents, req, badSince, badUntil)
	if err != nil {
		return nil, err
	}
	all, err := m.Log(ctx, memory.LogQuery{Path: req.GetPath(), Since: since, Until: until, Limit: int(req.GetLimit())})
	if err != nil {
		return nil, err
	}
	resp := &kiokuv1.LogResponse{Changes: convertAll(all, fileChange)}
	for proto.Size(resp) > maxAnswer {
		resp.Changes = resp.Changes[:len(resp.Changes)/2]
	}
	return resp, nil
}

// ShowFile returns a file as it was.
func (s historyService) ShowFile(ctx context.Context, req *kiokuv1.ShowFileRequest) (*kiokuv1.ShowFileResponse, error) {
	at, bad := momentOf("at", req.GetAt())
	m, ceiling, err := s.memoryUpTo(ctx, req, bad)
	if err != nil {
		return nil, err
	}
	file, err := m.Show(ctx, req.GetPath(), at, ceiling)
	if err != nil {
		return nil, err
	}
	shown := text.HeadBytes(file.Text, maxAnswer)
	return &kiokuv1.ShowFileResponse{Version: folderVersion(file.Version), Path: file.Path, Text: shown, Truncated: len(shown) < len(file.Text)}, nil
}

// memoryUpTo returns the memory of a request, and the ceiling that it names, nil if it names none. Secrets need the right to write.
func (s historyService) memoryUpTo(ctx context.Context, req sensitiveRequest, checks ...error) (Memory, *memory.Sensitivity, error) {
	level, bad := readSensitivity("max_sensitivity", req.GetMaxSensitivity(), memory.Private)
	reach := authorize[Memory]
	if level == memory.Secret {
		reach = authorizeWrite[Memory]
	}
	m, err := reach(ctx, s.opt.Agents, req, append([]error{bad}, checks...)...)
	if req.GetMaxSensitivity() == "" {
		return m, nil, err
	}
	return m, &level, err
}

// DiffFiles returns what two versions differ in.
func (s historyService) DiffFiles(ctx context.Context, req *kiokuv1.DiffFilesRequest) (*kiokuv1.DiffFilesResponse, error) {
	from, badFrom := momentOf("from", req.GetFrom())
	to, badTo := momentOf("to", req.GetTo())
	m, ceiling, err := s.memoryUpTo(ctx, req, badFrom, badTo)
	if err != nil {
		return nil, err
	}
	q := memory.DiffQuery{Path: req.GetPath(), From: from, MaxSensitivity: ceiling}
	if req.To != nil {
		q.To = &to
	}
	d, err := m.Diff(ctx, q)
	if err != nil {
		return nil, err
	}
	resp := &kiokuv1.DiffFilesResponse{From: folderVersion(d.From), To: folderVersion(d.To), Files: convertAll(d.Files, fileDiff), MoreCount: int32Of(d.More)}
	for len(resp.Files) > 0 && proto.Size(resp) > maxAnswer {
		resp.Files = resp.Files[:len(resp.Files)-1]
		resp.MoreCount++
	}
	return resp, nil
}

// SearchPast answers a query from the notes as they were.
func (s historyService) SearchPast(ctx context.Context, req *kiokuv1.SearchPastRequest) (*kiokuv1.SearchPastResponse, error) {
	if req.GetSearch() == nil {
		return nil, &memory.InputError{Field: "search", Problem: "is required"}
	}
	at, badAt := momentOf("at", req.GetAt())
	q, badQuery := s.queryOf(req.Search)
	m, err := authorize(ctx, s.opt.Agents, req, badAt)
	if err == nil && q.MaxSensitivity != nil && *q.MaxSensitivity == memory.Secret {
		m, err = authorizeWrite(ctx, s.opt.Agents, req, badAt)
	}
	if err == nil {
		err = inSearch(badQuery)
	}
	if err != nil {
		return nil, err
	}
	past, err := m.SearchPast(ctx, q, at)
	if err != nil {
		return nil, inSearch(err)
	}
	resp := &kiokuv1.SearchPastResponse{Answer: searchResponse(past.Answer), Version: folderVersion(past.Version)}
	fitAnswer(resp.Answer)
	return resp, nil
}

// UndoWrites takes back what an agent has written, or tells what that would be.
func (s historyService) UndoWrites(ctx context.Context, req *kiokuv1.UndoWritesRequest) (*kiokuv1.UndoWritesResponse, error) {
	since, badSince := readTimestamp("since_time", req.GetSinceTime())
	until, badUntil := readTimestamp("until_time", req.GetUntilTime())
	m, err := authorizeWrite(ctx, s.opt.Agents, req, cmp.Or(badSince, badUntil, checkName("session", req.GetSession())))
	if err != nil {
		return nil, err
	}
	done, err := m.UndoWrites(ctx, memory.UndoWrites{Session: req.GetSession(), Since: since, Until: until, Sources: req.GetSources(), DryRun: req.GetDryRun()})
	if err != nil {
		return nil, err
	}
	return &kiokuv1.UndoWritesResponse{Writes: convertAll(done.Writes, agentWrite), Revisions: done.Revisions}, nil
}

// PurgeHistory removes versions from the journal, and the changes that undo knows.
func (s historyService) PurgeHistory(ctx context.Context, req *kiokuv1.PurgeHistoryRequest) (*kiokuv1.PurgeHistoryResponse, error) {
	m, err := authorizeWrite(ctx, s.opt.Agents, req)
	if err != nil {
		return nil, err
	}
	p, err := m.PurgeHistory(ctx, req.GetPath())
	if err != nil {
		return nil, err
	}
	return &kiokuv1.PurgeHistoryResponse{RemovedCount: int32Of(p.Versions), IndexCount: int32Of(p.Indexes), CopyCount: int32Of(p.Copies)}, nil
}

// momentOf returns the version that a field names.
func momentOf(field string, m *kiokuv1.Moment) (memory.Moment, error) {
	at, err := readTimestamp(field+".time", m.GetTime())
	if err == nil && m.GetTime() != nil && m.GetRevision() != "" {
		err = badField(field, "must have a time or a revision, and not both")
	}
	return memory.Moment{Time: at, Revision: m.GetRevision()}, err
}

func folderVersion(v memory.FolderVersion) *kiokuv1.FolderVersion {
	return &kiokuv1.FolderVersion{Id: v.ID, VersionTime: kiokuv1.TimeOf(v.Time), Author: v.Author, Subject: v.Subject, History: v.History}
}

func fileChange(c memory.FileChange) *kiokuv1.FileChange {
	return &kiokuv1.FileChange{Version: folderVersion(c.FolderVersion), Path: c.Path, OldPath: c.OldPath, Change: c.Change}
}

func fileDiff(d memory.FileDiff) *kiokuv1.FileDiff {
	return &kiokuv1.FileDiff{Path: d.Path, Change: d.Change, AddedLineCount: int32Of(d.Added), RemovedLineCount: int32Of(d.Removed), Text: d.Text}
}

func agentWrite(w memory.Write) *kiokuv1.AgentWrite {
	return &kiokuv1.AgentWrite{
		Path: w.Path, Line: int32Of(w.Line), WriteTime: kiokuv1.TimeOf(w.Time), Source: w.Source, Session: w.Session, Kind: w.Kind, Text: w.Text, Outcome: w.Outcome,
	}
}
