package local_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kioku/embed/local"
)

// writeJSON writes a JSON file into a folder.
func writeJSON(t testing.TB, file string, content any) {
	t.Helper()
	data, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// A folder as Hugging Face publishes it is told apart by its files; pooling, window and prefixes come from the model's own
// files, or from a table by name.
func TestOpenReadsWhatTheFilesSay(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	for _, c := range []struct {
		name, folder string
		files        map[string]any
		want         local.Info
	}{
		{"no file says it", "some-model", nil, local.Info{Name: "some-model", Pooling: "mean", Window: 64}},
		{"known by name", "bge-small-en-v1.5", nil, local.Info{Name: "bge-small-en-v1.5", Pooling: "cls", Window: 64, QueryPrefix: "Represent this sentence for searching relevant passages: "}},
		{"in the cache of Hugging Face", "models--BAAI--bge-small-en/snapshots/5c38ec7", nil, local.Info{Name: "bge-small-en", Pooling: "cls", Window: 64, QueryPrefix: "Represent this sentence for searching relevant passages: "}},
		{"its own files", "bge-like", map[string]any{
			"modules.json": []object{{"path": "", "type": "sentence_transformers.models.Transformer"},
				{"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}, {"path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}},
			"1_Pooling/config.json":                 object{"pooling_mode_mean_tokens": true},
			"sentence_bert_config.json":             object{"max_seq_length": 48},
			"config_sentence_transformers.json":     object{"prompts": object{"query": "search: ", "document": "", "passage": "text: "}},
			"special_tokens_map.json":               object{"cls_token": "[CLS]"},
			"1_Pooling/unrelated_file_of_tools.txt": "nothing",
		}, local.Info{Name: "bge-like", Pooling: "mean", Window: 48, QueryPrefix: "search: ", DocumentPrefix: "text: "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), c.folder)
			writeTransformer(t, dir, modelShape{})
			for name, content := range c.files {
				writeJSON(t, filepath.Join(dir, name), content)
			}
			got := open(t, dir, local.Options{}).Info()
			if got.Pooling != c.want.Pooling || got.Window != c.want.Window || got.QueryPrefix != c.want.QueryPrefix || got.DocumentPrefix != c.want.DocumentPrefix {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			if got.Name != c.want.Name || got.Kind != local.Transformer || got.Dims != 16 || got.Parameters < 1000 || got.Fingerprint == "" {
				t.Errorf("%+v", got)
			}
		})
	}
}

