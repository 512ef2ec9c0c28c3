package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"

	"kioku/embed/local/encoder"
	"kioku/embed/local/tokenizer"
)

// weights are the files of a model in memory, shared by all who opened it.
type weights struct {
	key    weightsKey
	info   Info // without Kernel
	folder *folder
	digest string
	file   *encoder.File
	gate   gate

	// What load makes, before the first text.
	loading   sync.Once
	loadErr   error
	tokenizer *tokenizer.Tokenizer // nil before, unless the files leave the window open
	table     *table               // of a static model
	encoder   *encoder.Encoder     // of the other kinds

	users int // guarded by opened.mu
}

// weightsKey tells weights apart: the folder, and the size and time of its large files.
type weightsKey struct {
	dir   string
	files string
}

// opened are the weights in use. They are the one thing that is global, because a second copy of a model in memory is what
// the map avoids.
var opened = struct {
	mu      sync.Mutex
	weights map[weightsKey]*weights
}{weights: map[weightsKey]*weights{}}

// acquire returns the weights of a folder, which release gives back.
func acquire(dir string) (*weights, error) {
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
	key := weightsKey{dir: dir}
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
		if w, err = describe(key, f); err != nil {
			return nil, err
		}
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

// describe opens the large files of a model and reads what they are of, but neither the weights nor the words.
func describe(key weightsKey, f *folder) (*weights, error) {
	file, err := encoder.Open(f.weightsPath)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrNoModel, f.dir, err)
	}
	w := &weights{key: key, folder: f, file: file}
	w.info = Info{Name: f.name(), Dir: f.dir, Kind: w.kind(), Parameters: file.Parameters()}
	if err := w.describeKind(); err != nil {
		file.Close()
		return nil, fmt.Errorf("%w: %s: %w", ErrNoModel, f.dir, err)
	}
	if w.digest, err = digest(f); err != nil {
		file.Close()
		return nil, err
	}
	return w, nil
}

// kind tells what the tensors are of.
func (w *weights) kind() Kind {
	if _, name := staticTensor(w.file); name != "" {
		return Static
	}
	if _, ok := w.file.Tensors()["classifier.weight"]; ok {
		return CrossEncoder
	}
	for _, a := range w.folder.config.Architectures {
		if strings.HasSuffix(a, "ForSequenceClassification") {
			return CrossEncoder
		}
	}
	return Transformer
}

// describeKind adds to the info what depends on the kind.
func (w *weights) describeKind() error {
	if w.info.Kind == Static {
		tensor, name := staticTensor(w.file)
		if len(tensor.Shape) != 2 || tensor.Len() == 0 {
			return fmt.Errorf("the tensor %q has the shape %v, not a row for each token", name, tensor.Shape)
		}
		w.info.Dims = tensor.Shape[1]
		return nil
	}
	if err := w.folder.encoder.Check(); err != nil {
		return err
	}
	if err := w.setWindow(); err != nil {
		return err
	}
	if w.info.Kind == Transformer {
		w.info.Dims, w.info.Pooling = w.folder.encoder.Hidden, w.folder.pooling
	}
	return nil
}

// setWindow sets the pooling and the largest number of tokens. Only if no other file says the number, it reads the tokenizer.
func (w *weights) setWindow() error {
	f := w.folder
	if f.setKnown(); f.maxTokens == 0 {
		if err := w.readTokenizer(); err != nil {
			return err
		}
		f.maxTokens = w.tokenizer.Limit()
	}
	w.info.Window = f.encoder.MaxTokens()
	if f.maxTokens > 0 {
		w.info.Window = min(w.info.Window, f.maxTokens)
	}
	return nil
}

// readTokenizer reads the tokenizer, unless that was done before.
func (w *weights) readTokenizer() (err error) {
	if w.tokenizer != nil {
		return nil
	}
	if w.tokenizer, err = tokenizer.Open(w.folder.tokenizerPath); err != nil {
		return fmt.Errorf("%s: %w", w.folder.tokenizerPath, err)
	}
	return nil
}

// load makes the model ready to compute, once for all users.
func (w *weights) load() error {
	w.loading.Do(func() {
		if err := w.build(); err != nil {
			w.loadErr = fmt.Errorf("%w: %s: %w", ErrNoModel, w.folder.dir, err)
		}
	})
	return w.loadErr
}

// build makes the model of the files.
func (w *weights) build() (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer recoverFault(&err)
	if err := w.readTokenizer(); err != nil {
		return err
	}
	if w.info.Kind == Static {
		w.table, err = newTable(w.file, w.tokenizer)
		return err
	}
	return w.buildEncoder()
}

// buildEncoder makes the encoder of a transformer or a cross-encoder. In integers of 8 bits it is twice as fast with a quarter of
// the memory, and vectors differ by a thousandth.
func (w *weights) buildEncoder() (err error) {
	opt := encoder.Options{Head: encoder.Mean, Int8: true}
	switch {
	case w.info.Kind == CrossEncoder:
		opt.Head = encoder.Score
	case w.folder.pooling == poolCLS:
		opt.Head = encoder.CLS
	}
	if most := w.tokenizer.MaxID(); most >= w.folder.encoder.Vocabulary {
		return fmt.Errorf("the tokenizer has ids up to %d, config.json says %d tokens: the files are of different models", most, w.folder.encoder.Vocabulary)
	}
	w.encoder, err = encoder.New(w.folder.encoder, w.file.Tensors(), opt)
	return err
}

// kernel names the code that computes; empty for a static model and before load.
func (w *weights) kernel() string {
	if w.encoder == nil {
		return ""
	}
	return w.encoder.Kernel()
}

// recoverFault turns a page of the file that was cut off while it is read into an error. It is deferred with
// debug.SetPanicOnFault set.
func recoverFault(err *error) {
	if fault := recover(); fault != nil {
		if _, memory := fault.(interface{ Addr() uintptr }); !memory {
			panic(fault)
		}
		*err = encoder.ErrChanged
	}
}
