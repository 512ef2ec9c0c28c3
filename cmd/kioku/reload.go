package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/internal/modelhttp"
	"kioku/server"
)

// changeLook is how often a daemon looks whether its settings or its program have changed.
const changeLook = 2 * time.Second

// errChanged is the cause of the end of a background daemon in whose place its clients start a new one.
var errChanged = errors.New("its settings or its program have changed")

// reloadOn reads the settings again on each signal and when they have changed, until ctx is done. A daemon in the background ends when
// what has changed takes effect only after a start: its clients start it again.
func (d *daemon) reloadOn(ctx context.Context, signals <-chan os.Signal) error {
	look := time.NewTicker(changeLook)
	defer look.Stop()
	program, read := programNow(), d.conf
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-signals:
			d.reload()
		case <-look.C:
			now, changed := programNow(), false
			if next, _, err := d.readAgain(); err == nil && len(config.Changed(read, next)) > 0 {
				read, changed = next, d.reload()
			}
			if now == program && !changed || now == "" {
				continue
			}
			if d.flags.background {
				d.end(errChanged)
				return nil
			}
			if now != program {
				d.log.Warn("the program has changed; start it again with kioku restart")
				program = now
			}
		}
	}
}

// programNow tells the file of this program from one that has taken its place; empty if there is none now.
func programNow() string {
	path, err := connect.Program()
	if err != nil {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), info.ModTime())
}

// reload reads the settings again, also those of the workspaces, and applies those that a running daemon can change: logLevel,
// offline and query.*. It reports whether others have changed too. If a setting is wrong, nothing changes. The token file is read again by
// itself.
func (d *daemon) reload() (more bool) {
	d.app.manager.reloading()
	defer d.app.manager.ready()
	next, folders, err := d.readAgain()
	if err != nil {
		for _, cause := range render.JoinedErrors(err) {
			d.log.Error("keeping the old settings", "err", cause)
		}
		return false
	}
	changed := config.Changed(d.conf, next)
	d.conf.LogLevel = next.LogLevel
	d.level.Set(next.LogLevel)
	d.conf.Network.SetOffline(next.Offline)
	d.conf.Search = next.Search
	for i, m := range d.memories {
		changed = append(changed, config.Changed(d.folders[i], folders[i])...)
		d.folders[i].LogLevel, d.folders[i].Search = next.LogLevel, folders[i].Search
		m.Configure(connect.Ranking(d.folders[i]))
	}
	slices.Sort(changed)
	changed = slices.Compact(changed)
	later := slices.DeleteFunc(slices.Clone(changed), reloadable)
	if len(later) > 0 && !d.flags.background {
		d.log.Warn("these settings take effect after kioku restart", "keys", later)
	}
	d.checkTokens()
	d.app.Notice("read the settings again: %s changed", render.Count(len(changed), "value"))
	return len(later) > 0
}

// readAgain reads the settings, and those in force in the workspace of each memory. Nothing of them counts yet: they are read for a network of
// their own, because reading applies the setting offline.
func (d *daemon) readAgain() (next *config.Config, folders []*config.Config, err error) {
	src := d.app.sources()
	src.Network = modelhttp.NewNetwork(modelhttp.NetworkOptions{})
	if next, err = config.Load(src); err != nil {
		return nil, nil, err
	}
	for _, m := range d.memories {
		base, err := d.confFor(next, m.Agent())
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
func (d *daemon) checkTokens() {
	if d.conf.TokenFile == "" {
		return
	}
	if _, err := server.OpenTokens(d.conf.TokenFile, nil); err != nil {
		d.log.Error("keeping the old tokens", "err", err)
	}
}

// reloadable reports whether a running daemon applies a changed setting.
func reloadable(key string) bool {
	return slices.Contains([]string{"logLevel", "offline"}, key) || strings.HasPrefix(key, "query.")
}
