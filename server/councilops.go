package server

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"kioku/council"
	"kioku/council/engine"
	"kioku/council/member"
	"kioku/llm"
	"kioku/server/op"
)

const (
	// maxUploads is the size of all attachments of a task in bytes, which is below that of a message.
	maxUploads = 3 << 20
	// maxCouncilText is the size of a text for people in bytes: a reason, a note, a comment.
	maxCouncilText = 4 * council.MaxComment
	// maxTurnReply is the size of an answer of a remote member in bytes.
	maxTurnReply = 256 << 10
	// maxExpiryMinutes is how long a command may wait for its worker.
	maxExpiryMinutes = 7 * 24 * 60
)

// Requests of the council's operations.
type (
	// None is a request that says nothing.
	None struct{}
	// Sender is whom a bridge to a platform speaks for.
	Sender struct {
		Platform string `json:"platform"`
		UserID   string `json:"user_id"`
	}
	// TaskID names a task.
	TaskID struct {
		ID string `json:"id"`
	}
	// TaskOrder is what an owner, or a bridge for one, wants of a task.
	TaskOrder struct {
		TaskID
		Sender   *Sender `json:"sender,omitempty"`
		Reason   string  `json:"reason,omitempty"`
		Decision string  `json:"decision,omitempty"` // of decide: approved or rejected
		Approach string  `json:"approach,omitempty"` // of decide: what is to be done
		Outcome  string  `json:"outcome,omitempty"`  // of outcome: worked, did_not or unknown
		Note     string  `json:"note,omitempty"`     // of outcome
	}
	// NewTask is a task or question.
	NewTask struct {
		ID          string          `json:"id,omitempty"`
		Type        string          `json:"type,omitempty"` // task or question
		Title       string          `json:"title"`
		Description string          `json:"description,omitempty"`
		Priority    string          `json:"priority,omitempty"` // low, medium or high
		Source      string          `json:"source,omitempty"`
		Supersedes  string          `json:"supersedes,omitempty"`
		Sender      *Sender         `json:"sender,omitempty"`
		Attachments []engine.Upload `json:"attachments,omitempty"`
	}
	// NewComment is a comment on a task.
	NewComment struct {
		TaskID
		Message     string          `json:"message"`
		Sender      *Sender         `json:"sender,omitempty"`
		Attachments []engine.Upload `json:"attachments,omitempty"`
	}
	// NewResult is what was done for a task.
	NewResult struct {
		TaskID
		Result    string  `json:"result"`
		Succeeded bool    `json:"succeeded,omitempty"`
		Worker    string  `json:"worker,omitempty"` // who has done it; empty for an owner
		Sender    *Sender `json:"sender,omitempty"`
	}
	// TaskFile names a file of a task.
	TaskFile struct {
		TaskID
		File string `json:"file"`
	}
	// File is a file of a task.
	File struct {
		Attachment council.Attachment `json:"attachment"`
		Data       []byte             `json:"data"`
	}
	// MemberName names a member.
	MemberName struct {
		Member string `json:"member"`
	}
	// NewParams are parameters of a member.
	NewParams struct {
		MemberName
		Params council.Params `json:"params"`
		Reason string         `json:"reason,omitempty"`
	}
	// ParamsNow are the parameters of a member and their changes, newest first.
	ParamsNow struct {
		Params  council.Params         `json:"params"`
		Changes []council.ParamsChange `json:"changes"`
	}
	// ID names a thing of the council.
	ID struct {
		ID string `json:"id"`
	}
	// Limit bounds a list.
	Limit struct {
		Limit int `json:"limit,omitempty"`
	}
	// Cycle names an evaluation.
	Cycle struct {
		CycleID string `json:"cycle_id"`
	}
	// WorkerName names a worker.
	WorkerName struct {
		Worker string `json:"worker"`
	}
	// Obedience names who obeys.
	Obedience struct {
		WorkerName
		Look bool `json:"look,omitempty"` // acknowledge nothing
	}
	// NewCommand tells a worker what to do.
	NewCommand struct {
		WorkerName
		ID             string                `json:"id,omitempty"`
		Action         string                `json:"action"`
		Params         council.CommandParams `json:"params,omitzero"`
		Reason         string                `json:"reason,omitempty"`
		TaskID         string                `json:"task_id,omitempty"`
		ExpiresMinutes int                   `json:"expires_minutes,omitempty"`
		Sender         *Sender               `json:"sender,omitempty"`
	}
	// NewAck is what came of a command.
	NewAck struct {
		WorkerName
		ID           string `json:"id"`
		Result       string `json:"result"`
		ResultDetail string `json:"result_detail,omitempty"`
	}
	// NewSuggestion is a task that a worker suggests.
	NewSuggestion struct {
		WorkerName
		Title       string `json:"title"`
		Description string `json:"description,omitempty"`
		Type        string `json:"type,omitempty"`
		Reply       bool   `json:"reply,omitempty"`
	}
	// StatusFilter selects by status.
	StatusFilter struct {
		Status string `json:"status,omitempty"`
	}
	// NewReview accepts or refuses a suggestion.
	NewReview struct {
		WorkerName
		ID     string  `json:"id"`
		Accept bool    `json:"accept"`
		Note   string  `json:"note,omitempty"`
		Sender *Sender `json:"sender,omitempty"`
	}
	// NewAction is a protected action that a member asks for.
	NewAction struct {
		Service     string `json:"service"`
		TaskID      string `json:"task_id"`
		RequestedBy string `json:"requested_by"`
		Reason      string `json:"reason,omitempty"`
	}
	// Approval is a member's word on a protected action.
	Approval struct {
		MemberName
		ID      string `json:"id"`
		Approve bool   `json:"approve"`
		Reason  string `json:"reason,omitempty"`
	}
	// Turn is the turn of a member that runs elsewhere; nil if it has none.
	Turn struct {
		Turn *member.RemoteTurn `json:"turn,omitempty"`
	}
	// TurnLease names a turn.
	TurnLease struct {
		MemberName
		Lease string `json:"lease"`
	}
	// TurnReply answers a turn.
	TurnReply struct {
		TurnLease
		Reply     string `json:"reply,omitempty"`
		Failed    string `json:"failed,omitempty"` // why there is no reply
		TokensIn  int    `json:"tokens_in,omitempty"`
		TokensOut int    `json:"tokens_out,omitempty"`
		// Of the prompt, beside TokensIn, what was read from a cache of the provider and written to it.
		CacheRead  int     `json:"cache_read_tokens,omitempty"`
		CacheWrite int     `json:"cache_creation_tokens,omitempty"`
		Cost       float64 `json:"cost,omitempty"` // in US dollars, if a program has told it
	}
	// TurnCall calls a tool of a turn.
	TurnCall struct {
		TurnLease
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	}
	// TurnFound is what a tool has returned.
	TurnFound struct {
		Text   string `json:"text"`
		Failed bool   `json:"failed,omitempty"`
	}
	// Until is a time until which something holds.
	Until struct {
		Until time.Time `json:"until"`
	}
	// After is the last event that a client has.
	After struct {
		AfterID uint64 `json:"after_id,omitempty"`
	}
	// LogQuery selects lines of the log of a member.
	LogQuery struct {
		MemberName
		Day    string `json:"day,omitempty"` // YYYY-MM-DD; today if it is empty
		Last   int    `json:"last,omitempty"`
		Follow bool   `json:"follow,omitempty"`
	}
	// Trial says whether to ask the members too.
	Trial struct {
		Trial bool `json:"trial,omitempty"`
	}
	// Kind is "owner" or "stranger".
	Kind struct {
		Kind string `json:"kind"`
	}
	// CouncilNow is what the council is, and what the caller may do.
	CouncilNow struct {
		Agent             string               `json:"agent"`
		Members           []engine.MemberState `json:"members"`
		Workers           []string             `json:"workers"`
		Policy            string               `json:"policy"`
		Need              int                  `json:"need"` // votes that decide
		MinRounds         int                  `json:"min_rounds"`
		MaxRounds         int                  `json:"max_rounds"`
		Autonomy          string               `json:"autonomy"`
		ExecutionMode     string               `json:"execution_mode"`
		ExecutionApproval string               `json:"execution_approval"`
		EvaluationEvery   string               `json:"evaluation_every"`
		Actions           []string             `json:"actions"`
		Rights            []string             `json:"rights"`
		Running           bool                 `json:"running"`
		Load              engine.Load          `json:"load"`
		Folder            string               `json:"folder,omitempty"` // only for owners
	}
)

