package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	"kioku"
	"kioku/indexer"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
	"kioku/vectors"
)

// all reads a stream to its end.
func all[T any](stream grpc.ServerStreamingClient[T], err error) ([]*T, error) {
	if err != nil {
		return nil, err
	}
	var out []*T
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, m)
	}
}

// last returns the last message of a stream.
func last[T any](stream grpc.ServerStreamingClient[T], err error) (*T, error) {
	messages, err := all(stream, err)
	if err != nil || len(messages) == 0 {
		return nil, err
	}
	return messages[len(messages)-1], nil
}

func TestSyncStreamsProgressAndEndsWithAReport(t *testing.T) {
	t.Parallel()
	var got kioku.SyncOptions
	client := local(t, agents(&fakeMemory{
		sync: func(_ context.Context, opt kioku.SyncOptions, step func(indexer.Progress)) (kioku.SyncReport, error) {
			got = opt
			step(indexer.Progress{Phase: indexer.PhaseScan, FilesTotal: 2})
			step(indexer.Progress{Phase: indexer.PhaseIndex, FilesDone: 1, FilesTotal: 2, Chunks: 3, Skipped: 1, Path: "MEMORY.md"})
			step(indexer.Progress{Phase: indexer.PhaseEmbed, Embedded: 1, EmbedTotal: 4})
			return kioku.SyncReport{
				Report:   indexer.Report{Files: 2, Chunks: 6, Removed: 3, Skipped: 1, Known: 7, Unavailable: []string{"/gone"}},
				Embedded: 4, EmbedErr: errBoom,
			}, nil
		},
		state: func(context.Context) (memory.IndexStats, error) {
			return memory.IndexStats{Generation: 9, Files: 5}, nil
		},
	}))
	messages, err := all(client.Sync(t.Context(), &kiokuv1.SyncRequest{Agent: "main", Verify: true, Prune: true}))
	if err != nil {
		t.Fatal(err)
	}
	if want := (kioku.SyncOptions{Verify: true, Prune: true}); got != want {
		t.Errorf("options = %+v, want %+v", got, want)
	}
	progress := func(p *kiokuv1.Progress) *kiokuv1.SyncResponse {
		return &kiokuv1.SyncResponse{Event: &kiokuv1.SyncResponse_Progress{Progress: p}}
	}
	want := []*kiokuv1.SyncResponse{
		progress(&kiokuv1.Progress{Phase: "scan", TotalFileCount: 2}),
		progress(&kiokuv1.Progress{Phase: "index", DoneFileCount: 1, TotalFileCount: 2, ChunkCount: 3, SkippedCount: 1, Path: "MEMORY.md"}),
		progress(&kiokuv1.Progress{Phase: "embed", EmbeddedCount: 1, EmbedTotalCount: 4}),
		{Event: &kiokuv1.SyncResponse_Report{Report: &kiokuv1.SyncReport{
			FileCount: 2, ChunkCount: 6, RemovedFileCount: 3, SkippedCount: 1, EmbeddedCount: 4, KnownCount: 7, Generation: 9,
			Degraded: []*kiokuv1.Degradation{
				{Code: "provider_down", Text: "some texts have no vectors: " + errBoom.Error()},
				{Code: "workspace_unavailable", Text: "cannot be read now, its notes are kept: /gone"},
			},
			Index: &kiokuv1.IndexState{Generation: 9, FileCount: 5},
		}}},
	}
	if diff := cmp.Diff(want, messages, protocmp.Transform(), protocmp.IgnoreFields(&kiokuv1.SyncReport{}, "took")); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
	if messages[len(messages)-1].GetReport().GetTook() == nil {
		t.Error("the report has no duration")
	}
}

func TestRebuildEndsWithAReport(t *testing.T) {
	t.Parallel()
	m, err := last(local(t, agents(&fakeMemory{})).Rebuild(t.Context(), &kiokuv1.RebuildRequest{Agent: "main"}))
	if err != nil || m.GetReport() == nil {
		t.Errorf("last = %v, %v", m, err)
	}
}

func TestSyncThatFailsIsAnError(t *testing.T) {
	t.Parallel()
	client := local(t, agents(&fakeMemory{
		sync: func(context.Context, kioku.SyncOptions, func(indexer.Progress)) (kioku.SyncReport, error) {
			return kioku.SyncReport{}, memory.ErrReadOnly
		},
	}))
	_, err := last(client.Sync(t.Context(), &kiokuv1.SyncRequest{Agent: "main"}))
	wantCode(t, err, codes.FailedPrecondition)
}

// Hazard D14: a panic in the work of a stream ends only that stream.
func TestSyncThatPanicsEndsOnlyItsStream(t *testing.T) {
	t.Parallel()
	client := local(t, agents(&fakeMemory{
		sync: func(_ context.Context, _ kioku.SyncOptions, step func(indexer.Progress)) (kioku.SyncReport, error) {
			step(indexer.Progress{Phase: indexer.PhaseScan})
			panic("no more")
		},
	}))
	_, err := last(client.Sync(t.Context(), &kiokuv1.SyncRequest{Agent: "main"}))
	wantCode(t, err, codes.Internal)
	if _, err := client.ListAgents(t.Context(), &kiokuv1.ListAgentsRequest{}); err != nil {
		t.Errorf("after the panic: %v", err)
	}
}

func TestSyncDoesNotWaitForASlowCaller(t *testing.T) {
	t.Parallel()
	synced := make(chan struct{})
	client := local(t, agents(&fakeMemory{
		sync: func(_ context.Context, _ kioku.SyncOptions, step func(indexer.Progress)) (kioku.SyncReport, error) {
			defer close(synced)
			path := string(make([]byte, 4096))
			for range 10_000 {
				step(indexer.Progress{Phase: indexer.PhaseIndex, Path: path})
			}
			return kioku.SyncReport{}, nil
		},
	}))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := client.Sync(ctx, &kiokuv1.SyncRequest{Agent: "main"}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-synced:
	case <-time.After(soon):
		t.Fatal("the sync waits for a caller that does not read")
	}
}

func TestSyncEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	began, ended := make(chan struct{}), make(chan struct{})
	client := local(t, agents(&fakeMemory{
		sync: func(ctx context.Context, _ kioku.SyncOptions, _ func(indexer.Progress)) (kioku.SyncReport, error) {
			close(began)
			<-ctx.Done()
			close(ended)
			return kioku.SyncReport{}, ctx.Err()
		},
	}))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := client.Sync(ctx, &kiokuv1.SyncRequest{Agent: "main"}); err != nil {
		t.Fatal(err)
	}
	<-began
	cancel()
	select {
	case <-ended:
	case <-time.After(soon):
		t.Fatal("the sync goes on without its caller")
	}
}

func TestWatchEventsEndsWithTheMemory(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	fake := &fakeMemory{events: make(chan kioku.Event)}
	stream, err := local(t, agents(fake)).WatchEvents(t.Context(), &kiokuv1.WatchEventsRequest{Agent: "main"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Header(); err != nil {
		t.Fatal(err)
	}
	fake.events <- kioku.Event{Event: indexer.Event{Kind: indexer.FileIndexed, Path: "MEMORY.md", Text: "t\xff", Chunks: 2, Time: at}, Generation: 4}
	got, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	want := &kiokuv1.WatchEventsResponse{Event: &kiokuv1.Event{
		Kind: "file_indexed", Path: "MEMORY.md", Text: "t\uFFFD", ChunkCount: 2, Generation: 4, EventTime: timestamppb.New(at),
	}}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
	close(fake.events)
	_, err = stream.Recv()
	wantCode(t, err, codes.Unavailable)
}

func TestLoopbackEndsItsStreams(t *testing.T) {
	t.Parallel()
	s := newServer(t, agents(&fakeMemory{events: make(chan kioku.Event)}))
	client, stop := mustLocal(t, s)
	stream, err := client.WatchEvents(t.Context(), &kiokuv1.WatchEventsRequest{Agent: "main"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Header(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	}
	if _, err := stream.Recv(); err == nil {
		t.Error("the stream goes on")
	}
}

func TestLoopbackMayBeClosedUnused(t *testing.T) {
	t.Parallel()
	for range 20 {
		_, stop := mustLocal(t, newServer(t, server.Options{Agents: map[string]server.Memory{"main": &fakeMemory{}}}))
		if err := stop(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSyncReportsWhatItLeftUndone(t *testing.T) {
	t.Parallel()
	got := make(chan kioku.SyncOptions, 1)
	client := local(t, agents(&fakeMemory{sync: func(_ context.Context, opt kioku.SyncOptions, _ func(indexer.Progress)) (kioku.SyncReport, error) {
		got <- opt
		return kioku.SyncReport{Report: indexer.Report{Stale: "chunking changed"}, Unembedded: 2}, nil
	}}))
	stream, err := client.Sync(t.Context(), &kiokuv1.SyncRequest{Agent: "main", NoRebuild: true})
	if err != nil {
		t.Fatal(err)
	}
	last, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	if opt := <-got; opt != (kioku.SyncOptions{NoRebuild: true}) {
		t.Errorf("options %+v", opt)
	}
	var told []string
	for _, d := range last.GetReport().GetDegraded() {
		told = append(told, d.GetCode()+": "+d.GetText())
	}
	want := []string{
		"index_stale: the index was made with other settings: chunking changed",
		"vectors_missing: 2 passages have no vector yet",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}

// A sync after which searches still use the vectors of the model before says so, and not that texts have no vectors.
func TestSyncReportTellsThatTheModelBeforeAnswers(t *testing.T) {
	t.Parallel()
	client := local(t, agents(&fakeMemory{sync: func(context.Context, kioku.SyncOptions, func(indexer.Progress)) (kioku.SyncReport, error) {
		return kioku.SyncReport{EmbedErr: fmt.Errorf("%w: %w", vectors.ErrNotAdopted, errBoom)}, nil
	}}))
	m, err := last(client.Sync(t.Context(), &kiokuv1.SyncRequest{Agent: "main"}))
	if err != nil {
		t.Fatal(err)
	}
	want := []*kiokuv1.Degradation{{Code: "space_changed", Text: vectors.ErrNotAdopted.Error() + ": " + errBoom.Error()}}
	if diff := cmp.Diff(want, m.GetReport().GetDegraded(), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

// What the provider refuses, and lines of which it takes only the beginning, are told as such, not as a provider that is down.
func TestSyncReportTellsRefusedAndTruncatedTexts(t *testing.T) {
	t.Parallel()
	client := local(t, agents(&fakeMemory{sync: func(context.Context, kioku.SyncOptions, func(indexer.Progress)) (kioku.SyncReport, error) {
		return kioku.SyncReport{Refused: 2, RefusedErr: errBoom, Truncated: 3, Unembedded: 2}, nil
	}}))
	m, err := last(client.Sync(t.Context(), &kiokuv1.SyncRequest{Agent: "main"}))
	if err != nil {
		t.Fatal(err)
	}
	want := []*kiokuv1.Degradation{
		{Code: "vectors_missing", Text: "2 passages have no vector yet"},
		{Code: "vectors_missing", Text: "the embedding provider refuses 2 texts: " + errBoom.Error()},
		{Code: "vectors_missing", Text: "3 texts have lines that are longer than the embedding model takes: the ends of these are in no vector"},
	}
	if diff := cmp.Diff(want, m.GetReport().GetDegraded(), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}
