package backup

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kioku"
	derived "kioku/derive/store"
	"kioku/memory"
	"kioku/vectors"
)

// Target is where a backup is restored to.
type Target struct {
	// Workspace is the folder of the notes; empty means the one that the backup was made of, if it is Known. It is made if it is missing.
	Workspace string
	// Known reports whether the settings name a workspace. Whoever wrote the archive does not choose a folder.
	Known func(workspace string) bool
	// Root is the state folder, in which the backup is unpacked first.
	Root string
	// StateOf returns the folder that contains the index and the sessions of an agent and its workspace, which exists.
	StateOf func(ctx context.Context, agent, workspace string) (string, error)
	// Agent is the id of the agent; empty means that of the backup.
	Agent string
	// Force moves files that are in the way to a folder beside the index. By default nothing is restored then.
	Force bool
	// Progress is as in [Source].
	Progress func(phase string, done, total int64)
	// Now is the time for the name of that folder.
	Now time.Time
}

// Restored tells what a restore has done.
type Restored struct {
	// Manifest of the backup.
	Manifest *Manifest
	// Agent is the id of the agent.
	Agent string
	// Workspace is its folder.
	Workspace string
	// Notes is the number of notes that were written.
	Notes int
	// Same is the number of notes that were there already.
	Same int
	// Aside is the folder with the files that were in the way, empty if there were none.
	Aside string
}

// ErrNoWorkspace reports a backup of a folder that no settings name.
var ErrNoWorkspace = errors.New("which workspace?")

// maxNamed is the number of paths in the way that an error names.
const maxNamed = 8

// refuse returns the error of a restore that would replace something.
func (r *restoring) refuse() error {
	var named []string
	for _, p := range r.replaced[:min(len(r.replaced), maxNamed)] {
		named = append(named, p.path)
	}
	more := ""
	if n := len(r.replaced) - len(named); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Errorf("there is something already: %s%s; nothing was changed. Restore to another --workspace and --state, or move it aside with --force",
		strings.Join(named, ", "), more)
}

