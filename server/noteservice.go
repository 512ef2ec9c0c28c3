package server

import (
	"context"

	"kioku/internal/text"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// MemoryAppend adds a note.
func (s service) MemoryAppend(ctx context.Context, req *kiokuv1.MemoryAppendRequest) (*kiokuv1.MemoryAppendResponse, error) {
	m, err := authorizeWrite(ctx, s.opt.Agents, req)
	if err != nil {
		return nil, err
	}
	origin, err := originOf(req)
	if err != nil {
		return nil, err
	}
	added, err := m.Append(ctx, memory.Note{
		Text: req.GetText(), Target: req.GetTarget(), Category: req.GetCategory(), Key: req.GetIdempotencyKey(), Source: req.GetSource(),
		KeepSecrets: req.GetKeepSecrets(), Origin: origin, Session: req.GetSession(),
	})
	if err != nil {
		return nil, err
	}
	resp := &kiokuv1.MemoryAppendResponse{
		Path: added.Path, StartLine: int32Of(added.StartLine), Outcome: kiokuv1.OutcomeWritten, Secrets: convertAll(added.Secrets, replacedSecret),
	}
	if added.Deduplicated {
		resp.Outcome = kiokuv1.OutcomeDeduplicated
	}
	if near := added.Similar; near != nil && origin == nil {
		resp.Similar = &kiokuv1.SimilarNote{Path: near.Path, Line: int32Of(near.Line), Text: near.Text}
	}
	return resp, nil
}

// MemoryUpdate replaces a text in a file of what stays true.
func (s service) MemoryUpdate(ctx context.Context, req *kiokuv1.MemoryUpdateRequest) (*kiokuv1.MemoryUpdateResponse, error) {
	m, err := authorizeWrite(ctx, s.opt.Agents, req)
	if err != nil {
		return nil, err
	}
	done, err := m.Update(ctx, memory.Update{
		Path: req.GetPath(), OldText: req.GetOldText(), NewText: req.GetNewText(), Reason: req.GetReason(), Source: req.GetSource(),
		KeepSecrets: req.GetKeepSecrets(),
	})
	if err != nil {
		return nil, err
	}
	return &kiokuv1.MemoryUpdateResponse{
		Path: done.Path, StartLine: int32Of(done.StartLine), Revision: done.Revision, Secrets: convertAll(done.Secrets, replacedSecret),
	}, nil
}

// MemoryUndo takes an update back.
func (s service) MemoryUndo(ctx context.Context, req *kiokuv1.MemoryUndoRequest) (*kiokuv1.MemoryUndoResponse, error) {
	m, err := authorizeWrite(ctx, s.opt.Agents, req)
	if err != nil {
		return nil, err
	}
	done, err := m.Undo(ctx, req.GetRevision())
	if err != nil {
		return nil, err
	}
	return &kiokuv1.MemoryUndoResponse{Path: done.Path, StartLine: int32Of(done.StartLine), Revision: done.Revision}, nil
}

// maxShownText is the maximum number of characters of a text in a list of revisions, and maxRevisions that of the revisions.
const (
	maxShownText = 1000
	maxRevisions = 1000
)

// ListRevisions lists the updates.
func (s service) ListRevisions(ctx context.Context, req *kiokuv1.ListRevisionsRequest) (*kiokuv1.ListRevisionsResponse, error) {
	m, err := authorize(ctx, s.opt.Agents, req)
	if err != nil {
		return nil, err
	}
	all, err := m.Revisions(ctx)
	if err != nil {
		return nil, err
	}
	return &kiokuv1.ListRevisionsResponse{Revisions: convertAll(all[:min(len(all), maxRevisions)], revision)}, nil
}

func revision(r memory.Revision) *kiokuv1.Revision {
	return &kiokuv1.Revision{
		Revision: r.ID, UpdateTime: kiokuv1.TimeOf(r.Time), Path: r.Path, Line: int32Of(r.Line), OldText: text.Head(r.OldText, maxShownText),
		NewText: text.Head(r.NewText, maxShownText), Reason: r.Reason, Source: r.Source, Undoes: r.Undoes, Undone: r.Undone,
	}
}

func replacedSecret(s memory.ReplacedSecret) *kiokuv1.ReplacedSecret {
	return &kiokuv1.ReplacedSecret{Kind: s.Kind, Reference: s.Reference}
}
