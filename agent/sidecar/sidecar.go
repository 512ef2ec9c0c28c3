package sidecar

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"kioku/agent/bootstrap"
	"kioku/agent/flush"
	"kioku/agent/prompt"
	"kioku/agent/prune"
	"kioku/agent/recall"
	"kioku/agent/session"
	"kioku/agent/skills"
	"kioku/agent/turns"
	"kioku/internal/text"
	"kioku/llm"
	"kioku/memory"
)

// Settings of a sidecar, as a configuration has them. The zero value never prunes or flushes.
type Settings struct {
	// Bootstrap says which files are read into the prompt.
	Bootstrap bootstrap.Options
	// Skills says where skills are read from.
	Skills skills.Options
	// Recall says how much is recalled.
	Recall recall.Options
	// Prune says when and how tool results are pruned; the zero value prunes nothing.
	Prune prune.Settings
	// Flush says when memories are stored; the zero value never flushes.
	Flush flush.Settings
	// Shared are agents whose memories are searched in addition to the own one if a turn names none.
	Shared []string
	// OldOrder puts what changes from turn to turn into the system prompt, among its layers, so that no cache of a provider has what
	// follows it. It is the opposite of the default of Turn.CacheFriendly.
	OldOrder bool
	// Turns says what is recorded of the turns.
	Turns TurnSettings
}

// TurnSettings say what is recorded of the turns of an agent; see package turns. The zero value records nothing.
type TurnSettings struct {
	// Keep records the layers of prompts, the places of recalled passages, flushes and compactions.
	Keep bool
	// Messages records the messages of users too, also those that are in no transcript.
	Messages bool
}

// Options of a Sidecar. Agent, State and Memories are required.
type Options struct {
	Settings
	// Agent is the id of the agent.
	Agent string
	// State is the state folder. The agent's flushes and transcripts are below it.
	State string
	// Memories returns the memory of an agent, never nil: of this agent, and of shared ones.
	Memories func(id string) memory.Service
	// NoRecall is the default of Turn.NoRecall. Sidecar.Recall searches nevertheless.
	NoRecall bool
	// Model writes summaries and flushes; nil for none.
	Model llm.Model
	// NoModel says why Model is nil although one is set; empty if none is set.
	NoModel string
	// Count counts the tokens of a text; nil means text.EstimateTokens. It is called concurrently.
	Count func(text string) int
	// ReadOnly says that memory must not be written.
	ReadOnly bool
	// Key makes the ids of the frames around recalled memories unpredictable. The same key, turn and memories give the same
	// id. If it is empty, New makes a random key.
	Key []byte
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Log receives what no caller can be told; nil discards it.
	Log *slog.Logger
	// Orders returns what a council tells an agent now; with look, the agent acknowledges nothing. Nil means that no council commands the
	// agent.
	Orders func(ctx context.Context, agent string, look bool) (Orders, error)
}

// Sidecar runs beside one agent. Its methods may be called concurrently.
type Sidecar struct {
	opt    Options
	files  *bootstrap.Loader
	skills *skills.Loader
	recall *recall.Recaller
	ledger *flush.Ledger
	turns  *turns.Log
	// leases are the compactions that agents' own models write.
	leases leases
	// count is Options.Count with a cache, for prompts.
	count func(text string) int
	// orders are the last ones; ordersMu protects them.
	orders   Orders
	ordersMu sync.Mutex
}

// New returns a sidecar. It returns an error if an option is missing or invalid.
func New(opt Options) (*Sidecar, error) {
	folder, err := flushFolder(opt.State, opt.Agent)
	if err == nil {
		err = opt.validate()
	}
	if err != nil {
		return nil, fmt.Errorf("sidecar of %.100q: %w", opt.Agent, err)
	}
	return &Sidecar{
		opt:    opt,
		files:  bootstrap.New(opt.Bootstrap),
		skills: skills.New(opt.Skills),
		recall: recall.New(opt.Recall, opt.Memories),
		ledger: flush.NewLedger(flush.Options{Folder: folder, Notes: ownNotes{opt}, Groups: opt.Flush.Groups, Count: opt.Count, Now: opt.Now}),
		turns:  turnsLog(opt),
		leases: leases{maxBytes: maxLeaseBytes},
		count:  prompt.Remember(opt.Count),
	}, nil
}

// validate checks options and sets defaults.
func (o *Options) validate() error {
	switch {
	case o.State == "":
		return errors.New("no folder for its state")
	case o.Memories == nil:
		return errors.New("no memories")
	}
	if o.Prune.Mode == "" {
		o.Prune.Mode = prune.ModeOff
	}
	if err := errors.Join(o.Prune.Check(), o.Flush.Check()); err != nil {
		return err
	}
	if o.Count == nil {
		o.Count = text.EstimateTokens
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if len(o.Key) == 0 {
		o.Key = make([]byte, 32)
		rand.Read(o.Key) // which never fails
	}
	return nil
}

// flushFolder returns the folder of an agent's flushes, <state>/agents/<agent>/flush, beside its transcripts.
func flushFolder(state, agent string) (string, error) {
	sessions, err := session.Folder(state, agent)
	return filepath.Join(filepath.Dir(sessions), "flush"), err
}

// ownNotes stores notes in the memory of the agent.
type ownNotes struct{ opt Options }

// Append implements flush.Notes.
func (n ownNotes) Append(ctx context.Context, note memory.Note) (memory.Appended, error) {
	return n.opt.Memories(n.opt.Agent).Append(ctx, note)
}

// Agent returns the id of the agent.
func (s *Sidecar) Agent() string { return s.opt.Agent }

// Model returns the model of the sidecar, nil if there is none.
func (s *Sidecar) Model() llm.Model { return s.opt.Model }

// Shared returns Settings.Shared.
func (s *Sidecar) Shared() []string { return slices.Clone(s.opt.Shared) }

// Count counts the tokens of a text as Compact does.
func (s *Sidecar) Count(text string) int { return s.opt.Count(text) }

// noModel returns an ErrNoModel that says why there is no model.
func (s *Sidecar) noModel() error {
	return fmt.Errorf("%w: %s", ErrNoModel, cmp.Or(s.opt.NoModel, "set llm.provider"))
}

// window returns the window of the model in tokens, 0 if there is no model or the window is unknown.
func (s *Sidecar) window() int {
	if s.opt.Model == nil {
		return 0
	}
	return s.opt.Model.Window()
}
