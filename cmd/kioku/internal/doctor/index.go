package doctor

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"kioku/cmd/kioku/internal/render"
	"kioku/indexer"
	"kioku/memory"
)

// inspectWait is for how long the index is looked at for damage.
const inspectWait = 10 * time.Second

// maxSkipped is the maximum number of skipped files that are named.
const maxSkipped = 10

// nextFor is what to do about what an index lacks, by the code of the degradation.
var nextFor = map[string]string{
	memory.VectorsMissing:       "kioku index embeds them; a daemon does it in the background",
	memory.SpaceChanged:         "kioku index embeds the notes with the new model; a daemon does it in the background",
	memory.IndexStale:           "kioku index",
	memory.IndexDamaged:         "kioku index makes it again; no note is lost",
	memory.WorkspaceUnavailable: "mount the folder, or mend its permissions",
}

// checkIndex reports what the index says of itself.
func checkIndex(_ context.Context, s *Subject) []Finding {
	switch {
	case s.PlaceErr != nil:
		return nil
	case s.StatusErr != nil:
		return one("index", Fail, render.Message(s.StatusErr), "kioku index; if that fails too, its message says why")
	case s.Status == nil:
		return one("index", Warn, "there is no index yet", "kioku index")
	}
	ix := s.Status.Index
	all := one("index", OK, fmt.Sprintf("%s, %s, %d with vectors", render.Holdings(ix), render.LastSync(ix, s.Now()),
		s.Status.Embedded), "")
	for _, d := range s.Status.Degraded {
		if d.Code == memory.ProviderDown || d.Code == memory.FilesSkipped {
			continue // both have findings of their own
		}
		next := nextFor[d.Code]
		if next == "" {
			next = "kioku status says more"
		}
		all = append(all, Finding{"index." + d.Code, Warn, d.Text, next})
	}
	skipped := s.Status.Skipped
	for i, f := range skipped {
		if i == maxSkipped {
			all = append(all, Finding{"index.skipped", Warn, fmt.Sprintf("and %s more", render.Count(len(skipped)-i, "file")), "kioku status lists all, and why"})
			break
		}
		next := "mend what the reason says, or leave the file out: exclude in .kioku.yaml; kioku status lists all"
		if f.Indexed {
			next = "the rest of the file is found; mend it and save it as UTF-8"
		}
		all = append(all, Finding{"index.skipped", Warn, f.Path + ": " + f.Reason, next})
	}
	return all
}

// checkIntegrity looks for damage in the index.
func checkIntegrity(ctx context.Context, s *Subject) []Finding {
	if s.Status == nil || s.StatusErr != nil {
		return nil
	}
	if s.Memory == nil {
		c := s.Status.Check
		switch {
		case c == nil:
			return one("index.integrity", OK, "the daemon has not checked the index yet; it does so regularly", "")
		case len(c.Found) > 0:
			return one("index.integrity", Warn, "damage was found and mended: "+strings.Join(c.Found, "; "), "check the disk: damage comes back if it is failing")
		}
		return one("index.integrity", OK, fmt.Sprintf("checked %s ago", s.Now().Sub(c.Time).Round(time.Second)), "")
	}
	checked, whole, err := s.Memory.Inspect(ctx, inspectWait)
	switch {
	case len(checked.Found) > 0:
		return one("index.integrity", Fail, "the index is damaged: "+checked.Found[0], "kioku status --deep mends it; check the disk too")
	case err != nil:
		return one("index.integrity", Fail, render.Message(err), "kioku status --deep")
	case !whole:
		return one("index.integrity", OK, fmt.Sprintf("no damage in what %s sufficed for; kioku status --deep looks at all", inspectWait), "")
	}
	return one("index.integrity", OK, fmt.Sprintf("%s, %s and %s are intact", render.Count(checked.Pages, "page"),
		render.Count(checked.Texts, "text"), render.Count(checked.Vectors, "vector")), "")
}

// checkWatches compares the folders of the workspace with the number that the system can watch.
func checkWatches(_ context.Context, s *Subject) []Finding {
	if s.PlaceErr != nil || s.Daemon != "" && s.Status.Sync.WatchMode == indexer.ModeOff { // another machine watches
		return nil
	}
	if s.Daemon != "" {
		if by := s.Status.Sync; by.WatchMode != "" && by.WatchMode != indexer.ModeInotify {
			return one("watch", Warn, fmt.Sprintf("the daemon watches by %s: %s", by.WatchMode, by.WatchNote), "sysctl fs.inotify.max_user_watches=524288, then restart the daemon")
		}
	}
	most, known := maxWatches(s.System)
	if !known {
		return nil
	}
	folders := countFolders(s.Place.Workspace, most)
	text := fmt.Sprintf("%s, and the system watches %d for each user", render.Count(folders, "folder"), most)
	if folders*2 > most {
		return one("watch", Warn, text+", which all programs share", "sysctl fs.inotify.max_user_watches=524288; write it to /etc/sysctl.d to keep it")
	}
	return one("watch", OK, text, "")
}

// maxWatches returns how many folders a user may watch, and whether that is known.
func maxWatches(system string) (int, bool) {
	data, err := os.ReadFile(filepath.Join(system, "proc/sys/fs/inotify/max_user_watches"))
	if err != nil {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(data)))
	return n, err == nil
}

// countFolders returns the number of folders below dir that a watch needs, at most most.
func countFolders(dir string, most int) int {
	n := 0
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return nil // what cannot be read is not watched either
		case path != dir && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
			return filepath.SkipDir
		}
		if n++; n >= most {
			return filepath.SkipAll
		}
		return nil
	})
	return n
}

// checkDaemon looks whether a daemon answers, and whether it is of the same version.
func checkDaemon(_ context.Context, s *Subject) []Finding {
	switch {
	case s.DaemonErr != nil:
		return one("daemon", Fail, render.Message(s.DaemonErr), "stop the daemon that listens on "+s.Socket+", and start it again with kioku serve")
	case s.Daemon == "":
		return one("daemon", OK, "none runs, so commands open the index themselves", "")
	case s.Daemon != s.Version:
		return one("daemon", Warn, fmt.Sprintf("the daemon has the version %s, and this program %s", s.Daemon, s.Version), "restart the daemon")
	}
	return one("daemon", OK, fmt.Sprintf("it answers on %s, version %s", s.Socket, s.Daemon), "")
}
