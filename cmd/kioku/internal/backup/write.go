package backup

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"kioku/cmd/kioku/internal/disk"
	"kioku/internal/files"
)

// Source is what a backup is made of.
type Source struct {
	// Kioku is the version of the program.
	Kioku string
	// Agent is the id of the agent.
	Agent string
	// Workspace is the folder of the notes.
	Workspace string
	// AgentDir is the folder of the agent's sessions and flushes, which need not exist.
	AgentDir string
	// Notes are the paths of the notes, relative to Workspace. Paths outside of it are left out.
	Notes []string
	// CopyEmbeddings writes a copy of the embeddings to a new file.
	CopyEmbeddings func(ctx context.Context, path string) error
	// CopyDerived writes a copy of what is derived to a new file, unless nothing is.
	CopyDerived func(ctx context.Context, path string) error
	// Progress is told the phase and the number of bytes that are done and of all; a total of -1 is not known. It is required.
	Progress func(phase string, done, total int64)
}

// Write writes a backup to a new file at path, with mode 0600, and verifies it. The file appears when it is whole.
func Write(ctx context.Context, path string, s Source) (*Manifest, error) {
	if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("%s exists, and a backup replaces no file; choose another name", path)
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".kioku-backup-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	w := &writer{source: s, ctx: ctx, manifest: &Manifest{Format: format, Version: version, Kioku: s.Kioku, Agent: s.Agent,
		Workspace: s.Workspace, Time: time.Now().UTC().Truncate(time.Second)}}
	archive := filepath.Join(dir, rand.Text())
	embeddings, derived := filepath.Join(dir, embeddingsName), filepath.Join(dir, derivedName)
	for _, step := range []func() error{
		func() error { return s.CopyEmbeddings(ctx, embeddings) },
		func() error { return s.CopyDerived(ctx, derived) },
		func() error { return w.write(archive, embeddings, derived) },
		func() error { _, err := Verify(ctx, archive, s.Progress); return err },
		func() error { return publish(archive, path) },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return w.manifest, nil
}

// publish gives a file that is on the disk its name, where no file may be.
func publish(temp, path string) error {
	if err := os.Link(temp, path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// writer writes one archive.
type writer struct {
	source   Source
	ctx      context.Context // of the call that writes
	manifest *Manifest
	tar      *tar.Writer
	written  int64
}

// write writes the archive.
func (w *writer) write(archive string, databases ...string) error {
	f, err := os.OpenFile(archive, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	z := gzip.NewWriter(f)
	w.tar = tar.NewWriter(z)
	err = w.addAll(databases)
	return errors.Join(err, w.tar.Close(), z.Close(), f.Sync(), f.Close())
}

// addAll adds the databases, the notes, the files of the agent, and the manifest.
func (w *writer) addAll(databases []string) error {
	for _, path := range databases {
		if err := w.addDatabase(path); err != nil {
			return err
		}
	}
	if err := w.addNotes(); err != nil {
		return err
	}
	if err := w.addAgent(); err != nil {
		return err
	}
	text, err := json.MarshalIndent(w.manifest, "", " ")
	if err != nil {
		return err
	}
	h := &tar.Header{Name: manifestName, Mode: 0o600, Size: int64(len(text)), ModTime: w.manifest.Time, Format: tar.FormatPAX}
	if err := w.tar.WriteHeader(h); err != nil {
		return err
	}
	_, err = w.tar.Write(text)
	return err
}

func (w *writer) addDatabase(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing is derived
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return w.add(filepath.Base(path), f, info)
}

// addNotes adds the notes. One that is gone or may not be read is left out.
func (w *writer) addNotes() error {
	if len(w.source.Notes) == 0 {
		return nil
	}
	root, err := os.OpenRoot(w.source.Workspace)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, path := range w.source.Notes {
		added := false
		if filepath.IsLocal(path) {
			if added, err = w.addFrom(root, path, notesFolder+path); err != nil {
				return err
			}
		}
		if !added {
			w.manifest.LeftOut = append(w.manifest.LeftOut, path)
		}
	}
	return nil
}

// pastIndexes is the folder of indexes of notes as they were, which are made again when they are needed.
const pastIndexes = "past"

// addAgent adds the files of sessions, flushes and the journal of notes.
func (w *writer) addAgent() error {
	root, err := os.OpenRoot(w.source.AgentDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path == pastIndexes {
			return fs.SkipDir
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		_, err = w.addFrom(root, path, agentFolder+path)
		return err
	})
}

// addFrom adds a file of a folder. It returns false for one that is gone, may not be read, or has a name that no backup has.
func (w *writer) addFrom(root *os.Root, path, name string) (bool, error) {
	if checkName(name) != nil {
		return false, nil
	}
	f, info, err := files.OpenRegular(root, path)
	var skip *files.SkipError
	if errors.As(err, &skip) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	return true, w.add(name, f, info)
}

// add adds a file of the size that info says. A session may grow meanwhile; what is added then belongs to the next backup.
func (w *writer) add(name string, r io.Reader, info fs.FileInfo) error {
	h := &tar.Header{Name: name, Mode: int64(info.Mode().Perm()), Size: info.Size(), ModTime: info.ModTime(), Format: tar.FormatPAX}
	if err := w.tar.WriteHeader(h); err != nil {
		return fmt.Errorf("back up %s: %w", name, err)
	}
	n, err := io.Copy(w.tar, &disk.Reader{Context: w.ctx, From: io.LimitReader(r, info.Size())})
	if err == nil && n < info.Size() {
		err = errors.New("it became shorter while it was read; try again")
	}
	if err != nil {
		return fmt.Errorf("back up %s: %w", name, err)
	}
	w.manifest.entries = append(w.manifest.entries, h)
	w.written += n
	w.source.Progress("pack", w.written, -1)
	return nil
}
