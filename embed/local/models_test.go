// Models of a few kilobytes, in the formats of real ones: a static model that was trained, so that a paraphrase is nearer than a
// stranger, and transformers and cross-encoders whose weights are random. Those in testdata are written by writeStatic, and by
// writeTransformer and writeCrossEncoder with numbers of 16 bits, for tests of other packages.

package local_test

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// modelShape is the size of a random transformer. The zero value is 2 layers of 16 dimensions.
type modelShape struct {
	// Layers is the number of layers; 0 means 2.
	Layers int
	// Hidden is the number of dimensions, a multiple of 4; 0 means 16.
	Hidden int
	// Window is the largest number of tokens; 0 means 64.
	Window int
	// Type is the type of the numbers in the file: F32, F16 or BF16; empty means F32.
	Type string
	// Seed chooses the weights.
	Seed uint64
}

func (s modelShape) withDefaults() modelShape {
	if s.Layers == 0 {
		s.Layers = 2
	}
	if s.Hidden == 0 {
		s.Hidden = 16
	}
	if s.Window == 0 {
		s.Window = 64
	}
	if s.Type == "" {
		s.Type = "F32"
	}
	return s
}

// writeStatic writes a static model into dir: the rows of its words are trained on testdata/texts.md by principal components
// of the words' co-occurrence. It knows English words about laptops, refunds, deployment, keyboards, cooking, gardens, meetings and
// money.
func writeStatic(tb testing.TB, dir string) {
	tb.Helper()
	words, rows := trained()
	writeTokenizer(tb, dir, words)
	writeJSON(tb, filepath.Join(dir, "config.json"), map[string]any{"model_type": "model2vec", "normalize": true, "hidden_dim": staticDims})
	writeTensors(tb, filepath.Join(dir, "model.safetensors"), tensor{Name: "embeddings", Type: "F16", Shape: []int{len(rows) / staticDims, staticDims}, Values: rows})
}

// writeTransformer writes a BERT model with random weights into dir, whose vocabulary is that of writeStatic.
func writeTransformer(tb testing.TB, dir string, shape modelShape) {
	tb.Helper()
	writeBERT(tb, dir, shape.withDefaults(), "BertModel", nil)
}

// writeCrossEncoder writes a cross-encoder with random weights into dir, whose vocabulary is that of writeStatic.
func writeCrossEncoder(tb testing.TB, dir string, shape modelShape) {
	tb.Helper()
	s := shape.withDefaults()
	random := rand.New(rand.NewPCG(s.Seed, 2))
	writeBERT(tb, dir, s, "BertForSequenceClassification", []tensor{
		matrix(random, s, "bert.pooler.dense.weight", s.Hidden, s.Hidden),
		vector(s, "bert.pooler.dense.bias", s.Hidden, 0),
		matrix(random, s, "classifier.weight", 1, s.Hidden),
		vector(s, "classifier.bias", 1, 0),
	})
}

// writeBERT writes the files of a BERT model; more are tensors beside those of the encoder.
func writeBERT(tb testing.TB, dir string, s modelShape, architecture string, more []tensor) {
	tb.Helper()
	words, _ := trained()
	vocabulary := writeTokenizer(tb, dir, words)
	writeJSON(tb, filepath.Join(dir, "config.json"), map[string]any{
		"architectures": []string{architecture}, "model_type": "bert", "vocab_size": vocabulary, "hidden_size": s.Hidden,
		"num_hidden_layers": s.Layers, "num_attention_heads": 4, "intermediate_size": 2 * s.Hidden, "hidden_act": "gelu",
		"layer_norm_eps": 1e-12, "max_position_embeddings": s.Window, "type_vocab_size": 2,
	})
	prefix := ""
	if more != nil {
		prefix = "bert."
	}
	random := rand.New(rand.NewPCG(s.Seed, 1))
	tensors := append(more,
		matrix(random, s, prefix+"embeddings.word_embeddings.weight", vocabulary, s.Hidden),
		matrix(random, s, prefix+"embeddings.position_embeddings.weight", s.Window, s.Hidden),
		matrix(random, s, prefix+"embeddings.token_type_embeddings.weight", 2, s.Hidden),
		vector(s, prefix+"embeddings.LayerNorm.weight", s.Hidden, 1),
		vector(s, prefix+"embeddings.LayerNorm.bias", s.Hidden, 0))
	for layer := range s.Layers {
		tensors = append(tensors, layerTensors(random, s, prefix+"encoder.layer."+strconv.Itoa(layer)+".")...)
	}
	writeTensors(tb, filepath.Join(dir, "model.safetensors"), tensors...)
}

