package bootstrap_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/agent/bootstrap"
	"kioku/note/forgotten"
)

// put writes files into a folder.
func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// everything returns a text for each file.
func everything() map[string]string {
	files := map[string]string{}
	for _, name := range bootstrap.Names() {
		files[name] = "text of " + name + "\n"
	}
	return files
}

// texts returns what is injected, by name.
func texts(files []bootstrap.File) map[string]string {
	out := map[string]string{}
	for _, f := range files {
		if f.Text != "" {
			out[f.Name] = f.Text
		}
	}
	return out
}

// file returns the one of that name.
func file(t *testing.T, files []bootstrap.File, name string) bootstrap.File {
	t.Helper()
	for _, f := range files {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no %s in the report", name)
	return bootstrap.File{}
}

func TestLoadReturnsTheFilesOfAMode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, everything())
	l := bootstrap.New(bootstrap.Options{Workspace: dir})
	for _, c := range []struct {
		mode  bootstrap.Mode
		group bool
		names string
	}{
		{"", false, "IDENTITY.md SOUL.md TOOLS.md MEMORY.md HEARTBEAT.md BOOTSTRAP.md AGENTS.md USER.md"},
		{bootstrap.Full, true, "IDENTITY.md SOUL.md TOOLS.md HEARTBEAT.md BOOTSTRAP.md AGENTS.md USER.md"},
		{bootstrap.Minimal, false, "TOOLS.md AGENTS.md"},
		{bootstrap.None, false, ""},
	} {
		files := l.Load(c.mode, c.group)
		var names []string
		for _, f := range files {
			if (f.Text == "") == (f.Reason == "") {
				t.Errorf("%s: %q with the reason %q", f.Name, f.Text, f.Reason)
			}
			if f.Text != "" {
				names = append(names, f.Name)
			}
		}
		if got := strings.Join(names, " "); got != c.names || len(files) != 8 {
			t.Errorf("%q, group %v: %s", c.mode, c.group, got)
		}
	}
	if bootstrap.Mode("loud").Valid() || !bootstrap.Minimal.Valid() {
		t.Error("modes are not told apart")
	}
}

func TestLoadSeesChangesOnTheDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := bootstrap.New(bootstrap.Options{Workspace: filepath.Join(dir, "later")})
	if got := texts(l.Load(bootstrap.Full, false)); len(got) > 0 {
		t.Fatalf("%v without a workspace", got)
	}
	for _, text := range []string{"kind", "stern"} {
		put(t, filepath.Join(dir, "later"), map[string]string{bootstrap.Soul: text})
		if diff := cmp.Diff(map[string]string{bootstrap.Soul: text}, texts(l.Load(bootstrap.Full, false))); diff != "" {
			t.Error(diff)
		}
	}
	if err := os.Remove(filepath.Join(dir, "later", bootstrap.Soul)); err != nil {
		t.Fatal(err)
	}
	if got := file(t, l.Load(bootstrap.Full, false), bootstrap.Soul); got.Text != "" || got.Reason != "missing" || got.Path != "" {
		t.Errorf("%+v", got)
	}
}

// What was forgotten is in no prompt, also while a file still says it.
func TestLoadLeavesOutWhatWasForgotten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stone := forgotten.Stone{ID: "20260101T000000Z-00000000", Salt: "s"}
	stone.Add("The gate code is 4711.")
	line, err := json.Marshal(stone)
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, map[string]string{forgotten.File: string(line) + "\n", bootstrap.User: "# User\n\nthe *gate* code\nis 4711. Ines drinks tea.\n"})
	got := file(t, bootstrap.New(bootstrap.Options{Workspace: dir}).Load(bootstrap.Full, false), bootstrap.User)
	if diff := cmp.Diff("# User\n\n\nInes drinks tea.", got.Text); diff != "" {
		t.Error(diff)
	}
}

func TestLoadPrefersTheAgentsOwnFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	own := filepath.Join(dir, "own")
	put(t, dir, map[string]string{bootstrap.Soul: "shared", bootstrap.User: "shared", bootstrap.Tools: "shared"})
	put(t, own, map[string]string{bootstrap.Soul: "own", bootstrap.Tools: " \n"})
	files := bootstrap.New(bootstrap.Options{Workspace: dir, Override: own}).Load(bootstrap.Full, false)
	want := map[string]string{bootstrap.Soul: "own", bootstrap.User: "shared"}
	if diff := cmp.Diff(want, texts(files)); diff != "" {
		t.Error(diff)
	}
	if f := file(t, files, bootstrap.Soul); !f.Override || f.Path != filepath.Join(own, bootstrap.Soul) {
		t.Errorf("%+v", f)
	}
	if f := file(t, files, bootstrap.User); f.Override || f.Path != filepath.Join(dir, bootstrap.User) {
		t.Errorf("%+v", f)
	}
	if f := file(t, files, bootstrap.Tools); !f.Override || f.Reason != bootstrap.ReasonEmpty {
		t.Errorf("%+v", f)
	}
}

func TestLoadReportsCuts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, map[string]string{bootstrap.Agents: lines(3000) + "\n", bootstrap.User: "short\xff"})
	files := bootstrap.New(bootstrap.Options{Workspace: dir}).Load(bootstrap.Full, false)
	f := file(t, files, bootstrap.Agents)
	if !f.Cut || f.RawChars != 38_000 || f.InjectedChars > 20_000 || f.InjectedChars < 17_000 || !strings.Contains(f.Text, "of 37999 characters") {
		t.Errorf("cut %v, %d of %d", f.Cut, f.InjectedChars, f.RawChars)
	}
	if f := file(t, files, bootstrap.User); f.Cut || f.RawChars != 6 || f.InjectedChars != 6 || f.Text != "short\ufffd" {
		t.Errorf("%+v", f)
	}
}

func TestLoadKeepsToTheTotalInTheOrderOfThePrompt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{}
	for _, name := range bootstrap.Names() {
		files[name] = lines(3000)
	}
	put(t, dir, files)
	total := 0
	got := bootstrap.New(bootstrap.Options{Workspace: dir, TotalMaxChars: 110_000}).Load(bootstrap.Full, false)
	for _, f := range got {
		total += f.InjectedChars
	}
	if total > 110_000 || total < 100_000 {
		t.Errorf("%d characters", total)
	}
	if f := file(t, got, bootstrap.Soul); f.InjectedChars < 17_000 {
		t.Errorf("%d characters of the soul", f.InjectedChars)
	}
	if f := file(t, got, bootstrap.User); f.Text != "" && f.InjectedChars > 15_000 || f.Text == "" && f.Reason != bootstrap.ReasonTotal {
		t.Errorf("the last file: %d %s", f.InjectedChars, f.Reason)
	}
}

func TestLoadReservesTheShareOfMemory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, map[string]string{bootstrap.Identity: lines(5000), bootstrap.Soul: lines(5000), bootstrap.Memory: lines(2000)})
	opt := bootstrap.Options{Workspace: dir, MaxChars: 60_000, TotalMaxChars: 40_000}
	got := bootstrap.New(opt).Load(bootstrap.Full, false)
	if f := file(t, got, bootstrap.Memory); f.InjectedChars < 8_800 {
		t.Errorf("%d characters of memory: %s", f.InjectedChars, f.Reason)
	}
	// What it does not need is not kept for it, nor is anything in a group.
	put(t, dir, map[string]string{bootstrap.Memory: "one line"})
	got = bootstrap.New(opt).Load(bootstrap.Full, false)
	if f := file(t, got, bootstrap.Memory); f.Text != "one line" {
		t.Errorf("%+v", f)
	}
	if f := file(t, got, bootstrap.Identity); f.InjectedChars < 35_000 {
		t.Errorf("%d characters of identity", f.InjectedChars)
	}
}

func TestLoadRefusesALinkOutOfTheWorkspace(t *testing.T) {
	t.Parallel()
	dir, out := t.TempDir(), t.TempDir()
	put(t, out, map[string]string{"secret": "secret"})
	if err := os.Symlink(filepath.Join(out, "secret"), filepath.Join(dir, bootstrap.Soul)); err != nil {
		t.Fatal(err)
	}
	f := file(t, bootstrap.New(bootstrap.Options{Workspace: dir}).Load(bootstrap.Full, false), bootstrap.Soul)
	if f.Text != "" || f.Reason != "symbolic link" || f.Path == "" {
		t.Errorf("%+v", f)
	}
}

// lines returns n numbered lines of twelve characters with their ends.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "日本 line %03d\n", i)
	}
	return strings.TrimSpace(b.String())
}
