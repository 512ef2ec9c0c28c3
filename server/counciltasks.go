package server

import (
	"context"
	"io"
	"strings"
	"unicode/utf8"

	"kioku/council"
	"kioku/council/engine"
	kiokuv1 "kioku/proto/kioku/v1"
)

// maxUploads is the size of all attachments of a task in bytes, which is below that of a message.
const maxUploads = 3 << 20

// maxCouncilText is the size of a text for people in bytes: a reason, a note, a comment.
const maxCouncilText = 4 * council.MaxComment

// SubmitTask puts a task into the inbox. One that no owner has written has low trust.
func (s councilService) SubmitTask(ctx context.Context, req *kiokuv1.SubmitTaskRequest) (*kiokuv1.SubmitTaskResponse, error) {
	source := req.GetSource()
	if p := req.GetSender().GetPlatform(); p != "" {
		source = "bridge:" + p
	}
	if source == "" {
		source = "api"
	}
	c, err := s.of(ctx, rightSubmit, checkSender(req.GetSender()), checkName("source", source))
	if err != nil {
		return nil, err
	}
	t := council.Task{
		ID: req.GetId(), Type: orTask(req.GetType()), Title: req.GetTitle(), Description: req.GetDescription(), Priority: req.GetPriority(),
		Supersedes: req.GetSupersedes(), Source: source, Author: s.author(ctx, req.GetSender()), Trust: council.TrustOwner,
	}
	if t.Author.Kind != "owner" {
		t.Trust = council.TrustLow
	}
	files, err := uploads(req.GetAttachments())
	if err != nil {
		return nil, err
	}
	if t, err = c.SubmitWith(ctx, t, files); err != nil {
		return nil, err
	}
	return &kiokuv1.SubmitTaskResponse{Task: councilTask(t)}, nil
}

// orTask returns a type of tasks, "task" if it is empty.
func orTask(kind string) string {
	if kind == "" {
		return council.TypeTask
	}
	return kind
}

// uploads returns the files of a request.
func uploads(list []*kiokuv1.CouncilUpload) ([]engine.Upload, error) {
	var files []engine.Upload
	total := 0
	for _, u := range list {
		total += len(u.GetData())
		files = append(files, engine.Upload{Name: u.GetName(), Data: u.GetData()})
	}
	if len(files) > council.MaxAttachments || total > maxUploads {
		return nil, badField("attachments", "are %d of %d bytes; at most %d of together %d", len(files), total, council.MaxAttachments, maxUploads)
	}
	return files, nil
}

// EstimateTask tells what a task may cost.
func (s councilService) EstimateTask(ctx context.Context, req *kiokuv1.EstimateTaskRequest) (*kiokuv1.EstimateTaskResponse, error) {
	c, err := s.of(ctx, rightSubmit, checkSize("description", req.GetDescription(), 4*council.MaxDescription))
	if err != nil {
		return nil, err
	}
	e := c.Estimate(council.Task{Type: council.TypeTask, Title: req.GetTitle(), Description: req.GetDescription()})
	return &kiokuv1.EstimateTaskResponse{
		LowCallCount: int32Of(e.CallsLow), HighCallCount: int32Of(e.CallsHigh), LowTokenCount: int64(e.TokensLow), HighTokenCount: int64(e.TokensHigh),
		LowCost: e.CostLow, HighCost: e.CostHigh,
	}, nil
}

// ListTasks lists tasks.
func (s councilService) ListTasks(ctx context.Context, req *kiokuv1.ListTasksRequest) (*kiokuv1.ListTasksResponse, error) {
	c, err := s.of(ctx, rightRead, checkCount("limit", req.GetLimit()), checkCount("offset", req.GetOffset()))
	if err != nil {
		return nil, err
	}
	list, err := c.List(ctx, engine.Filter{
		Status: req.GetStatuses(), Type: req.GetType(), Limit: limitOf(req.GetLimit(), 50), Offset: int(req.GetOffset()), Archived: req.GetArchived(),
	})
	if err != nil {
		return nil, err
	}
	return &kiokuv1.ListTasksResponse{Tasks: fit(convertAll(list, councilSummary), maxAnswer)}, nil
}

