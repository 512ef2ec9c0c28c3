package embed

import (
	"context"
	"fmt"
	"strings"
)

// input says what a text is: many models embed a question otherwise than the text that answers it.
type input int

const (
	forDocument input = iota
	forQuery
)

// provider is one embedding service or model.
type provider interface {
	// embed makes one request, without retrying, and returns one vector a text in the order of texts. The client
	// checks number, dimension and values of the vectors and scales them. The error is a *fault where the
	// provider knows what can be done about it, and carries neither key nor text; any other error is taken
	// for network trouble.
	embed(ctx context.Context, in input, texts []string) ([][]float32, error)
}

// open returns the provider that cfg names and the space of its vectors, whose Dims is 0 where only an answer
// can tell. The provider "none" is nil.
func open(cfg Config) (provider, Space, error) {
	switch cfg.Provider {
	case "", "none":
		return nil, Space{}, nil
	case "hash":
		return newHasher(cfg)
	case "openai":
		return newOpenAI(cfg)
	}
	known := strings.Join([]string{"none", "hash", "openai"}, ", ")
	return nil, Space{}, fmt.Errorf("embed: unknown provider %q: choose one of %s", cfg.Provider, known)
}
