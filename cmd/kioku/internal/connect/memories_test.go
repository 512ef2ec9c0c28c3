package connect

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/render"
	"kioku/internal/testkit"
)

func TestWithMemoriesReportsASharedMemoryThatCannotBeClosed(t *testing.T) {
	t.Parallel()
	workspace, team := t.TempDir(), t.TempDir()
	for _, dir := range []string{workspace, team} {
		testkit.Must(t, os.WriteFile(filepath.Join(dir, "MEMORY.md"), []byte("# Memory\n"), 0o600))
	}
	k := &Connector{Out: &render.Output{Stdout: io.Discard, Stderr: io.Discard}}
	for key, value := range map[string]string{"workspace": workspace, "state": t.TempDir(), "agents": "team=" + team} {
		k.Flags = append(k.Flags, config.Flag{Name: "--set", Key: key, Value: value})
	}
	var err error
	if k.Conf, err = config.Load(config.Sources{Flags: k.Flags, Dir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	lost, failed := errors.New("the disk is gone"), errors.New("nothing was shown")
	for _, cause := range []error{nil, failed} {
		closed := 0
		err := k.WithMemories(t.Context(), ToSearch, []string{"team", "main", "team"}, func(m *Memories) error {
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