// CouncilOps are the operations of a council.
type CouncilOps struct {
	Status        op.Op[None, CouncilNow]
	Submit        op.Op[NewTask, council.Task]
	Estimate      op.Op[NewTask, member.Estimate]
	List          op.Op[engine.Filter, []engine.Summary]
	Show          op.Op[TaskID, engine.Detail]
	Decisions     op.Op[engine.Filter, []council.Decision]
	Comment       op.Op[NewComment, council.Comment]
	Round         op.Op[TaskOrder, council.Status]
	Decide        op.Op[TaskOrder, council.Status]
	Cancel        op.Op[TaskOrder, council.Status]
	Approve       op.Op[TaskOrder, council.Status]
	Report        op.Op[NewResult, council.Status]
	Outcome       op.Op[TaskOrder, council.Status]
	Solo          op.Op[TaskID, council.Ballot]
	Archive       op.Op[TaskID, None]
	Attachment    op.Op[TaskFile, File]
	Members       op.Op[None, []engine.MemberState]
	Activity      op.Op[None, []council.Activity]
	Params        op.Op[MemberName, ParamsNow]
	SetParams     op.Op[NewParams, council.Params]
	Rollback      op.Op[MemberName, council.Params]
	Evaluate      op.Op[None, Cycle]
	Evaluations   op.Op[Limit, []council.EvaluationState]
	Evaluation    op.Op[ID, council.EvaluationState]
	Workers       op.Op[None, []engine.WorkerState]
	Commands      op.Op[WorkerName, []engine.CommandState]
	Command       op.Op[NewCommand, council.Command]
	Ack           op.Op[NewAck, None]
	Obey          op.Op[Obedience, engine.WorkerState]
	Suggest       op.Op[NewSuggestion, council.Suggestion]
	Suggestions   op.Op[StatusFilter, []council.Suggestion]
	Review        op.Op[NewReview, council.Suggestion]
	RequestAction op.Op[NewAction, council.ActionRequest]
	ListActions   op.Op[None, []council.ActionRequest]
	ApproveAction op.Op[Approval, council.ActionRequest]
	Recognise     op.Op[Sender, Kind]
	NextTurn      op.Op[MemberName, Turn]
	SubmitTurn    op.Op[TurnReply, None]
	RenewTurn     op.Op[TurnLease, Until]
	CallTurn      op.Op[TurnCall, TurnFound]
	Doctor        op.Op[Trial, []engine.Finding]
	Watch         op.Stream[After, engine.Event]
	Log           op.Stream[LogQuery, council.LogLine]
}