// GetTask returns a task with its discussion.
func (s councilService) GetTask(ctx context.Context, req *kiokuv1.GetTaskRequest) (*kiokuv1.GetTaskResponse, error) {
	c, err := s.of(ctx, rightRead, checkTask("id", req.GetId()))
	if err != nil {
		return nil, err
	}
	d, err := c.Get(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	return councilDetail(d), nil
}

// ListDecisions lists decisions.
func (s councilService) ListDecisions(ctx context.Context, req *kiokuv1.ListDecisionsRequest) (*kiokuv1.ListDecisionsResponse, error) {
	c, err := s.of(ctx, rightRead, checkCount("limit", req.GetLimit()), checkCount("offset", req.GetOffset()))
	if err != nil {
		return nil, err
	}
	list, err := c.Decisions(ctx, engine.Filter{Limit: limitOf(req.GetLimit(), 50), Offset: int(req.GetOffset()), Archived: req.GetArchived()})
	if err != nil {
		return nil, err
	}
	return &kiokuv1.ListDecisionsResponse{Decisions: fit(convertAll(list, councilDecision), maxAnswer)}, nil
}

// Comment adds a comment.
func (s councilService) Comment(ctx context.Context, req *kiokuv1.CommentRequest) (*kiokuv1.CommentResponse, error) {
	c, err := s.of(ctx, rightSubmit, checkSender(req.GetSender()), checkTask("id", req.GetId()), checkComment(req.GetMessage()))
	if err != nil {
		return nil, err
	}
	files, err := uploads(req.GetAttachments())
	if err != nil {
		return nil, err
	}
	made, err := c.Comment(ctx, req.GetId(), council.Comment{Author: s.author(ctx, req.GetSender()), Message: req.GetMessage()}, files...)
	if err != nil {
		return nil, err
	}
	return &kiokuv1.CommentResponse{Comment: councilComment(made)}, nil
}

// checkComment refuses a comment that is empty or too long.
func checkComment(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return badField("message", "is empty")
	case utf8.RuneCountInString(text) > council.MaxComment:
		return badField("message", "has more than %d characters", council.MaxComment)
	}
	return nil
}

// statusOfTask returns how far a task is, after something was done to it.
func statusOfTask(ctx context.Context, c Council, id string, err error) (*kiokuv1.CouncilStatus, error) {
	if err != nil {
		return nil, err
	}
	d, err := c.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return councilStatusOf(d.Status), nil
}

// RequestRound opens one more round.
func (s councilService) RequestRound(ctx context.Context, req *kiokuv1.RequestRoundRequest) (*kiokuv1.RequestRoundResponse, error) {
	c, who, err := s.owned(ctx, req.GetSender(), checkTask("id", req.GetId()), checkSize("reason", req.GetReason(), maxCouncilText))
	if err != nil {
		return nil, err
	}
	st, err := statusOfTask(ctx, c, req.GetId(), c.RequestRound(ctx, req.GetId(), who, req.GetReason()))
	return &kiokuv1.RequestRoundResponse{Status: st}, err
}

// Decide decides in the council's place.
func (s councilService) Decide(ctx context.Context, req *kiokuv1.DecideRequest) (*kiokuv1.DecideResponse, error) {
	c, who, err := s.owned(ctx, req.GetSender(), checkTask("id", req.GetId()), checkVerdict(req.GetDecision()),
		checkSize("approach", req.GetApproach(), maxCouncilText), checkSize("reason", req.GetReason(), maxCouncilText))
	if err != nil {
		return nil, err
	}
	st, err := statusOfTask(ctx, c, req.GetId(), c.Decide(ctx, req.GetId(), req.GetDecision(), req.GetApproach(), req.GetReason(), who))
	return &kiokuv1.DecideResponse{Status: st}, err
}

// checkVerdict refuses what is no decision.
func checkVerdict(decision string) error {
	if decision != council.Approved && decision != council.Rejected {
		return badField("decision", "must be %s or %s, not %q", council.Approved, council.Rejected, clip(decision, 40))
	}
	return nil
}