// layerTensors returns the tensors of one layer.
func layerTensors(random *rand.Rand, s modelShape, prefix string) []tensor {
	var tensors []tensor
	linear := func(name string, out, in int) {
		tensors = append(tensors, matrix(random, s, prefix+name+".weight", out, in), vector(s, prefix+name+".bias", out, 0))
	}
	norm := func(name string) {
		tensors = append(tensors, vector(s, prefix+name+".weight", s.Hidden, 1), vector(s, prefix+name+".bias", s.Hidden, 0))
	}
	linear("attention.self.query", s.Hidden, s.Hidden)
	linear("attention.self.key", s.Hidden, s.Hidden)
	linear("attention.self.value", s.Hidden, s.Hidden)
	linear("attention.output.dense", s.Hidden, s.Hidden)
	norm("attention.output.LayerNorm")
	linear("intermediate.dense", 2*s.Hidden, s.Hidden)
	linear("output.dense", s.Hidden, 2*s.Hidden)
	norm("output.LayerNorm")
	return tensors
}

// matrix returns a tensor of random numbers.
func matrix(random *rand.Rand, s modelShape, name string, rows, columns int) tensor {
	values := make([]float32, rows*columns)
	for i := range values {
		values[i] = float32(random.NormFloat64()) / 4
	}
	return tensor{Name: name, Type: s.Type, Shape: []int{rows, columns}, Values: values}
}

// vector returns a tensor of n times the same number.
func vector(s modelShape, name string, n int, value float32) tensor {
	values := make([]float32, n)
	for i := range values {
		values[i] = value
	}
	return tensor{Name: name, Type: s.Type, Shape: []int{n}, Values: values}
}

// writeTokenizer writes a tokenizer.json of WordPiece into dir, whose tokens are the special ones of BERT, words and single
// letters, and returns the number of tokens. The ids of the words begin with 5.
func writeTokenizer(tb testing.TB, dir string, words []string) int {
	tb.Helper()
	vocabulary := map[string]int{}
	insert := func(token string) {
		if _, ok := vocabulary[token]; !ok {
			vocabulary[token] = len(vocabulary)
		}
	}
	special := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
	for _, token := range append(special, words...) {
		insert(token)
	}
	var added []map[string]any
	for i, token := range special {
		added = append(added, map[string]any{"id": i, "content": token, "special": true})
	}
	part := func(kind, id string, segment int) map[string]any {
		return map[string]any{kind: map[string]any{"id": id, "type_id": segment}}
	}
	writeJSON(tb, filepath.Join(dir, "tokenizer.json"), map[string]any{
		"version":       "1.0",
		"added_tokens":  added,
		"normalizer":    map[string]any{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "lowercase": true},
		"pre_tokenizer": map[string]any{"type": "BertPreTokenizer"},
		"post_processor": map[string]any{"type": "TemplateProcessing",
			"single": []any{part("SpecialToken", "[CLS]", 0), part("Sequence", "A", 0), part("SpecialToken", "[SEP]", 0)},
			"pair": []any{part("SpecialToken", "[CLS]", 0), part("Sequence", "A", 0), part("SpecialToken", "[SEP]", 0),
				part("Sequence", "B", 1), part("SpecialToken", "[SEP]", 1)},
			"special_tokens": map[string]any{"[CLS]": map[string]any{"id": "[CLS]", "ids": []int{2}}, "[SEP]": map[string]any{"id": "[SEP]", "ids": []int{3}}},
		},
		"model": map[string]any{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocabulary},
	})
	return len(vocabulary)
}

var update = flag.Bool("update", false, "write the models of testdata")

// The models of testdata are those that the functions of this file write.
func TestModelsOfTestdataAreWritten(t *testing.T) {
	for name, write := range map[string]func(dir string){
		"static":      func(dir string) { writeStatic(t, dir) },
		"transformer": func(dir string) { writeTransformer(t, dir, modelShape{Type: "F16"}) },
		"cross":       func(dir string) { writeCrossEncoder(t, dir, modelShape{Type: "F16", Seed: 3}) },
	} {
		kept, dir := filepath.Join("testdata", name), t.TempDir()
		if *update {
			write(kept)
		}
		write(dir)
		for _, file := range []string{"config.json", "model.safetensors", "tokenizer.json"} {
			want, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(filepath.Join(kept, file)); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s of %s is stale (%v); go test -run Testdata -update ./embed/local writes it", file, name, err)
			}
		}
	}
}