// Council are the operations for those who call them.
var Council = councilOps(nil)

// councilOps returns the operations of the council of a server.
func councilOps(s *Server) CouncilOps {
	c := councilService{s}
	const tasks, workers = "/v1/council/tasks", "/v1/council/workers/{worker}"
	return CouncilOps{
		Status: op.New("council status", "GET /v1/council", "council", "Tells what the council is: members, rules, load, and what the caller may do.", c.status),
		Submit: op.New("council ask", "POST "+tasks, "council:submit", "Puts a task or question into the inbox. One that no owner has written has low trust.", c.submit),
		Estimate: op.New("council estimate", "POST "+tasks+":estimate", "council:submit", "Tells how many calls and tokens a task may cost, and submits nothing.", asks(c, func(in NewTask) guard {
			return may(rightSubmit, checkSize("description", in.Description, 4*council.MaxDescription))
		}, func(ctx context.Context, e *engine.Engine, in NewTask) (member.Estimate, error) {
			return e.Estimate(council.Task{Type: council.TypeTask, Title: in.Title, Description: in.Description}), nil
		})),
		List: op.New("council list", "GET "+tasks, "council:read", "Lists tasks, newest first.", asks(c, func(in engine.Filter) guard {
			return may(rightRead, checkFilter(in))
		}, func(ctx context.Context, e *engine.Engine, in engine.Filter) ([]engine.Summary, error) {
			return e.List(ctx, page(in))
		})),
		Show: op.New("council show", "GET "+tasks+"/{id}", "council:read", "Returns a task with its discussion. Ballots of a round in progress are not shown to anybody.", asks(c, func(in TaskID) guard {
			return may(rightRead, checkTask("id", in.ID))
		}, func(ctx context.Context, e *engine.Engine, in TaskID) (engine.Detail, error) {
			d, err := e.Get(ctx, in.ID)
			return shown(d), err
		})),
		Decisions: op.New("council decisions", "GET /v1/council/decisions", "council:read", "Lists decisions, newest first.", asks(c, func(in engine.Filter) guard {
			return may(rightRead, checkFilter(in))
		}, func(ctx context.Context, e *engine.Engine, in engine.Filter) ([]council.Decision, error) {
			return e.Decisions(ctx, page(in))
		})),
		Comment: op.New("council comment", "POST "+tasks+"/{id}/comments", "council:submit", "Adds a comment to a task.", c.comment),
		Round: c.order("council round", "Opens one more round of a task that has ended or is stalled, at most three times.", func(ctx context.Context, e *engine.Engine, in TaskOrder, who council.Author) error {
			return e.RequestRound(ctx, in.ID, who, in.Reason)
		}),
		Decide: c.order("council decide", "Decides in the council's place, which the record says.", func(ctx context.Context, e *engine.Engine, in TaskOrder, who council.Author) error {
			if in.Decision != council.Approved && in.Decision != council.Rejected {
				return badField("decision", "must be %s or %s, not %q", council.Approved, council.Rejected, clip(in.Decision, 40))
			}
			return e.Decide(ctx, in.ID, in.Decision, in.Approach, in.Reason, who)
		}),
		Cancel: c.order("council cancel", "Cancels a task that has not ended.", func(ctx context.Context, e *engine.Engine, in TaskOrder, who council.Author) error {
			return e.Cancel(ctx, in.ID, in.Reason, who)
		}),
		Approve: c.order("council approve", "Lets the configured command run for an approved task, or has an execution that failed tried again.", func(ctx context.Context, e *engine.Engine, in TaskOrder, who council.Author) error {
			return e.ApproveExecution(ctx, in.ID, who)
		}),
		Outcome: c.order("council outcome", "Records what came of a decision, which members see when they rate each other.", func(ctx context.Context, e *engine.Engine, in TaskOrder, who council.Author) error {
			return e.RecordOutcome(ctx, in.ID, in.Outcome, in.Note, who)
		}),
		Report: op.New("council report", "POST "+tasks+"/{id}/report", "council:owner or council:worker:NAME", "Reports what a person or worker has done for an approved task.", c.report),
		Solo: op.New("council solo", "POST "+tasks+"/{id}/solo", "council:owner", "Asks the arbiter alone what the members were asked, and stores the answer beside the decision.", asks(c, func(in TaskID) guard {
			return may(rightOwner, checkTask("id", in.ID))
		}, func(ctx context.Context, e *engine.Engine, in TaskID) (council.Ballot, error) {
			return e.Solo(ctx, in.ID)
		})),
		Archive: op.New("council archive", "POST "+tasks+"/{id}/archive", "council:owner", "Moves a task that has ended to the archive.", asks(c, func(in TaskID) guard {
			return may(rightOwner, checkTask("id", in.ID))
		}, func(ctx context.Context, e *engine.Engine, in TaskID) (None, error) {
			return None{}, e.Archive(ctx, in.ID)
		})),
		Attachment: op.New("council attachment", "GET "+tasks+"/{id}/attachments/{file...}", "council:read", "Returns a file that was submitted with a task.", c.attachment),
		Members:    op.New("council members", "GET /v1/council/members", "council:read", "Lists the members with their parameters and what they do.", reads(c, (*engine.Engine).Members)),
		Activity:   op.New("council activity", "GET /v1/council/activity", "council:read", "Tells what each member does now.", reads(c, (*engine.Engine).Activity)),
		Params: op.New("council params", "GET /v1/council/members/{member}/params", "council:read", "Returns the parameters of a member and their changes, newest first.", asks(c, func(in MemberName) guard {
			return may(rightRead, checkAgentName("member", in.Member))
		}, func(ctx context.Context, e *engine.Engine, in MemberName) (ParamsNow, error) {
			p, changes, err := e.Params(ctx, in.Member)
			return ParamsNow{p.Known(), changes}, err
		})),
		SetParams: op.New("council params set", "POST /v1/council/members/{member}/params", "council:owner", "Changes parameters of a member. The next prompt has them.", asks(c, func(in NewParams) guard {
			return may(rightOwner, checkAgentName("member", in.Member), checkParams(in.Params), checkSize("reason", in.Reason, maxCouncilText))
		}, func(ctx context.Context, e *engine.Engine, in NewParams) (council.Params, error) {
			p, err := e.SetParams(ctx, in.Member, in.Params, c.author(ctx, nil), in.Reason)
			return p.Known(), err
		})),
		Rollback: op.New("council params rollback", "POST /v1/council/members/{member}/params/rollback", "council:owner", "Takes the last change of a member's parameters back.", asks(c, func(in MemberName) guard {
			return may(rightOwner, checkAgentName("member", in.Member))
		}, func(ctx context.Context, e *engine.Engine, in MemberName) (council.Params, error) {
			p, err := e.Rollback(ctx, in.Member, c.author(ctx, nil))
			return p.Known(), err
		})),
		Evaluate: op.New("council evaluate", "POST /v1/council/evaluations", "council:owner", "Has the members rate each other now.", func(ctx context.Context, _ None) (Cycle, error) {
			e, err := c.of(ctx, rightOwner)
			if err != nil {
				return Cycle{}, err
			}
			id, err := e.StartEvaluation(ctx, c.author(ctx, nil))
			return Cycle{id}, err
		}),
		Evaluations: op.New("council evaluations", "GET /v1/council/evaluations", "council:read", "Lists evaluation cycles, newest first.", asks(c, func(in Limit) guard {
			return may(rightRead, checkCount("limit", in.Limit))
		}, func(ctx context.Context, e *engine.Engine, in Limit) ([]council.EvaluationState, error) {
			return e.Evaluations(ctx, limitOf(in.Limit, 20))
		})),
		Evaluation: op.New("council evaluation", "GET /v1/council/evaluations/{id}", "council:read", "Returns an evaluation cycle.", asks(c, func(in ID) guard {
			return may(rightRead, checkID("id", in.ID))
		}, func(ctx context.Context, e *engine.Engine, in ID) (council.EvaluationState, error) {
			return e.Evaluation(ctx, in.ID)
		})),
		Workers: op.New("council workers", "GET /v1/council/workers", "council:read", "Lists the workers: who is paused, and what they are told.", reads(c, (*engine.Engine).Workers)),
		Commands: op.New("council commands", "GET "+workers+"/commands", "council:read or council:worker:NAME", "Lists the commands to a worker with their acknowledgements.", asks(c, func(in WorkerName) guard {
			return may(rightRead, checkAgentName("worker", in.Worker)).or(rightWorker + in.Worker)
		}, func(ctx context.Context, e *engine.Engine, in WorkerName) ([]engine.CommandState, error) {
			return e.Commands(ctx, in.Worker)
		})),
		Command: op.New("council command", "POST "+workers+"/commands", "council:owner", "Tells a worker what to do. An id that was used before changes nothing.", c.command),
		Ack: op.New("council ack", "POST "+workers+"/commands/{id}/ack", "council:worker:NAME", "Tells that the worker has done, or not done, a command.", asks(c, func(in NewAck) guard {
			return may(rightWorker+in.Worker, checkAgentName("worker", in.Worker), checkID("id", in.ID), checkName("result", in.Result), checkSize("result_detail", in.ResultDetail, maxCouncilText))
		}, func(ctx context.Context, e *engine.Engine, in NewAck) (None, error) {
			return None{}, e.Ack(ctx, in.Worker, in.ID, council.Ack{ID: in.ID, Status: council.AckProcessed, Result: in.Result, ResultDetail: in.ResultDetail})
		})),
		Obey: op.New("council obey", "POST "+workers+"/obey", "council:worker:NAME or council:member:NAME", "Acknowledges the commands that the worker has not answered, and returns what all of them amount to now; with look it acknowledges none.", asks(c, func(in Obedience) guard {
			return may(rightWorker+in.Worker, checkAgentName("worker", in.Worker)).or(rightMember + in.Worker)
		}, func(ctx context.Context, e *engine.Engine, in Obedience) (engine.WorkerState, error) {
			if in.Look {
				return e.WorkerState(ctx, in.Worker)
			}
			return e.Obey(ctx, in.Worker)
		})),
		Suggest: op.New("council suggest", "POST "+workers+"/suggestions", "council:worker:NAME", "Suggests a task: one an hour, later ones wait.", asks(c, func(in NewSuggestion) guard {
			return may(rightWorker+in.Worker, checkAgentName("worker", in.Worker), checkSize("title", in.Title, 4*council.MaxSuggestTitle), checkSize("description", in.Description, 4*council.MaxSuggestText))
		}, func(ctx context.Context, e *engine.Engine, in NewSuggestion) (council.Suggestion, error) {
			return e.Suggest(ctx, council.Suggestion{Worker: in.Worker, Title: in.Title, Description: in.Description, Type: in.Type, Reply: in.Reply})
		})),
		Suggestions: op.New("council suggestions", "GET /v1/council/suggestions", "council:read", "Lists suggestions, newest first.", asks(c, func(in StatusFilter) guard {
			return may(rightRead, checkName("status", in.Status))
		}, func(ctx context.Context, e *engine.Engine, in StatusFilter) ([]council.Suggestion, error) {
			return e.ListSuggestions(ctx, in.Status)
		})),
		Review: op.New("council review", "POST "+workers+"/suggestions/{id}/review", "council:owner", "Accepts or refuses a suggestion.", func(ctx context.Context, in NewReview) (council.Suggestion, error) {
			e, who, err := c.owned(ctx, in.Sender, checkAgentName("worker", in.Worker), checkID("id", in.ID), checkSize("note", in.Note, maxCouncilText))
			if err != nil {
				return council.Suggestion{}, err
			}
			return e.ReviewSuggestion(ctx, in.Worker, in.ID, in.Accept, in.Note, who)
		}),
		RequestAction: op.New("council action", "POST /v1/council/actions", "council:member:NAME", "Requests a protected action as a member.", asks(c, func(in NewAction) guard {
			return may(rightMember+in.RequestedBy, checkAgentName("requested_by", in.RequestedBy), checkTask("task_id", in.TaskID), checkKey("service", in.Service), checkSize("reason", in.Reason, maxCouncilText))
		}, func(ctx context.Context, e *engine.Engine, in NewAction) (council.ActionRequest, error) {
			return e.RequestAction(ctx, council.ActionRequest{Service: in.Service, TaskID: in.TaskID, RequestedBy: in.RequestedBy, Reason: in.Reason})
		})),
		ListActions: op.New("council actions", "GET /v1/council/actions", "council:read", "Lists protected actions.", reads(c, (*engine.Engine).ListActions)),
		ApproveAction: op.New("council action approve", "POST /v1/council/actions/{id}/approve", "council:member:NAME", "Approves or rejects a protected action as a member.", asks(c, func(in Approval) guard {
			return may(rightMember+in.Member, checkAgentName("member", in.Member), checkID("id", in.ID), checkSize("reason", in.Reason, maxCouncilText))
		}, func(ctx context.Context, e *engine.Engine, in Approval) (council.ActionRequest, error) {
			return e.ApproveAction(ctx, in.ID, in.Member, in.Approve, in.Reason)
		})),
		Recognise: op.New("council recognise", "GET /v1/council/owners/{platform}/{user_id}", "council:bridge:PLATFORM or council:read", "Tells whether an id on a platform is that of an owner. It proves nothing about who has sent it.", asks(c, func(in Sender) guard {
			return may(rightBridge+in.Platform, checkSender(&in)).or(rightRead)
		}, func(ctx context.Context, e *engine.Engine, in Sender) (Kind, error) {
			if e.Recognise(in.Platform, in.UserID) {
				return Kind{"owner"}, nil
			}
			return Kind{"stranger"}, nil
		})),
		NextTurn: op.New("council turn", "POST /v1/council/members/{member}/turns/next", "council:member:NAME", "Fetches the turn of a member that runs elsewhere.", asks(c, func(in MemberName) guard {
			return may(rightMember+in.Member, checkAgentName("member", in.Member))
		}, func(ctx context.Context, e *engine.Engine, in MemberName) (Turn, error) {
			desk, err := e.Desk(in.Member)
			if err != nil {
				return Turn{}, err
			}
			return Turn{desk.Next(in.Member)}, nil
		})),
		SubmitTurn: op.New("council turn submit", "POST /v1/council/members/{member}/turns/{lease}/submit", "council:member:NAME", "Answers a turn.", asks(c, func(in TurnReply) guard {
			return may(rightMember+in.Member, checkAgentName("member", in.Member), checkKey("lease", in.Lease), checkSize("reply", in.Reply, maxTurnReply), checkSize("failed", in.Failed, maxCouncilText))
		}, func(ctx context.Context, e *engine.Engine, in TurnReply) (None, error) {
			desk, err := e.Desk(in.Member)
			if err != nil {
				return None{}, err
			}
			return None{}, desk.Submit(in.Member, in.Lease, member.RemoteReply{Text: []byte(in.Reply), Failed: in.Failed,
				Usage: llm.Usage{Input: in.TokensIn, Output: in.TokensOut, CacheRead: in.CacheRead, CacheWrite: in.CacheWrite, Dollars: in.Cost}})
		})),
		RenewTurn: op.New("council turn renew", "POST /v1/council/members/{member}/turns/{lease}/renew", "council:member:NAME", "Renews the lease of a turn.", asks(c, func(in TurnLease) guard {
			return may(rightMember+in.Member, checkAgentName("member", in.Member), checkKey("lease", in.Lease))
		}, func(ctx context.Context, e *engine.Engine, in TurnLease) (Until, error) {
			desk, err := e.Desk(in.Member)
			if err != nil {
				return Until{}, err
			}
			until, err := desk.Renew(in.Member, in.Lease)
			return Until{until}, err
		})),
		CallTurn: op.New("council turn call", "POST /v1/council/members/{member}/turns/{lease}/call", "council:member:NAME", "Calls a tool of a turn: memory_search or memory_get, six times at most.", asks(c, func(in TurnCall) guard {
			return may(rightMember+in.Member, checkAgentName("member", in.Member), checkKey("lease", in.Lease), checkSize("input", string(in.Input), maxCouncilText))
		}, func(ctx context.Context, e *engine.Engine, in TurnCall) (found TurnFound, err error) {
			desk, err := e.Desk(in.Member)
			if err != nil {
				return found, err
			}
			found.Text, found.Failed, err = desk.Call(ctx, in.Member, in.Lease, llm.ToolCall{Name: in.Name, Input: in.Input})
			return found, err
		})),
		Doctor: op.New("council doctor", "POST /v1/council/doctor", "council:owner", "Looks for what is wrong with the council.", func(ctx context.Context, in Trial) ([]engine.Finding, error) {
			e, err := c.of(ctx, rightOwner)
			switch {
			case err != nil:
				return nil, err
			case in.Trial:
				return e.Trial(ctx), nil
			}
			return e.Doctor(ctx), nil
		}),
		Watch: op.NewStream("council watch", "GET /v1/council/events", "council:read", "Streams what changes. It ends for a reader that does not keep up, who then watches again after its last event.", c.watch),
		Log:   op.NewStream("council log", "GET /v1/council/members/{member}/log", "council:read", "Streams the log of a member.", c.log),
	}
}

