package speed

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"kioku/embed"
)

const (
	// staticTexts of staticTokens tokens, as chunks have, are embedded with staticRows rows of staticDims numbers.
	staticTexts, staticTokens = 8_000, 400
	staticRows, staticDims    = 30_000, 256
	// staticLimit is how long one processor may need for one of them: 20,000 a second with two.
	staticLimit = 100 * time.Microsecond
)

// staticModel compares the time in which a static model embeds chunks with the limit for this number of processors.
func staticModel(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	dir := filepath.Join(e.Dir, "model")
	if err := writeStaticModel(dir); err != nil {
		return 0, 0, err
	}
	client, err := embed.New(embed.Config{Provider: "local", ModelDir: dir})
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	w := newWords(7)
	texts := make([]string, staticTexts)
	for i := range texts {
		var b strings.Builder
		for tokens := 0; tokens < staticTokens; tokens += 100 {
			w.text(&b, i%topics, 80) // a rare word is several tokens
			b.WriteString(".\n")
		}
		texts[i] = b.String()
	}
	var took times
	for round := range 4 { // in the first one the words are not cached
		e.Step(round, 4)
		if err := took.measure(func() error { return embedAll(ctx, client, texts) }); err != nil {
			return 0, 0, err
		}
	}
	limit := staticTexts * staticLimit / time.Duration(runtime.GOMAXPROCS(0))
	return took[1:].median(), float64(limit.Milliseconds()), nil
}

// embedAll embeds texts, each of which has to have a vector.
func embedAll(ctx context.Context, client *embed.Client, texts []string) error {
	embedded, err := client.Documents(ctx, texts)
	for _, e := range embedded {
		err = errors.Join(err, e.Err)
	}
	return err
}

// writeStaticModel writes a static model of the most frequent words, the letters, and rows that mean nothing.
func writeStaticModel(dir string) error {
	vocabulary := map[string]int{"[UNK]": 0}
	insert := func(token string) {
		if _, ok := vocabulary[token]; !ok && len(vocabulary) < staticRows {
			vocabulary[token] = len(vocabulary)
		}
	}
	for letter := 'a'; letter <= 'z'; letter++ {
		insert(string(letter))
		insert("##" + string(letter))
	}
	insert(".")
	for _, word := range spellings() {
		insert(word)
	}
	tokenizer, err := json.Marshal(map[string]any{
		"normalizer":    map[string]any{"type": "BertNormalizer"},
		"pre_tokenizer": map[string]any{"type": "BertPreTokenizer"},
		"model":         map[string]any{"type": "WordPiece", "unk_token": "[UNK]", "vocab": vocabulary},
	})
	if err != nil {
		return err
	}
	const size = staticRows * staticDims * 2
	header := fmt.Sprintf(`{"embeddings":{"dtype":"F16","shape":[%d,%d],"data_offsets":[0,%d]}}`, staticRows, staticDims, size)
	weights := append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)
	for i := range staticRows * staticDims {
		weights = binary.LittleEndian.AppendUint16(weights, 0x3c00|uint16(i*7919)&0x83ff) // between 1 and 2, of both signs
	}
	return errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "tokenizer.json"), tokenizer, 0o600),
		os.WriteFile(filepath.Join(dir, "model.safetensors"), weights, 0o600))
}