// A truncated, a hostile or a foreign folder is a clear error.
func TestOpenRefusesAFolderWithoutAUsableModel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(t *testing.T, dir string)
		want   string
	}{
		{"nothing there", func(t *testing.T, dir string) { os.RemoveAll(dir) }, "no such file"},
		{"a file", func(t *testing.T, dir string) { os.RemoveAll(dir); os.WriteFile(dir, nil, 0o644) }, "not a folder"},
		{"no weights", func(t *testing.T, dir string) { os.Remove(dir + "/model.safetensors") }, "no model.safetensors"},
		{"weights of PyTorch", func(t *testing.T, dir string) { os.Rename(dir+"/model.safetensors", dir+"/pytorch_model.bin") }, "another format"},
		{"weights in parts", func(t *testing.T, dir string) {
			os.Remove(dir + "/model.safetensors")
			writeJSON(t, dir+"/model.safetensors.index.json", map[string]any{})
		}, "several files"},
		{"no tokenizer", func(t *testing.T, dir string) { os.Remove(dir + "/tokenizer.json") }, "no tokenizer.json"},
		{"weights cut off", func(t *testing.T, dir string) { os.Truncate(dir+"/model.safetensors", 5000) }, "cut off"},
		{"tokenizer cut off", func(t *testing.T, dir string) { os.Truncate(dir+"/tokenizer.json", 50) }, "tokenizer.json"},
		{"config that is no JSON", func(t *testing.T, dir string) { os.WriteFile(dir+"/config.json", []byte("{"), 0o644) }, "config.json"},
		{"config of a hostile size", func(t *testing.T, dir string) { os.Truncate(dir+"/config.json", 1<<30) }, "too large"},
		{"another architecture", func(t *testing.T, dir string) {
			writeJSON(t, dir+"/config.json", map[string]any{"model_type": "mpnet", "vocab_size": 999})
		}, "mpnet"},
		{"config of another model", func(t *testing.T, dir string) {
			writeJSON(t, dir+"/config.json", map[string]any{"model_type": "bert", "vocab_size": 10})
		}, "num_hidden_layers"},
		{"tokenizer of another model", func(t *testing.T, dir string) {
			words := make([]string, 2000)
			for i := range words {
				words[i] = strings.Repeat("x", i%100) + string(rune('a'+i/100))
			}
			writeTokenizer(t, dir, words)
		}, "different models"},
		{"another pooling", func(t *testing.T, dir string) {
			writeJSON(t, dir+"/modules.json", []map[string]any{{"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}})
			writeJSON(t, dir+"/1_Pooling/config.json", map[string]any{"pooling_mode_max_tokens": true})
		}, "pooling"},
		{"another module", func(t *testing.T, dir string) {
			writeJSON(t, dir+"/modules.json", []map[string]any{{"path": "2_Dense", "type": "sentence_transformers.models.Dense"}})
		}, "Dense"},
		{"path out of the folder", func(t *testing.T, dir string) {
			writeJSON(t, dir+"/modules.json", []map[string]any{{"path": "../../etc", "type": "sentence_transformers.models.Transformer"}})
		}, "etc"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "model")
			writeTransformer(t, dir, modelShape{})
			c.change(t, dir)
			m, err := local.Open(dir, local.Options{})
			if !errors.Is(err, local.ErrNoModel) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want one with %q", err, c.want)
			}
			if m != nil {
				m.Close()
			}
		})
	}
}

// A transformer gives unit vectors that depend on the words, and says of how much of a long text they are: the vector is that of
// the beginning.
func TestTransformerEmbedsTheBeginningOfALongText(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeTransformer(t, dir, modelShape{Window: 32})
	m := open(t, dir, local.Options{})
	long := strings.Repeat("the laptop sleeps and the garden blooms ", 30)
	embedded, err := m.Embed(t.Context(), local.Document, []string{"laptop", long, "garden"})
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range embedded {
		if e.Err != nil || math.Abs(dot(e.Vector, e.Vector)-1) > 1e-5 {
			t.Errorf("text %d: %v, the length of the vector squared is %f", i, e.Err, dot(e.Vector, e.Vector))
		}
	}
	if e := embedded[0]; e.Tokens != 3 || e.Bytes != 0 {
		t.Errorf("one word has %d tokens of %d bytes, want 3 of the whole text", e.Tokens, e.Bytes)
	}
	e := embedded[1]
	if e.Tokens != 32 || e.Bytes < 100 || e.Bytes > 300 {
		t.Fatalf("the long text has %d tokens, of the first %d bytes", e.Tokens, e.Bytes)
	}
	whole := embed(t, m, long[:e.Bytes])[0]
	if cosine := dot(whole, e.Vector); cosine < .9 {
		t.Errorf("the vector of the beginning has the cosine %.3f to that of the whole", cosine)
	}
	if cosine := dot(embedded[0].Vector, embedded[2].Vector); cosine > .999 {
		t.Errorf("two words have the cosine %.4f", cosine)
	}
}

// A file with the same name and other weights is another vector space, and the same file is the same one.
func TestFingerprintChangesWithTheModel(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	fingerprint := func(name string, shape modelShape, opt local.Options) string {
		dir := filepath.Join(t.TempDir(), "model")
		writeTransformer(t, dir, shape)
		got := open(t, dir, opt).Info().Fingerprint
		if other, ok := seen[got]; ok {
			t.Errorf("%s has the fingerprint of %s", name, other)
		}
		seen[got] = name
		return got
	}
	prefix := "passage: "
	first := fingerprint("the model", modelShape{}, local.Options{})
	fingerprint("other weights", modelShape{Seed: 1}, local.Options{})
	fingerprint("another type", modelShape{Type: "F16"}, local.Options{})
	fingerprint("a prefix of documents", modelShape{}, local.Options{DocumentPrefix: &prefix})
	delete(seen, first)
	if again := fingerprint("the model again", modelShape{}, local.Options{QueryPrefix: &prefix}); again != first {
		t.Errorf("the same files have the fingerprints %s and %s", first, again)
	}
}

