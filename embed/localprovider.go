package embed

import (
	"context"
	"errors"
	"fmt"

	"kioku/embed/local"
	"kioku/internal/modelhttp"
)

// localModel is the provider "local": a model in a folder, computed by this process. It has neither a budget nor tries: a text
// that it cannot embed has an error of its own, and it is asked again for the next one.
type localModel struct{ model *local.Model }

func newLocalModel(cfg Config) (provider, Space, error) {
	if cfg.ModelDir == "" {
		return nil, Space{}, errors.New("local: no model is chosen: set ModelDir to its folder")
	}
	model, err := local.Open(cfg.ModelDir, local.Options{
		Lazy:           true, // most commands embed nothing
		Threads:        cfg.ModelThreads,
		Int8:           cfg.ModelInt8,
		QueryPrefix:    cfg.QueryPrefix,
		DocumentPrefix: cfg.DocumentPrefix,
		Prefixes: func(name string) (query, document string) {
			p := prefixesOf(name)
			return p.query, p.document
		},
	})
	if err != nil {
		return nil, Space{}, fmt.Errorf("local: %w", err)
	}
	info := model.Info()
	if err := suits(info, cfg.Dims); err != nil {
		model.Close()
		return nil, Space{}, fmt.Errorf("local: %s: %w", info.Dir, err)
	}
	name := cfg.Model
	if name == "" {
		name = info.Name
	}
	return &localModel{model}, Space{Provider: "local", Model: name, Dims: info.Dims, Endpoint: info.Fingerprint}, nil
}

// suits returns an error if a model cannot embed texts into vectors of dims dimensions; 0 stands for its own number.
func suits(info local.Info, dims int) error {
	if info.Kind == local.CrossEncoder {
		return errors.New("it is a cross-encoder, which re-ranks and has no vectors: use it as the re-ranker")
	}
	if dims != 0 && dims != info.Dims {
		return fmt.Errorf("its vectors have %d dimensions, %d are configured: configure no dimensions", info.Dims, dims)
	}
	return nil
}

// embed implements provider.
func (m *localModel) embed(ctx context.Context, kind textKind, texts []string) ([][]float32, error) {
	embedded, err := m.model.Embed(ctx, taskOf(kind), texts)
	if err != nil {
		return nil, err
	}
	vecs := make([][]float32, len(embedded))
	for i, e := range embedded {
		if e.Err != nil {
			return nil, modelhttp.Errorf(modelhttp.Rejected, "local: %w", e.Err)
		}
		vecs[i] = e.Vector
	}
	return vecs, nil
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

// taskOf returns what a local model embeds texts of a kind as.
func taskOf(kind textKind) local.Task {
	if kind == query {
		return local.Query
	}
	return local.Document
}

// embedLocally embeds texts with a model of this process. An error that is not about the time there was is one of the model's
// files, and makes the provider unhealthy until it answers again.
func (c *Client) embedLocally(ctx context.Context, m *localModel, kind textKind, texts []string) ([]Embedding, error) {
	started := c.cfg.Now()
	embedded, err := m.model.Embed(ctx, taskOf(kind), texts)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, c.ended(ctx)
	case err != nil:
		err = modelhttp.Errorf(modelhttp.Misconfigured, "local: %w", err)
		c.circuit.record(started, err)
		return nil, unavailable(err)
	}
	c.circuit.record(started, nil)
	out := make([]Embedding, len(embedded))
	for i, e := range embedded {
		out[i] = Embedding{Vector: e.Vector, Bytes: e.Bytes, Err: e.Err}
		if errors.Is(e.Err, local.ErrNoTokens) {
			out[i].Err = fmt.Errorf("%w: %w", ErrBlank, e.Err)
		}
	}
	return out, nil
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
