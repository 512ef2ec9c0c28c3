package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/cmd/kioku/config"
	"kioku/internal/testkit"
)

// looksLikeOne makes a folder with MEMORY.md.
func looksLikeOne(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	testkit.Must(t, os.WriteFile(filepath.Join(dir, "MEMORY.md"), []byte("# Memory\n"), 0o600))
	return dir
}

func TestPlaceFindsTheWorkspaceInOrder(t *testing.T) {
	t.Parallel()
	here := looksLikeOne(t)
	flag := func(key, value string) config.Flag { return config.Flag{Name: "--" + key, Key: key, Value: value} }
	for _, tc := range []struct {
		name, file, agent string
		flags             []config.Flag
		dir, want         string
	}{
		{"flag", "workspace: /f\nagents: {main: {workspace: /m}}\n", "main", []config.Flag{flag("workspace", "/w")}, here, "/w"},
		{"the agent's own", "workspace: /f\nagents: {main: {workspace: /m}}\n", "main", nil, here, "/m"},
		{"the file's", "workspace: /f\n", "main", nil, here, "/f"},
		{"the file's for its own agent", "workspace: /f\nagent: nova\n", "nova", nil, here, "/f"},
		{"the current folder", "", "main", nil, here, here},
		{"flag for another agent", "workspace: /f\n", "x", []config.Flag{flag("agent", "x"), flag("workspace", "/w")}, "/", "/w"},
		{"the file's is not another agent's", "workspace: /f\n", "x", []config.Flag{flag("agent", "x")}, "/", ""},
		{"nowhere", "", "main", nil, "/", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			src := write(t, tc.file)
			src.Flags, src.Dir = tc.flags, tc.dir
			p, err := load(t, src).Place(tc.agent)
			if tc.want == "" && !errors.Is(err, config.ErrNoWorkspace) {
				t.Errorf("got %+v, %v, want ErrNoWorkspace", p, err)
			}
			if p.Workspace != tc.want || (p.Found == config.ByLayout) != (tc.want == here) {
				t.Errorf("got %+v, want %s", p, tc.want)
			}
		})
	}
}

// A folder called memory that is a workspace itself makes none of the folder around it, such as the home.
func TestPlaceIsNotAroundAWorkspaceCalledMemory(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	notes := filepath.Join(home, "memory")
	testkit.Must(t, os.MkdirAll(notes, 0o700))
	src := write(t, "")
	src.Dir, src.Env = home, []string{"HOME=" + home}
	if p, err := load(t, src).Place("main"); err != nil || p.Workspace != home {
		t.Errorf("a folder with days: %+v, %v", p, err)
	}
	testkit.Must(t, os.WriteFile(filepath.Join(notes, "MEMORY.md"), []byte("# Memory\n"), 0o600))
	if p, err := load(t, src).Place("main"); !errors.Is(err, config.ErrNoWorkspace) {
		t.Errorf("%+v, %v", p, err)
	}
}

