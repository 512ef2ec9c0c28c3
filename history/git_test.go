package history_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kioku/history"
	"kioku/memory"
)

// day returns noon of a day of October 2026.
func day(n int) time.Time { return time.Date(2026, 10, n, 12, 0, 0, 0, time.UTC) }

// repository is a repository of git that a test makes.
type repository struct {
	t   testing.TB
	dir string
}

// newRepository returns an empty repository, and skips the test if there is no git.
func newRepository(t testing.TB) repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("the program git is not installed")
	}
	r := repository{t, t.TempDir()}
	r.git(time.Time{}, "init", "-q", "-b", "main", ".")
	return r
}

// git runs git in the repository, at a time.
func (r repository) git(at time.Time, args ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "git", args...)
	cmd.Dir = r.dir
	date := at.Format(time.RFC3339)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ana", "GIT_AUTHOR_EMAIL=ana@example.org",
		"GIT_COMMITTER_NAME=Ana", "GIT_COMMITTER_EMAIL=ana@example.org", "GIT_AUTHOR_DATE=" + date, "GIT_COMMITTER_DATE=" + date}
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// write writes a file.
func (r repository) write(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// commit commits everything, and returns the hash.
func (r repository) commit(at time.Time, subject string) string {
	r.t.Helper()
	r.git(at, "add", "-A")
	r.git(at, "commit", "-q", "-m", subject)
	return r.git(at, "rev-parse", "HEAD")
}

// openGit opens the history of a folder.
func openGit(t *testing.T, dir string) *history.Git {
	t.Helper()
	g, err := history.OpenGit(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// summary is a change in short.
func summary(changes []memory.FileChange) []string {
	var out []string
	for _, c := range changes {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s", c.Time.Format("01-02"), c.Subject, c.Change, c.Path, c.OldPath)))
	}
	return out
}

func TestGitLogFollowsRenames(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.write("notes/memory/ines.md", "# Ines\n\nInes lives in Porto.\n")
	r.write("elsewhere.md", "not of the folder\n")
	r.commit(day(1), "first")
	r.write("notes/memory/ines.md", "# Ines\n\nInes lives in Porto, by the river.\n")
	r.commit(day(2), "more")
	r.git(day(3), "mv", "notes/memory/ines.md", "notes/memory/今日 ines.md")
	r.commit(day(3), "move")
	g := openGit(t, filepath.Join(r.dir, "notes"))
	for name, c := range map[string]struct {
		q    memory.LogQuery
		want []string
	}{
		"file":  {memory.LogQuery{Path: "memory/今日 ines.md"}, []string{"10-03 move renamed memory/今日 ines.md memory/ines.md", "10-02 more changed memory/ines.md", "10-01 first added memory/ines.md"}},
		"all":   {memory.LogQuery{}, []string{"10-03 move renamed memory/今日 ines.md memory/ines.md", "10-02 more changed memory/ines.md", "10-01 first added memory/ines.md"}},
		"since": {memory.LogQuery{Path: "memory", Since: day(2)}, []string{"10-03 move renamed memory/今日 ines.md memory/ines.md", "10-02 more changed memory/ines.md"}},
		"until": {memory.LogQuery{Until: day(1)}, []string{"10-01 first added memory/ines.md"}},
		"limit": {memory.LogQuery{Limit: 1}, []string{"10-03 move renamed memory/今日 ines.md memory/ines.md"}},
		"none":  {memory.LogQuery{Path: "memory/nobody.md"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := g.Log(t.Context(), c.q)
			if diff := cmp.Diff(c.want, summary(got)); diff != "" || err != nil {
				t.Errorf("Log: %v\n%s", err, diff)
			}
		})
	}
	v, err := g.Find(t.Context(), memory.Moment{Time: day(2).Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	file, text, err := g.Show(t.Context(), "memory/今日 ines.md", v)
	if err != nil || file.Path != "memory/ines.md" || string(text) != "# Ines\n\nInes lives in Porto, by the river.\n" {
		t.Errorf("Show of the new name: %q %q %v", file.Path, text, err)
	}
}

func TestGitFindNamesVersions(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.write("MEMORY.md", "one\n")
	first := r.commit(day(1), "first")
	r.write("MEMORY.md", "two\n")
	second := r.commit(day(3), "second")
	g := openGit(t, r.dir)
	for name, c := range map[string]struct {
		at   memory.Moment
		want string
		err  error
	}{
		"now":           {memory.Moment{}, second, nil},
		"day between":   {memory.Moment{Time: day(2)}, first, nil},
		"very second":   {memory.Moment{Time: day(3)}, second, nil},
		"before it all": {memory.Moment{Time: day(1).Add(-time.Second)}, "", memory.ErrNoVersion},
		"short hash":    {memory.Moment{Revision: first[:8]}, first, nil},
		"parent":        {memory.Moment{Revision: "HEAD~1"}, first, nil},
		"no such":       {memory.Moment{Revision: "deadbeef"}, "", memory.ErrNoVersion},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := g.Find(t.Context(), c.at)
			if v.ID != c.want || !errors.Is(err, c.err) {
				t.Errorf("Find = %q, %v; want %q, %v", v.ID, err, c.want, c.err)
			}
		})
	}
	for _, bad := range []string{"--all", "-1", "HEAD; touch x", "HEAD\n", ":/first", "$(id)"} {
		var input *memory.InputError
		if _, err := g.Find(t.Context(), memory.Moment{Revision: bad}); !errors.As(err, &input) {
			t.Errorf("Find of %q: %v; want an InputError", bad, err)
		}
	}
}

func TestGitTreeLeavesOutWhatIsNoFile(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.write("MEMORY.md", "one\n")
	r.write("memory/a b\n\".md", "two\r\n")
	if err := os.Symlink("/etc/passwd", filepath.Join(r.dir, "memory", "link.md")); err != nil {
		t.Fatal(err)
	}
	v := memory.FolderVersion{ID: r.commit(day(1), "first"), History: memory.HistoryGit}
	g := openGit(t, r.dir)
	tree, err := g.Tree(t.Context(), v)
	want := []history.File{{Path: "MEMORY.md", Size: 4}, {Path: "memory/a b\n\".md", Size: 5}}
	if diff := cmp.Diff(want, tree.Files, cmpopts.IgnoreFields(history.File{}, "Hash")); diff != "" || err != nil {
		t.Fatalf("Tree: %v\n%s", err, diff)
	}
	var texts []string
	err = g.Read(t.Context(), tree.Files, func(_ history.File, text []byte) error {
		texts = append(texts, string(text))
		return nil
	})
	if diff := cmp.Diff([]string{"one\n", "two\r\n"}, texts); diff != "" || err != nil {
		t.Errorf("Read: %v\n%s", err, diff)
	}
}

// (H01)
func TestOpenGitRefusesWhatIsNoHistory(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.write("MEMORY.md", "one\n")
	r.commit(day(1), "first")
	bare := filepath.Join(t.TempDir(), "bare.git")
	r.git(day(1), "clone", "-q", "--bare", r.dir, bare)
	unborn := newRepository(t)
	ignored := filepath.Join(r.dir, "ignored")
	if err := os.Mkdir(ignored, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		dir  string
		want error
	}{
		"no repository": {t.TempDir(), history.ErrNoRepository},
		"bare":          {bare, history.ErrBare},
		"in .git":       {filepath.Join(r.dir, ".git"), history.ErrBare},
		"no commit":     {unborn.dir, history.ErrNoRepository},
		"not tracked":   {ignored, history.ErrNoRepository},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := history.OpenGit(t.Context(), c.dir)
			if !errors.Is(err, c.want) || !errors.Is(err, memory.ErrNoHistory) {
				t.Errorf("OpenGit: %v; want %v", err, c.want)
			}
		})
	}
}

func TestGitReadsWorktreesAndShallowClones(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.write("MEMORY.md", "one\n")
	r.commit(day(1), "first")
	r.write("MEMORY.md", "two\n")
	r.commit(day(2), "second")
	other := filepath.Join(t.TempDir(), "tree")
	r.git(day(2), "worktree", "add", "-q", other, "HEAD~1")
	if v, err := openGit(t, other).Find(t.Context(), memory.Moment{}); err != nil || v.Subject != "first" {
		t.Errorf("version of a worktree: %+v, %v", v, err)
	}
	shallow := filepath.Join(t.TempDir(), "shallow")
	r.git(day(2), "clone", "-q", "--depth", "1", "file://"+r.dir, shallow)
	_, err := openGit(t, shallow).Find(t.Context(), memory.Moment{Time: day(1)})
	if !errors.Is(err, memory.ErrNoVersion) || !strings.Contains(err.Error(), "git fetch --unshallow") {
		t.Errorf("version that a shallow clone lacks: %v", err)
	}
}

// A repository may come from anywhere: nothing that its settings name is executed. (H01)
func TestGitRunsNothingOfARepository(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.write("MEMORY.md", "one\n")
	r.write(".gitattributes", "*.md diff=evil filter=evil\n")
	r.commit(day(1), "first")
	r.write("MEMORY.md", "two\n")
	v := memory.FolderVersion{ID: r.commit(day(2), "second"), History: memory.HistoryGit}
	proof := filepath.Join(t.TempDir(), "executed")
	program := filepath.Join(t.TempDir(), "evil")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$0 $*\" >>"+proof+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"core.fsmonitor", "core.pager", "core.sshCommand", "core.askPass", "core.editor", "gpg.program", "diff.external", "diff.evil.textconv",
		"diff.evil.command", "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "credential.helper", "uploadpack.packObjectsHook", "alias.log", "pager.log"} {
		r.git(day(2), "config", key, program)
	}
	for _, pair := range [][2]string{{"log.showSignature", "true"}, {"diff.orderFile", "/dev/zero"}, {"remote.origin.url", "ext::" + program}, {"remote.origin.promisor", "true"},
		{"extensions.partialClone", "origin"}, {"core.hooksPath", filepath.Dir(program)}, {"pager.log", "true"}, {"log.follow", "true"}} {
		r.git(day(2), "config", pair[0], pair[1])
	}
	g := openGit(t, r.dir)
	if all, err := g.Log(t.Context(), memory.LogQuery{Path: "MEMORY.md"}); err != nil || len(all) != 2 {
		t.Errorf("Log: %v, %v", all, err)
	}
	tree, err := g.Tree(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	// A text that is missing would be fetched from the remote.
	missing := history.File{Path: "gone.md", Hash: strings.Repeat("1", 40)}
	if err := g.Read(t.Context(), append(tree.Files, missing), func(history.File, []byte) error { return nil }); !errors.Is(err, memory.ErrNoVersion) {
		t.Errorf("Read of a missing text: %v", err)
	}
	if text, err := os.ReadFile(proof); err == nil {
		t.Errorf("executed:\n%s", text)
	}
	if out := r.git(day(2), "-c", "core.fsmonitor=false", "count-objects", "-v"); !strings.Contains(out, "garbage: 0") {
		t.Errorf("the repository was written to:\n%s", out)
	}
}

// (H01)
func TestGitIgnoresTheEnvironment(t *testing.T) {
	r := newRepository(t)
	r.write("MEMORY.md", "one\n")
	want := r.commit(day(1), "first")
	other := newRepository(t)
	other.write("MEMORY.md", "other\n")
	other.commit(day(5), "other")
	t.Setenv("GIT_DIR", filepath.Join(other.dir, ".git"))
	t.Setenv("GIT_WORK_TREE", other.dir)
	if v, err := openGit(t, r.dir).Find(t.Context(), memory.Moment{}); err != nil || v.ID != want {
		t.Errorf("Find = %+v, %v; want %s", v, err, want)
	}
}

// bigRepository makes a repository of 2,000 commits to 300 files, one of which is renamed.
func bigRepository(b *testing.B) string {
	r := newRepository(b)
	var in bytes.Buffer
	texts := map[int]string{}
	for i := range 2000 {
		f := i % 300
		texts[f] += fmt.Sprintf("- line %d of a note about the garden and the boiler\n", i)
		fmt.Fprintf(&in, "commit refs/heads/main\ncommitter Ana <ana@example.org> %d +0000\ndata 4\nnote\n", 1_700_000_000+i*3600)
		fmt.Fprintf(&in, "M 100644 inline memory/n%03d.md\ndata %d\n%s\n", f, len(texts[f]), texts[f])
	}
	cmd := exec.CommandContext(b.Context(), "git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = r.dir, &in
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return r.dir
}

func BenchmarkGit(b *testing.B) {
	g, err := history.OpenGit(b.Context(), bigRepository(b))
	if err != nil {
		b.Fatal(err)
	}
	at := memory.Moment{Time: time.Unix(1_700_000_000+1200*3600, 0)}
	v, err := g.Find(b.Context(), at)
	if err != nil {
		b.Fatal(err)
	}
	for name, f := range map[string]func() error{
		"find": func() error { _, err := g.Find(b.Context(), at); return err },
		"log file": func() error {
			_, err := g.Log(b.Context(), memory.LogQuery{Path: "memory/n042.md"})
			return err
		},
		"log all": func() error { _, err := g.Log(b.Context(), memory.LogQuery{}); return err },
		"show":    func() error { _, _, err := g.Show(b.Context(), "memory/n042.md", v); return err },
		"tree and texts": func() error {
			tree, err := g.Tree(b.Context(), v)
			if err != nil {
				return err
			}
			return g.Read(b.Context(), tree.Files, func(history.File, []byte) error { return nil })
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