// Restore unpacks a backup, verifies it, and only then puts its files into their places. It returns an error, and has changed
// nothing, if that would replace anything but equal notes. While another process has the index, it returns a
// *kioku.LockedError.
func Restore(ctx context.Context, archive string, t Target) (*Restored, error) {
	if err := os.MkdirAll(t.Root, 0o700); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(t.Root, "restore-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	m, err := unpack(ctx, archive, dir, func(name string) bool { return name != indexName }, t.Progress)
	if err != nil {
		return nil, err
	}
	if t.Agent == "" {
		t.Agent = m.Agent
	}
	if t.Workspace == "" {
		if t.Workspace = m.Workspace; !t.Known(t.Workspace) {
			return nil, fmt.Errorf("%w: the backup is of %s; name the folder to restore to with --workspace", ErrNoWorkspace, m.Workspace)
		}
	}
	return t.place(ctx, &restoring{Target: t, dir: dir, done: &Restored{Manifest: m}})
}

// restoring is a backup that is unpacked in dir and verified.
type restoring struct {
	Target
	dir, state string
	done       *Restored
	// notes are the names of the notes to be written.
	notes []*tar.Header
	// replaced are the paths that are in the way.
	replaced []inTheWay
}

// inTheWay is a path that is in the way, and its name among the files that were moved aside.
type inTheWay struct{ path, name string }

// place puts the files into their places.
func (t Target) place(ctx context.Context, r *restoring) (done *Restored, err error) {
	if _, missing := os.Stat(t.Workspace); missing != nil {
		defer func() {
			if err != nil {
				_ = os.Remove(t.Workspace) // which fails if it has files
			}
		}()
	}
	if err := os.MkdirAll(t.Workspace, 0o755); err != nil {
		return nil, fmt.Errorf("make the workspace: %w", err)
	}
	real, err := filepath.EvalSymlinks(t.Workspace)
	if err != nil {
		return nil, err
	}
	r.Workspace = real
	r.done.Agent, r.done.Workspace = r.Agent, real
	if r.state, err = t.StateOf(ctx, r.Agent, r.Workspace); err != nil {
		return nil, err
	}
	unlock, err := kioku.LockIndex(r.state, r.Agent)
	if errors.Is(err, memory.ErrLocked) {
		err = fmt.Errorf("%w; end it, and restore then", err)
	}
	if err != nil {
		return nil, err
	}
	return r.done, errors.Join(r.placeAll(ctx), unlock())
}

// placeAll looks what is in the way, and moves everything.
func (r *restoring) placeAll(ctx context.Context) error {
	if err := r.look(); err != nil {
		return err
	}
	if len(r.replaced) > 0 && !r.Force {
		return r.refuse()
	}
	if err := r.moveAside(); err != nil {
		return err
	}
	if err := r.placeNotes(ctx); err != nil {
		return fmt.Errorf("restore the notes: %w", err)
	}
	for name, to := range r.places() {
		from := filepath.Join(r.dir, name)
		if _, err := os.Stat(from); err != nil {
			continue // an earlier version wrote none, and nothing may be derived
		}
		if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err // it is no empty folder: something appeared meanwhile
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		if err := move(from, to); err != nil {
			return fmt.Errorf("restore %s: %w", name, err)
		}
	}
	return nil
}

// unpacked returns the path of an entry that was unpacked.
func (r *restoring) unpacked(h *tar.Header) string {
	return filepath.Join(r.dir, filepath.FromSlash(h.Name))
}

// places are where what belongs into the state folder goes, by its name in the backup.
func (r *restoring) places() map[string]string {
	return map[string]string{embeddingsName: vectors.Path(r.state, r.Agent), derivedName: derived.Path(r.state, r.Agent),
		strings.TrimSuffix(agentFolder, "/"): filepath.Join(r.state, "agents", r.Agent)}
}

// look finds what is in the way, and which notes are to be written.
func (r *restoring) look() error {
	places := r.places()
	for _, name := range slices.Sorted(maps.Keys(places)) {
		path := places[name]
		for _, suffix := range []string{"", "-wal", "-shm", "-open"} {
			if _, err := os.Lstat(path + suffix); err != nil {
				continue
			}
			if entries, err := os.ReadDir(path + suffix); err == nil && len(entries) == 0 {
				continue // the folder of an agent without sessions
			}
			r.replaced = append(r.replaced, inTheWay{path + suffix, name + suffix})
		}
	}
	root, err := os.OpenRoot(r.Workspace)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, h := range r.done.Manifest.below(notesFolder) {
		path := strings.TrimPrefix(h.Name, notesFolder)
		if err := checkFolders(root, path); err != nil {
			return err
		}
		same, exists := sameContent(root, path, r.unpacked(h), h)
		switch {
		case same:
			r.done.Same++
			continue
		case exists:
			r.replaced = append(r.replaced, inTheWay{filepath.Join(r.Workspace, path), filepath.FromSlash(h.Name)})
		}
		r.notes = append(r.notes, h)
	}
	return nil
}

// moveAside moves what is in the way into a folder of the state folder.
func (r *restoring) moveAside() error {
	if len(r.replaced) == 0 {
		return nil
	}
	r.done.Aside = filepath.Join(r.state, "before-restore-"+r.Now.UTC().Format("20060102T150405.000"))
	for _, p := range r.replaced {
		to := filepath.Join(r.done.Aside, p.name)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		if err := move(p.path, to); err != nil {
			return fmt.Errorf("move %s aside: %w", p.path, err)
		}
	}
	return nil
}

// placeNotes writes the notes into the workspace. No name in it is followed if it is a link that leaves the folder.
func (r *restoring) placeNotes(ctx context.Context) error {
	root, err := os.OpenRoot(r.Workspace)
	if err != nil {
		return err
	}
	defer root.Close()
	for i, h := range r.notes {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := placeNote(root, r.unpacked(h), strings.TrimPrefix(h.Name, notesFolder), h); err != nil {
			return err
		}
		r.done.Notes++
		r.Progress("notes", int64(i+1), int64(len(r.notes)))
	}
	return nil
}
