package server_test

import (
	"errors"
	"io"
	"testing"

	"kioku"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"

	"google.golang.org/grpc"
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
