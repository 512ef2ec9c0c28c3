package server

import (
	"context"
	"slices"
	"strings"
	"time"

	"kioku/council"
	kiokuv1 "kioku/proto/kioku/v1"
)

// ListWorkers lists the workers.
func (s councilService) ListWorkers(ctx context.Context, _ *kiokuv1.ListWorkersRequest) (*kiokuv1.ListWorkersResponse, error) {
	c, err := s.of(ctx, rightRead)
	if err != nil {
		return nil, err
	}
	list, err := c.Workers(ctx)
	if err != nil {
		return nil, err
	}
	return &kiokuv1.ListWorkersResponse{Workers: convertAll(list, councilWorker)}, nil
}

// ListCommands lists the commands to a worker, for those who read the council and for the worker.
func (s councilService) ListCommands(ctx context.Context, req *kiokuv1.ListCommandsRequest) (*kiokuv1.ListCommandsResponse, error) {
	c, err := s.ofAny(ctx, []string{rightRead, rightWorker + req.GetWorker()}, checkAgentName("worker", req.GetWorker()))
	if err != nil {
		return nil, err
	}
	list, err := c.Commands(ctx, req.GetWorker())
	if err != nil {
		return nil, err
	}
	return &kiokuv1.ListCommandsResponse{Commands: fit(convertAll(list, councilCommandState), maxAnswer)}, nil
}

// maxExpiryMinutes is how long a command may wait for its worker.
const maxExpiryMinutes = 7 * 24 * 60

// SendCommand tells a worker what to do.
func (s councilService) SendCommand(ctx context.Context, req *kiokuv1.SendCommandRequest) (*kiokuv1.SendCommandResponse, error) {
	checks := []error{
		checkAgentName("worker", req.GetWorker()), checkCount("duration_minutes", req.GetDurationMinutes()),
		checkCount("expires_minutes", req.GetExpiresMinutes()), checkSize("reason", req.GetReason(), maxCouncilText), checkDirectives(req.GetDirectives()),
	}
	if req.GetId() != "" {
		checks = append(checks, checkID("id", req.GetId()))
	}
	if req.GetTaskId() != "" {
		checks = append(checks, checkTask("task_id", req.GetTaskId()))
	}
	c, who, err := s.owned(ctx, req.GetSender(), checks...)
	if err != nil {
		return nil, err
	}
	cmd := council.Command{
		ID: req.GetId(), Worker: req.GetWorker(), Action: req.GetAction(), Reason: req.GetReason(), TaskID: req.GetTaskId(), IssuedBy: who,
		Params: council.CommandParams{DurationMinutes: int(req.GetDurationMinutes()), Directives: req.GetDirectives()},
	}
	if m := min(req.GetExpiresMinutes(), maxExpiryMinutes); m > 0 {
		cmd.ExpiresAt = time.Now().Add(time.Duration(m) * time.Minute)
	}
	sent, err := c.SendCommand(ctx, cmd)
	if err != nil {
		return nil, err
	}
	return &kiokuv1.SendCommandResponse{Command: councilCommand(sent)}, nil
}

// checkDirectives refuses directives that are too many or too long.
func checkDirectives(list []string) error {
	if len(list) > council.MaxDirectives {
		return badField("directives", "are %d; at most %d", len(list), council.MaxDirectives)
	}
	for _, d := range list {
		if err := checkLine("directives", d); err != nil {
			return err
		}
		if strings.TrimSpace(d) == "" || len([]rune(d)) > council.MaxDirective {
			return badField("directives", "must have 1 to %d characters each", council.MaxDirective)
		}
	}
	return nil
}

// AckCommand tells what came of a command.
func (s councilService) AckCommand(ctx context.Context, req *kiokuv1.AckCommandRequest) (*kiokuv1.AckCommandResponse, error) {
	c, err := s.of(ctx, rightWorker+req.GetWorker(), checkAgentName("worker", req.GetWorker()), checkID("id", req.GetId()),
		checkName("result", req.GetResult()), checkSize("result_detail", req.GetResultDetail(), maxCouncilText))
	if err != nil {
		return nil, err
	}
	return &kiokuv1.AckCommandResponse{}, c.Ack(ctx, req.GetWorker(), req.GetId(), council.Ack{
		ID: req.GetId(), Status: council.AckProcessed, Result: req.GetResult(), ResultDetail: req.GetResultDetail(),
	})
}

// ObeyCommands acknowledges the commands of a worker or member that are not answered, and returns what they amount to.
func (s councilService) ObeyCommands(ctx context.Context, req *kiokuv1.ObeyCommandsRequest) (*kiokuv1.ObeyCommandsResponse, error) {
	name := req.GetWorker()
	c, err := s.ofAny(ctx, []string{rightWorker + name, rightMember + name}, checkAgentName("worker", name))
	if err != nil {
		return nil, err
	}
	state, err := c.Obey(ctx, name)
	if err != nil {
		return nil, err
	}
	return &kiokuv1.ObeyCommandsResponse{Worker: councilWorker(state)}, nil
}

