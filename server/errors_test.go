package server_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// buffer is a bytes.Buffer for several goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func TestStatusOfEachErrorOfAMemory(t *testing.T) {
	t.Parallel()
	cases := []struct {
		err  error
		want codes.Code
	}{
		{&memory.InputError{Field: "query", Problem: "is blank"}, codes.InvalidArgument},
		{fmt.Errorf("get x: %w", &memory.InputError{Field: "path", Problem: "is absolute"}), codes.InvalidArgument},
		{fmt.Errorf("get x: %w", memory.ErrNotFound), codes.NotFound},
		{fmt.Errorf("append: %w", memory.ErrReadOnly), codes.FailedPrecondition},
		{fmt.Errorf("append: %w", memory.ErrNotWritable), codes.FailedPrecondition},
		{memory.ErrClosed, codes.Unavailable},
		{fmt.Errorf("append: %w: gone", memory.ErrUnavailable), codes.Unavailable},
		{fmt.Errorf("read: %w", context.DeadlineExceeded), codes.DeadlineExceeded},
		{fmt.Errorf("read: %w", context.Canceled), codes.Canceled},
		{errBoom, codes.Internal},
		{io.EOF, codes.Internal},
		{fmt.Errorf("ask provider: %w", status.Error(codes.PermissionDenied, "of another service")), codes.Internal},
	}
	for _, c := range cases {
		client := local(t, agents(&fakeMemory{get: func(context.Context, memory.GetRequest) (memory.Excerpt, error) {
			return memory.Excerpt{}, c.err
		}}))
		_, err := client.MemoryGet(t.Context(), &kiokuv1.MemoryGetRequest{Agent: "main", Path: "MEMORY.md"})
		if got := status.Code(err); got != c.want {
			t.Errorf("%v: code %v, want %v", c.err, got, c.want)
		}
	}
}

// Hazard A13: a caller is told that the disk is full or that descriptors are used up, but no path.
func TestStatusTellsThatAResourceIsUsedUp(t *testing.T) {
	t.Parallel()
	for errno, want := range map[error]string{
		memory.ErrNoSpace: "no space is left", errors.Join(memory.ErrUnavailable, syscall.EMFILE): "too many open files",
	} {
		client := local(t, agents(&fakeMemory{append: func(context.Context, memory.Note) (memory.Appended, error) {
			return memory.Appended{}, fmt.Errorf("append to /secret/note.md: %w", errno)
		}}))
		_, err := client.MemoryAppend(t.Context(), &kiokuv1.MemoryAppendRequest{Agent: "main", Text: "x"})
		wantCode(t, err, codes.Unavailable)
		if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v: the caller is told %v", errno, err)
		}
	}
}

func TestStatusOfAnUnforeseenErrorHasTheIdOfItsLogLine(t *testing.T) {
	t.Parallel()
	var log buffer
	opt := agents(&fakeMemory{search: func(context.Context, memory.Query) (memory.Answer, error) { return memory.Answer{}, errBoom }})
	opt.Log = logTo(&log)
	_, err := local(t, opt).MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Agent: "main", Query: "private words"})
	message := status.Convert(err).Message()
	id := regexp.MustCompile(`request ([0-9a-f]{16})`).FindStringSubmatch(message)
	if !strings.HasPrefix(message, "internal error") || strings.Contains(message, "disk") || id == nil {
		t.Fatalf("message %q tells the cause, or no id", message)
	}
	if !strings.Contains(log.String(), id[1]) || !strings.Contains(log.String(), "disk on fire") {
		t.Errorf("the log has not the cause of %s:\n%s", id[1], log.String())
	}
	if strings.Contains(log.String(), "private words") {
		t.Errorf("the log holds the query:\n%s", log.String())
	}
}

func TestStatusOfAnInputErrorIsBoundedAndValid(t *testing.T) {
	t.Parallel()
	client := local(t, agents(&fakeMemory{get: func(_ context.Context, req memory.GetRequest) (memory.Excerpt, error) {
		return memory.Excerpt{}, &memory.InputError{Field: "path", Problem: "\xff is no path: " + req.Path}
	}}))
	_, err := client.MemoryGet(t.Context(), &kiokuv1.MemoryGetRequest{Agent: "main", Path: strings.Repeat("記", 500_000)})
	wantViolation(t, err, "path")
	if n := len(status.Convert(err).Message()); n > 600 {
		t.Errorf("message of %d bytes", n)
	}
}

// Hazard D14: a panic in a handler is an Internal error with its stack in the log, and the server lives on.
func TestPanicIsInternalAndTheServerLivesOn(t *testing.T) {
	t.Parallel()
	var log buffer
	fake := &fakeMemory{
		search: func(context.Context, memory.Query) (memory.Answer, error) { panic("index out of everything") },
		events: make(chan kioku.Event),
	}
	opt := agents(fake)
	opt.Log = logTo(&log)
	s := newServer(t, opt)
	client, stop := mustLocal(t, s)
	defer stop()
	for range 3 {
		_, err := client.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Agent: "main", Query: "tea"})
		wantCode(t, err, codes.Internal)
		if strings.Contains(err.Error(), "everything") {
			t.Errorf("the caller is told the panic: %v", err)
		}
	}
	if n := strings.Count(log.String(), "panic in a call"); n != 3 {
		t.Errorf("the log has %d panics, want 3", n)
	}
	if !strings.Contains(log.String(), "index out of everything") || !strings.Contains(log.String(), "memoryops.go") {
		t.Errorf("the log has no stack:\n%s", log.String())
	}
	if _, err := client.ListAgents(t.Context(), &kiokuv1.ListAgentsRequest{}); err != nil {
		t.Errorf("after the panics: %v", err)
	}
}

func TestDeadlineIsSetForACallWithoutOne(t *testing.T) {
	t.Parallel()
	opt := agents(&fakeMemory{search: func(ctx context.Context, _ memory.Query) (memory.Answer, error) {
		<-ctx.Done()
		return memory.Answer{}, fmt.Errorf("sqlite: interrupted")
	}})
	opt.SearchTimeout = 30 * time.Millisecond
	_, err := local(t, opt).MemorySearch(context.Background(), &kiokuv1.MemorySearchRequest{Agent: "main", Query: "tea"})
	wantCode(t, err, codes.DeadlineExceeded)
}

func TestDeadlineOfTheCallerIsKept(t *testing.T) {
	t.Parallel()
	got := make(chan time.Duration, 1)
	opt := agents(&fakeMemory{search: func(ctx context.Context, _ memory.Query) (memory.Answer, error) {
		deadline, _ := ctx.Deadline()
		got <- time.Until(deadline)
		return memory.Answer{}, nil
	}})
	opt.SearchTimeout = time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if _, err := local(t, opt).MemorySearch(ctx, &kiokuv1.MemorySearchRequest{Agent: "main", Query: "tea"}); err != nil {
		t.Fatal(err)
	}
	if left := <-got; left < 59*time.Minute {
		t.Errorf("the handler had %v left, want nearly an hour", left)
	}
}
