package connect

import (
	"context"
	"log/slog"
	"time"

	"kioku"
	"kioku/agent/session"
	"kioku/cmd/kioku/config"
	"kioku/embed"
	"kioku/search"
	"kioku/store/vector"
)

// Engine returns the options with which the memory of one agent is opened; conf contains the settings of its workspace too.
func Engine(ctx context.Context, conf *config.Config, place config.Place, embedder *embed.Client, log *slog.Logger) (kioku.Options, error) {
	state, err := conf.StateOf(ctx, place.Agent, place.Workspace)
	if err != nil {
		return kioku.Options{}, err
	}
	now := ClockOf(conf)
	index := conf.Index
	index.Include, index.Exclude, index.ExtraPaths = conf.Include(), conf.Exclude(), conf.ExtraPaths(place.Agent)
	if conf.HasSessions() {
		if index.Sessions.Folder, err = session.Folder(state, place.Agent); err != nil {
			return kioku.Options{}, err
		}
		index.Sessions.Spoken, index.Sessions.Origin = spoken(conf.Location), session.Origin
	}
	return kioku.Options{
		Agent: place.Agent, Workspace: place.Workspace, StateDir: state,
		Chunking: conf.Chunking, Embedder: embedder, FallbackAfter: conf.FallbackAfter, Index: index, Search: Ranking(conf),
		CacheEntries: conf.CacheEntries, Vectors: vector.NewBudget(conf.MemoryBudget), Location: conf.Location, Now: now, Log: log,
		OnBattery: conf.OnBattery,
	}, nil
}

// spoken returns a reader of transcript lines that gives their days in a time zone.
func spoken(zone *time.Location) func(line []byte) (text, day string) {
	return func(line []byte) (text, day string) {
		text, at := session.Spoken(line)
		if text == "" {
			return "", ""
		}
		return text, at.In(zone).Format(time.DateOnly)
	}
}

// ClockOf returns the clock of the configured time zone.
func ClockOf(conf *config.Config) func() time.Time {
	return func() time.Time { return time.Now().In(conf.Location) }
}

// Ranking returns the settings of searches.
func Ranking(conf *config.Config) search.Options {
	opt := conf.Search
	opt.Now = ClockOf(conf)
	return opt
}
