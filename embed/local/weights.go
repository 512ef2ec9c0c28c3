package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"kioku/embed/encoder"
	"kioku/embed/safetensors"
	"kioku/embed/tokenizer"
)

// weights are the files of a model in memory, shared by all who opened it.
type weights struct {
	key       weightsKey
	info      Info
	folder    *folder
	digest    string
	file      *safetensors.File
	tokenizer *tokenizer.Tokenizer
	table     *table           // of a static model
	encoder   *encoder.Encoder // of the other kinds
	gate      gate

	users int // guarded by opened.mu
}

// weightsKey tells weights apart: the folder, the size and time of its large files, and how they are computed.
type weightsKey struct {
	dir   string
	files string
	int8  bool
}

// opened are the weights in use. They are the one thing that is global, because a second copy of a model in memory is what
// the map avoids.
var opened = struct {
	mu      sync.Mutex
	weights map[weightsKey]*weights
}{weights: map[weightsKey]*weights{}}

// acquire returns the weights of a folder, which release gives back.
func acquire(dir string, int8 bool) (*weights, error) {
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
	key := weightsKey{dir: dir, int8: int8}
	for _, path := range []string{f.weightsPath, f.tokenizerPath} {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		key.files += fmt.Sprintln(info.Size(), info.ModTime().UnixNano())
	}

	opened.mu.Lock()
	defer opened.mu.Unlock()
	w := opened.weights[key]
	if w == nil {
		if w, err = load(f, int8); err != nil {
			return nil, err
		}
		w.key = key
		opened.weights[key] = w
	}
	w.users++
	return w, nil
}

// release gives back weights that acquire returned, and frees them after the last user.
func (w *weights) release() error {
	opened.mu.Lock()
	defer opened.mu.Unlock()
	if w.users--; w.users > 0 {
		return nil
	}
	delete(opened.weights, w.key)
	return w.free()
}

func (w *weights) free() error {
	var err error
	if w.encoder != nil {
		err = w.encoder.Close()
	}
	return errors.Join(err, w.file.Close())
}

// load reads the large files of a model.
func load(f *folder, int8 bool) (*weights, error) {
	t, err := tokenizer.Open(f.tokenizerPath)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrNoModel, f.tokenizerPath, err)
	}
	file, err := safetensors.Open(f.weightsPath)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrNoModel, f.dir, err)
	}
	w := &weights{folder: f, file: file, tokenizer: t}
	if err := w.build(int8); err != nil {
		file.Close()
		return nil, fmt.Errorf("%w: %s: %w", ErrNoModel, f.dir, err)
	}
	return w, nil
}

// build makes the model of the files.
func (w *weights) build(int8 bool) (err error) {
	w.info = Info{Name: w.folder.name(), Dir: w.folder.dir, Kind: w.kind(), Parameters: w.file.Parameters()}
	if w.info.Kind == Static {
		w.table, err = newTable(w.file, w.tokenizer)
	} else {
		err = w.buildEncoder(int8)
	}
	if err != nil {
		return err
	}
	if w.table != nil {
		w.info.Dims = w.table.dims
	}
	w.digest, err = digest(w.folder)
	return err
}

// kind tells what the tensors are of.
func (w *weights) kind() Kind {
	if _, name := staticTensor(w.file); name != "" {
		return Static
	}
	if _, ok := w.file.Tensor("classifier.weight"); ok {
		return CrossEncoder
	}
	for _, a := range w.folder.config.Architectures {
		if strings.HasSuffix(a, "ForSequenceClassification") {
			return CrossEncoder
		}
	}
	return Transformer
}

// buildEncoder makes the encoder of a transformer or a cross-encoder.
func (w *weights) buildEncoder(int8 bool) error {
	w.folder.setPooling(w.tokenizer.Limit())
	opt := encoder.Options{Head: encoder.Mean, Int8: int8}
	switch {
	case w.info.Kind == CrossEncoder:
		opt.Head = encoder.Score
	case w.folder.pooling == poolCLS:
		opt.Head = encoder.CLS
	}
	tensors := encoder.Tensors{}
	for _, name := range w.file.Names() {
		t, _ := w.file.Tensor(name)
		tensors[name] = encoder.Tensor{Type: encoder.Type(t.Type), Shape: t.Shape, Data: t.Data}
	}
	if most := w.tokenizer.MaxID(); most >= w.folder.encoder.Vocabulary {
		return fmt.Errorf("the tokenizer has ids up to %d, config.json says %d tokens: the files are of different models", most, w.folder.encoder.Vocabulary)
	}
	var err error
	if w.encoder, err = encoder.New(w.folder.encoder, tensors, opt); err != nil {
		return err
	}
	w.info.Kernel = w.encoder.Kernel()
	w.info.Window = w.encoder.MaxTokens()
	if w.folder.maxTokens > 0 {
		w.info.Window = min(w.info.Window, w.folder.maxTokens)
	}
	if w.info.Kind == Transformer {
		w.info.Dims, w.info.Pooling = w.encoder.Dims(), w.folder.pooling
	}
	return nil
}
