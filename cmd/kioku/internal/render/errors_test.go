package render_test

import (
	"fmt"
	"testing"

	"kioku/cmd/kioku/internal/render"
	"kioku/memory"
	"kioku/server/op"
)

// That a daemon ended is said only if nobody answered: an error in its words, such as a full audit log, says more. The code is not shown.
func TestMessageSaysThatTheDaemonEndedOnlyIfNobodyAnswered(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		memory.ErrUnreachable.Error() + ": refused; the daemon ended or is starting: try again": fmt.Errorf("%w: refused", memory.ErrUnreachable),
		"question 3: the log is full; make room":                                                fmt.Errorf("question 3: %w", &op.Error{Code: "UNAVAILABLE", Message: "the log is full", Hint: "make room"}),
		"the deadline passed; try again, or on the machine itself with --no-daemon":             &op.Error{Code: "DEADLINE_EXCEEDED", Message: "the deadline passed"},
	} {
		if got := render.Message(err); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
