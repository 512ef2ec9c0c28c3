package host

import (
	"context"
	"io"
	"log/slog"
	"path"
	"path/filepath"
	"slices"
	"time"

	"kioku"
	"kioku/agent/session"
	"kioku/agent/transcripts"
	"kioku/cmd/kioku/config"
	"kioku/derive/decision"
	"kioku/embed"
	"kioku/indexer"
	"kioku/memory"
	"kioku/search"
	"kioku/store/slab"
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
	index.Sessions.Others = foreign(conf, place)
	if conf.Has(memory.SourceSessions) || conf.Derive.Enabled {
		index.Sessions.Unindexed = !conf.Has(memory.SourceSessions)
		if index.Sessions.Folder, err = session.Folder(state, place.Agent); err != nil {
			return kioku.Options{}, err
		}
		index.Sessions.Origin = session.Origin
		index.Sessions.Spoken = func(line []byte) (text, day string) { return inZone(conf.Location)(session.Spoken(line)) }
	}
	if conf.Derive.Enabled { // what is derived is no source
		index.Left = []string{path.Dir(decision.Path), conf.Derive.ExportDir}
	}
	opt := kioku.Options{
		Agent: place.Agent, Workspace: place.Workspace, StateDir: state,
		Chunking: conf.Chunking, Embedder: embedder, Index: index, History: conf.History, Search: Ranking(conf),
		Vectors: slab.NewBudget(conf.MemoryBudget), Location: conf.Location, Now: now, Log: log,
	}
	rules, err := deriveRules(conf, place)
	if rules != nil {
		opt.Episodes = rules.Episodes
	}
	return opt, err
}

// foreign returns the transcripts of Claude Code and Codex that belong to a place, as far as they are to be indexed.
func foreign(conf *config.Config, place config.Place) []indexer.Transcripts {
	var all []indexer.Transcripts
	projects := withReal(conf.ProjectsOf(place))
	for _, program := range transcripts.Programs() {
		folder := map[string]string{memory.SourceClaudeCode: conf.ClaudeCodeDir, memory.SourceCodex: conf.CodexDir}[program.ID]
		if folder == "" || !conf.Has(program.ID) {
			continue
		}
		ours := func(dir string) bool {
			return slices.ContainsFunc(projects, func(project string) bool { return transcripts.Within(project, dir) })
		}
		all = append(all, indexer.Transcripts{
			Source: program.ID, Folder: folder,
			Read: func() indexer.Reading { return reading{program.NewReader(ours), conf.Location} },
			Enters: func(rel string) bool {
				return slices.ContainsFunc(projects, func(project string) bool { return program.Enters(project, rel) })
			},
			Admits: func(beginning io.Reader) (admitted, certain bool) {
				dir, certain := program.Project(beginning)
				return dir != "" && ours(dir), certain
			},
		})
	}
	return all
}

// withReal returns paths of folders, and those behind symbolic links: programs record the one or the other.
func withReal(dirs []string) []string {
	all := slices.Clone(dirs)
	for _, dir := range dirs {
		if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
			all = append(all, real)
		}
	}
	return all
}

// reading reads a transcript of another program, with the days of a time zone.
type reading struct {
	reader *transcripts.Reader
	zone   *time.Location
}

// Spoken returns what is said on the next line, and its day; empty if the line does not tell its time.
func (r reading) Spoken(line []byte) (text, day string) { return inZone(r.zone)(r.reader.Spoken(line)) }

// LeftOut says which lines were not understood so far. Secrets have references in their places.
func (r reading) LeftOut() string {
	left := r.reader.LeftOut()
	left.Secrets = 0
	return left.String()
}

// inZone returns a function that gives what is said on a line the day of its time in a time zone; empty without a time.
func inZone(zone *time.Location) func(text string, at time.Time) (said, day string) {
	return func(text string, at time.Time) (said, day string) {
		if text == "" || at.IsZero() {
			return text, ""
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
