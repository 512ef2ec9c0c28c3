// Package local computes vectors with a model whose files lie in a folder, as Hugging Face publishes them: model.safetensors,
// tokenizer.json and config.json. It needs no network, no server and no other program.
//
// A folder has a transformer of the BERT family, a static model (one vector a token, as Model2Vec makes them), or a
// cross-encoder, which scores pairs of texts; its files tell which.
package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"kioku/embed/local/encoder"
	"kioku/embed/local/tokenizer"
)

// Kind is what a model computes.
type Kind int

const (
	// Transformer models have a forward pass for each text.
	Transformer Kind = iota
	// Static models average one vector a token.
	Static
	// CrossEncoder models score a question and a passage together, and have no vectors.
	CrossEncoder
)

// String returns the name of a kind for people.
func (k Kind) String() string {
	switch k {
	case Static:
		return "static"
	case CrossEncoder:
		return "cross-encoder"
	}
	return "transformer"
}

// Task is what a text is embedded for. Many models embed questions and the texts that answer them differently.
type Task int

const (
	// Document is a text that is to be found.
	Document Task = iota
	// Query is a text that asks for others.
	Query
)

// Options are the choices that the files of a model leave open. The zero value is a good choice.
type Options struct {
	// Threads is the number of threads that compute; 0 means one for each processor.
	Threads int
	// Lazy puts off the reading of the tokenizer and the weights until the first text. What is wrong with them is then the error of
	// Embed and Score.
	Lazy bool
	// QueryPrefix and DocumentPrefix are written before the texts; nil means what the files of the model say, else what
	// is known by its name.
	QueryPrefix, DocumentPrefix *string
}

// Info is what is known of a model.
type Info struct {
	// Name is the name of the model: that of its folder, or of its repository in the cache of Hugging Face.
	Name string
	// Dir is its folder.
	Dir string
	// Kind is what it computes.
	Kind Kind
	// Dims is the number of dimensions of its vectors; 0 for a cross-encoder.
	Dims int
	// Window is the largest number of tokens of a text that it reads; 0 means that it reads all.
	Window int
	// Parameters is the number of its weights.
	Parameters int
	// Pooling is how a transformer makes one vector of those of the tokens: "mean" or "cls"; empty for other kinds.
	Pooling string
	// QueryPrefix and DocumentPrefix are written before the texts.
	QueryPrefix, DocumentPrefix string
	// Fingerprint tells models apart whose vectors may not be compared: it changes with the weights, the tokenizer, the
	// pooling and the prefix of documents.
	Fingerprint string
}

// Embedding is the outcome for one text.
type Embedding struct {
	// Vector has unit length; nil if there is an Err.
	Vector []float32
	// Tokens is the number of tokens that it is of, with the prefix and special tokens.
	Tokens int
	// Bytes is the length of the beginning of the text that it is of, if the text has more tokens than the model reads; 0
	// means that it is of the whole text.
	Bytes int
	// Err is why there is no vector, such as ErrNoTokens.
	Err error
}

var (
	// ErrNoTokens is the outcome for a text without anything that the model knows.
	ErrNoTokens = errors.New("the text has nothing that the model can read")
	// ErrNoModel is wrapped by the error of Open for a folder without a model of a known kind.
	ErrNoModel = errors.New("no usable model")
	// ErrClosed is returned for a model after Close.
	ErrClosed = errors.New("the model is closed")
	// ErrWrongKind is returned by Embed of a cross-encoder and by Score of the others.
	ErrWrongKind = errors.New("the model is of another kind")
)

// Model is a model that is ready for use. Its methods are safe for concurrent use.
type Model struct {
	info    Info
	threads int
	folder  *folder
	gate    gate

	mu   sync.RWMutex  // held for reading while the file and what load makes are in use
	file *encoder.File // guarded by mu; nil after Close

	// What load makes, before the first text.
	loading   sync.Once
	loadErr   error
	tokenizer *tokenizer.Tokenizer // nil before, unless the files leave the window open
	table     *table               // of a static model
	encoder   *encoder.Encoder     // of the other kinds
}

// Open opens the model in a folder. The error wraps ErrNoModel if the folder has none that can be used, and says why.
func Open(dir string, opt Options) (*Model, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoModel, err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%w: %s is not a folder", ErrNoModel, dir)
	}
	f, err := readFolder(dir)
	if err != nil {
		return nil, err
	}
	file, err := encoder.Open(f.weightsPath)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrNoModel, dir, err)
	}
	m := &Model{folder: f, file: file, threads: opt.threads()}
	if err = m.describe(opt); err != nil {
		err = fmt.Errorf("%w: %s: %w", ErrNoModel, dir, err)
	} else if !opt.Lazy {
		err = m.load()
	}
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// Info describes the model.
func (m *Model) Info() Info { return m.info }

// Load makes a lazy model ready to compute. It returns the error that a text would have.
func (m *Model) Load() error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.usable()
}

// Close waits for calls that are under way and frees the model.
func (m *Model) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.file == nil {
		return nil
	}
	if m.encoder != nil {
		m.encoder.Close()
	}
	err := m.file.Close()
	m.file = nil
	return err
}

// Embed returns one Embedding a text, in their order. An error for all texts is that of ctx, ErrClosed, ErrWrongKind, or one
// that says what is wrong with the model. Queries do not wait for documents of other callers, except for the few that are
// being computed.
func (m *Model) Embed(ctx context.Context, task Task, texts []string) ([]Embedding, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if err := m.usable(); err != nil {
		return nil, err
	}
	prefix := m.info.DocumentPrefix
	if task == Query {
		prefix = m.info.QueryPrefix
	}
	switch m.info.Kind {
	case Static:
		return m.table.embed(ctx, m.tokenizer, prefix, texts, m.threads)
	case Transformer:
		return m.embedDeep(ctx, task, prefix, texts)
	}
	return nil, ErrWrongKind
}

// usable makes the model ready to compute. It returns an error if it was closed, its file was changed, or it cannot be used. The
// caller holds mu.
func (m *Model) usable() error {
	if m.file == nil {
		return ErrClosed
	}
	if err := m.file.Check(); err != nil {
		return err
	}
	return m.load()
}