// Hazard K05: a folder that is entered through a symbolic link is found as if one stood in it: it and the folders above where it really
// is, and then those above the link.
func TestPlaceOfAFolderThatALinkLeadsTo(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"plain/a.md": "", "plain/sub/b.md": "", "marked/MEMORY.md": "", "marked/sub/c.md": "", "settings/.kioku.yaml": "", "settings/sub/deep/d.md": "",
		"above/MEMORY.md": "", "code/x.go": "", "repo/.git/HEAD": "", "repo/docs/e.md": "", "repo/src/f.go": "", "links/g.go": "",
	} {
		testkit.Must(t, os.MkdirAll(filepath.Join(base, filepath.Dir(name)), 0o700))
		testkit.Must(t, os.WriteFile(filepath.Join(base, name), []byte(text), 0o600))
	}
	for link, c := range map[string]struct{ target, inside, want string }{
		"links/plain": {"plain", "", "plain"}, "links/plainsub": {"plain", "sub", "plain/sub"}, "links/chain": {"links/plain", "", "plain"},
		"links/marked": {"marked", "", "marked"}, "links/markedsub": {"marked/sub", "", "marked"}, "links/settings": {"settings/sub", "deep", "settings"},
		"above/code": {"code", "", "above"}, "above/marked": {"marked/sub", "", "marked"}, "links/repo": {"repo/src", "", "repo"}, "links/code": {"code", "", ""},
	} {
		t.Run(link, func(t *testing.T) {
			if err := os.Symlink(filepath.Join(base, c.target), filepath.Join(base, link)); err != nil && !os.IsExist(err) {
				t.Fatal(err)
			}
			if link == "links/chain" {
				_ = os.Symlink(filepath.Join(base, "plain"), filepath.Join(base, "links/plain")) // the other case may have made it
			}
			src := write(t, "")
			src.Dir = filepath.Join(base, link, c.inside)
			p, err := load(t, src).Here()
			if c.want == "" {
				if !errors.Is(err, config.ErrNoWorkspace) {
					t.Errorf("got %+v, %v", p, err)
				}
				return
			}
			if err != nil || p.Workspace != filepath.Join(base, c.want) {
				t.Errorf("got %+v, %v; want %s", p, err, c.want)
			}
		})
	}
}

func TestPlacesAreThoseOfAllAgents(t *testing.T) {
	t.Parallel()
	src := write(t, "extraPaths: [common]\nagents:\n  b: {workspace: /b, extraPaths: [own]}\n  a: {workspace: /a}\n")
	got, err := load(t, src).Places()
	if err != nil {
		t.Fatal(err)
	}
	want := []config.Place{{Agent: "a", Workspace: "/a"}, {Agent: "b", Workspace: "/b"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	c := load(t, src)
	if diff := cmp.Diff([][]string{{"common"}, {"own"}}, [][]string{c.ExtraPaths("a"), c.ExtraPaths("b")}); diff != "" {
		t.Error(diff)
	}
	src.Flags = []config.Flag{{Name: "--workspace", Key: "workspace", Value: "/m"}}
	if got, err = load(t, src).Places(); err != nil || len(got) != 3 || got[2].Agent != "main" {
		t.Errorf("with --workspace: %+v, %v", got, err)
	}
}

// An agent without a folder must not be served from the folder that the daemon happens to start in.
func TestPlacesRefusesAnAgentWithoutAFolder(t *testing.T) {
	t.Parallel()
	src := write(t, "agents: {a: {extraPaths: [x]}}\n")
	src.Dir = looksLikeOne(t)
	if got, err := load(t, src).Places(); !errors.Is(err, config.ErrNoWorkspace) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// Hazard G03: without HOME everything works as long as the places are named.
func TestStateDirNeedsAHomeOrAName(t *testing.T) {
	t.Parallel()
	c := load(t, config.Sources{Dir: t.TempDir()})
	if dir, err := c.StateDir(); !errors.Is(err, config.ErrNoState) {
		t.Errorf("got %q, %v", dir, err)
	}
	for env, want := range map[string]string{
		"HOME=/h": "/h/.local/state/kioku", "XDG_STATE_HOME=/s": "/s/kioku", "KIOKU_STATE=/data": "/data",
	} {
		t.Run(env, func(t *testing.T) {
			c := load(t, config.Sources{Dir: t.TempDir(), Env: []string{env}})
			if dir, err := c.StateDir(); dir != want || err != nil {
				t.Errorf("%s: got %q, %v, want %s", env, dir, err, want)
			}
		})
	}
}

// Hazard C06: an agent id is a file name and nothing more.
func TestCheckAgentRefusesHostileIDs(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"", "../b", "a/b", "A", "-a", "a\x00", "'; drop", "a\n", string(make([]byte, 10<<10))} {
		if err := config.CheckAgent(id); err == nil {
			t.Errorf("%.20q is accepted", id)
		}
		if _, err := load(t, config.Sources{Dir: t.TempDir()}).Place(id); err == nil {
			t.Errorf("%.20q has a place", id)
		}
	}
	if err := config.CheckAgent("nova-2_b"); err != nil {
		t.Error(err)
	}
}
