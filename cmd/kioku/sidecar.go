package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"kioku/agent/sidecar"
	"kioku/chunker"
	"kioku/cmd/kioku/config"
	"kioku/llm"
	"kioku/server"
)

// newModel returns the language model of the settings, nil for none. What is wrong with them is a *config.Error.
func newModel(conf *config.Config) (llm.Model, error) {
	if conf.LLM.Provider == "none" {
		return nil, nil
	}
	cfg := conf.LLM
	cfg.Now = clockOf(conf)
	model, err := llm.New(cfg)
	if err != nil {
		return nil, &config.Error{Problem: err.Error()}
	}
	return model, nil
}

// newSidecar returns what runs beside the agent of a place. memories gives the memory of any agent, model may be nil.
func (a *app) newSidecar(conf *config.Config, place config.Place, memories func(agent string) sidecar.Memory, model llm.Model) (*sidecar.Sidecar, error) {
	state, err := conf.StateDir()
	if err != nil {
		return nil, err
	}
	counter, err := chunker.New(conf.Chunking)
	if err != nil {
		return nil, err
	}
	files, skills := conf.Bootstrap, conf.Skills
	files.Workspace, files.Override = place.Workspace, place.AgentDir
	skills.Workspace, skills.Project = place.Workspace, a.dir
	return sidecar.New(sidecar.Options{
		Agent: place.Agent, State: state, Memories: memories, Shared: conf.SharedAgents,
		Bootstrap: files, Skills: skills, Recall: conf.Recall, NoRecall: !conf.RecallEnabled,
		Prune: conf.Prune, Flush: conf.Flush, KeepRecentTokens: conf.KeepRecentTokens,
		CacheFriendly: conf.CacheFriendly, Model: model, Counter: counter, ReadOnly: a.readOnly,
		Key: frameKey(state, !a.readOnly), Now: clockOf(conf),
	})
}

// sidecars returns what runs beside each of some agents, with one language model for all of them.
func (a *app) sidecars(conf *config.Config, places []config.Place, memories func(agent string) sidecar.Memory) (map[string]server.Sidecar, error) {
	model, err := newModel(conf)
	if err != nil {
		return nil, err
	}
	all := map[string]server.Sidecar{}
	for _, p := range places {
		if all[p.Agent], err = a.newSidecar(conf, p, memories, model); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// frameKeyBytes is how long the key of the frames around recalled memories is.
const frameKeyBytes = 32

// frameKey returns the key of a state folder, which it makes where there is none and it may: with it the same turn has the
// same prompt in every process. It returns nil where it can neither be read nor made; then each process has one of its own.
func frameKey(state string, mayMake bool) []byte {
	path := filepath.Join(state, "frame.key")
	key, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && mayMake {
		if err = makeKey(path); err == nil {
			key, err = os.ReadFile(path)
		}
	}
	if err != nil || len(key) != frameKeyBytes {
		return nil
	}
	return key
}

// makeKey writes a random key that only this user can read, unless another process is faster.
func makeKey(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder of the key: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".frame-*.key")
	if err != nil {
		return fmt.Errorf("make the key: %w", err)
	}
	defer os.Remove(tmp.Name())
	key := make([]byte, frameKeyBytes)
	rand.Read(key) // which never fails
	_, err = tmp.Write(key)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Link(tmp.Name(), path) // whole or not at all, and never over another
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}
