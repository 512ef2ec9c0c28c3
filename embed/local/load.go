package local

import (
	"fmt"
	"runtime/debug"
	"strings"

	"kioku/embed/local/encoder"
	"kioku/embed/local/tokenizer"
)

// describe sets the info from the small files of a model and the header of the large one, without the weights and the words.
func (m *Model) describe(opt Options) error {
	m.info = Info{Name: m.folder.name(), Dir: m.folder.dir, Kind: m.kind(), Parameters: m.file.Parameters()}
	if err := m.describeKind(); err != nil {
		return err
	}
	digest, err := digest(m.folder)
	if err != nil {
		return err
	}
	m.info.setPrefixes(m.folder, opt)
	m.info.Fingerprint = fingerprint(digest, m.info.Pooling, m.info.DocumentPrefix, fmt.Sprint(m.info.Window, true)) // true stands for integers of 8 bits
	return nil
}

// kind tells what the tensors are of.
func (m *Model) kind() Kind {
	if _, name := staticTensor(m.file); name != "" {
		return Static
	}
	if _, ok := m.file.Tensors()["classifier.weight"]; ok {
		return CrossEncoder
	}
	for _, a := range m.folder.config.Architectures {
		if strings.HasSuffix(a, "ForSequenceClassification") {
			return CrossEncoder
		}
	}
	return Transformer
}

// describeKind adds to the info what depends on the kind.
func (m *Model) describeKind() error {
	if m.info.Kind == Static {
		tensor, name := staticTensor(m.file)
		if len(tensor.Shape) != 2 || tensor.Len() == 0 {
			return fmt.Errorf("the tensor %q has the shape %v, not a row for each token", name, tensor.Shape)
		}
		m.info.Dims = tensor.Shape[1]
		return nil
	}
	if err := m.folder.encoder.Check(); err != nil {
		return err
	}
	if err := m.setWindow(); err != nil {
		return err
	}
	if m.info.Kind == Transformer {
		m.info.Dims, m.info.Pooling = m.folder.encoder.Hidden, m.folder.pooling
	}
	return nil
}

// setWindow sets the pooling and the largest number of tokens. Only if no other file says the number, it reads the tokenizer.
func (m *Model) setWindow() error {
	f := m.folder
	if f.setKnown(); f.maxTokens == 0 {
		if err := m.readTokenizer(); err != nil {
			return err
		}
		f.maxTokens = m.tokenizer.Limit()
	}
	m.info.Window = f.encoder.MaxTokens()
	if f.maxTokens > 0 {
		m.info.Window = min(m.info.Window, f.maxTokens)
	}
	return nil
}

// readTokenizer reads the tokenizer, unless that was done before.
func (m *Model) readTokenizer() (err error) {
	if m.tokenizer != nil {
		return nil
	}
	if m.tokenizer, err = tokenizer.Open(m.folder.tokenizerPath); err != nil {
		return fmt.Errorf("%s: %w", m.folder.tokenizerPath, err)
	}
	return nil
}

// load makes the model ready to compute, once.
func (m *Model) load() error {
	m.loading.Do(func() {
		if err := m.build(); err != nil {
			m.loadErr = fmt.Errorf("%w: %s: %w", ErrNoModel, m.folder.dir, err)
		}
	})
	return m.loadErr
}

// build makes the model of the files.
func (m *Model) build() (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer recoverFault(&err)
	if err := m.readTokenizer(); err != nil {
		return err
	}
	if m.info.Kind == Static {
		m.table, err = newTable(m.file, m.tokenizer)
		return err
	}
	return m.buildEncoder()
}

// buildEncoder makes the encoder of a transformer or a cross-encoder. In integers of 8 bits it is twice as fast with a quarter of
// the memory, and vectors differ by a thousandth.
func (m *Model) buildEncoder() (err error) {
	opt := encoder.Options{Head: encoder.Mean, Int8: true}
	switch {
	case m.info.Kind == CrossEncoder:
		opt.Head = encoder.Score
	case m.folder.pooling == poolCLS:
		opt.Head = encoder.CLS
	}
	if most := m.tokenizer.MaxID(); most >= m.folder.encoder.Vocabulary {
		return fmt.Errorf("the tokenizer has ids up to %d, config.json says %d tokens: the files are of different models", most, m.folder.encoder.Vocabulary)
	}
	m.encoder, err = encoder.New(m.folder.encoder, m.file.Tensors(), opt)
	return err
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
