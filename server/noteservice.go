package server

import (
	"context"

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
		KeepSecrets: req.GetKeepSecrets(), Origin: origin,
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
	if near := added.Similar; near != nil {
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

func replacedSecret(s memory.ReplacedSecret) *kiokuv1.ReplacedSecret {
	return &kiokuv1.ReplacedSecret{Kind: s.Kind, Reference: s.Reference}
}
