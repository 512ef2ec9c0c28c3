package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/disk"
	"kioku/cmd/kioku/internal/render"
	derived "kioku/derive/store"
	"kioku/server"
	"kioku/store"
	"kioku/vectors"
)

const (
	// littleSpace and noSpace are the free bytes of a disk below which there is a warning or a failure.
	littleSpace = 1 << 30
	noSpace     = 64 << 20
	// maxSkew is the difference of two clocks above which there is a warning.
	maxSkew = 2 * time.Second
	// maxStat is the maximum number of files whose times are looked at.
	maxStat = 20_000
)

// checkSettings reports settings without effect.
func checkSettings(_ context.Context, s *Subject) []Finding {
	var all []Finding
	for _, n := range s.Conf.Notices {
		all = append(all, Finding{"settings", Warn, n, "correct or remove the setting; kioku config list shows all"})
	}
	if len(all) > 0 {
		return all
	}
	file := s.Conf.File
	if file == "" {
		file = "no config file"
	}
	return one("settings", OK, file, "")
}

// checkWorkspace looks whether there is a workspace, and whether its notes are indexed.
func checkWorkspace(_ context.Context, s *Subject) []Finding {
	if s.PlaceErr != nil && s.Status != nil && s.Conf.Store != "" {
		return one("workspace", OK, "none here; this machine answers from what the cluster has", "")
	}
	if s.PlaceErr != nil {
		return one("workspace", Fail, s.PlaceErr.Error(), "kioku init in the folder of your notes, or name it with --workspace FOLDER")
	}
	dir := s.Place.Workspace
	if _, err := os.ReadDir(dir); err != nil {
		return one("workspace", Fail, fmt.Sprintf("the workspace cannot be read: %v", err), "create it with kioku init, mend its permissions, or name another with --workspace")
	}
	if s.Status != nil && s.Status.Beside.Files > 0 {
		return one("workspace", Warn, fmt.Sprintf("%s: %s of it not indexed", dir, render.Beside(s.Status.Beside)), "kioku index --all takes them in")
	}
	return one("workspace", OK, dir, "")
}

// checkState looks whether the state folder and the index can be written, and whether only their owner can use them.
func checkState(_ context.Context, s *Subject) []Finding {
	dir := s.Conf.State
	if dir == "" {
		return one("state", Fail, config.ErrNoState.Error(), "name a folder with --state")
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return one("state", OK, dir+" is made by the first command that indexes", "")
	case err != nil:
		return one("state", Fail, err.Error(), "mend the permissions of the folder, or name another with --state")
	case info.Mode().Perm()&0o077 != 0:
		return one("state", Warn, fmt.Sprintf("other users can read %s (mode %04o), which contains texts of your notes", dir, info.Mode().Perm()),
			"chmod 700 "+render.ShellQuote(dir))
	}
	if err := tryWrite(dir); err != nil {
		return one("state", Fail, fmt.Sprintf("nothing can be written to %s: %v", dir, err), "mend the permissions or the disk, or name another folder with --state")
	}
	if s.State == "" {
		return one("state", OK, dir, "")
	}
	for _, db := range []string{store.Path(s.State, s.Place.Agent), vectors.Path(s.State, s.Place.Agent), derived.Path(s.State, s.Place.Agent)} {
		if info, err := os.Stat(db); err == nil && info.Mode().Perm()&0o077 != 0 {
			return one("state", Warn, fmt.Sprintf("other users can read the index %s (mode %04o)", db, info.Mode().Perm()), "chmod 600 "+render.ShellQuote(db))
		}
	}
	return one("state", OK, dir, "")
}

// tryWrite makes and removes a file in a folder.
func tryWrite(dir string) error {
	f, err := os.CreateTemp(dir, ".kioku-doctor-")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// checkDisk looks how much may still be written.
func checkDisk(_ context.Context, s *Subject) []Finding {
	dir := s.Conf.State
	for dir != "" && dir != filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	free, known := disk.FreeBytes(dir)
	if dir == "" || !known {
		return nil
	}
	text := fmt.Sprintf("%s free for %s", render.Size(int64(min(free, 1<<62))), dir)
	switch {
	case free < noSpace:
		return one("disk", Fail, text, "make room: the index cannot be written")
	case free < littleSpace:
		return one("disk", Warn, text, "make room: an index needs about three times the size of its notes, and more with vectors")
	}
	return one("disk", OK, text, "")
}

// checkTokens reads the token file as the daemon would.
func checkTokens(_ context.Context, s *Subject) []Finding {
	path := s.Conf.TokenFile
	if path == "" {
		return nil
	}
	if _, err := server.OpenTokens(path, nil); err != nil {
		return one("tokens", Fail, err.Error(), "mend the file, or make it with kioku token add")
	}
	return one("tokens", OK, path+" can be used", "")
}

// checkClock looks for files from the future, and whether the file system has the same time as this machine.
func checkClock(_ context.Context, s *Subject) []Finding {
	now := s.Now()
	if skew, ok := fileSkew(s.Conf.State, s.Now); ok && skew.Abs() > maxSkew {
		return one("clock", Warn, fmt.Sprintf("the disk of %s and this machine differ by %s", s.Conf.State, skew.Round(time.Second)),
			"set both clocks, for example by NTP: changed files are told by their times")
	}
	root, err := os.OpenRoot(s.Place.Workspace)
	if s.PlaceErr != nil || err != nil {
		return nil
	}
	defer root.Close()
	late, example := 0, ""
	for _, path := range s.Paths[:min(len(s.Paths), maxStat)] {
		if info, err := root.Stat(path); err == nil && info.ModTime().After(now.Add(time.Minute)) {
			late, example = late+1, path
		}
	}
	if late > 0 {
		return one("clock", Warn, fmt.Sprintf("%s changed in the future, such as %s", render.Count(late, "file"), example),
			"set the clock of this machine, or touch the files: their changes may be noticed late")
	}
	return one("clock", OK, "no file is from the future", "")
}

// fileSkew returns how far the clock of a folder's disk is ahead, and whether that is known.
func fileSkew(dir string, now func() time.Time) (time.Duration, bool) {
	f, err := os.CreateTemp(dir, ".kioku-doctor-")
	if dir == "" || err != nil {
		return 0, false
	}
	defer os.Remove(f.Name())
	defer f.Close()
	before := now()
	_, err = f.Write([]byte("x"))
	info, statErr := f.Stat()
	if err != nil || statErr != nil {
		return 0, false
	}
	return info.ModTime().Sub(before), true
}
