package render_test

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"kioku/cmd/kioku/internal/render"
)

// That a daemon ended is said only if nobody answered: an error with details is the daemon's own, such as a full audit log.
func TestMessageSaysThatTheDaemonEndedOnlyIfNobodyAnswered(t *testing.T) {
	t.Parallel()
	gone := status.New(codes.Unavailable, "connection refused")
	answered, err := gone.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	for st, want := range map[*status.Status]bool{gone: true, answered: false} {
		if got := render.Message(st.Err()); strings.Contains(got, "the daemon ended") != want {
			t.Errorf("got %q", got)
		}
	}
}
