package server

import (
	"context"
	"slices"

	"kioku/council"
	"kioku/council/engine"
)

// CouncilOptions are a council that a server serves.
type CouncilOptions struct {
	// Council decides.
	Council *engine.Engine
	// Folder of the council, which owners are told.
	Folder string
	// Idle says that no engine works on the tasks: the folder is only read, and tasks can be put into its inbox.
	Idle bool
}

// councilService does what the operations of a council say.
type councilService struct{ *Server }

// of returns the council of a caller who has a right, or the first error of checks of the request.
func (s councilService) of(ctx context.Context, right string, checks ...error) (*engine.Engine, error) {
	return s.ofAny(ctx, []string{right}, checks...)
}

// ofAny is of for a caller who has one of several rights.
func (s councilService) ofAny(ctx context.Context, rights []string, checks ...error) (*engine.Engine, error) {
	if s.opt.Council == nil {
		return nil, errNoCouncil
	}
	for _, right := range rights {
		if callerOf(ctx).council.has(right) {
			currentCall(ctx).useCouncil(right)
			return s.opt.Council.Council, firstOf(checks)
		}
	}
	return nil, errCouncilRight(rights)
}

// guard is who may make a request, and what is wrong with it: the first error of checks.
type guard struct {
	rights []string // of which the caller has one
	checks []error
}

// may returns the guard of those who have a right.
func may(right string, checks ...error) guard { return guard{[]string{right}, checks} }

// or lets those in too who have another right.
func (g guard) or(right string) guard { return guard{append(g.rights, right), g.checks} }

// asks returns what an operation does: guarded, it asks the council.
func asks[In, Out any](s councilService, guarded func(In) guard, do func(context.Context, *engine.Engine, In) (Out, error)) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, in In) (out Out, err error) {
		g := guarded(in)
		e, err := s.ofAny(ctx, g.rights, g.checks...)
		if err != nil {
			return out, err
		}
		return do(ctx, e, in)
	}
}

// reads is asks for an operation that every reader may make and that says nothing.
func reads[Out any](s councilService, do func(*engine.Engine, context.Context) (Out, error)) func(context.Context, None) (Out, error) {
	return asks(s, func(None) guard { return may(rightRead) }, func(ctx context.Context, e *engine.Engine, _ None) (Out, error) { return do(e, ctx) })
}

// firstOf returns the first error that is not nil.
func firstOf(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// author returns who has written a request: the owner, whom a bridge vouches for if sender is set, or a stranger.
func (s councilService) author(ctx context.Context, sender *Sender) council.Author {
	c := callerOf(ctx)
	who := council.Author{Kind: "stranger", Name: c.name}
	owns := c.council.has(rightOwner)
	if sender != nil {
		who.Name, who.Platform = sender.UserID, sender.Platform
		owns = c.council.has(rightBridge+sender.Platform) && s.opt.Council.Council.Recognise(sender.Platform, sender.UserID)
	}
	if owns {
		who.Kind = "owner"
	}
	return who
}

// owned returns the council and the author of a request that only an owner may make: a caller with the right, for itself, or an owner
// for whom a bridge vouches.
func (s councilService) owned(ctx context.Context, sender *Sender, checks ...error) (*engine.Engine, council.Author, error) {
	right := rightOwner
	if sender != nil {
		right = rightBridge + sender.Platform
	}
	c, err := s.of(ctx, right, append([]error{checkSender(sender)}, checks...)...)
	if err != nil {
		return nil, council.Author{}, err
	}
	who := s.author(ctx, sender)
	if who.Kind != "owner" {
		return nil, who, errStranger
	}
	return c, who, nil
}

// checkSender refuses a sender of an unknown platform, or without an id.
func checkSender(sender *Sender) error {
	switch {
	case sender == nil:
		return nil
	case !slices.Contains(council.Platforms, sender.Platform):
		return badField("sender.platform", "must be one of %v, not %q", council.Platforms, clip(sender.Platform, 40))
	}
	return checkKey("sender.user_id", sender.UserID)
}

// checkTask refuses what is no id of a task.
func checkTask(field, id string) error {
	if !council.ValidTaskID(id) {
		return badField(field, "must be the id of a task, such as task_1764000000_1234, not %q; kioku council list shows them", clip(id, 80))
	}
	return nil
}

// checkAgentName refuses what cannot be the name of a member or worker.
func checkAgentName(field, name string) error {
	if !council.ValidName(name) {
		return badField(field, "must be an agent id, not %q", clip(name, 80))
	}
	return nil
}

// checkID refuses what is no id of a command, suggestion, action or cycle.
func checkID(field, id string) error {
	if !council.ValidID(id) {
		return badField(field, "must be letters, digits, '_' and '-', at most 80, not %q", clip(id, 80))
	}
	return nil
}

// limitOf returns the limit of a request, at most 1,000.
func limitOf(n, unset int) int {
	if n <= 0 {
		return unset
	}
	return min(n, 1000)
}
