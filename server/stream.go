package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku"
	"kioku/indexer"
	"kioku/memory"
	"kioku/server/op"
	"kioku/vectors"
)

// syncSteps syncs or rebuilds the index of a memory, and yields the progress and then the report, or bad at once if it is set. Progress
// that a slow reader does not take in time is skipped, so that no reader delays the sync. The sync ends with its reader.
func syncSteps(ctx context.Context, m Memory, bad error, sync func(context.Context, func(indexer.Progress)) (kioku.SyncReport, error)) iter.Seq2[SyncStep, error] {
	return func(yield func(SyncStep, error) bool) {
		if bad != nil {
			yield(SyncStep{}, bad)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		steps := make(chan indexer.Progress, 16)
		var (
			report   kioku.SyncReport
			err      error
			panicked any
		)
		go func() {
			defer close(steps)
			defer func() { panicked = recover() }() // for the goroutine of the call, which answers for it
			report, err = sync(ctx, func(p indexer.Progress) {
				select {
				case steps <- p:
				default:
				}
			})
		}()
		reading := true
		for p := range steps {
			if reading {
				reading = yield(SyncStep{Progress: &p}, nil)
			}
			if !reading {
				cancel()
			}
		}
		if panicked != nil {
			panic(panicked)
		}
		if !reading {
			return
		}
		state, failed := m.IndexStats(ctx)
		if err == nil && failed != nil {
			err = fmt.Errorf("read the state of the index: %w", failed)
		}
		if err != nil {
			yield(SyncStep{}, err)
			return
		}
		yield(SyncStep{Report: &SyncDone{SyncReport: report, Index: state, Degraded: undone(report)}}, nil)
	}
}

// undone tells what a sync could not do.
func undone(r kioku.SyncReport) (list []memory.Degradation) {
	lacks := func(code, text string) { list = append(list, memory.Degradation{Code: code, Text: text}) }
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
	return list
}

// errEventsLost is why a stream of events ends whose reader does not keep up.
var errEventsLost = status.Error(codes.Aborted, "events were lost because they were not read in time; watch again")

// indexEvents yields the events of an index. It misses none after it has told its reader that it begins, until it ends.
func (s *Server) indexEvents(ctx context.Context, in OfAgent) iter.Seq2[kioku.Event, error] {
	return func(yield func(kioku.Event, error) bool) {
		m, err := authorize(ctx, s.memories, &in)
		if err != nil {
			yield(kioku.Event{}, err)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		events := m.Subscribe(ctx)
		op.Ready(ctx)
		for e := range events {
			if !yield(e, nil) {
				return
			}
			if e.Kind == kioku.EventsLost {
				yield(e, errEventsLost)
				return
			}
		}
		yield(kioku.Event{}, cmp.Or(ctx.Err(), memory.ErrClosed))
	}
}

// indexStatus describes the index of an agent.
func (s *Server) indexStatus(ctx context.Context, in OfAgent) (IndexStatus, error) {
	m, err := authorize(ctx, s.memories, &in)
	if err != nil {
		return IndexStatus{}, err
	}
	st, err := m.Status(ctx)
	if err != nil {
		return IndexStatus{}, err
	}
	out := IndexStatus{Status: st, Version: s.opt.Version, SlowCalls: s.slow.list(in.Agent)}
	out.Agent = in.Agent
	out.Degraded = append(out.Degraded, s.degradedAudit()...)
	if more := len(st.Skipped) - maxSkipped; more > 0 {
		out.Skipped = append(st.Skipped[:maxSkipped:maxSkipped], memory.SkippedFile{Reason: fmt.Sprintf("and %d more files", more)})
	}
	if n := s.opt.Network; n != nil {
		out.Offline, out.Egress = n.Offline(), n.Uses()
	}
	if !callerOf(ctx).everyone && len(reachable(ctx, s.memories)) < len(s.memories.ids(ctx)) { // what tells of other agents too
		out.Egress, out.AllResidentBytes, out.BudgetBytes = nil, 0, 0
	}
	return out, nil
}
