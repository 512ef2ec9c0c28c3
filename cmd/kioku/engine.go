package main

import (
	"log/slog"
	"time"

	"kioku"
	"kioku/agent/session"
	"kioku/cmd/kioku/config"
	"kioku/embed"
	"kioku/search"
	"kioku/store/vector"
)

// engine turns the settings of one agent into what its memory is opened with.
func engine(conf *config.Config, place config.Place, embedder *embed.Client, log *slog.Logger) (kioku.Options, error) {
	state, err := conf.StateDir()
	if err != nil {
		return kioku.Options{}, err
	}
	now := clockOf(conf)
	index := conf.Index
	index.ExtraPaths = place.ExtraPaths
	if conf.HasSessions() {
		if index.Sessions.Folder, err = session.Folder(state, place.Agent); err != nil {
			return kioku.Options{}, err
		}
		index.Sessions.Spoken = spoken(conf.Location)
	}
	return kioku.Options{
		Agent: place.Agent, Workspace: place.Workspace, State: state,
		Chunking: conf.Chunking, Embedder: embedder, Index: index, Search: ranking(conf),
		CacheEntries: conf.CacheEntries, Vectors: vector.NewBudget(conf.MemoryBudget), Location: conf.Location, Now: now, Log: log,
	}, nil
}

// spoken reads a line of a transcript; its day is that of a time zone.
func spoken(zone *time.Location) func(line []byte) (text, day string) {
	return func(line []byte) (text, day string) {
		text, at := session.Spoken(line)
		if text == "" {
			return "", ""
		}
		return text, at.In(zone).Format(time.DateOnly)
	}
}

// clockOf is the clock of the configured time zone.
func clockOf(conf *config.Config) func() time.Time {
	return func() time.Time { return time.Now().In(conf.Location) }
}

// ranking is the settings of searches.
func ranking(conf *config.Config) search.Options {
	opt := conf.Search
	opt.Now = clockOf(conf)
	return opt
}
