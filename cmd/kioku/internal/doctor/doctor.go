// Package doctor looks for what keeps a memory from working well: settings, folders, permissions, the embedding provider, the index
// and the daemon. It changes nothing, and each finding says what to do.
package doctor

import (
	"context"
	"slices"
	"time"

	"kioku"
	"kioku/cmd/kioku/config"
	"kioku/embed"
	"kioku/llm"
	"kioku/server"
)

// Level says how bad a finding is.
type Level string

// Levels, the best first.
const (
	// OK is as it should be.
	OK Level = "ok"
	// Warn works, but not as well as it could.
	Warn Level = "warn"
	// Fail does not work.
	Fail Level = "fail"
)

// Finding is the outcome of one check.
type Finding struct {
	// Check is the name of the check, which does not change between versions: "provider.answer".
	Check string `json:"check"`
	// Level says how bad it is.
	Level Level `json:"level"`
	// Text says what was found.
	Text string `json:"text"`
	// Next is what to do, mostly a command; empty if nothing needs to be done.
	Next string `json:"next"`
}

// Subject is what is examined.
type Subject struct {
	// Conf contains the settings, with those of the workspace.
	Conf *config.Config
	// Place is the workspace.
	Place config.Place
	// PlaceErr says why there is no workspace; nil if there is one.
	PlaceErr error
	// State is the folder that contains the index of the workspace; empty if there is none.
	State string
	// Status is what the memory says of itself; nil if it cannot be reached or there is no index yet.
	Status *server.IndexStatus
	// StatusErr says why the memory cannot be reached; nil if there is no index yet.
	StatusErr error
	// Derived is what is derived from the memory; nil if that is not known.
	Derived *server.DeriveNow
	// Council is the council of the settings; nil if there is none. CouncilErr says why it cannot be read.
	Council    *server.CouncilNow
	CouncilErr error // nil if it can, or if there is none
	// Memory is the index if this process has opened it; nil if a daemon answers or there is none.
	Memory *kioku.Memory
	// Daemon is the version of the daemon that answers; empty if none does.
	Daemon string
	// DaemonErr says why a daemon that listens does not answer.
	DaemonErr error
	// Socket of the daemon, and the Version of this program.
	Socket, Version string
	// Paths are the indexed files of the workspace.
	Paths []string
	// Embedder is the client of the provider; nil if it could not be made.
	Embedder *embed.Client
	// EmbedderErr says why the client could not be made; nil if it was.
	EmbedderErr error
	// Model is the language model; nil if there is none.
	Model llm.Model
	// ModelErr says why there is no Model although one is set; nil if none is.
	ModelErr error
	// Now is the clock.
	Now func() time.Time
	// System are the files of the operating system, below a folder; "/" in a program.
	System string
}

// Examine runs all checks and returns their findings in a fixed order. It ends early if ctx does.
func Examine(ctx context.Context, s *Subject) []Finding {
	var all []Finding
	for _, check := range []func(context.Context, *Subject) []Finding{
		checkSettings, checkWorkspace, checkState, checkDisk, checkTokens, checkProvider, checkModel, checkLanguages, checkReranker, checkLanguageModel, checkNotes, checkIndex, checkIntegrity, checkHistory, checkDerive, checkCouncil,
		checkWatches, checkClock, checkDaemon,
	} {
		if ctx.Err() != nil {
			break
		}
		all = append(all, check(ctx, s)...)
	}
	return all
}

// Worst returns the worst level of findings; OK for none.
func Worst(findings []Finding) Level {
	worst := OK
	levels := []Level{OK, Warn, Fail}
	for _, f := range findings {
		if slices.Index(levels, f.Level) > slices.Index(levels, worst) {
			worst = f.Level
		}
	}
	return worst
}

// one returns a finding as the only one of its check.
func one(check string, level Level, text, next string) []Finding {
	return []Finding{{check, level, text, next}}
}
