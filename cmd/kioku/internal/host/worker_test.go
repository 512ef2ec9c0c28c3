package host_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/cmd/kioku/internal/host"
	"kioku/council/template"
	"kioku/internal/testkit"
)

// A worker is added to whatever form the list has, and nothing else of the settings changes.
func TestAddWorkerEditsOneLine(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, workers, want string
		fails               bool
	}{
		{name: "none", want: "workers: [bot]\n"},
		{name: "empty", workers: "workers: []   # later\n", want: "workers: [bot] # later\n"},
		{name: "a line", workers: "workers: [ann, bob]\n", want: "workers: [ann, bob, bot]\n"},
		{name: "a list", workers: "workers: # who helps\n  - ann # the first\n", want: "workers: # who helps\n  - bot\n  - ann # the first\n"},
		{name: "a flat list", workers: "workers:\n- ann\n", want: "workers:\n- bot\n- ann\n"},
		{name: "several lines", workers: "workers: [ann,\n  bob]\n", fails: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(t.TempDir(), "council")
			if _, err := template.Write(folder, "soul", template.Options{}); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(folder, host.CouncilFile)
			base, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			testkit.Must(t, os.WriteFile(path, append(base, tc.workers...), 0o600))
			added, err := host.AddWorker(folder, "bot")
			if tc.fails {
				if err == nil || !strings.Contains(err.Error(), "by hand") {
					t.Errorf("%v", err)
				}
				return
			}
			got, _ := os.ReadFile(path)
			if diff := cmp.Diff(string(base)+tc.want, string(got)); diff != "" || !added || err != nil {
				t.Errorf("added %v, %v\n%s", added, err, diff)
			}
			if added, err := host.AddWorker(folder, "bot"); added || err != nil {
				t.Errorf("a second time: %v, %v", added, err)
			}
		})
	}
}

func TestAddWorkerRefusesMembersAndPaths(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "council")
	if _, err := template.Write(folder, "soul", template.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"panda", "council", "../x", "Bot", ""} {
		if added, err := host.AddWorker(folder, bad); err == nil || added {
			t.Errorf("%q is added", bad)
		}
	}
}

// A key is made once, for its owner only.
func TestNewKeyIsMadeOnce(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path, err := host.NewKey(folder, "bot")
	if err != nil {
		t.Fatal(err)
	}
	key, err := os.ReadFile(path)
	info, _ := os.Stat(path)
	if err != nil || len(key) < 40 || info.Mode().Perm() != 0o600 {
		t.Errorf("%d bytes, %v, %v", len(key), info.Mode(), err)
	}
	if _, err := host.NewKey(folder, "bot"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second key: %v", err)
	}
}

// What council.yaml has wrong is said with the setting that is meant and with what it may be.
func TestLoadCouncilSaysWhichSettingIsWrong(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ more, want string }{
		{"timeouts: {execution: 5}\n", "timeouts.execution: write a time with its unit, such as 5s or 10m"},
		{"timeouts:\n  turn: soon\n", "timeouts.turn: write a time with its unit"},
		{"actions: {up: {command: [a], timeout: 9}}\n", "actions.up.timeout: write a time with its unit"},
		{"timeouts: {executoin: 5s}\n", "timeouts.executoin: no such setting; there are execution, "},
		{"schedules: [{nam: x}]\n", "schedules.nam: no such setting; there are name, "},
		{"timeout: 5s\n", "timeout: no such setting; there are timeouts, "},
	} {
		folder := filepath.Join(t.TempDir(), "council")
		if _, err := template.Write(folder, "soul", template.Options{}); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, host.CouncilFile)
		base, err := os.ReadFile(path)
		testkit.Must(t, err)
		testkit.Must(t, os.WriteFile(path, append(base, tc.more...), 0o600))
		if _, err := host.LoadCouncil(folder); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: %v, want %q", tc.more, err, tc.want)
		}
	}
}

// The folder of a worker says how kioku is this worker there, since a workspace may not name its agent.
func TestWritePersonaSaysWhichAgentItIs(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	paths, err := host.WritePersona(folder, "talky")
	testkit.Must(t, err)
	readme, err := os.ReadFile(filepath.Join(folder, "workers", "talky", "README.md"))
	if err != nil || len(paths) != 4 || !strings.Contains(string(readme), "kioku --agent talky prompt") {
		t.Errorf("%q, %q, %v", paths, readme, err)
	}
}
