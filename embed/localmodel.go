package embed

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"kioku/embed/local"
	"kioku/internal/modelhttp"
)

// localModel is the provider "local": a model in a folder, computed by this process. A text that it cannot embed has an error of
// its own.
type localModel struct{ model *local.Model }

// openLocal makes the model of the settings that of the client.
func (c *Client) openLocal() {
	model, err := openEmbedder(c.cfg)
	if err != nil {
		err = modelhttp.Errorf(modelhttp.Misconfigured, "local: %w; kioku doctor says what to do", err)
		c.provider, c.space = unusable{err}, Space{Provider: "local", Model: filepath.Base(c.cfg.ModelDir)}
		c.circuit.record(c.cfg.Now(), err)
		return
	}
	info := model.Info()
	c.provider, c.space = &localModel{model}, Space{Provider: "local", Model: info.Name, Dims: info.Dims, Endpoint: info.Fingerprint}
	if c.cfg.Model != "" {
		c.space.Model = c.cfg.Model
	}
}

// openEmbedder opens a model that has vectors of the dimensions of the settings. Most commands embed nothing, so it is read later.
func openEmbedder(cfg Config) (*local.Model, error) {
	if cfg.ModelDir == "" {
		return nil, errors.New("no model is chosen: set ModelDir to its folder")
	}
	model, err := local.Open(cfg.ModelDir, local.Options{
		Lazy: true, Threads: cfg.ModelThreads, QueryPrefix: cfg.QueryPrefix, DocumentPrefix: cfg.DocumentPrefix})
	if err != nil {
		return nil, err
	}
	info := model.Info()
	switch {
	case info.Kind == local.CrossEncoder:
		err = errors.New("it is a cross-encoder, which re-ranks and has no vectors: use it as the re-ranker")
	case cfg.Dims != 0 && cfg.Dims != info.Dims:
		err = fmt.Errorf("its vectors have %d dimensions, %d are configured: configure no dimensions", info.Dims, cfg.Dims)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", info.Dir, errors.Join(err, model.Close()))
	}
	return model, nil
}

// embed implements provider. An error that is not about the time there was is one of the model's files.
func (m *localModel) embed(ctx context.Context, kind textKind, texts []string) ([]Embedding, error) {
	task := local.Document
	if kind == query {
		task = local.Query
	}
	embedded, err := m.model.Embed(ctx, task, texts)
	if err != nil && ctx.Err() == nil {
		err = modelhttp.Errorf(modelhttp.Misconfigured, "local: %w", err)
	}
	if err != nil {
		return nil, err
	}
	out := make([]Embedding, len(embedded))
	for i, e := range embedded {
		out[i] = Embedding{Vector: e.Vector, Bytes: e.Bytes, Err: e.Err}
		if errors.Is(e.Err, local.ErrNoTokens) {
			out[i].Err = fmt.Errorf("%w: %w", ErrBlank, e.Err)
		}
	}
	return out, nil
}

// Prepare reads a local model that was not needed before, so that the next text does not wait for it. What is wrong with it is its
// health from then on. It has no effect on other providers.
func (c *Client) Prepare() {
	m, ok := c.provider.(*localModel)
	if !ok {
		return
	}
	started := c.cfg.Now()
	if err := m.model.Load(); err != nil {
		c.circuit.record(started, modelhttp.Errorf(modelhttp.Misconfigured, "local: %w", err))
	}
}

// Local describes the model of the provider "local"; false for other providers.
func (c *Client) Local() (local.Info, bool) {
	if m, ok := c.provider.(*localModel); ok {
		return m.model.Info(), true
	}
	return local.Info{}, false
}

// Close frees the model of the provider "local". No texts can be embedded after that. It has no effect on other providers.
func (c *Client) Close() error {
	if m, ok := c.provider.(*localModel); ok {
		return m.model.Close()
	}
	return nil
}

// largeParameters is the number of weights from which on a model counts as large: more than multilingual-e5-base has.
const largeParameters = 300_000_000

// class returns the class of the model by what it is, not by its name.
func (m *localModel) class() Class {
	info := m.model.Info()
	switch {
	case info.Kind == local.Static:
		return Static
	case info.Parameters >= largeParameters:
		return Large
	}
	return Small
}

// unusable is a model that cannot be used: it answers with the reason.
type unusable struct{ err error }

// embed implements provider.
func (u unusable) embed(context.Context, textKind, []string) ([]Embedding, error) { return nil, u.err }

// score implements scorer.
func (u unusable) score(context.Context, string, []string) ([]float64, error) { return nil, u.err }