// order returns an operation by which an owner, or a bridge for one, changes a task.
func (s councilService) order(name, doc string, do func(context.Context, *engine.Engine, TaskOrder, council.Author) error) op.Op[TaskOrder, council.Status] {
	_, verb, _ := strings.Cut(name, " ")
	return op.New(name, "POST /v1/council/tasks/{id}/"+verb, "council:owner", doc, func(ctx context.Context, in TaskOrder) (council.Status, error) {
		e, who, err := s.owned(ctx, in.Sender, checkTask("id", in.ID), checkSize("reason", in.Reason, maxCouncilText),
			checkSize("approach", in.Approach, maxCouncilText), checkSize("note", in.Note, maxCouncilText))
		if err != nil {
			return council.Status{}, err
		}
		return statusOfTask(ctx, e, in.ID, do(ctx, e, in, who))
	})
}

// shown returns a task as anybody may see it: a member that abstains in an open round has answered.
func shown(d engine.Detail) engine.Detail {
	d.Rounds = slices.Clone(d.Rounds)
	for i, r := range d.Rounds {
		if r.Seal != nil {
			continue
		}
		d.Rounds[i].Ballots = nil
		for _, t := range r.Turns {
			if t.Abstained != "" && !slices.Contains(d.Rounds[i].Answered, t.Member) {
				d.Rounds[i].Answered = append(slices.Clone(d.Rounds[i].Answered), t.Member)
			}
		}
	}
	return d
}

