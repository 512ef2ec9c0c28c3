package encoder

import (
	"fmt"
	"slices"
)

// Limits of a configuration. They keep sizes within what the arithmetic of the kernels can count.
const (
	maxDims   = 1 << 14
	maxInner  = 1 << 16
	maxLayers = 1 << 10
	maxRows   = 1 << 24 // of a table of embeddings
)

// check returns the configuration with defaults, or an error that names the setting that the forward pass cannot follow.
func (c Config) check() (Config, error) {
	if c.Epsilon == 0 {
		c.Epsilon = 1e-12
	}
	if c.Activation == "" {
		c.Activation = "gelu"
	}
	if !slices.Contains([]string{"bert", "roberta", "xlm-roberta", "camembert"}, c.ModelType) {
		return c, fmt.Errorf("model_type %q is not supported; bert, roberta, xlm-roberta and camembert are", c.ModelType)
	}
	if !slices.Contains([]string{"gelu", "gelu_new", "gelu_pytorch_tanh", "relu"}, c.Activation) {
		return c, fmt.Errorf("hidden_act %q is not supported; gelu, gelu_new and relu are", c.Activation)
	}
	if c.PositionType != "" && c.PositionType != "absolute" {
		return c, fmt.Errorf("position_embedding_type %q is not supported; absolute is", c.PositionType)
	}
	if !(c.Epsilon > 0 && c.Epsilon < 1) {
		return c, fmt.Errorf("layer_norm_eps is %g, want a small number above 0", c.Epsilon)
	}
	return c, c.checkSizes()
}

// checkSizes returns an error that names a size that is out of bounds.
func (c Config) checkSizes() error {
	for _, size := range []struct {
		name       string
		value, max int
	}{
		{"num_hidden_layers", c.Layers, maxLayers},
		{"hidden_size", c.Hidden, maxDims},
		{"num_attention_heads", c.Heads, maxDims},
		{"intermediate_size", c.Inner, maxInner},
		{"vocab_size", c.Vocabulary, maxRows},
		{"max_position_embeddings", c.Positions, maxRows},
		{"type_vocab_size", c.Types, maxRows},
	} {
		if size.value < 1 || size.value > size.max {
			return fmt.Errorf("%s is %d, want 1 to %d", size.name, size.value, size.max)
		}
	}
	if c.Hidden%c.Heads != 0 {
		return fmt.Errorf("hidden_size %d is not a multiple of num_attention_heads %d", c.Hidden, c.Heads)
	}
	if c.Padding < 0 || c.Padding >= c.Positions || c.firstPosition() >= c.Positions {
		return fmt.Errorf("pad_token_id %d leaves no position of %d", c.Padding, c.Positions)
	}
	return nil
}

// Check returns an error for a model that New refuses, as far as its shape tells.
func (c Config) Check() error {
	_, err := c.check()
	return err
}

// MaxTokens returns the largest number of tokens of a text.
func (c Config) MaxTokens() int { return c.Positions - c.firstPosition() }

// firstPosition returns the position of the first token of a text.
func (c Config) firstPosition() int {
	if c.ModelType == "bert" {
		return 0
	}
	return c.Padding + 1
}
