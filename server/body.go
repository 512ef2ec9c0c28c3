package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku/server/fair"
	"kioku/server/httpapi"
)

// readBody reads the body of a request once its client may send so much, and puts a reader of it in its place. The returned
// function gives back what the body takes of the bytes in flight.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request, from origin) (release func(), err error) {
	if r.ContentLength == 0 {
		return func() {}, nil
	}
	if r.ContentLength > maxMessage {
		return nil, errTooLarge
	}
	grant, err := s.admitBody(r, from)
	if err != nil {
		return nil, err
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(s.receiveTimeout)) // without it a read fails
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessage))
	if err != nil {
		grant.Release()
		return nil, bodyError(err)
	}
	_ = control.SetReadDeadline(time.Time{})
	grant.Shrink(int64(len(body)))
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return grant.Release, nil
}

// errTooLarge is why a request is refused whose body is too large.
var errTooLarge = httpapi.WithStatus(
	status.Errorf(codes.ResourceExhausted,
		"the body of a request may have at most %d bytes; send less at a time, of a conversation the older messages first and then only their ids", maxMessage),
	http.StatusRequestEntityTooLarge)

// bodyError returns the status of an error of reading a body.
func bodyError(err error) error {
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return errTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return httpapi.WithStatus(status.Error(codes.DeadlineExceeded, "the body of the request did not arrive in time; send it at once"), http.StatusRequestTimeout)
	}
	return status.Error(codes.Canceled, "the body of the request did not arrive")
}

// admitBody waits until the client of a request may send its body. The bodies have queues of their own, because a request has
// its body while it waits for a call.
func (s *Server) admitBody(r *http.Request, from origin) (*fair.Grant, error) {
	size := int64(maxMessage)
	if r.ContentLength > 0 {
		size = r.ContentLength
	}
	return s.acquire(r.Context(), from, s.bodies, s.anonymousBodies, size)
}

// admitResponse waits until so many bytes may be sent to a client. Until then they are in memory, as they are until the client
// has read them.
func (s *Server) admitResponse(ctx context.Context, from origin, size int) (*fair.Grant, error) {
	ctx, cancel := context.WithTimeout(ctx, s.sendTimeout)
	defer cancel()
	return s.acquire(ctx, from, s.responses, s.anonymousResponses, int64(size))
}

// acquire waits until the client of a request may use so much of a queue, or of another one if it has not the token that it needs.
func (s *Server) acquire(ctx context.Context, from origin, queue, anonymous *fair.Queue, size int64) (*fair.Grant, error) {
	c := &call{origin: from}
	if c.caller, _ = s.identify(from); c.anonymous() {
		queue = anonymous
	}
	client, connection := c.client()
	grant, err := queue.Acquire(ctx, client, connection, size)
	if errors.Is(err, fair.ErrFull) {
		return nil, retryable(codes.ResourceExhausted, "too many requests of this client are waiting; try again later, and read the responses", retryPause)
	}
	if err != nil {
		return nil, status.FromContextError(err).Err()
	}
	return grant, nil
}
