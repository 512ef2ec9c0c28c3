package history

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"kioku/internal/files"
	"kioku/internal/secrets"
	"kioku/memory"
)

const (
	// DefaultJournalBytes is the size that a journal keeps to.
	DefaultJournalBytes = 256 << 20
	// branch is the one that the versions are on.
	branch = "refs/heads/main"
	// hashesFile of the repository has the hashes of the last version, by path. It is a cache.
	hashesFile = "kioku-hashes.json"
	// maxLoose is the number of texts in files of their own above which they are packed.
	maxLoose = 1000
)

// JournalOptions say where a journal is and how much it keeps.
type JournalOptions struct {
	// Folder of the repository, outside of the folder of notes. It is made, 0700, when something is recorded.
	Folder string
	// MaxBytes is the size of the repository above which its oldest versions are removed; 0 means DefaultJournalBytes. The last version
	// always stays.
	MaxBytes int64
	// MaxAge is the age above which versions are removed; 0 means never.
	MaxAge time.Duration
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Journal is the history of a folder that is in no repository: a bare one of its own, to which Kioku commits the notes. Passwords and keys of
// known shapes are not in it. A version is what one Record has added.
type Journal struct {
	opt JournalOptions
	git *Git
}

// NewJournal returns the journal in a folder, which may not exist yet.
func NewJournal(opt JournalOptions) *Journal {
	opt.MaxBytes = cmp.Or(opt.MaxBytes, DefaultJournalBytes)
	if opt.Now == nil {
		opt.Now = time.Now
	}
	return &Journal{opt: opt, git: &Git{dir: opt.Folder, isJournal: true}}
}

// Open returns the journal as a history. It returns an error that is memory.ErrNoHistory if it has no version.
func (j *Journal) Open(ctx context.Context) (*Git, error) {
	if _, err := os.Stat(j.opt.Folder); err != nil {
		return nil, errEmptyJournal
	}
	if _, err := j.git.run(ctx, "", "rev-parse", "--verify", "--quiet", branch); err != nil {
		return nil, cmp.Or(ctx.Err(), errEmptyJournal)
	}
	return j.git, nil
}

// errEmptyJournal: nothing was recorded.
var errEmptyJournal = fmt.Errorf("%w: the journal is empty", memory.ErrNoHistory)

// Noted is a file as the folder has it now.
type Noted struct {
	// Path of the file.
	Path string
	// Hash of its text in the index: as long as it is the same, the text is not read.
	Hash string
}

// Record adds a version with the files that are new, have another text or are gone since the last one; none if nothing has changed.
// read returns the text of a file; one that cannot be read stays as it was. Record returns how many files have changed.
func (j *Journal) Record(ctx context.Context, files []Noted, read func(path string) ([]byte, error)) (changed int, err error) {
	unlock, err := j.lock(ctx)
	if err != nil {
		return 0, fmt.Errorf("write the journal: %w", err)
	}
	defer unlock()
	if _, err := os.Stat(filepath.Join(j.opt.Folder, "HEAD")); err != nil {
		if err := initRepository(ctx, j.opt.Folder); err != nil {
			return 0, err
		}
	}
	known, err := j.readHashes(ctx)
	if err != nil {
		return 0, err
	}
	if known, changed, err = j.commit(ctx, known, files, read); err != nil || changed == 0 {
		return 0, err
	}
	return changed, cmp.Or(j.writeHashes(known), j.shrink(ctx))
}

// commit writes what has changed since the last version, with the hashes of which known has those of that version, and returns those of the
// new one.
func (j *Journal) commit(ctx context.Context, known map[string]string, files []Noted, read func(path string) ([]byte, error)) (map[string]string, int, error) {
	last, err := j.Open(ctx)
	if err != nil && !errors.Is(err, memory.ErrNoHistory) {
		return nil, 0, err
	}
	gone, now, changed := maps.Clone(known), map[string]string{}, 0
	for _, file := range files {
		delete(gone, file.Path)
	}
	stream := func(w *bufio.Writer) error {
		begin := func() {
			if changed++; changed == 1 {
				fmt.Fprintf(w, "feature done\ncommit %s\ncommitter Kioku <> %d +0000\ndata 0\n", branch, j.opt.Now().Unix())
				if last != nil {
					fmt.Fprintf(w, "from %s^0\n", branch)
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(gone)) { // before a folder of this name is made
			begin()
			fmt.Fprintf(w, "D %s\n", quotePath(name))
		}
		for _, file := range files {
			if now[file.Path] = known[file.Path]; now[file.Path] == file.Hash {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			src, err := read(file.Path)
			if err != nil {
				continue
			}
			text, _ := secrets.Redact(string(src))
			begin()
			fmt.Fprintf(w, "M 100644 inline %s\ndata %d\n%s\n", quotePath(file.Path), len(text), text)
			now[file.Path] = file.Hash
		}
		if changed == 0 {
			fmt.Fprint(w, "feature done\n")
		}
		_, err := fmt.Fprint(w, "done\n")
		return err
	}
	in, out := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w := bufio.NewWriter(out)
		out.CloseWithError(cmp.Or(stream(w), w.Flush()))
	}()
	err = j.git.feed(ctx, in, "fast-import", "--quiet")
	in.Close()
	<-ended
	return now, changed, err
}

// quotePath returns a path as a stream of git fast-import has it.
func quotePath(name string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(name) + `"`
}

// feed runs a command of git that reads a stream.
func (g *Git) feed(ctx context.Context, in io.Reader, args ...string) error {
	cmd, said := g.command(ctx, args...), &limited{most: 4 << 10, cut: true}
	cmd.Stdin, cmd.Stderr = in, said
	return failure(ctx, args[0], cmd.Run(), said.String())
}

// initRepository makes an empty repository.
func initRepository(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	g := &Git{dir: dir, isJournal: true}
	_, err := g.run(ctx, "", "init", "--quiet", "--bare", "--template=", "--object-format=sha1", "--initial-branch=main")
	return err
}

// readHashes returns the hashes of the last version; empty ones if they are not known.
func (j *Journal) readHashes(ctx context.Context) (map[string]string, error) {
	known := map[string]string{}
	data, err := os.ReadFile(filepath.Join(j.opt.Folder, hashesFile))
	if err == nil && json.Unmarshal(data, &known) == nil {
		return known, nil
	}
	g, err := j.Open(ctx)
	if err != nil {
		if errors.Is(err, memory.ErrNoHistory) {
			err = nil
		}
		return known, err
	}
	tree, err := g.Tree(ctx, memory.FolderVersion{ID: branch})
	if err != nil && !errors.Is(err, memory.ErrNoVersion) {
		return nil, err
	}
	for _, f := range tree.Files {
		known[f.Path] = ""
	}
	return known, nil
}

// writeHashes writes the hashes of a version.
func (j *Journal) writeHashes(known map[string]string) error {
	data, err := json.Marshal(known)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(j.opt.Folder)
	if err != nil {
		return err
	}
	defer root.Close()
	return files.Write(root, hashesFile, data, 0o600)
}

// endPurge puts the new repository of a purge, if there is one, in the place of the old one, and removes that.
func (j *Journal) endPurge() error {
	if _, err := os.Stat(j.opt.Folder); errors.Is(err, fs.ErrNotExist) {
		if err := os.Rename(j.opt.Folder+".next", j.opt.Folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.RemoveAll(j.opt.Folder + ".gone")
}

// lock waits until nobody else writes the journal, and ends a purge that a crash has left.
func (j *Journal) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(j.opt.Folder), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(j.opt.Folder+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := files.Lock(ctx, f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := j.endPurge(); err != nil {
		return nil, errors.Join(err, files.Unlock(f))
	}
	return func() { _ = files.Unlock(f) }, nil
}

// shrink removes the oldest versions until the journal keeps to its size and its age, and packs what is loose.
func (j *Journal) shrink(ctx context.Context) error {
	out, err := j.git.run(ctx, "", "log", "--first-parent", "--format=%H %ct", branch)
	if err != nil {
		return err
	}
	versions := strings.Split(strings.TrimSpace(string(out)), "\n") // the latest first
	keep := len(versions)
	if oldest := j.opt.Now().Add(-j.opt.MaxAge).Unix(); j.opt.MaxAge > 0 {
		keep = 1 + slices.IndexFunc(versions, func(v string) bool {
			_, seconds, _ := strings.Cut(v, " ")
			at, err := strconv.ParseInt(seconds, 10, 64)
			return err == nil && at <= oldest
		})
		if keep == 0 {
			keep = len(versions)
		}
	}
	loose, size, err := j.size(ctx)
	for ; err == nil; loose, size, err = j.size(ctx) {
		switch {
		case keep < len(versions):
			first, _, _ := strings.Cut(versions[keep-1], " ")
			if err := os.WriteFile(filepath.Join(j.opt.Folder, "shallow"), []byte(first+"\n"), 0o600); err != nil {
				return err
			}
			versions = versions[:keep]
		case loose > maxLoose:
		case size > j.opt.MaxBytes && keep > 1:
			keep /= 2
			continue
		default:
			return nil
		}
		if _, err := j.git.run(ctx, "", "repack", "-a", "-d", "-q"); err != nil {
			return err
		}
		if _, err := j.git.run(ctx, "", "prune", "--expire=now"); err != nil {
			return err
		}
	}
	return err
}

// size returns the number of loose objects of the repository and its size on the disk.
func (j *Journal) size(ctx context.Context) (loose int, bytes int64, err error) {
	out, err := j.git.run(ctx, "", "count-objects", "-v")
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(out)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		n, _ := strconv.ParseInt(value, 10, 64)
		switch key {
		case "count":
			loose = int(n)
		case "size", "size-pack":
			bytes += n << 10
		}
	}
	return loose, bytes, nil
}

// Purge removes all versions of a file, or of the files of a folder, and everything if the path is empty: it writes a new repository without
// them and removes the old one. What the folder of notes has then is recorded again by the next Record. Purge returns how many versions of
// files it has removed.
func (j *Journal) Purge(ctx context.Context, name string) (removed int, err error) {
	g, err := j.Open(ctx)
	if errors.Is(err, memory.ErrNoHistory) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	unlock, err := j.lock(ctx)
	if err != nil {
		return 0, fmt.Errorf("purge the journal: %w", err)
	}
	defer unlock()
	all, err := g.Log(ctx, memory.LogQuery{})
	if err != nil {
		return 0, err
	}
	for _, c := range all {
		if isBelow(c.Path, name) || c.OldPath != "" && isBelow(c.OldPath, name) {
			removed++
		}
	}
	if removed == 0 {
		return 0, nil
	}
	next := j.opt.Folder + ".next"
	if err := os.RemoveAll(next); err != nil {
		return 0, err
	}
	if removed < len(all) {
		if err := j.copyWithout(ctx, name, next); err != nil {
			return 0, fmt.Errorf("purge the journal: %w", errors.Join(err, os.RemoveAll(next)))
		}
	}
	if err := os.Rename(j.opt.Folder, j.opt.Folder+".gone"); err != nil {
		return 0, fmt.Errorf("purge the journal: %w", err)
	}
	return removed, j.endPurge()
}

// copyWithout writes a repository with all versions of this one but without what is at or below a path.
func (j *Journal) copyWithout(ctx context.Context, name, dir string) error {
	if err := initRepository(ctx, dir); err != nil {
		return err
	}
	export := j.git.command(ctx, "fast-export", "--use-done-feature", branch, "--", ".", ":(exclude,literal)"+name)
	var said bytes.Buffer
	export.Stderr = &said
	out, err := export.StdoutPipe()
	if err == nil {
		err = export.Start()
	}
	if err != nil {
		return failure(ctx, "fast-export", err, "")
	}
	next := &Git{dir: dir, isJournal: true}
	err = next.feed(ctx, out, "fast-import", "--quiet")
	return cmp.Or(failure(ctx, "fast-export", export.Wait(), said.String()), err)
}
