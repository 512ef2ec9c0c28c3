package server

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/durationpb"

	"kioku"
	"kioku/indexer"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// Sync brings the index in step with the folder. Forgetting files takes the right to write.
func (s service) Sync(req *kiokuv1.SyncRequest, stream grpc.ServerStreamingServer[kiokuv1.Progress]) error {
	reach := s.memory
	if req.GetPrune() {
		reach = s.writable
	}
	m, err := reach(stream.Context(), req.GetAgent())
	if err != nil {
		return err
	}
	opt := kioku.SyncOptions{Verify: req.GetVerify(), Prune: req.GetPrune(), NoRebuild: req.GetNoRebuild()}
	return follow(stream, m, func(ctx context.Context, step func(indexer.Progress)) (kioku.SyncReport, error) {
		return m.Sync(ctx, opt, step)
	})
}

// Rebuild makes the index anew. It takes the right to write, because it may cost embeddings.
func (s service) Rebuild(req *kiokuv1.RebuildRequest, stream grpc.ServerStreamingServer[kiokuv1.Progress]) error {
	m, err := s.writable(stream.Context(), req.GetAgent())
	if err != nil {
		return err
	}
	return withRetry(stream.Context(), m, follow(stream, m, m.Rebuild))
}

type work func(ctx context.Context, step func(indexer.Progress)) (kioku.SyncReport, error)

// follow does the work and streams its progress, then its outcome. Progress that a slow caller does not take in time
// is left out, so that no caller holds up the work. The work ends with the stream.
func follow(stream grpc.ServerStreamingServer[kiokuv1.Progress], m Memory, do work) error {
	ctx := stream.Context()
	start := time.Now()
	step, wait := sendSteps(stream)
	defer wait()
	report, err := do(ctx, step)
	wait()
	if err != nil {
		return err
	}
	state, err := m.State(ctx)
	if err != nil {
		return fmt.Errorf("read the state of the index: %w", err)
	}
	return stream.Send(done(report, state, time.Since(start)))
}

// sendSteps sends progress from a goroutine of its own, which wait ends, once. A failing stream is left to its context,
// which ends the work.
func sendSteps(stream grpc.ServerStreamingServer[kiokuv1.Progress]) (step func(indexer.Progress), wait func()) {
	steps := make(chan indexer.Progress, 16)
	quit, sent := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(sent)
		for {
			select {
			case p := <-steps:
				if stream.Send(progress(p)) != nil {
					return
				}
			case <-quit:
				for len(steps) > 0 && stream.Send(progress(<-steps)) == nil {
				}
				return
			}
		}
	}()
	step = func(p indexer.Progress) {
		select {
		case steps <- p:
		default:
		}
	}
	return step, sync.OnceFunc(func() { close(quit); <-sent })
}

// done is the last message: what was written, and how the index is now.
func done(r kioku.SyncReport, state memory.IndexState, took time.Duration) *kiokuv1.Progress {
	out := &kiokuv1.Progress{
		Phase: "done", FilesDone: int32Of(r.Files), FilesTotal: int32Of(state.Files), Chunks: int32Of(r.Chunks),
		Embedded: int32Of(r.Embedded), Skipped: int32Of(r.Skipped), Generation: state.Generation, Took: durationpb.New(took),
	}
	if r.EmbedErr != nil {
		out.Degraded = append(out.Degraded, &kiokuv1.Degradation{
			Code: memory.ProviderDown, Text: "some texts have no vectors: " + clip(r.EmbedErr.Error(), 500),
		})
	}
	if r.Stale != "" {
		out.Degraded = append(out.Degraded, &kiokuv1.Degradation{
			Code: memory.IndexStale, Text: "the index was made with other settings: " + clip(r.Stale, 500),
		})
	}
	if r.Unembedded > 0 {
		out.Degraded = append(out.Degraded, &kiokuv1.Degradation{
			Code: memory.VectorsMissing, Text: fmt.Sprintf("%d chunks have no vector yet", r.Unembedded),
		})
	}
	if len(r.Unavailable) > 0 {
		out.Degraded = append(out.Degraded, &kiokuv1.Degradation{
			Code: memory.WorkspaceUnavailable, Text: "cannot be read now, its notes are kept: " + clip(strings.Join(r.Unavailable, ", "), 2000),
		})
	}
	return out
}

// WatchEvents streams what happens to an index. The header tells that it is being watched from now on.
func (s service) WatchEvents(req *kiokuv1.WatchEventsRequest, stream grpc.ServerStreamingServer[kiokuv1.Event]) error {
	m, err := s.memory(stream.Context(), req.GetAgent())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	events := m.Subscribe(ctx)
	if err := stream.SendHeader(metadata.MD{}); err != nil {
		return err
	}
	for e := range events {
		if err := stream.Send(event(e)); err != nil {
			return err
		}
	}
	if err := stream.Context().Err(); err != nil {
		return err
	}
	return memory.ErrClosed
}