// A closed model answers with an error, and another one of the same folder goes on.
func TestClosedModelDoesNotAnswer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeTransformer(t, dir, modelShape{})
	a, b := open(t, dir, local.Options{}), open(t, dir, local.Options{})
	if err := errors.Join(a.Close(), a.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Embed(t.Context(), local.Query, []string{"laptop"}); !errors.Is(err, local.ErrClosed) {
		t.Errorf("a closed model answers with the error %v", err)
	}
	embed(t, b, "laptop")
}

// A cross-encoder scores pairs; it has no vectors, and the others have no scores.
func TestCrossEncoderScoresPassages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeCrossEncoder(t, dir, modelShape{})
	m := open(t, dir, local.Options{})
	if kind := m.Info().Kind; kind != local.CrossEncoder {
		t.Fatalf("it is a %v", kind)
	}
	passages := []string{"the laptop sleeps", "garden", strings.Repeat("the budget of the month ", 40), ""}
	scores, scored, err := m.Score(t.Context(), "does my laptop sleep", passages)
	if err != nil || len(scores) != 4 || !scored[0] || !scored[1] || !scored[2] || !scored[3] {
		t.Fatalf("scores %v, %v, error %v", scores, scored, err)
	}
	for i, passage := range passages {
		alone, _, err := m.Score(t.Context(), "does my laptop sleep", []string{passage})
		if err != nil || math.Abs(alone[0]-scores[i]) > 1e-4 {
			t.Errorf("passage %d has the score %f, and %f alone (%v)", i, scores[i], alone[0], err)
		}
	}
	if scores[0] == scores[1] {
		t.Error("different passages have the same score")
	}
	if _, err := m.Embed(t.Context(), local.Query, []string{"a"}); !errors.Is(err, local.ErrWrongKind) {
		t.Errorf("vectors of a cross-encoder: error %v", err)
	}
}

// The three types of weights give nearly the same vectors.
func TestTransformerReadsEveryTypeOfWeights(t *testing.T) {
	t.Parallel()
	var want []float32
	for _, dtype := range []string{"F32", "F16", "BF16"} {
		dir := t.TempDir()
		writeTransformer(t, dir, modelShape{Type: dtype})
		got := embed(t, open(t, dir, local.Options{}), "the laptop sleeps while the garden blooms")[0]
		if want == nil {
			want = got
		}
		if cosine := dot(got, want); cosine < .999 {
			t.Errorf("%s has the cosine %.5f to F32", dtype, cosine)
		}
	}
}

// Any config.json, modules.json and pooling file is refused or read, whatever it says.
func FuzzOpenConfig(f *testing.F) {
	f.Add([]byte(`{"model_type": "bert", "hidden_size": 16}`), []byte(`[{"path": "1_Pooling", "type": "x.Pooling"}]`), []byte(`{"pooling_mode_cls_token": true}`))
	f.Add([]byte(`{"_name_or_path": "../..", "num_hidden_layers": 99999999999}`), []byte(`[{"path": "/etc", "type": ""}]`), []byte(`{"max_seq_length": -4}`))
	dir := f.TempDir()
	writeTransformer(f, dir, modelShape{})
	valid, err := os.ReadFile(filepath.Join(dir, "config.json"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(valid, []byte(`[]`), []byte(`{}`))
	os.Mkdir(filepath.Join(dir, "1_Pooling"), 0o755)
	f.Fuzz(func(t *testing.T, config, modules, pooling []byte) {
		for name, content := range map[string][]byte{"config.json": config, "modules.json": modules, "1_Pooling/config.json": pooling, "sentence_bert_config.json": pooling} {
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		m, err := local.Open(dir, local.Options{})
		if err != nil {
			return
		}
		defer m.Close()
		if _, err := m.Embed(t.Context(), local.Document, []string{"laptop", strings.Repeat("garden ", 100)}); err != nil {
			t.Errorf("a model that opens does not embed: %v", err)
		}
	})
}