// statusOfTask returns how far a task is, after something was done to it.
func statusOfTask(ctx context.Context, e *engine.Engine, id string, err error) (council.Status, error) {
	if err != nil {
		return council.Status{}, err
	}
	d, err := e.Get(ctx, id)
	return d.Status, err
}

// checkFilter refuses a filter with a bad page.
func checkFilter(f engine.Filter) error {
	return cmp.Or(checkCount("limit", f.Limit), checkCount("offset", f.Offset))
}

// page returns a filter with the limit of a page.
func page(f engine.Filter) engine.Filter {
	f.Limit = limitOf(f.Limit, 50)
	return f
}

// status tells what the council is. Any right suffices.
func (s councilService) status(ctx context.Context, _ None) (CouncilNow, error) {
	if s.opt.Council == nil {
		return CouncilNow{}, errNoCouncil
	}
	rights := callerOf(ctx).council
	if rights.none() {
		return CouncilNow{}, errCouncilRight([]string{rightRead})
	}
	e := s.opt.Council.Council
	set := e.Settings().WithDefaults()
	now := CouncilNow{
		Agent: set.Agent, Workers: set.Workers, Policy: set.Policy, Need: council.Need(len(set.Members)), MinRounds: set.MinRounds,
		MaxRounds: set.MaxRounds, Autonomy: set.Autonomy, ExecutionMode: set.Execution.Mode, ExecutionApproval: set.Execution.Approval,
		EvaluationEvery: set.Evaluation.Every, Actions: slices.Sorted(maps.Keys(set.Actions)), Rights: rights.list(), Running: !s.opt.Council.Idle,
	}
	if rights.has(rightOwner) {
		now.Folder = s.opt.Council.Folder
	}
	var err error
	if now.Members, err = e.Members(ctx); err == nil {
		now.Load, err = e.Load(ctx)
	}
	return now, err
}

