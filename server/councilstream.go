package server

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"kioku/council/engine"
	kiokuv1 "kioku/proto/kioku/v1"
)

// WatchCouncil streams what changes. It ends for a reader that does not keep up, who then watches again after its last event.
func (s councilService) WatchCouncil(req *kiokuv1.WatchCouncilRequest, stream grpc.ServerStreamingServer[kiokuv1.WatchCouncilResponse]) error {
	ctx := stream.Context()
	c, err := s.of(ctx, rightRead)
	if err != nil {
		return err
	}
	events := c.Events(ctx, req.GetAfterId())
	if err := stream.SendHeader(metadata.MD{}); err != nil {
		return err
	}
	for e := range events {
		if err := stream.Send(&kiokuv1.WatchCouncilResponse{Event: councilEvent(e)}); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return errEventsLost
}

// councilEvent returns an event as a message.
func councilEvent(e engine.Event) *kiokuv1.CouncilEvent {
	return &kiokuv1.CouncilEvent{Id: e.ID, Type: e.Type, TaskId: e.Task, Member: e.Member, Time: kiokuv1.TimeOf(e.At)}
}

// TailLogs streams the log of a member.
func (s councilService) TailLogs(req *kiokuv1.TailLogsRequest, stream grpc.ServerStreamingServer[kiokuv1.TailLogsResponse]) error {
	ctx := stream.Context()
	c, err := s.of(ctx, rightRead, checkAgentName("member", req.GetMember()), checkDay("day", req.GetDay()), checkCount("last", req.GetLast()))
	if err != nil {
		return err
	}
	lines, err := c.Log(ctx, req.GetMember(), req.GetDay(), limitOf(req.GetLast(), 100))
	if err != nil {
		return err
	}
	if err := stream.SendHeader(metadata.MD{}); err != nil {
		return err
	}
	for _, l := range lines {
		if err := stream.Send(&kiokuv1.TailLogsResponse{Line: councilLogLine(l)}); err != nil {
			return err
		}
	}
	if !req.GetFollow() {
		return nil
	}
	for l := range c.FollowLog(ctx, req.GetMember()) {
		if err := stream.Send(&kiokuv1.TailLogsResponse{Line: councilLogLine(l)}); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// DiagnoseCouncil looks for what is wrong with the council.
func (s councilService) DiagnoseCouncil(ctx context.Context, req *kiokuv1.DiagnoseCouncilRequest) (*kiokuv1.DiagnoseCouncilResponse, error) {
	c, err := s.of(ctx, rightOwner)
	if err != nil {
		return nil, err
	}
	resp := &kiokuv1.DiagnoseCouncilResponse{}
	look := c.Doctor
	if req.GetTrial() {
		look = c.Trial
	}
	for _, f := range look(ctx) {
		resp.Findings = append(resp.Findings, &kiokuv1.CouncilFinding{Name: f.Name, Level: f.Level, Text: f.Text})
	}
	return resp, nil
}
