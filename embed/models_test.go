package embed_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"kioku/embed"
	"kioku/embed/local"
	"kioku/embed/local/tokenizer"
)

// golden is a file of token ids and vectors that another program computed with the same models, by the name of the model's folder.
type golden struct {
	Texts  []string               `json:"texts"`
	Models map[string]goldenModel `json:"models"`
}

// goldenModel is what a model makes of the texts: a transformer as queries and as passages, a static model as they are.
type goldenModel struct {
	Dims    int           `json:"dims"`
	Query   *goldenTexts  `json:"query"`
	Passage *goldenTexts  `json:"passage"`
	Cosines [][]float64   `json:"cosine_query_passage"`
	IDs     [][]int32     `json:"token_ids"`
	First   [][]float64   `json:"first_8"`
	Static  [][]float64   `json:"cosine"`
	Whole   *wholeVectors `json:"whole"`
}

type goldenTexts struct {
	IDs   [][]int32   `json:"token_ids"`
	First [][]float64 `json:"first_8"`
}

// wholeVectors are all numbers of the vectors, which not every golden file has.
type wholeVectors struct {
	Query   [][]float64 `json:"query"`
	Passage [][]float64 `json:"passage"`
}

// realModels returns the folder of real models and the golden file of them; without them the test is skipped.
func realModels(t *testing.T) (string, golden) {
	t.Helper()
	dir, file := os.Getenv("KIOKU_MODELS"), os.Getenv("KIOKU_GOLDEN")
	if dir == "" || file == "" {
		t.Skip("make test-models MODELS=DIR runs it: DIR has the models, and golden.json of them")
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(content, &g); err != nil {
		t.Fatal(err)
	}
	return dir, g
}

// Token ids equal to and vectors close to those of ONNX Runtime, for each model of the golden file.
func TestRealModelsComputeTheGoldenVectors(t *testing.T) {
	dir, g := realModels(t)
	for name, want := range g.Models {
		t.Run(name, func(t *testing.T) {
			client, err := embed.New(embed.Config{Provider: "local", ModelDir: filepath.Join(dir, name)})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { client.Close() })
			info, _ := client.Local()
			if info.Dims != want.Dims {
				t.Errorf("the model has %d dimensions, want %d", info.Dims, want.Dims)
			}
			model, err := local.Open(info.Dir, local.Options{QueryPrefix: &info.QueryPrefix, DocumentPrefix: &info.DocumentPrefix})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { model.Close() })
			compareModel(t, model, g.Texts, want)
		})
	}
}

// compareModel compares the ids and vectors of a model with the golden ones.
func compareModel(t *testing.T, model *local.Model, texts []string, want goldenModel) {
	t.Helper()
	info := model.Info()
	tok, err := tokenizer.Open(filepath.Join(info.Dir, "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	passages := vectorsOf(t, model, local.Document, texts)
	if info.Kind == local.Static {
		for i, text := range texts {
			ids, _, err := tok.Tokens(text, 0)
			if err != nil || !sameIDs(ids, want.IDs[i]) {
				t.Errorf("text %d has the ids %v (%v), want %v", i, ids, err, want.IDs[i])
			}
		}
		compareFirst(t, passages, want.First)
		compareCosines(t, passages, passages, want.Static, 5e-4)
		return
	}
	queries := vectorsOf(t, model, local.Query, texts)
	compareIDs(t, tok, info.QueryPrefix, info.Window, texts, want.Query.IDs)
	compareIDs(t, tok, info.DocumentPrefix, info.Window, texts, want.Passage.IDs)
	compareCosines(t, queries, passages, want.Cosines, .02)
	if want.Whole != nil {
		compareWhole(t, queries, want.Whole.Query)
		compareWhole(t, passages, want.Whole.Passage)
	}
}

func vectorsOf(t *testing.T, model *local.Model, task local.Task, texts []string) [][]float32 {
	t.Helper()
	embedded, err := model.Embed(t.Context(), task, texts)
	if err != nil {
		t.Fatal(err)
	}
	vectors := make([][]float32, len(texts))
	for i, e := range embedded {
		if e.Err != nil {
			t.Fatalf("text %d: %v", i, e.Err)
		}
		vectors[i] = e.Vector
	}
	return vectors
}

// sameIDs reports whether ids are those of the file, which writes -1 for the middle of a long text.
func sameIDs(ids, want []int32) bool {
	gap := slices.Index(want, -1)
	if gap < 0 {
		return slices.Equal(ids, want)
	}
	begin, end := want[:gap], want[gap+1:]
	return len(ids) > len(want) && slices.Equal(ids[:gap], begin) && slices.Equal(ids[len(ids)-len(end):], end)
}

func compareIDs(t *testing.T, tok *tokenizer.Tokenizer, prefix string, window int, texts []string, want [][]int32) {
	t.Helper()
	for i, text := range texts {
		e, err := tok.Encode(prefix+text, window)
		if err != nil || !sameIDs(e.IDs, want[i]) {
			t.Errorf("text %d after %q has the ids %v (%v), want %v", i, prefix, e.IDs, err, want[i])
		}
	}
}

// compareFirst compares the first numbers of vectors, which the file has with six digits.
func compareFirst(t *testing.T, got [][]float32, want [][]float64) {
	t.Helper()
	for i, vector := range got {
		for j, x := range want[i] {
			if math.Abs(float64(vector[j])-x) > 2e-4 {
				t.Errorf("text %d: number %d is %.6f, want %.6f", i, j, vector[j], x)
			}
		}
	}
}

// compareCosines compares the cosine of each query with each passage. A transformer may compute in integers of 8 bits.
func compareCosines(t *testing.T, queries, passages [][]float32, want [][]float64, slack float64) {
	t.Helper()
	for i, q := range queries {
		for j, p := range passages {
			if got := dot(q, p); math.Abs(got-want[i][j]) > slack {
				t.Errorf("the cosine of %d and %d is %.5f, want %.5f", i, j, got, want[i][j])
			}
		}
	}
}

// compareWhole demands a cosine of .995 to the vectors of the other program, since a transformer may compute in integers of 8 bits. That it
// computes the same in floating point is what TestEncodeEqualsAnotherRuntime tries.
func compareWhole(t *testing.T, got [][]float32, want [][]float64) {
	t.Helper()
	for i, vector := range got {
		reference := make([]float32, len(want[i]))
		for j, x := range want[i] {
			reference[j] = float32(x)
		}
		if cosine := dot(vector, reference); cosine < .995 {
			t.Errorf("text %d: the cosine to the reference is %.6f, want .995", i, cosine)
		}
	}
}