// submit puts a task into the inbox.
func (s councilService) submit(ctx context.Context, in NewTask) (council.Task, error) {
	source := cmp.Or(in.Source, "api")
	if in.Sender != nil {
		source = "bridge:" + in.Sender.Platform
	}
	e, err := s.of(ctx, rightSubmit, checkSender(in.Sender), checkName("source", source), checkUploads(in.Attachments))
	if err != nil {
		return council.Task{}, err
	}
	t := council.Task{
		ID: in.ID, Type: cmp.Or(in.Type, council.TypeTask), Title: in.Title, Description: in.Description, Priority: in.Priority,
		Supersedes: in.Supersedes, Source: source, Author: s.author(ctx, in.Sender), Trust: council.TrustOwner,
	}
	if t.Author.Kind != "owner" {
		t.Trust = council.TrustLow
	}
	return e.SubmitWith(ctx, t, in.Attachments)
}

// checkUploads refuses files that are too many or too large.
func checkUploads(files []engine.Upload) error {
	total := 0
	for _, u := range files {
		total += len(u.Data)
	}
	if len(files) > council.MaxAttachments || total > maxUploads {
		return badField("attachments", "are %d of %d bytes; at most %d of together %d", len(files), total, council.MaxAttachments, maxUploads)
	}
	return nil
}

