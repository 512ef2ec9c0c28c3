package claude_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"kioku/agent/claude"
)

// Hazard F06: a command that waits for a lock of another process gives up at the deadline, and has changed nothing.
func TestCallWaitsForALockUntilTheDeadline(t *testing.T) {
	t.Parallel()
	for name, held := range map[string]string{"of the folder": ".", "of a file": "2026-01-20.md"} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			n := openIn(t, filepath.Join(base, "memory"), filepath.Join(base, "kept"), map[string]string{"2026-01-20.md": "tea\n"})
			lock, err := os.Open(filepath.Join(n.folder, held))
			if err != nil {
				t.Fatal(err)
			}
			defer lock.Close()
			if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
				t.Fatal(err)
			}
			input, err := json.Marshal(insert("/memories/2026-01-20.md", 1, "coffee"))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
			defer cancel()
			if _, err := n.tool.Call(ctx, claude.Name, input); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v", err)
			}
			if text := tree(t, n.folder)["2026-01-20.md"]; text != "tea\n" {
				t.Errorf("changed to %q", text)
			}
		})
	}
}
