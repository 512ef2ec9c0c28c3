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

// reload reads the settings again and takes over those that a running daemon can change: the log level and all of
// searches. A token file counts without a signal. Settings that are wrong change nothing.
func (d *daemon) reload() {
	next, err := config.Load(d.app.sources())
	if err != nil {
		for _, fault := range render.Faults(err) {
			d.log.Error("keeping the old settings", "err", fault)
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
		d.log.Warn("these settings count after a restart", "keys", later)
	}
	d.checkTokens()
	d.app.Notice("settings are read again, %s changed", render.Count(len(changed), "value"))
}

// checkTokens says at once what is wrong with the token file; without a caller nobody would look into it.
func (d *daemon) checkTokens() {
	if d.conf.TokenFile == "" {
		return
	}
	if _, err := server.OpenTokens(d.conf.TokenFile, nil); err != nil {
		d.log.Error("keeping the old tokens", "err", err)
	}
}

// reloadable reports whether a running daemon takes over a setting.
func reloadable(key string) bool { return key == "logLevel" || strings.HasPrefix(key, "query.") }
