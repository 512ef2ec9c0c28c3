package server

import (
	"context"
	"io"
	"iter"
	"slices"
	"time"

	"kioku/council"
	"kioku/council/engine"
	"kioku/council/member"
)

// CouncilEngine decides tasks by vote, as the server needs it; *engine.Engine is one.
type CouncilEngine interface {
	Settings() council.Settings
	SubmitWith(ctx context.Context, t council.Task, files []engine.Upload) (council.Task, error)
	Estimate(t council.Task) engine.Estimate
	List(ctx context.Context, f engine.Filter) ([]engine.Summary, error)
	Get(ctx context.Context, id string) (engine.Detail, error)
	Decisions(ctx context.Context, f engine.Filter) ([]council.Decision, error)
	Comment(ctx context.Context, id string, c council.Comment, files ...engine.Upload) (council.Comment, error)
	RequestRound(ctx context.Context, id string, author council.Author, reason string) error
	Decide(ctx context.Context, id, decision, approach, reason string, author council.Author) error
	Cancel(ctx context.Context, id, reason string, author council.Author) error
	ApproveExecution(ctx context.Context, id string, author council.Author) error
	ReportResult(ctx context.Context, id string, r council.Result) error
	RecordOutcome(ctx context.Context, id, outcome, note string, author council.Author) error
	Attachment(ctx context.Context, id, file string) (io.ReadCloser, council.Attachment, error)
	Solo(ctx context.Context, id string) (council.Ballot, error)
	Archive(ctx context.Context, id string) error

	Members(ctx context.Context) ([]engine.MemberState, error)
	Activity(ctx context.Context) ([]council.Activity, error)
	Params(ctx context.Context, member string) (council.Params, []council.ParamsChange, error)
	SetParams(ctx context.Context, member string, p council.Params, author council.Author, reason string) (council.Params, error)
	Rollback(ctx context.Context, member string, author council.Author) (council.Params, error)
	StartEvaluation(ctx context.Context, author council.Author) (string, error)
	Evaluations(ctx context.Context, limit int) ([]engine.EvaluationState, error)
	Evaluation(ctx context.Context, cycle string) (engine.EvaluationState, error)

	Workers(ctx context.Context) ([]engine.WorkerState, error)
	Obey(ctx context.Context, worker string) (engine.WorkerState, error)
	Commands(ctx context.Context, worker string) ([]engine.CommandState, error)
	SendCommand(ctx context.Context, c council.Command) (council.Command, error)
	Ack(ctx context.Context, worker, id string, a council.Ack) error
	Suggest(ctx context.Context, s council.Suggestion) (council.Suggestion, error)
	ListSuggestions(ctx context.Context, status string) ([]council.Suggestion, error)
	ReviewSuggestion(ctx context.Context, worker, id string, accept bool, note string, author council.Author) (council.Suggestion, error)
	RequestAction(ctx context.Context, r council.ActionRequest) (council.ActionRequest, error)
	ListActions(ctx context.Context) ([]council.ActionRequest, error)
	ApproveAction(ctx context.Context, id, member string, approve bool, reason string) (council.ActionRequest, error)
	Recognise(platform, userID string) bool

	NextTurn(ctx context.Context, member string) (*member.RemoteTurn, error)
	SubmitTurn(ctx context.Context, member, lease string, reply engine.RemoteReply) error
	RenewTurn(ctx context.Context, member, lease string) (time.Time, error)
	Log(ctx context.Context, member, day string, last int) ([]council.LogLine, error)
	FollowLog(ctx context.Context, member string) iter.Seq[council.LogLine]
	Events(ctx context.Context, after uint64) iter.Seq[engine.Event]
	Load(ctx context.Context) (engine.Load, error)
	Doctor(ctx context.Context) []engine.Finding
	Trial(ctx context.Context) []engine.Finding
}

// CouncilOptions are a council that a server serves.
type CouncilOptions struct {
	// Council decides.
	Council CouncilEngine
	// Folder of the council, which owners are told.
	Folder string
	// Idle says that no engine works on the tasks: the folder is only read, and tasks can be put into its inbox.
	Idle bool
}

// councilService does what the operations of a council say.
type councilService struct{ *Server }

// of returns the council of a caller who has a right, or the first error of checks of the request.
func (s councilService) of(ctx context.Context, right string, checks ...error) (CouncilEngine, error) {
	return s.ofAny(ctx, []string{right}, checks...)
}

// ofAny is of for a caller who has one of several rights.
func (s councilService) ofAny(ctx context.Context, rights []string, checks ...error) (CouncilEngine, error) {
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
func (s councilService) owned(ctx context.Context, sender *Sender, checks ...error) (CouncilEngine, council.Author, error) {
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