// Suggest suggests a task.
func (s councilService) Suggest(ctx context.Context, req *kiokuv1.SuggestRequest) (*kiokuv1.SuggestResponse, error) {
	c, err := s.of(ctx, rightWorker+req.GetWorker(), checkAgentName("worker", req.GetWorker()),
		checkSize("title", req.GetTitle(), 4*council.MaxSuggestTitle), checkSize("description", req.GetDescription(), 4*council.MaxSuggestText))
	if err != nil {
		return nil, err
	}
	made, err := c.Suggest(ctx, council.Suggestion{
		Worker: req.GetWorker(), Title: req.GetTitle(), Description: req.GetDescription(), Type: req.GetType(), Reply: req.GetReply(),
	})
	if err != nil {
		return nil, err
	}
	return &kiokuv1.SuggestResponse{Suggestion: councilSuggestion(made)}, nil
}

// ListSuggestions lists suggestions.
func (s councilService) ListSuggestions(ctx context.Context, req *kiokuv1.ListSuggestionsRequest) (*kiokuv1.ListSuggestionsResponse, error) {
	c, err := s.of(ctx, rightRead, checkName("status", req.GetStatus()))
	if err != nil {
		return nil, err
	}
	list, err := c.ListSuggestions(ctx, req.GetStatus())
	if err != nil {
		return nil, err
	}
	return &kiokuv1.ListSuggestionsResponse{Suggestions: fit(convertAll(list, councilSuggestion), maxAnswer)}, nil
}

// ReviewSuggestion accepts or refuses a suggestion.
func (s councilService) ReviewSuggestion(ctx context.Context, req *kiokuv1.ReviewSuggestionRequest) (*kiokuv1.ReviewSuggestionResponse, error) {
	c, who, err := s.owned(ctx, req.GetSender(), checkAgentName("worker", req.GetWorker()), checkID("id", req.GetId()),
		checkSize("note", req.GetNote(), maxCouncilText))
	if err != nil {
		return nil, err
	}
	made, err := c.ReviewSuggestion(ctx, req.GetWorker(), req.GetId(), req.GetAccept(), req.GetNote(), who)
	if err != nil {
		return nil, err
	}
	return &kiokuv1.ReviewSuggestionResponse{Suggestion: councilSuggestion(made)}, nil
}

// RequestAction requests a protected action as a member.
func (s councilService) RequestAction(ctx context.Context, req *kiokuv1.RequestActionRequest) (*kiokuv1.RequestActionResponse, error) {
	c, err := s.of(ctx, rightMember+req.GetRequestedBy(), checkAgentName("requested_by", req.GetRequestedBy()),
		checkTask("task_id", req.GetTaskId()), checkKey("service", req.GetService()), checkSize("reason", req.GetReason(), maxCouncilText))
	if err != nil {
		return nil, err
	}
	made, err := c.RequestAction(ctx, council.ActionRequest{
		Service: req.GetService(), TaskID: req.GetTaskId(), RequestedBy: req.GetRequestedBy(), Reason: req.GetReason(),
	})
	if err != nil {
		return nil, err
	}
	return &kiokuv1.RequestActionResponse{Action: councilAction(made)}, nil
}

// ListActions lists protected actions.
func (s councilService) ListActions(ctx context.Context, _ *kiokuv1.ListActionsRequest) (*kiokuv1.ListActionsResponse, error) {
	c, err := s.of(ctx, rightRead)
	if err != nil {
		return nil, err
	}
	list, err := c.ListActions(ctx)
	if err != nil {
		return nil, err
	}
	return &kiokuv1.ListActionsResponse{Actions: fit(convertAll(list, councilAction), maxAnswer)}, nil
}

// ApproveAction approves or rejects a protected action as a member.
func (s councilService) ApproveAction(ctx context.Context, req *kiokuv1.ApproveActionRequest) (*kiokuv1.ApproveActionResponse, error) {
	c, err := s.of(ctx, rightMember+req.GetMember(), checkAgentName("member", req.GetMember()), checkID("id", req.GetId()),
		checkSize("reason", req.GetReason(), maxCouncilText))
	if err != nil {
		return nil, err
	}
	made, err := c.ApproveAction(ctx, req.GetId(), req.GetMember(), req.GetApprove(), req.GetReason())
	if err != nil {
		return nil, err
	}
	return &kiokuv1.ApproveActionResponse{Action: councilAction(made)}, nil
}

// Recognise tells whether an id on a platform is that of an owner. It proves nothing about who has sent it.
func (s councilService) Recognise(ctx context.Context, req *kiokuv1.RecogniseRequest) (*kiokuv1.RecogniseResponse, error) {
	var known error
	if !slices.Contains(council.Platforms, req.GetPlatform()) {
		known = badField("platform", "must be one of %v, not %q", council.Platforms, clip(req.GetPlatform(), 40))
	}
	c, err := s.ofAny(ctx, []string{rightBridge + req.GetPlatform(), rightRead}, known, checkKey("user_id", req.GetUserId()))
	if err != nil {
		return nil, err
	}
	if c.Recognise(req.GetPlatform(), req.GetUserId()) {
		return &kiokuv1.RecogniseResponse{Kind: "owner"}, nil
	}
	return &kiokuv1.RecogniseResponse{Kind: "stranger"}, nil
}
