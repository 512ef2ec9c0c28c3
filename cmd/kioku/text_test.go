package main

import (
	"fmt"
	"os/exec"
	"testing"

	"kioku/cmd/kioku/internal/render"
	"kioku/server/op"
)

func TestShellQuote(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"plain/path", "", "two words", "it's", `$HOME "x" \ ;`, "日本"} {
		out, err := exec.Command("sh", "-c", "printf %s "+render.ShellQuote(s)).Output()
		if err != nil || string(out) != s {
			t.Errorf("%q comes back as %q, %v", s, out, err)
		}
	}
}

func TestExitCodeOfARefusedArgumentIsMisuse(t *testing.T) {
	t.Parallel()
	refused := &op.Error{Code: "INVALID_ARGUMENT", Message: "query: is empty"}
	if code := exitCode(fmt.Errorf("question 3: %w", refused)); code != exitUsage {
		t.Errorf("exit %d", code)
	}
}
