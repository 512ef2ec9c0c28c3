package embed

import (
	"context"
	"path/filepath"

	"kioku/internal/modelhttp"
)

// unusable is a provider that cannot be used: it answers with the reason.
type unusable struct{ err error }

// embed implements provider.
func (u unusable) embed(context.Context, textKind, []string) ([][]float32, error) { return nil, u.err }

// NewUsable is New, but a local model that cannot be opened is no error: its client is enabled and unhealthy, so that searches go on
// with words and say why vectors are missing.
func NewUsable(cfg Config) (*Client, error) {
	c, cause := New(cfg)
	if cause == nil || cfg.Provider != "local" {
		return c, cause
	}
	cfg.Provider = "none"
	c, err := New(cfg)
	if err != nil {
		return nil, err
	}
	c.space = Space{Provider: "local", Model: filepath.Base(cfg.ModelDir)}
	cause = modelhttp.Errorf(modelhttp.Misconfigured, "%w; kioku doctor says what to do", cause)
	c.provider = unusable{cause}
	c.circuit.record(c.cfg.Now(), cause)
	return c, nil
}
