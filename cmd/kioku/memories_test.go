package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"kioku/cmd/kioku/config"
)

func TestASharedMemoryThatCannotBeClosedIsAnError(t *testing.T) {
	s := newSandbox(t, notes())
	team := t.TempDir()
	if err := os.WriteFile(filepath.Join(team, "MEMORY.md"), []byte("# Memory\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := &app{stdout: io.Discard, stderr: io.Discard, env: s.env, dir: s.home}
	for key, value := range map[string]string{"workspace": s.workspace, "state": s.state, "agents": "team=" + team} {
		a.flags = append(a.flags, config.Flag{Name: "--set", Key: key, Value: value})
	}
	lost, failed := errors.New("the disk is gone"), errors.New("nothing was shown")
	for _, cause := range []error{nil, failed} {
		closed := 0
		err := a.withMemories(t.Context(), toRead, []string{"team", "main", "team"}, func(m *memories) error {
			for _, c := range m.others {
				whole := c.close
				c.close = func() error {
					closed++
					return errors.Join(whole(), lost)
				}
			}
			return cause
		})
		if !errors.Is(err, lost) || cause != nil && !errors.Is(err, cause) || closed != 1 {
			t.Errorf("%d closed: %v", closed, err)
		}
	}
}
