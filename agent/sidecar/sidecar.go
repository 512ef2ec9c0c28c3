package sidecar

import (
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"kioku/agent"
	"kioku/agent/bootstrap"
	"kioku/agent/compact"
	"kioku/agent/flush"
	"kioku/agent/prompt"
	"kioku/agent/prune"
	"kioku/agent/recall"
	"kioku/agent/session"
	"kioku/agent/skills"
	"kioku/internal/text"
	"kioku/llm"
)

// Options of a Sidecar. Agent, State and Memories are required.
type Options struct {
	Agent string
	// Folder of this agent's flushes and transcripts is below State.
	State string
	// Memories returns the memory of an agent, never nil: of this one, and of those that are searched beside it.
	Memories func(id string) agent.Memory
	// Shared agents are searched beside the own memory if a turn names none.
	Shared []string

	Bootstrap bootstrap.Options
	Skills    skills.Options
	Recall    recall.Options
	// NoRecall assembles prompts without a search; Sidecar.Recall still does one.
	NoRecall bool
	// Prune and Flush do nothing if they are the zero value.
	Prune prune.Settings
	Flush flush.Settings
	// KeepRecentTokens stay in a compaction; 0 means 20,000.
	KeepRecentTokens int
	// CacheFriendly is the order of prompts whose turn does not say.
	CacheFriendly bool
	// Model writes summaries and flushes; nil for none.
	Model llm.Model
	// Count counts the tokens of a text; nil means an estimate. It is called by several goroutines.
	Count func(text string) int
	// ReadOnly says that memory must not be written.
	ReadOnly bool
	// Key makes the frames around recalled memories unguessable. With the same key the same turn and memories have the same
	// frame. If it is empty, New makes a random one, so that this holds for one Sidecar.
	Key []byte
	// Now is the clock, nil means time.Now.
	Now func() time.Time
}

// Sidecar runs beside one agent. Its methods may be called concurrently.
type Sidecar struct {
	opt    Options
	files  *bootstrap.Loader
	skills *skills.Loader
	recall *recall.Recaller
	ledger *flush.Ledger
	// count is Options.Count that remembers what it has counted for prompts.
	count func(text string) int
}

// New returns a sidecar. It returns an error if a setting is missing or wrong.
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
		ledger: flush.NewLedger(folder, opt.Flush, opt.Now),
		count:  prompt.Remember(opt.Count),
	}, nil
}

// validate checks options and fills in those that may be left out.
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
	if o.KeepRecentTokens <= 0 {
		o.KeepRecentTokens = compact.DefaultKeepTokens
	}
	if o.Count == nil {
		o.Count = text.EstimateTokens
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if len(o.Key) == 0 {
		o.Key = make([]byte, 32)
		rand.Read(o.Key) // which never fails
	}
	return nil
}

// flushFolder is where the flushes of an agent are: <state>/agents/<agent>/flush, beside its transcripts.
func flushFolder(state, agent string) (string, error) {
	sessions, err := session.Folder(state, agent)
	return filepath.Join(filepath.Dir(sessions), "flush"), err
}

// Agent returns the id of the agent.
func (s *Sidecar) Agent() string { return s.opt.Agent }

// Model returns the model of the sidecar, nil if there is none.
func (s *Sidecar) Model() llm.Model { return s.opt.Model }

// Shared returns the agents that are searched beside the own memory if a turn names none.
func (s *Sidecar) Shared() []string { return slices.Clone(s.opt.Shared) }

// Count counts the tokens of a text as Compact does.
func (s *Sidecar) Count(text string) int { return s.opt.Count(text) }

// window is that of the model, 0 if there is none or it is not known.
func (s *Sidecar) window() int {
	if s.opt.Model == nil {
		return 0
	}
	return s.opt.Model.Window()
}
