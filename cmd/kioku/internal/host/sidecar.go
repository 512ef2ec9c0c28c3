package host

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"kioku/agent/sidecar"
	"kioku/chunker"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/render"
	"kioku/internal/files"
	"kioku/internal/text"
	"kioku/llm"
	"kioku/llm/echo"
	"kioku/memory"
)

// NewModel returns the language model of the settings, nil for none. If a setting is wrong, the error is a *config.Error.
func NewModel(conf *config.Config) (llm.Model, error) {
	if conf.LLMErr != nil {
		return nil, conf.LLMErr
	}
	if conf.LLM.Provider == "none" {
		return nil, nil
	}
	cfg := conf.LLM
	cfg.Now = ClockOf(conf)
	var model llm.Model
	var err error
	if cfg.Provider == "echo" {
		model, err = llm.Limit(&echo.Model{Tokens: cfg.Window}, cfg.Limits, cfg.Now)
	} else {
		model, err = llm.New(cfg)
	}
	if err != nil {
		return nil, &config.Error{Problem: err.Error()}
	}
	return model, nil
}

// NoModel says why the language model of the settings cannot be used, and what works without it.
func NoModel(err error) string {
	return fmt.Sprintf("the language model cannot be used, so flush and compaction wait for it; memory works without it: %s", text.OneLine(render.Message(err)))
}

// Beside is what the sidecars of a process share.
type Beside struct {
	// Conf are the settings, without those of a workspace.
	Conf *config.Config
	// Out takes notices, and Log what goes wrong later.
	Out *render.Output
	Log *slog.Logger
	// Dir is the working directory, in which skills of a project are.
	Dir string
	// ReadOnly writes nothing.
	ReadOnly bool
	// Memories returns the memory of any agent.
	Memories func(id string) memory.Service
	// Model may be nil, and Why says so if one is set.
	Model llm.Model
	Why   error
	// Counted returns the model for an agent, whose tokens it counts; nil counts none.
	Counted func(agent string, m llm.Model) llm.Model
	// Orders is nil for agents that no council commands.
	Orders Orders
}

// Sidecars returns the sidecars of the agents of places.
func (b Beside) Sidecars(ctx context.Context, places ...config.Place) (map[string]*sidecar.Sidecar, error) {
	opt, err := b.options()
	if err != nil {
		return nil, err
	}
	all := map[string]*sidecar.Sidecar{}
	for _, p := range places {
		own, err := beside(ctx, b.Conf, opt, p)
		if err != nil {
			return nil, err
		}
		if b.Model != nil && b.Counted != nil {
			own.Model = b.Counted(p.Agent, b.Model)
		}
		if all[p.Agent], err = sidecar.New(own); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// options returns the options that all agents share. It reports a frame key that cannot be used.
func (b Beside) options() (sidecar.Options, error) {
	state, err := b.Conf.StateDir()
	if err != nil {
		return sidecar.Options{}, err
	}
	counter, err := chunker.New(b.Conf.Chunking)
	if err != nil {
		return sidecar.Options{}, err
	}
	key, err := frameKey(state, !b.ReadOnly)
	if err != nil {
		b.Out.Notice("%v; until then each process has a key of its own, and the same turn has another prompt in each", err)
	}
	opt := sidecar.Options{
		Settings: b.Conf.Settings, NoRecall: !b.Conf.RecallEnabled, State: state, Memories: b.Memories, Model: b.Model, Orders: b.Orders,
		Count: counter.Count, ReadOnly: b.ReadOnly, Key: key, Now: ClockOf(b.Conf), Log: b.Log,
	}
	opt.Skills.Project = b.Dir
	if b.Why != nil {
		opt.NoModel = text.OneLine(render.Message(b.Why))
	}
	return opt, nil
}

// beside returns the options for the agent of a place: its folders, and the clock of its workspace.
func beside(ctx context.Context, conf *config.Config, opt sidecar.Options, place config.Place) (sidecar.Options, error) {
	conf, err := conf.ForFolder(place.Workspace)
	if err != nil {
		return opt, err
	}
	if opt.State, err = conf.StateOf(ctx, place.Agent, place.Workspace); err != nil {
		return opt, err
	}
	opt.Agent, opt.Now = place.Agent, ClockOf(conf)
	opt.Bootstrap.Workspace, opt.Bootstrap.Override = place.Workspace, place.AgentDir
	opt.Skills.Workspace = place.Workspace
	return opt, nil
}

// frameKeyBytes is the length of the key of the frames around recalled memories.
const frameKeyBytes = 32

// frameKey returns the key of a state folder: with one key the same turn has the same prompt in every process. If there is
// no key, it creates one if mayMake is true and otherwise returns nil. An error says what to do.
func frameKey(state string, mayMake bool) ([]byte, error) {
	path := filepath.Join(state, "frame.key")
	key, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if !mayMake {
			return nil, nil
		}
		if err = makeKey(path); err == nil {
			key, err = os.ReadFile(path)
		}
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("the key of the frames around recalled memories: %w; let this user read and write it", err)
	case len(key) != frameKeyBytes:
		return nil, fmt.Errorf("the key of the frames around recalled memories, %s, has %d bytes instead of %d; if it is removed, a new one is created", path, len(key), frameKeyBytes)
	}
	return key, nil
}

// makeKey writes a random key that only this user can read, unless another process writes one first.
func makeKey(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder of the key: %w", err)
	}
	folder, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("make the key: %w", err)
	}
	defer folder.Close()
	key := make([]byte, frameKeyBytes)
	rand.Read(key) // which never fails
	if err := files.Create(folder, filepath.Base(path), key, 0o600); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make the key: %w", err)
	}
	return nil
}
