package history

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"kioku/internal/text"
	"kioku/memory"
)

// Git is the history of a folder in a repository of git, or in that of a journal. It sees the commits that lead to HEAD, of which those of the first parent
// are the versions of a time.
type Git struct {
	// dir is the folder, and prefix its path in the repository: empty, or ending with a slash.
	dir, prefix string
	// shallow says that older commits are missing.
	shallow bool
	// safe are settings that let git read a repository of another user.
	safe []string
	// isJournal says that the folder is the repository of a journal.
	isJournal bool
}

// OpenGit returns the history of a folder. It returns an error that is memory.ErrNoHistory if there is no git, no repository, a bare
// one, one of another user that the settings of this one do not call safe, or none that has a version of the folder.
func OpenGit(ctx context.Context, dir string) (*Git, error) {
	g := &Git{dir: dir}
	err := g.open(ctx)
	if errors.Is(err, ErrForeignRepository) && g.isCalledSafe(ctx) {
		g.safe = []string{"safe.directory=*"}
		err = g.open(ctx)
	}
	if err != nil {
		return nil, err
	}
	return g, nil
}

// open fills in where the folder is in its repository.
func (g *Git) open(ctx context.Context) error {
	out, err := g.run(ctx, "", "rev-parse", "--is-inside-work-tree", "--is-shallow-repository", "--show-prefix")
	switch {
	case errors.Is(err, ErrNoGit), ctx.Err() != nil:
		return err
	case err != nil && strings.Contains(err.Error(), "dubious ownership"):
		return ErrForeignRepository
	case err != nil && (strings.Contains(err.Error(), "bare repository") || strings.Contains(err.Error(), "must be run in a work tree")):
		return ErrBare
	case err != nil:
		return ErrNoRepository
	}
	lines := strings.SplitN(string(out), "\n", 3)
	if len(lines) < 3 || lines[0] != "true" {
		return ErrBare
	}
	g.shallow, g.prefix = lines[1] == "true", strings.TrimSuffix(lines[2], "\n")
	if _, err := g.run(ctx, "", "rev-parse", "--verify", "--quiet", "HEAD:"+strings.TrimSuffix(g.prefix, "/")); err != nil {
		return cmp.Or(ctx.Err(), ErrNoRepository)
	}
	return nil
}

// isCalledSafe reports whether the settings of this user call the repository of the folder safe. It asks git without any repository.
func (g *Git) isCalledSafe(ctx context.Context) bool {
	cmd := exec.CommandContext(ctx, "git", "config", "--global", "--get-all", "safe.directory")
	cmd.Dir = "/"
	out, err := cmd.Output()
	if err != nil {
		return false
	}
	for dir := g.dir; ; dir = path.Dir(dir) {
		if slices.Contains(strings.Fields(string(out)), dir) {
			return true
		}
		if dir == path.Dir(dir) {
			return slices.Contains(strings.Fields(string(out)), "*")
		}
	}
}

