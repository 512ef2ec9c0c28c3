package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"kioku/agent/sidecar"
	"kioku/chunker"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/internal/files"
	"kioku/internal/text"
	"kioku/llm"
	"kioku/llm/echo"
	"kioku/memory"
	"kioku/server"
)

// newModel returns the language model of the settings, nil for none. If a setting is wrong, the error is a *config.Error.
func newModel(conf *config.Config) (llm.Model, error) {
	if conf.LLMErr != nil {
		return nil, conf.LLMErr
	}
	if conf.LLM.Provider == "none" {
		return nil, nil
	}
	cfg := conf.LLM
	cfg.Now = connect.ClockOf(conf)
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

// noModel says why the language model of the settings cannot be used, and what works without it.
func noModel(err error) string {
	return fmt.Sprintf("the language model cannot be used, so flush and compaction wait for it; memory works without it: %s", text.OneLine(render.Message(err)))
}

// newSidecar returns the sidecar of the agent of a place. memories returns the memory of any agent; model may be nil, and why says so if
// one is set; orders is nil for an agent that no council commands.
func (a *app) newSidecar(ctx context.Context, conf *config.Config, place config.Place, memories func(id string) memory.Service, model llm.Model, why error, orders councilOrders) (*sidecar.Sidecar, error) {
	opt, err := a.sidecarOptions(conf, memories, model, why)
	if err != nil {
		return nil, err
	}
	opt.Orders = orders
	if opt, err = beside(ctx, conf, opt, place); err != nil {
		return nil, err
	}
	return sidecar.New(opt)
}

// sidecars returns the sidecars of agents, which share one language model. counted returns the model for an agent, whose tokens it
// counts. A model that cannot be used is told; if a flag has named it, that is an error.
func (a *app) sidecars(ctx context.Context, conf *config.Config, places []config.Place, memories func(id string) memory.Service, counted func(agent string, m llm.Model) llm.Model, orders councilOrders) (map[string]server.Sidecar, error) {
	model, why := newModel(conf)
	switch {
	case why != nil && conf.ByFlag("llm"):
		return nil, why
	case why != nil:
		a.Notice("%s", noModel(why))
	}
	opt, err := a.sidecarOptions(conf, memories, model, why)
	if err != nil {
		return nil, err
	}
	opt.Orders = orders
	all := map[string]server.Sidecar{}
	for _, p := range places {
		own, err := beside(ctx, conf, opt, p)
		if err != nil {
			return nil, err
		}
		if model != nil {
			own.Model = counted(p.Agent, model)
		}
		if all[p.Agent], err = sidecar.New(own); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// sidecarOptions returns the options that all agents share. why is the reason if there is no model although one is set. It reports a
// frame key that cannot be used.
func (a *app) sidecarOptions(conf *config.Config, memories func(id string) memory.Service, model llm.Model, why error) (sidecar.Options, error) {
	state, err := conf.StateDir()
	if err != nil {
		return sidecar.Options{}, err
	}
	counter, err := chunker.New(conf.Chunking)
	if err != nil {
		return sidecar.Options{}, err
	}
	key, err := frameKey(state, !a.readOnly)
	if err != nil {
		a.Notice("%v; until then each process has a key of its own, and the same turn has another prompt in each", err)
	}
	opt := sidecar.Options{
		Settings: conf.Settings, NoRecall: !conf.RecallEnabled, State: state, Memories: memories, Model: model,
		Count: counter.Count, ReadOnly: a.readOnly, Key: key, Now: connect.ClockOf(conf), Log: a.log(conf.LogLevel),
	}
	opt.Skills.Project = a.dir
	if why != nil {
		opt.NoModel = text.OneLine(render.Message(why))
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
	opt.Agent, opt.Now = place.Agent, connect.ClockOf(conf)
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
