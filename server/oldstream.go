package server

import (
	"context"
	"errors"
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
	"kioku/vectors"
)

// Sync updates the index from the folder. Removing files needs the right to write.
func (s service) Sync(req *kiokuv1.SyncRequest, stream grpc.ServerStreamingServer[kiokuv1.SyncResponse]) error {
	reach := authorize[Memory]
	if req.GetPrune() {
		reach = authorizeWrite[Memory]
	}
	ctx := stream.Context()
	m, err := reach(ctx, s.opt.Agents, req)
	if err != nil {
		return err
	}
	opt := kioku.SyncOptions{Verify: req.GetVerify(), Prune: req.GetPrune(), NoRebuild: req.GetNoRebuild()}
	return streamSync(ctx, m, stream.Send, func(ctx context.Context, step func(indexer.Progress)) (kioku.SyncReport, error) {
		return m.Sync(ctx, opt, step)
	})
}

// Rebuild rebuilds the index from the files. It needs the right to write, because it may cost embeddings.
func (s service) Rebuild(req *kiokuv1.RebuildRequest, stream grpc.ServerStreamingServer[kiokuv1.RebuildResponse]) error {
	ctx := stream.Context()
	m, err := authorizeWrite(ctx, s.opt.Agents, req)
	if err != nil {
		return err
	}
	send := func(r *kiokuv1.SyncResponse) error { return stream.Send(rebuildResponse(r)) }
	return streamSync(ctx, m, send, m.Rebuild)
}

// rebuildResponse returns a message of a sync as a message of a rebuild.
func rebuildResponse(r *kiokuv1.SyncResponse) *kiokuv1.RebuildResponse {
	if report := r.GetReport(); report != nil {
		return &kiokuv1.RebuildResponse{Event: &kiokuv1.RebuildResponse_Report{Report: report}}
	}
	return &kiokuv1.RebuildResponse{Event: &kiokuv1.RebuildResponse_Progress{Progress: r.GetProgress()}}
}

// streamSync syncs or rebuilds and sends the progress, then the report. It skips progress that a slow caller does not take
// in time, so that no caller delays the sync. The sync ends with ctx.
func streamSync(ctx context.Context, m Memory, send func(*kiokuv1.SyncResponse) error,
	sync func(ctx context.Context, step func(indexer.Progress)) (kioku.SyncReport, error)) error {
	start := time.Now()
	step, wait := sendProgress(send)
	defer wait()
	report, err := sync(ctx, step)
	wait()
	if err != nil {
		return err
	}
	state, err := m.IndexStats(ctx)
	if err != nil {
		return fmt.Errorf("read the state of the index: %w", err)
	}
	return send(&kiokuv1.SyncResponse{Event: &kiokuv1.SyncResponse_Report{Report: syncReport(report, state, time.Since(start))}})
}

// sendProgress sends the progress of a sync; see sendSteps.
func sendProgress(send func(*kiokuv1.SyncResponse) error) (step func(indexer.Progress), wait func()) {
	return sendSteps(func(p indexer.Progress) error {
		return send(&kiokuv1.SyncResponse{Event: &kiokuv1.SyncResponse_Progress{Progress: progress(p)}})
	})
}

// sendSteps sends steps from its own goroutine, which wait ends. It skips those that a slow caller does not take in time. If the
// stream fails, the context of the call ends what makes them.
func sendSteps[T any](send func(T) error) (step func(T), wait func()) {
	steps, sent := make(chan T, 16), make(chan struct{})
	go func() {
		defer close(sent)
		failed := false
		for p := range steps {
			if !failed {
				failed = send(p) != nil
			}
		}
	}()
	step = func(p T) {
		select {
		case steps <- p:
		default:
		}
	}
	return step, sync.OnceFunc(func() { close(steps); <-sent })
}

// syncReport returns what a sync wrote, what it could not do, and the state of the index after it.
func syncReport(r kioku.SyncReport, state memory.IndexStats, took time.Duration) *kiokuv1.SyncReport {
	out := &kiokuv1.SyncReport{
		FileCount: int32Of(r.Files), ChunkCount: int32Of(r.Chunks), RemovedFileCount: int32Of(r.Removed), SkippedCount: int32Of(r.Skipped),
		EmbeddedCount: int32Of(r.Embedded), KnownCount: int32Of(r.Known), UnembeddedCount: int32Of(r.Unembedded),
		Generation: state.Generation, Took: durationpb.New(took), StaleReason: clip(r.Stale, 500), Index: indexState(state),
	}
	lacks := func(code, text string) {
		out.Degraded = append(out.Degraded, &kiokuv1.Degradation{Code: code, Text: text})
	}
	switch {
	case errors.Is(r.EmbedErr, vectors.ErrNotAdopted):
		lacks(memory.SpaceChanged, clip(r.EmbedErr.Error(), 500))
	case r.EmbedErr != nil:
		lacks(memory.ProviderDown, "some texts have no vectors: "+clip(r.EmbedErr.Error(), 500))
	}
	if r.Stale != "" {
		lacks(memory.IndexStale, "the index was made with other settings: "+clip(r.Stale, 500))
	}
	if r.UnreadErr != nil {
		lacks(memory.IndexStale, fmt.Sprintf("%d files could not be read: %s", r.Unread, clip(r.UnreadErr.Error(), 500)))
	}
	if r.Unembedded > 0 {
		lacks(memory.VectorsMissing, fmt.Sprintf("%d passages have no vector yet", r.Unembedded))
	}
	if r.Refused > 0 {
		lacks(memory.VectorsMissing, fmt.Sprintf("the embedding provider refuses %d texts: %s", r.Refused, clip(fmt.Sprint(r.RefusedErr), 500)))
	}
	if r.Truncated > 0 {
		lacks(memory.VectorsMissing, fmt.Sprintf("%d texts have lines that are longer than the embedding model takes: the ends of these are in no vector", r.Truncated))
	}
	if len(r.Unavailable) > 0 {
		lacks(memory.WorkspaceUnavailable, "cannot be read now, its notes are kept: "+clip(strings.Join(r.Unavailable, ", "), 2000))
	}
	return out
}

// WatchEvents streams the events of an index. It misses none after it has sent its header, until it ends.
func (s service) WatchEvents(req *kiokuv1.WatchEventsRequest, stream grpc.ServerStreamingServer[kiokuv1.WatchEventsResponse]) error {
	m, err := authorize(stream.Context(), s.opt.Agents, req)
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
		if err := stream.Send(&kiokuv1.WatchEventsResponse{Event: event(e)}); err != nil {
			return err
		}
		if e.Kind == kioku.EventsLost {
			return errEventsLost
		}
	}
	if err := stream.Context().Err(); err != nil {
		return err
	}
	return memory.ErrClosed
}
