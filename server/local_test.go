package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"kioku"
	"kioku/client"
	"kioku/indexer"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// A client that is in another process can test for the same errors as one in this process.
func TestErrorsOfAMemoryAreTheSameOverTheNetwork(t *testing.T) {
	t.Parallel()
	for _, want := range []error{
		memory.ErrNotFound, memory.ErrReadOnly, memory.ErrNotWritable, memory.ErrUnavailable, memory.ErrNoSpace, memory.ErrClosed,
		memory.ErrDenied, memory.ErrBusy, memory.ErrUnreachable,
	} {
		t.Run(memory.Reason(want), func(t *testing.T) {
			client, err := client.Dial(onTCP(t, agents(&fakeMemory{append: func(context.Context, memory.Note) (memory.Appended, error) {
				return memory.Appended{}, fmt.Errorf("append: %w", want)
			}})), client.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			if _, err := client.Append(t.Context(), memory.Note{Text: "tea"}); !errors.Is(err, want) {
				t.Errorf("%v is not %v", err, want)
			}
			if _, err := client.For("nobody").Append(t.Context(), memory.Note{Text: "tea"}); !errors.Is(err, memory.ErrNoAgent) {
				t.Errorf("an agent that is not there: %v", err)
			}
		})
	}
}

func TestLocalReturnsTheErrorsOfTheMemory(t *testing.T) {
	t.Parallel()
	client := newServer(t, agents(&fakeMemory{search: func(context.Context, memory.Query) (memory.Answer, error) {
		return memory.Answer{}, fmt.Errorf("search: %w", errBoom)
	}})).Local()
	if _, err := client.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Agent: "main", Query: "tea"}); !errors.Is(err, errBoom) {
		t.Errorf("got %v, want the cause", err)
	}
	if _, err := client.Status(t.Context(), &kiokuv1.StatusRequest{Agent: "nobody"}); !errors.Is(err, memory.ErrNoAgent) {
		t.Errorf("an agent that is not there: %v", err)
	}
}

func TestLocalStreamsProgressAndItsEnd(t *testing.T) {
	t.Parallel()
	var failure error
	client := newServer(t, agents(&fakeMemory{sync: func(_ context.Context, _ kioku.SyncOptions, step func(indexer.Progress)) (kioku.SyncReport, error) {
		step(indexer.Progress{Phase: indexer.PhaseScan})
		return kioku.SyncReport{}, failure
	}})).Local()
	for _, failure = range []error{nil, errBoom} {
		stream, err := client.Sync(t.Context(), &kiokuv1.SyncRequest{Agent: "main"})
		if err != nil {
			t.Fatal(err)
		}
		var phases []string
		for {
			p, err := stream.Recv()
			if err != nil {
				if failure == nil && err != io.EOF || failure != nil && !errors.Is(err, failure) {
					t.Errorf("ends with %v, want %v", err, failure)
				}
				break
			}
			phases = append(phases, p.GetProgress().GetPhase())
		}
		if want := 2; failure == nil && len(phases) != want || phases[0] != "scan" {
			t.Errorf("phases %v", phases)
		}
	}
}

func TestLocalWatchEndsWithItsContext(t *testing.T) {
	t.Parallel()
	events := make(chan kioku.Event, 1)
	client := newServer(t, agents(&fakeMemory{events: events})).Local()
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := client.WatchEvents(ctx, &kiokuv1.WatchEventsRequest{Agent: "main"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Header(); err != nil {
		t.Fatal(err)
	}
	events <- kioku.Event{Event: indexer.Event{Kind: indexer.SyncDone}}
	if e, err := stream.Recv(); err != nil || e.GetEvent().GetKind() != indexer.SyncDone {
		t.Errorf("%v, %v", e, err)
	}
	cancel()
	close(events)
	if _, err := stream.Recv(); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
}

// A stream in the process has a header as one over gRPC has: before its first message, and none if it fails without one.
func TestLocalStreamsHaveAHeader(t *testing.T) {
	t.Parallel()
	client := newServer(t, agents(&fakeMemory{})).Local()
	stream, err := client.Sync(t.Context(), &kiokuv1.SyncRequest{Agent: "main"})
	if err != nil {
		t.Fatal(err)
	}
	if header, err := stream.Header(); header == nil || err != nil {
		t.Errorf("a stream that is answered has the header %v, %v", header, err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Errorf("after its header the stream returns %v", err)
	}
	if stream, err = client.Sync(t.Context(), &kiokuv1.SyncRequest{Agent: "nobody"}); err != nil {
		t.Fatal(err)
	}
	if header, err := stream.Header(); header != nil || err != nil {
		t.Errorf("a stream that fails has the header %v, %v", header, err)
	}
}
