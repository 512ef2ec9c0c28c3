package councilhost

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"kioku/cmd/kioku/config"
	"kioku/council"
	"kioku/council/engine"
	"kioku/council/folder"
	"kioku/council/member"
	"kioku/llm"
	"kioku/memory"
)

// Options say how a council is opened.
type Options struct {
	// Folder of the council.
	Folder string
	// Settings that Load has read there.
	Settings council.Settings
	// Conf are the settings of Kioku: those of language models.
	Conf *config.Config
	// Echo has a scripted model answer for every member.
	Echo bool
	// Memory returns the memory of an agent; nil for members without memory.
	Memory func(agent string) memory.Service
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Log receives what goes wrong; nil discards it.
	Log *slog.Logger
}

// Host is a council that this process runs, or only reads.
type Host struct {
	*engine.Engine
	root *os.Root
}

// Free returns a *records.HeldError if another process runs the council of a folder.
func Free(dir string) error {
	f, err := folder.Look(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Probe(), f.Close())
}

// Open opens a council to run it. If another process does, the error is a *records.HeldError.
func Open(o Options) (*Host, error) {
	set := o.Settings
	if o.Echo {
		set.Members = slices.Clone(set.Members)
		for i := range set.Members {
			set.Members[i].Model, set.Members[i].Command = council.ModelEcho, nil
		}
	}
	root, err := os.OpenRoot(o.Folder)
	if err != nil {
		return nil, fmt.Errorf("the folder of the council: %w", err)
	}
	h := &Host{root: root}
	ask, err := members(o, set, root)
	if err == nil {
		h.Engine, err = engine.Open(engineOptions(o, set, ask))
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return h, nil
}

// Read opens a council to read it, and to put tasks and suggestions into its folders. Nobody is asked: members only tell their families.
func Read(o Options) (*Host, error) {
	var ask member.Asker
	if known, err := member.New(o.memberOptions(o.Settings)); err == nil { // Open reports why a member cannot be asked
		ask = known
	}
	e, err := engine.Read(engineOptions(o, o.Settings, ask))
	if err != nil {
		return nil, err
	}
	return &Host{Engine: e}, nil
}

// engineOptions returns the options of the engine.
func engineOptions(o Options, set council.Settings, ask member.Asker) engine.Options {
	return engine.Options{
		Folder: o.Folder, Settings: set, Workspace: Places(o.Conf, o.Folder, set)[0].Workspace, Ask: ask, Memory: o.Memory, Now: o.Now, Log: o.Log,
	}
}

// members returns who asks the members, within the budget of the council and with its logs.
func members(o Options, set council.Settings, root *os.Root) (*member.Members, error) {
	budget, err := member.OpenBudget(root, set, o.Now)
	if err != nil {
		return nil, err
	}
	opt := o.memberOptions(set)
	opt.Budget, opt.Logs = budget, member.OpenLogs(root, o.Now)
	return member.New(opt)
}

// memberOptions returns the options of members without a budget and logs.
func (o Options) memberOptions(set council.Settings) member.Options {
	return member.Options{Settings: set, Now: o.Now, Model: o.model}
}

// model returns the language model of a name in the settings of the council.
func (o Options) model(name string) (llm.Model, error) {
	cfg, err := o.Conf.ModelNamed(name)
	if err != nil {
		return nil, err
	}
	if cfg.Provider == "none" || cfg.Provider == "echo" {
		return nil, &config.Error{Problem: fmt.Sprintf("the council's model %q: no language model is set; set llm.provider and llm.model, write it as "+
			"PROVIDER:MODEL, such as anthropic:claude-sonnet-4-5 or ollama:qwen3, or try the council with --echo", name)}
	}
	cfg.Now = o.Now
	m, err := llm.New(cfg)
	if err != nil {
		return nil, &config.Error{Problem: fmt.Sprintf("the council's model %q: %v", name, err)}
	}
	return m, nil
}

// Close closes the council.
func (h *Host) Close() error {
	err := h.Engine.Close()
	if h.root != nil {
		err = errors.Join(err, h.root.Close())
	}
	return err
}