// Cancel cancels a task.
func (s councilService) Cancel(ctx context.Context, req *kiokuv1.CancelRequest) (*kiokuv1.CancelResponse, error) {
	c, who, err := s.owned(ctx, req.GetSender(), checkTask("id", req.GetId()), checkSize("reason", req.GetReason(), maxCouncilText))
	if err != nil {
		return nil, err
	}
	st, err := statusOfTask(ctx, c, req.GetId(), c.Cancel(ctx, req.GetId(), req.GetReason(), who))
	return &kiokuv1.CancelResponse{Status: st}, err
}

// ApproveExecution lets the configured command run.
func (s councilService) ApproveExecution(ctx context.Context, req *kiokuv1.ApproveExecutionRequest) (*kiokuv1.ApproveExecutionResponse, error) {
	c, who, err := s.owned(ctx, req.GetSender(), checkTask("id", req.GetId()))
	if err != nil {
		return nil, err
	}
	st, err := statusOfTask(ctx, c, req.GetId(), c.ApproveExecution(ctx, req.GetId(), who))
	return &kiokuv1.ApproveExecutionResponse{Status: st}, err
}

// ReportResult reports what was done, by an owner or a worker.
func (s councilService) ReportResult(ctx context.Context, req *kiokuv1.ReportResultRequest) (*kiokuv1.ReportResultResponse, error) {
	checks := []error{checkTask("id", req.GetId()), checkSize("result", req.GetResult(), maxCouncilText)}
	var c Council
	var who council.Author
	var err error
	if w := req.GetWorker(); w != "" {
		c, err = s.of(ctx, rightWorker+w, append(checks, checkAgentName("worker", w))...)
		who = council.Author{Kind: "worker", Name: w}
	} else {
		c, who, err = s.owned(ctx, req.GetSender(), checks...)
	}
	if err != nil {
		return nil, err
	}
	err = c.ReportResult(ctx, req.GetId(), council.Result{Result: req.GetResult(), Succeeded: req.GetSucceeded(), Author: who})
	st, err := statusOfTask(ctx, c, req.GetId(), err)
	return &kiokuv1.ReportResultResponse{Status: st}, err
}

// RecordOutcome records what came of a decision.
func (s councilService) RecordOutcome(ctx context.Context, req *kiokuv1.RecordOutcomeRequest) (*kiokuv1.RecordOutcomeResponse, error) {
	c, who, err := s.owned(ctx, req.GetSender(), checkTask("id", req.GetId()), checkSize("note", req.GetNote(), maxCouncilText))
	if err != nil {
		return nil, err
	}
	st, err := statusOfTask(ctx, c, req.GetId(), c.RecordOutcome(ctx, req.GetId(), req.GetOutcome(), req.GetNote(), who))
	return &kiokuv1.RecordOutcomeResponse{Status: st}, err
}

// AskArbiter asks the arbiter alone.
func (s councilService) AskArbiter(ctx context.Context, req *kiokuv1.AskArbiterRequest) (*kiokuv1.AskArbiterResponse, error) {
	c, err := s.of(ctx, rightOwner, checkTask("id", req.GetId()))
	if err != nil {
		return nil, err
	}
	b, err := c.Solo(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	return &kiokuv1.AskArbiterResponse{Ballot: councilBallot(b)}, nil
}

// ArchiveTask moves a task to the archive.
func (s councilService) ArchiveTask(ctx context.Context, req *kiokuv1.ArchiveTaskRequest) (*kiokuv1.ArchiveTaskResponse, error) {
	c, err := s.of(ctx, rightOwner, checkTask("id", req.GetId()))
	if err != nil {
		return nil, err
	}
	return &kiokuv1.ArchiveTaskResponse{}, c.Archive(ctx, req.GetId())
}

// GetAttachment returns a file of a task.
func (s councilService) GetAttachment(ctx context.Context, req *kiokuv1.GetAttachmentRequest) (*kiokuv1.GetAttachmentResponse, error) {
	c, err := s.of(ctx, rightRead, checkTask("id", req.GetId()), checkKey("file", req.GetFile()))
	if err != nil {
		return nil, err
	}
	f, a, err := c.Attachment(ctx, req.GetId(), req.GetFile())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxUploads+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxUploads {
		return nil, badField("file", "has more than %d bytes; open it in the folder of the council", maxUploads)
	}
	return &kiokuv1.GetAttachmentResponse{Attachment: councilAttachment(a), Data: data}, nil
}
