package main

import (
	"log/slog"
	"time"

	"kioku"
	"kioku/cmd/kioku/config"
	"kioku/embed"
	"kioku/search"
	"kioku/vector"
)

// engine turns the settings of one agent into what its memory is opened with.
func engine(conf *config.Config, place config.Place, embedder *embed.Client, log *slog.Logger) (kioku.Options, error) {
	state, err := conf.StateDir()
	if err != nil {
		return kioku.Options{}, err
	}
	now := clockOf(conf)
	index := conf.Index
	index.Workspace, index.ExtraPaths = place.Workspace, place.ExtraPaths
	index.Now, index.Log = now, log
	return kioku.Options{
		Agent: place.Agent, Workspace: place.Workspace, State: state,
		Chunking: conf.Chunking, Embedder: embedder, Index: index, Search: ranking(conf),
		CacheEntries: conf.CacheEntries, Vectors: vector.NewBudget(conf.MemoryBudget), Location: conf.Location, Now: now, Log: log,
	}, nil
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