// comment adds a comment.
func (s councilService) comment(ctx context.Context, in NewComment) (council.Comment, error) {
	e, err := s.of(ctx, rightSubmit, checkSender(in.Sender), checkTask("id", in.ID), checkUploads(in.Attachments))
	switch {
	case err != nil:
		return council.Comment{}, err
	case strings.TrimSpace(in.Message) == "":
		return council.Comment{}, badField("message", "is empty")
	case utf8.RuneCountInString(in.Message) > council.MaxComment:
		return council.Comment{}, badField("message", "has more than %d characters", council.MaxComment)
	}
	return e.Comment(ctx, in.ID, council.Comment{Author: s.author(ctx, in.Sender), Message: in.Message}, in.Attachments...)
}

// report reports what was done, by an owner or a worker.
func (s councilService) report(ctx context.Context, in NewResult) (council.Status, error) {
	checks := []error{checkTask("id", in.ID), checkSize("result", in.Result, maxCouncilText)}
	var e *engine.Engine
	var who council.Author
	var err error
	if in.Worker != "" {
		e, err = s.of(ctx, rightWorker+in.Worker, append(checks, checkAgentName("worker", in.Worker))...)
		who = council.Author{Kind: "worker", Name: in.Worker}
	} else {
		e, who, err = s.owned(ctx, in.Sender, checks...)
	}
	if err != nil {
		return council.Status{}, err
	}
	return statusOfTask(ctx, e, in.ID, e.ReportResult(ctx, in.ID, council.Result{Result: in.Result, Succeeded: in.Succeeded, Author: who}))
}

