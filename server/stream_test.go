package server_test

import (
	"errors"
	"io"

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
