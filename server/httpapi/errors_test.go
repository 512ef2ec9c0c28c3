package httpapi_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"kioku/server/httpapi"
)

// An error has the same HTTP status and headers whatever the form of its body.
func TestWriteHeaderAnswersAsWriteDoes(t *testing.T) {
	t.Parallel()
	limited, err := status.New(codes.ResourceExhausted, "a limit is reached").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(1200 * time.Millisecond)})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		err           error
		code          int
		name, header  string
		wantedMessage string
	}{
		"limit":      {limited.Err(), 429, "Retry-After", "2", "a limit is reached"},
		"no token":   {status.Error(codes.Unauthenticated, "unknown token"), 401, "WWW-Authenticate", `Bearer realm="kioku"`, "unknown token"},
		"late":       {status.Error(codes.DeadlineExceeded, ""), 504, "Cache-Control", "no-store", "DeadlineExceeded"},
		"own status": {httpapi.WithStatus(limited.Err(), http.StatusRequestEntityTooLarge), 413, "Retry-After", "2", "a limit is reached"},
		"unforeseen": {errors.New("fire"), 500, "Content-Type", "application/json", "fire"},
	} {
		write, head := httptest.NewRecorder(), httptest.NewRecorder()
		httpapi.WriteError(write, c.err)
		message := httpapi.WriteHeader(head, c.err)
		for _, w := range []*httptest.ResponseRecorder{write, head} {
			if values := w.Header().Values(c.name); w.Code != c.code || len(values) != 1 || values[0] != c.header || message != c.wantedMessage {
				t.Errorf("%s: %d, %s %q, %q", name, w.Code, c.name, values, message)
			}
		}
	}
}
