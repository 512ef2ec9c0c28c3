package server

import (
	"context"
	"unicode/utf8"

	"google.golang.org/grpc"

	"kioku/derive/unit"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// maxDecisionNote is the maximum number of characters of the note of a decision.
const maxDecisionNote = 500

// decisionRequest is a request for a decision about a unit or an entity.
type decisionRequest interface {
	agentRequest
	GetId() string
	GetNote() string
}

// decide has the agent's deriver make a decision; more has the fields of the decision beside those that all requests have.
func (s deriveService) decide(ctx context.Context, req decisionRequest, more unit.DecisionRequest, checks ...error) (*kiokuv1.Decided, error) {
	checks = append([]error{checkKey("id", req.GetId()), checkDecisionNote(req.GetNote())}, checks...)
	d, err := s.writingDeriver(ctx, req, checks...)
	if err != nil {
		return nil, err
	}
	more.ID, more.Note = req.GetId(), req.GetNote()
	done, err := d.Decide(ctx, more)
	if err != nil {
		return nil, err
	}
	return decided(done), nil
}

// checkDecisionNote refuses a note that is no single line, or too long.
func checkDecisionNote(note string) error {
	if utf8.RuneCountInString(note) > maxDecisionNote {
		return badField("note", "has more than %d characters", maxDecisionNote)
	}
	return checkLine("note", note)
}

// Pin pins a unit, or takes the pin away.
func (s deriveService) Pin(ctx context.Context, req *kiokuv1.PinRequest) (*kiokuv1.PinResponse, error) {
	verb := unit.DecidePin
	if req.GetUnpin() {
		verb = unit.DecideUnpin
	}
	done, err := s.decide(ctx, req, unit.DecisionRequest{Verb: verb})
	if err != nil {
		return nil, err
	}
	return &kiokuv1.PinResponse{Decided: done}, nil
}

// Forget removes a unit for good.
func (s deriveService) Forget(ctx context.Context, req *kiokuv1.ForgetRequest) (*kiokuv1.ForgetResponse, error) {
	done, err := s.decide(ctx, req, unit.DecisionRequest{Verb: unit.DecideForget})
	if err != nil {
		return nil, err
	}
	return &kiokuv1.ForgetResponse{Decided: done}, nil
}

// Correct changes what a unit says.
func (s deriveService) Correct(ctx context.Context, req *kiokuv1.CorrectRequest) (*kiokuv1.CorrectResponse, error) {
	set := unit.Correction{Text: req.GetText(), From: req.ValidFrom, To: req.ValidTo, Due: req.Due}
	var bad error
	if req.GetSensitivity() != "" {
		var to memory.Sensitivity
		to, bad = readSensitivity("sensitivity", req.GetSensitivity(), memory.Normal)
		set.Sensitivity = &to
	}
	if set == (unit.Correction{}) {
		bad = badField("text", "is empty, and nothing else is to change: set text, valid_from, valid_to, due or sensitivity")
	}
	done, err := s.decide(ctx, req, unit.DecisionRequest{Verb: unit.DecideCorrect, Set: set}, bad, checkSize("text", req.GetText(), maxUnitText))
	if err != nil {
		return nil, err
	}
	return &kiokuv1.CorrectResponse{Decided: done}, nil
}

// CloseLoop closes a loop, or opens it again.
func (s deriveService) CloseLoop(ctx context.Context, req *kiokuv1.CloseLoopRequest) (*kiokuv1.CloseLoopResponse, error) {
	verb := unit.DecideClose
	if req.GetReopen() {
		verb = unit.DecideReopen
	}
	done, err := s.decide(ctx, req, unit.DecisionRequest{Verb: verb})
	if err != nil {
		return nil, err
	}
	return &kiokuv1.CloseLoopResponse{Decided: done}, nil
}

// MergeEntities makes one entity another name of a second one.
func (s deriveService) MergeEntities(ctx context.Context, req *kiokuv1.MergeEntitiesRequest) (*kiokuv1.MergeEntitiesResponse, error) {
	done, err := s.decide(ctx, req, unit.DecisionRequest{Verb: unit.DecideMerge, Into: req.GetInto()}, checkKey("into", req.GetInto()))
	if err != nil {
		return nil, err
	}
	return &kiokuv1.MergeEntitiesResponse{Decided: done}, nil
}

// SplitEntity takes a merge back.
func (s deriveService) SplitEntity(ctx context.Context, req *kiokuv1.SplitEntityRequest) (*kiokuv1.SplitEntityResponse, error) {
	done, err := s.decide(ctx, req, unit.DecisionRequest{Verb: unit.DecideSplit})
	if err != nil {
		return nil, err
	}
	return &kiokuv1.SplitEntityResponse{Decided: done}, nil
}

// Undo gives a unit the content of its version before the last.
func (s deriveService) Undo(ctx context.Context, req *kiokuv1.UndoRequest) (*kiokuv1.UndoResponse, error) {
	done, err := s.decide(ctx, req, unit.DecisionRequest{Verb: unit.DecideUndo})
	if err != nil {
		return nil, err
	}
	return &kiokuv1.UndoResponse{Decided: done}, nil
}

// RunDerive derives what waits and sends the progress, then the status. It needs the right to write, because it may ask a model. It
// skips progress that a slow caller does not take in time; the run ends with the call.
func (s deriveService) RunDerive(req *kiokuv1.RunDeriveRequest, stream grpc.ServerStreamingServer[kiokuv1.RunDeriveResponse]) error {
	ctx := stream.Context()
	d, err := s.writingDeriver(ctx, req)
	if err != nil {
		return err
	}
	step, wait := sendSteps(func(p unit.DeriveProgress) error { return stream.Send(deriveProgress(p)) })
	defer wait()
	err = d.Run(ctx, req.GetAll(), step)
	wait()
	if err != nil {
		return err
	}
	st, err := statusOf(ctx, d)
	if err != nil {
		return err
	}
	return stream.Send(&kiokuv1.RunDeriveResponse{Step: unit.StepDone, Status: st})
}
