// Package encoder computes vectors of texts with a transformer of the BERT family (BERT, RoBERTa, XLM-R), whose weights have
// the names and shapes that Hugging Face publishes.
//
// [Open] maps the file of the weights. [New] checks every shape and packs the weights for the processor. [Encoder.Encode] takes the token ids of texts and returns
// one vector or one score a text. The forward pass is C, built once for each kind of processor and chosen when the program
// runs. Texts of different lengths are computed without padding.
package encoder

import (
	"context"
	"errors"
	"fmt"
)

// ErrNotFinite says that weights of the model are infinite or undefined numbers, or lead to such numbers.
var ErrNotFinite = errors.New("the model contains or computes numbers that are not finite; its file is damaged")

// Config is what the file config.json of a model says about its shape. The names are those of the file.
type Config struct {
	// ModelType is the family: bert, roberta, xlm-roberta or camembert.
	ModelType string `json:"model_type"`
	// Layers is the number of layers.
	Layers int `json:"num_hidden_layers"`
	// Hidden is the number of dimensions of a hidden state.
	Hidden int `json:"hidden_size"`
	// Heads is the number of attention heads. It divides Hidden.
	Heads int `json:"num_attention_heads"`
	// Inner is the number of dimensions between the two feed-forward matrices.
	Inner int `json:"intermediate_size"`
	// Vocabulary is the number of token ids.
	Vocabulary int `json:"vocab_size"`
	// Positions is the number of rows of the position matrix.
	Positions int `json:"max_position_embeddings"`
	// Types is the number of segment types.
	Types int `json:"type_vocab_size"`
	// Padding is the id of the padding token. In the RoBERTa family the first token has the position Padding + 1.
	Padding int `json:"pad_token_id"`
	// Epsilon is added to the variance when a layer is normalised. 0 means 1e-12.
	Epsilon float64 `json:"layer_norm_eps"`
	// Activation is gelu, gelu_new, gelu_pytorch_tanh or relu. Empty means gelu.
	Activation string `json:"hidden_act"`
	// PositionType is empty or "absolute". Other kinds of positions are refused.
	PositionType string `json:"position_embedding_type"`
}

// Head is what becomes of the hidden states of a text.
type Head int

// The heads.
const (
	// Mean is the unit vector of the mean of all hidden states.
	Mean Head = iota
	// CLS is the unit vector of the first hidden state.
	CLS
	// Score is the one logit of a cross-encoder's classifier.
	Score
)

// Options are the choices that config.json leaves open.
type Options struct {
	// Head is what becomes of the hidden states.
	Head Head
	// Int8 multiplies in integers of 8 bits if that is faster on this processor. It needs a quarter of the memory, and the
	// vectors differ a little.
	Int8 bool
}

// Input is one text, or a pair of texts for a cross-encoder, as token ids with the special tokens.
type Input struct {
	// IDs are the token ids: at least one, at most MaxTokens.
	IDs []int32
	// Types are the segment types of the ids; nil means that all are 0.
	Types []int32
}

// Encoder computes vectors. Encode is safe for concurrent use.
type Encoder struct {
	config  Config
	head    Head
	offset  int // position of the first token
	table   embeddings
	scoring *classifier // nil unless head is Score
	pass    pass
}

// New checks the tensors and returns an encoder. The encoder keeps only the tensor of the token embeddings in use, whose
// data must be readable until Close. The other weights are copied: as much memory as they have in 32 bits, a quarter of it
// with Int8.
func New(config Config, tensors Tensors, options Options) (*Encoder, error) {
	config, err := config.check()
	if err != nil {
		return nil, err
	}
	loader, err := newLoader(tensors)
	if err != nil {
		return nil, err
	}
	e := &Encoder{config: config, head: options.Head, offset: config.firstPosition()}
	e.table = loader.embeddings(config)
	if options.Head == Score {
		e.scoring = loader.classifier(config)
	}
	layers := loader.layers(config)
	if loader.err != nil {
		return nil, loader.err
	}
	if e.pass, err = newPass(config, e.table, layers, options.Int8); err != nil {
		return nil, err
	}
	return e, nil
}

// Close frees the weights, which no call of Encode may use any more.
func (e *Encoder) Close() { e.pass.close() }

// Encode returns the vector or the score of each input, computed by a number of threads; 0 means 1. It stops between two
// layers when ctx is done. An input without ids, one with too many, and an id outside of the vocabulary is an error.
func (e *Encoder) Encode(ctx context.Context, inputs []Input, threads int) ([][]float32, error) {
	for i, in := range inputs {
		if err := e.checkInput(in); err != nil {
			return nil, fmt.Errorf("text %d: %w", i, err)
		}
	}
	out := make([][]float32, len(inputs))
	if err := e.encodeAll(ctx, inputs, out, max(threads, 1)); err != nil {
		return nil, err
	}
	return out, nil
}

// checkInput returns an error unless the embeddings of an input exist.
func (e *Encoder) checkInput(in Input) error {
	if len(in.IDs) == 0 {
		return errors.New("no tokens")
	}
	if len(in.IDs) > e.config.MaxTokens() {
		return fmt.Errorf("%d tokens, the model takes %d", len(in.IDs), e.config.MaxTokens())
	}
	if in.Types != nil && len(in.Types) != len(in.IDs) {
		return fmt.Errorf("%d segment types for %d tokens", len(in.Types), len(in.IDs))
	}
	for _, id := range in.IDs {
		if id < 0 || int(id) >= e.config.Vocabulary {
			return fmt.Errorf("token id %d, the model has %d", id, e.config.Vocabulary)
		}
	}
	for _, kind := range in.Types {
		if kind < 0 || int(kind) >= e.config.Types {
			return fmt.Errorf("segment type %d, the model has %d", kind, e.config.Types)
		}
	}
	return nil
}
