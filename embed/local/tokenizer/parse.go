package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
)

// tokenizerFile is a tokenizer.json.
type tokenizerFile struct {
	Added         []addedToken    `json:"added_tokens"`
	Normalizer    *normalizerFile `json:"normalizer"`
	PreTokenizer  *splitterFile   `json:"pre_tokenizer"`
	PostProcessor *templateFile   `json:"post_processor"`
	Model         json.RawMessage `json:"model"`
	Truncation    *struct {
		MaxLength int `json:"max_length"`
	} `json:"truncation"`
}

// Parse returns the tokenizer of the content of a tokenizer.json. The error wraps ErrFormat.
func Parse(content []byte) (*Tokenizer, error) {
	var f tokenizerFile
	if err := json.Unmarshal(content, &f); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	t, err := f.tokenizer()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return t, nil
}

// tokenizer returns the tokenizer that f describes.
func (f tokenizerFile) tokenizer() (*Tokenizer, error) {
	t := &Tokenizer{cache: newWordCache(), template: plain, unknown: -1}
	var err error
	if t.model, err = newModel(f.Model); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	if f.Normalizer != nil {
		if t.normalizers, err = newNormalizers(*f.Normalizer); err != nil {
			return nil, err
		}
	}
	if f.PreTokenizer != nil {
		if t.splitters, err = newSplitters(*f.PreTokenizer); err != nil {
			return nil, err
		}
	}
	if b, ok := t.model.(*bpe); ok && t.splitters == nil && b.atSpaces {
		t.splitters = []splitter{splitMarks} // the same tokens, from short words
	}
	if f.PostProcessor != nil {
		if t.template, err = newTemplate(*f.PostProcessor); err != nil {
			return nil, err
		}
	}
	if f.Truncation != nil {
		t.most = max(0, f.Truncation.MaxLength)
	}
	t.highest = max(t.model.highest(), t.template.highest())
	if id, ok := t.model.id(t.model.unknown()); ok {
		t.unknown = id
	}
	return t, t.insertAdded(f.Added)
}

// insertAdded adds the added tokens, which have the id that the model gives them, if it knows them.
func (t *Tokenizer) insertAdded(tokens []addedToken) error {
	for _, token := range tokens {
		if id, ok := t.model.id(token.Content); ok {
			token.ID = int64(id)
		}
		if token.ID < 0 || token.ID >= maxID {
			return fmt.Errorf("the added token %.40q has the id %d: ids are 0 to %d", token.Content, token.ID, maxID-1)
		}
		t.highest = max(t.highest, int32(token.ID))
		if !token.Normalized {
			t.added.literal.insert(token.Content, token)
			continue
		}
		content, err := t.normalize(token.Content)
		if err != nil {
			return err
		}
		t.added.normalized.insert(content, token)
	}
	return nil
}

// newModel returns the model that the JSON describes.
func newModel(data json.RawMessage) (model, error) {
	var kind struct {
		Type   string          `json:"type"`
		Merges json.RawMessage `json:"merges"`
		Vocab  json.RawMessage `json:"vocab"`
	}
	if len(data) == 0 {
		return nil, errors.New("the file has none")
	}
	if err := json.Unmarshal(data, &kind); err != nil {
		return nil, err
	}
	if kind.Type == "" { // of files of old versions
		switch {
		case len(kind.Merges) > 0:
			kind.Type = "BPE"
		case len(kind.Vocab) > 0 && kind.Vocab[0] == '[':
			kind.Type = "Unigram"
		default:
			kind.Type = "WordPiece"
		}
	}
	switch kind.Type {
	case "WordPiece":
		return parseModel(data, newWordPiece)
	case "Unigram":
		return parseModel(data, newUnigram)
	case "BPE":
		return parseModel(data, newBPE)
	}
	return nil, fmt.Errorf("the type %.40q is not supported; WordPiece, Unigram and BPE are", kind.Type)
}

// parseModel decodes the JSON of a model and makes it.
func parseModel[F any](data json.RawMessage, makeModel func(F) (model, error)) (model, error) {
	var f F
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	return makeModel(f)
}

// unmarshalPair decodes a JSON array of two elements.
func unmarshalPair[A, B any](data []byte, a *A, b *B) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	if len(parts) != 2 {
		return fmt.Errorf("%.60s is not a pair", data)
	}
	return errors.Join(json.Unmarshal(parts[0], a), json.Unmarshal(parts[1], b))
}
