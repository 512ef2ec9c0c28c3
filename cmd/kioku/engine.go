package main

import (
	"log/slog"
	"time"

	"kioku"
	"kioku/cmd/kioku/config"
	"kioku/embed"
)

// engine turns the settings of one agent into what its memory is opened with.
func engine(conf *config.Config, place config.Place, embedder *embed.Client, log *slog.Logger) (kioku.Options, error) {
	state, err := conf.StateDir()
	if err != nil {
		return kioku.Options{}, err
	}
	now := func() time.Time { return time.Now().In(conf.Location) }
	index, ranking := conf.Index, conf.Search
	index.Workspace, index.ExtraPaths = place.Workspace, place.ExtraPaths
	index.Now, index.Log, ranking.Now = now, log, now
	return kioku.Options{
		Agent: place.Agent, Workspace: place.Workspace, State: state,
		Chunking: conf.Chunking, Embedder: embedder, Index: index, Search: ranking,
		CacheEntries: conf.CacheEntries, Location: conf.Location, Now: now, Log: log,
	}, nil
}
