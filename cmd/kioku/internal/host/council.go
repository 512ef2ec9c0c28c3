package host

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"kioku"
	"kioku/cmd/kioku/config"
	"kioku/council"
	"kioku/council/engine"
	councilfolder "kioku/council/folder"
	"kioku/council/member"
	"kioku/llm"
	"kioku/memory"
)

// CouncilOptions say how a council is opened.
type CouncilOptions struct {
	// Folder of the council.
	Folder string
	// Settings that LoadCouncil has read there.
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

// CouncilFor returns the options of the council that a host runs: the one of a folder, with the settings there. It returns nil without a folder,
// and an error if another process runs it.
func CouncilFor(conf *config.Config, folder string, echo bool, log *slog.Logger) (*CouncilOptions, error) {
	if folder == "" {
		return nil, nil
	}
	set, err := LoadCouncil(folder)
	if errors.Is(err, ErrNoCouncil) {
		return nil, conf.Wrong("council.folder", fmt.Sprintf("%s has no %s; create a council with kioku council init %[1]s", folder, CouncilFile))
	}
	if err != nil {
		return nil, err
	}
	if err := ProbeCouncil(folder); err != nil {
		return nil, err
	}
	return &CouncilOptions{Folder: filepath.Clean(folder), Settings: set, Conf: conf, Echo: echo, Log: log}, nil
}

// ProbeCouncil returns a *records.HeldError if another process runs the council of a folder.
func ProbeCouncil(folder string) error {
	f, err := councilfolder.Look(folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Probe(), f.Close())
}

// Places returns the folders of the agents of the council that the settings give none.
func (o *CouncilOptions) Places() (all []config.Place) {
	if o == nil {
		return nil
	}
	for _, p := range CouncilPlaces(o.Conf, o.Folder, o.Settings) {
		if o.Conf.Agents[p.Agent].Workspace == "" {
			all = append(all, p)
		}
	}
	return all
}

// Conflicts returns an error if one of the places is of an agent that is called like another of the council.
func (o *CouncilOptions) Conflicts(places []config.Place) error {
	for _, own := range o.Places() {
		if slices.ContainsFunc(places, func(p config.Place) bool { return p.Agent == own.Agent }) {
			return o.Conf.Wrong("council.folder", fmt.Sprintf("the council has an agent %s, which is another one here; rename it in council.yaml", own.Agent))
		}
	}
	return nil
}

// ConfFor returns the settings for an agent, without those of its workspace: those of the council's agents have the folder of their
// indexes.
func (o *CouncilOptions) ConfFor(conf *config.Config, agent string) (*config.Config, error) {
	if slices.ContainsFunc(o.Places(), func(p config.Place) bool { return p.Agent == agent }) {
		return CouncilState(conf, o.Folder)
	}
	return conf, nil
}

// CouncilState returns the settings with the folder for the indexes of the agents of a council, who may be called as those of another.
func CouncilState(conf *config.Config, folder string) (*config.Config, error) {
	state, err := conf.StateDir()
	if err != nil {
		return nil, err
	}
	return conf.WithState(filepath.Join(state, "councils", kioku.FolderKey(folder)))
}

// Council is a council that this process runs, or only reads.
type Council struct {
	*engine.Engine
	root *os.Root
}

// OpenCouncil opens a council to run it. If another process does, the error is a *records.HeldError.
func OpenCouncil(o CouncilOptions) (*Council, error) {
	set := o.Settings
	if o.Echo {
		set.Members = slices.Clone(set.Members)
		for i := range set.Members {
			set.Members[i].Model, set.Members[i].Command, set.Members[i].Preset = council.ModelEcho, nil, ""
		}
	}
	root, err := os.OpenRoot(o.Folder)
	if err != nil {
		return nil, fmt.Errorf("the folder of the council: %w", err)
	}
	h := &Council{root: root}
	ask, err := members(o, set, root)
	if err == nil {
		h.Engine, err = engine.Open(engineOptions(o, set, ask))
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return h, nil
}

// ReadCouncil opens a council to read it, and to put tasks and suggestions into its folders. Nobody is asked: members only tell their families.
func ReadCouncil(o CouncilOptions) (*Council, error) {
	var ask member.Asker
	if known, err := member.New(o.memberOptions(o.Settings)); err == nil { // OpenCouncil reports why a member cannot be asked
		ask = known
	}
	e, err := engine.Read(engineOptions(o, o.Settings, ask))
	if err != nil {
		return nil, err
	}
	return &Council{Engine: e}, nil
}

// engineOptions returns the options of the engine.
func engineOptions(o CouncilOptions, set council.Settings, ask member.Asker) engine.Options {
	return engine.Options{
		Folder: o.Folder, Settings: set, Workspace: CouncilPlaces(o.Conf, o.Folder, set)[0].Workspace, Ask: ask, Memory: o.Memory, Now: o.Now, Log: o.Log,
	}
}

// members returns who asks the members, within the budget of the council and with its logs.
func members(o CouncilOptions, set council.Settings, root *os.Root) (*member.Members, error) {
	budget, err := member.OpenBudget(root, set, o.Now)
	if err != nil {
		return nil, err
	}
	opt := o.memberOptions(set)
	opt.Budget, opt.Logs = budget, member.OpenLogs(root, o.Now)
	return member.New(opt)
}

// memberOptions returns the options of members without a budget and logs.
func (o CouncilOptions) memberOptions(set council.Settings) member.Options {
	return member.Options{Settings: set, Now: o.Now, Model: o.ModelNamed}
}

// ModelNamed returns the language model of a name in the settings of the council.
func (o CouncilOptions) ModelNamed(name string) (llm.Model, error) {
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
func (h *Council) Close() error {
	err := h.Engine.Close()
	if h.root != nil {
		err = errors.Join(err, h.root.Close())
	}
	return err
}
