package main

import (
	"context"
	"os"
	"slices"
	"strings"

	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/server"
)

// reloadOn reads the settings again on each signal, until ctx is done.
func (d *daemon) reloadOn(ctx context.Context, signals <-chan os.Signal) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-signals:
			d.reload()
		}
	}
}

// reload reads the settings again and applies those that a running daemon can change: logLevel and query.*. If a setting is
// wrong, nothing changes. The token file is read again without a signal.
func (d *daemon) reload() {
	next, err := config.Load(d.app.sources())
	if err != nil {
		for _, cause := range render.JoinedErrors(err) {
			d.log.Error("keeping the old settings", "err", cause)
		}
		return
	}
	changed := config.Changed(d.conf, next)
	d.conf.LogLevel = next.LogLevel
	d.level.Set(next.LogLevel)
	d.conf.Search = next.Search
	for _, m := range d.memories {
		m.Configure(connect.Ranking(d.conf))
	}
	later := slices.DeleteFunc(slices.Clone(changed), reloadable)
	if len(later) > 0 {
		d.log.Warn("these settings take effect after a restart", "keys", later)
	}
	d.checkTokens()
	d.app.Notice("read the settings again: %s changed", render.Count(len(changed), "value"))
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
func reloadable(key string) bool { return key == "logLevel" || strings.HasPrefix(key, "query.") }
