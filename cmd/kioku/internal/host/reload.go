package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/render"
	"kioku/server"
)

// Changing is how a daemon learns that its settings have changed.
type Changing struct {
	// Signals have the settings read again.
	Signals <-chan os.Signal
	// Read reads the settings. Nothing of them counts yet.
	Read func() (*config.Config, error)
	// Level is that of the log.
	Level *slog.LevelVar
	// End ends the daemon if what has changed takes effect only after a start; nil for one that somebody must start again.
	End func(error)
}

// changeLook is how often a daemon looks whether its settings or its program have changed.
const changeLook = 2 * time.Second

// errChanged is the cause of the end of a background daemon in whose place its clients start a new one.
var errChanged = errors.New("its settings or its program have changed")

// Follow reads the settings again on each signal and when they have changed, until ctx is done. A daemon in the background ends when
// what has changed takes effect only after a start: its clients start it again.
func (h *Host) Follow(ctx context.Context, c Changing) error {
	look := time.NewTicker(changeLook)
	defer look.Stop()
	program, read := programNow(), h.opt.Conf
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.Signals:
			h.reload(c)
		case <-look.C:
			now, changed := programNow(), false
			if next, _, err := h.readAgain(c); err == nil && len(config.Changed(read, next)) > 0 {
				read, changed = next, h.reload(c)
			}
			if now == program && !changed || now == "" {
				continue
			}
			if c.End != nil {
				c.End(errChanged)
				return nil
			}
			if now != program {
				h.opt.Log.Warn("the program has changed; start it again with kioku restart")
				program = now
			}
		}
	}
}

// programNow tells the file of this program from one that has taken its place; empty if there is none now.
func programNow() string {
	path, err := Program()
	if err != nil {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), info.ModTime())
}

// Program returns the file of this program, or of the one that has taken its place.
func Program() (string, error) {
	program, err := os.Executable()
	return strings.TrimSuffix(program, " (deleted)"), err // as Linux says of a file that was replaced
}

// reload reads the settings again, also those of the workspaces, and applies those that a running daemon can change: logLevel,
// offline and query.*. It reports whether others have changed too. If a setting is wrong, nothing changes. The token file is read again by
// itself.
func (h *Host) reload(c Changing) (more bool) {
	h.manager.reloading()
	defer h.manager.ready()
	next, folders, err := h.readAgain(c)
	if err != nil {
		for _, cause := range render.JoinedErrors(err) {
			h.opt.Log.Error("keeping the old settings", "err", cause)
		}
		return false
	}
	changed := config.Changed(h.opt.Conf, next)
	h.opt.Conf.LogLevel = next.LogLevel
	c.Level.Set(next.LogLevel)
	h.opt.Conf.Network.SetOffline(next.Offline)
	h.opt.Conf.Search = next.Search
	for i, m := range h.Memories {
		changed = append(changed, config.Changed(m.Conf, folders[i])...)
		m.Conf.LogLevel, m.Conf.Search = next.LogLevel, folders[i].Search
		m.Configure(Ranking(m.Conf))
	}
	slices.Sort(changed)
	changed = slices.Compact(changed)
	later := slices.DeleteFunc(slices.Clone(changed), Reloadable)
	if len(later) > 0 && c.End == nil {
		h.opt.Log.Warn("these settings take effect after kioku restart", "keys", later)
	}
	h.checkTokens()
	h.opt.Out.Notice("read the settings again: %s changed", render.Count(len(changed), "value"))
	return len(later) > 0
}

// readAgain reads the settings, and those in force in the workspace of each memory.
func (h *Host) readAgain(c Changing) (next *config.Config, folders []*config.Config, err error) {
	if next, err = c.Read(); err != nil {
		return nil, nil, err
	}
	for _, m := range h.Memories {
		base, err := h.opt.Council.ConfFor(next, m.Agent())
		if err != nil {
			return nil, nil, err
		}
		conf, err := base.ForFolder(m.Workspace())
		if err != nil {
			return nil, nil, err
		}
		folders = append(folders, conf)
	}
	return next, folders, nil
}

// checkTokens logs what is wrong with the token file, which is otherwise noticed only at the next call.
func (h *Host) checkTokens() {
	if h.opt.Conf.TokenFile == "" {
		return
	}
	if _, err := server.OpenTokens(h.opt.Conf.TokenFile, nil); err != nil {
		h.opt.Log.Error("keeping the old tokens", "err", err)
	}
}

// Reloadable reports whether a running daemon applies a changed setting.
func Reloadable(key string) bool {
	return slices.Contains([]string{"logLevel", "offline"}, key) || strings.HasPrefix(key, "query.")
}
