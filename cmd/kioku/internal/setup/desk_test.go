package setup_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"kioku/cmd/kioku/internal/setup"
)

// desk is a machine with a home and a project of a test's own.
type desk struct {
	*setup.Machine
	t *testing.T
}

func newDesk(t *testing.T) desk {
	return desk{&setup.Machine{OS: "linux", Env: []string{"HOME=" + t.TempDir()}, Dir: t.TempDir()}, t}
}

// client returns a client by its name.
func client(t *testing.T, id string) setup.Client {
	t.Helper()
	c, ok := setup.Find(id)
	if !ok {
		t.Fatalf("there is no %s", id)
	}
	return c
}

// notes is the server of a memory.
func notes(args ...string) setup.Server {
	return setup.Server{Memory: "notes", Command: "/usr/bin/kioku", Args: append([]string{"mcp"}, args...)}
}

// path returns the path of a configuration, whose folder exists then.
func (d desk) path(c setup.Client, scope setup.Scope) string {
	d.t.Helper()
	path, err := c.Path(d.Machine, scope)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return path
}

// write writes the configuration of the user.
func (d desk) write(c setup.Client, text string) string {
	d.t.Helper()
	path := d.path(c, setup.User)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
	return path
}

// install sets up a server for the user, and returns the text of the configuration.
func (d desk) install(c setup.Client, srv setup.Server) string {
	d.t.Helper()
	p, err := c.Install(d.Machine, setup.User, srv)
	return d.written(p, err)
}

// undo takes a server of the user out, and returns the text of the configuration, "-" if there is none.
func (d desk) undo(c setup.Client, srv setup.Server) string {
	d.t.Helper()
	p, err := c.Undo(d.Machine, setup.User, srv)
	return d.written(p, err)
}

func (d desk) written(p *setup.Plan, err error) string {
	d.t.Helper()
	if err == nil {
		err = p.Write()
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return read(d.t, p.Path)
}

// read returns the text of a file, "-" if there is none.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "-"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