// attachment returns a file of a task.
func (s councilService) attachment(ctx context.Context, in TaskFile) (File, error) {
	e, err := s.of(ctx, rightRead, checkTask("id", in.ID), checkKey("file", in.File))
	if err != nil {
		return File{}, err
	}
	f, a, err := e.Attachment(ctx, in.ID, in.File)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxUploads+1))
	if err == nil && len(data) > maxUploads {
		err = badField("file", "has more than %d bytes; open it in the folder of the council", maxUploads)
	}
	return File{a, data}, err
}

// checkParams refuses parameters that are unknown or out of range, and an empty list.
func checkParams(p council.Params) error {
	if len(p) == 0 {
		return badField("params", "is empty; name at least one of %v", council.ParamNames)
	}
	for name := range p {
		if !slices.Contains(council.ParamNames, name) {
			return badField("params", "has %q; parameters are %v", clip(name, 80), council.ParamNames)
		}
	}
	return council.CheckParams(p)
}

// command tells a worker what to do.
func (s councilService) command(ctx context.Context, in NewCommand) (council.Command, error) {
	checks := []error{
		checkAgentName("worker", in.Worker), checkCount("params.duration_minutes", in.Params.DurationMinutes),
		checkCount("expires_minutes", in.ExpiresMinutes), checkSize("reason", in.Reason, maxCouncilText), checkDirectives(in.Params.Directives),
	}
	if in.ID != "" {
		checks = append(checks, checkID("id", in.ID))
	}
	if in.TaskID != "" {
		checks = append(checks, checkTask("task_id", in.TaskID))
	}
	e, who, err := s.owned(ctx, in.Sender, checks...)
	if err != nil {
		return council.Command{}, err
	}
	c := council.Command{ID: in.ID, Worker: in.Worker, Action: in.Action, Reason: in.Reason, TaskID: in.TaskID, IssuedBy: who, Params: in.Params}
	if m := min(in.ExpiresMinutes, maxExpiryMinutes); m > 0 {
		c.ExpiresAt = time.Now().Add(time.Duration(m) * time.Minute)
	}
	return e.SendCommand(ctx, c)
}

// checkDirectives refuses directives that are too many or too long.
func checkDirectives(list []string) error {
	if len(list) > council.MaxDirectives {
		return badField("params.directives", "are %d; at most %d", len(list), council.MaxDirectives)
	}
	for _, d := range list {
		if err := checkLine("params.directives", d); err != nil {
			return err
		}
		if strings.TrimSpace(d) == "" || len([]rune(d)) > council.MaxDirective {
			return badField("params.directives", "must have 1 to %d characters each", council.MaxDirective)
		}
	}
	return nil
}

// watch streams what changes.
func (s councilService) watch(ctx context.Context, in After) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		e, err := s.of(ctx, rightRead)
		if err != nil {
			yield(engine.Event{}, err)
			return
		}
		if last, again := op.LastEventID(ctx); again && in.AfterID == 0 {
			in.AfterID = last
		}
		events := e.Events(ctx, in.AfterID)
		op.Ready(ctx)
		for event := range events {
			if !yield(event, nil) {
				return
			}
		}
		yield(engine.Event{}, cmp.Or(ctx.Err(), errEventsLost))
	}
}

// log streams the log of a member.
func (s councilService) log(ctx context.Context, in LogQuery) iter.Seq2[council.LogLine, error] {
	return func(yield func(council.LogLine, error) bool) {
		e, err := s.of(ctx, rightRead, checkAgentName("member", in.Member), checkDay("day", in.Day), checkCount("last", in.Last))
		var lines []council.LogLine
		if err == nil {
			lines, err = e.Log(ctx, in.Member, in.Day, limitOf(in.Last, 100))
		}
		if err != nil {
			yield(council.LogLine{}, err)
			return
		}
		op.Ready(ctx)
		for _, l := range lines {
			if !yield(l, nil) {
				return
			}
		}
		if !in.Follow {
			return
		}
		for l := range e.FollowLog(ctx, in.Member) {
			if !yield(l, nil) {
				return
			}
		}
	}
}