// revision is what Find takes as the name of a commit.
var revision = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z._/~^@{}-]{0,199}$`)

// versionFormat is how git writes a commit: a control character and fields that end with NUL.
const versionFormat = "--format=%x01%H%x00%ct%x00%an%x00%s"

// Find returns the commit that a moment names. Of a time it is the last one of the first parents of HEAD that was committed by then.
func (g *Git) Find(ctx context.Context, at memory.Moment) (memory.FolderVersion, error) {
	args := []string{"log", "-1", "-z", "--first-parent", "--no-show-signature", "--no-notes", "--no-color", versionFormat}
	name := "HEAD"
	if at.Revision != "" {
		if name = at.Revision; !revision.MatchString(name) {
			return memory.FolderVersion{}, &memory.InputError{Field: "revision", Problem: fmt.Sprintf("is %.80q; name a commit as kioku history log does", name)}
		}
		hash, err := g.run(ctx, "", "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
		if ctx.Err() != nil {
			return memory.FolderVersion{}, err
		}
		if name = strings.TrimSpace(string(hash)); err != nil || name == "" {
			return memory.FolderVersion{}, fmt.Errorf("%w: the repository has no commit %.80q", memory.ErrNoVersion, at.Revision)
		}
	} else if !at.Time.IsZero() {
		args = append(args, "--until="+at.Time.UTC().Format(time.RFC3339))
	}
	out, err := g.run(ctx, "", append(args, name, "--")...)
	if err != nil {
		return memory.FolderVersion{}, err
	}
	versions := g.parseLog(string(out))
	if len(versions) == 0 {
		return memory.FolderVersion{}, g.noVersion(ctx, at.Time)
	}
	return versions[0].FolderVersion, nil
}

// noVersion returns the error of a time before the first commit.
func (g *Git) noVersion(ctx context.Context, at time.Time) error {
	first := ""
	if out, err := g.run(ctx, "", "log", "-z", "--first-parent", "--reverse", "--no-show-signature", versionFormat, "HEAD", "--"); err == nil {
		if all := g.parseLog(string(out)); len(all) > 0 {
			first = "; its first commit is of " + all[0].Time.UTC().Format(time.RFC3339)
		}
	}
	if g.shallow && !g.isJournal {
		first += ", and older ones are missing, because the repository is shallow: git fetch --unshallow brings them"
	}
	return fmt.Errorf("%w: the folder had none at %s%s", memory.ErrNoVersion, at.UTC().Format(time.RFC3339), first)
}

// Log returns changes, following the renames of a file.
func (g *Git) Log(ctx context.Context, q memory.LogQuery) ([]memory.FileChange, error) {
	args := []string{"log", "-z", "--name-status", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-notes", "--no-color", "-M", versionFormat}
	if !q.Since.IsZero() {
		args = append(args, "--since="+q.Since.UTC().Format(time.RFC3339))
	}
	if !q.Until.IsZero() {
		args = append(args, "--until="+q.Until.UTC().Format(time.RFC3339))
	}
	if q.Limit > 0 && q.Path != "" {
		args = append(args, "--max-count="+strconv.Itoa(q.Limit)) // of commits, each of which has a change
	}
	if text.MarkdownExtension(q.Path) != "" {
		args = append(args, "--follow")
	}
	out, err := g.run(ctx, "", append(args, "HEAD", "--", cmp.Or(q.Path, "."))...)
	if err != nil {
		return nil, fmt.Errorf("log of %s: %w", q.Path, err)
	}
	var all []memory.FileChange
	for _, c := range g.parseLog(string(out)) {
		if c, ok := g.inFolder(c); ok {
			all = append(all, c)
		}
		if q.Limit > 0 && len(all) == q.Limit {
			break
		}
	}
	return all, nil
}

// inFolder returns a change with paths in the folder. A rename from elsewhere is a new file. ok is false for a change outside of it.
func (g *Git) inFolder(c memory.FileChange) (_ memory.FileChange, ok bool) {
	if c.Path, ok = strings.CutPrefix(c.Path, g.prefix); !ok || c.Change == "" {
		return c, false
	}
	if c.OldPath != "" {
		if c.OldPath, ok = strings.CutPrefix(c.OldPath, g.prefix); !ok {
			c.OldPath, c.Change = "", memory.FileAdded
		}
	}
	return c, true
}

// Tree returns the files of a commit.
func (g *Git) Tree(ctx context.Context, v memory.FolderVersion) (Tree, error) {
	name := v.ID + ":" + strings.TrimSuffix(g.prefix, "/")
	id, err := g.run(ctx, "", "rev-parse", "--verify", "--quiet", "--end-of-options", name)
	if err != nil {
		return Tree{}, fmt.Errorf("%w: commit %s has no file of the folder", memory.ErrNoVersion, v.Short())
	}
	t := Tree{ID: strings.TrimSpace(string(id))}
	out, err := g.run(ctx, "", "ls-tree", "-r", "-l", "-z", "--full-tree", t.ID)
	if err != nil {
		return Tree{}, fmt.Errorf("files of commit %s: %w", v.Short(), err)
	}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		about, name, ok := strings.Cut(entry, "\t")
		f := strings.Fields(about) // mode, type, hash, size
		if !ok || len(f) != 4 || f[1] != "blob" || f[0] == "120000" {
			continue
		}
		if size, err := strconv.ParseInt(f[3], 10, 64); err == nil {
			t.Files = append(t.Files, File{Path: name, Hash: f[2], Size: size})
		}
	}
	slices.SortFunc(t.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return t, nil
}

// Read reads files as they are in the repository, without the filters of the working tree.
func (g *Git) Read(ctx context.Context, files []File, f func(file File, text []byte) error) error {
	if len(files) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	var hashes strings.Builder
	for _, file := range files {
		hashes.WriteString(file.Hash + "\n")
	}
	cmd := g.command(ctx, "cat-file", "--batch")
	said := &limited{most: 4 << 10, cut: true}
	cmd.Stdin, cmd.Stderr = strings.NewReader(hashes.String()), said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return failure(ctx, "cat-file", err, "")
	}
	err = readBatch(bufio.NewReaderSize(out, 64<<10), files, f)
	if err != nil {
		cancel() // git may have more to say
	}
	if ended := cmd.Wait(); err == nil {
		err = failure(ctx, "cat-file", ended, said.String())
	}
	return err
}

// readBatch reads what git cat-file --batch writes of files.
func readBatch(r *bufio.Reader, files []File, f func(File, []byte) error) error {
	for _, file := range files {
		header, err := r.ReadString('\n')
		if err != nil {
			return fmt.Errorf("read %s: %w", file.Path, err)
		}
		fields := strings.Fields(header)
		if len(fields) != 3 || fields[1] != "blob" {
			return fmt.Errorf("%w of %s: its text is missing in the repository, which may be a partial clone", memory.ErrNoVersion, file.Path)
		}
		size, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil || size < 0 || size > maxOutput {
			return fmt.Errorf("read %s: %w", file.Path, errTooMuch)
		}
		text := make([]byte, size+1) // with the line break behind it
		if _, err := io.ReadFull(r, text); err != nil {
			return fmt.Errorf("read %s: %w", file.Path, err)
		}
		if err := f(file, text[:size]); err != nil {
			return err
		}
	}
	return nil
}
