package local_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"kioku/embed/local"
	"kioku/embed/local/encoder"
)

// open opens a model and closes it at the end of the test.
func open(t *testing.T, dir string, opt local.Options) *local.Model {
	t.Helper()
	m, err := local.Open(dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// embed returns the vectors of texts as documents.
func embed(t *testing.T, m *local.Model, texts ...string) [][]float32 {
	t.Helper()
	embedded, err := m.Embed(t.Context(), local.Document, texts)
	if err != nil {
		t.Fatal(err)
	}
	vectors := make([][]float32, len(texts))
	for i, e := range embedded {
		if e.Err != nil {
			t.Fatalf("%q: %v", texts[i], e.Err)
		}
		vectors[i] = e.Vector
	}
	return vectors
}

func dot(a, b []float32) (sum float64) {
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}

// A static model that is trained in the test by principal components of co-occurrence: a paraphrase without a common word is
// nearer than a stranger.
func TestStaticModelFindsAParaphraseNearerThanAStranger(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeStatic(t, dir)
	m := open(t, dir, local.Options{})
	if info := m.Info(); info.Kind != local.Static || info.Dims != 16 || info.Window != 0 {
		t.Errorf("Info is %+v, want a static model of 16 dimensions", info)
	}
	for _, c := range []struct{ question, answer, stranger string }{
		{"stop my laptop from sleeping", "caffeinate keeps a macbook awake", "a hotkey opens the palette"},
		{"can i get my money back", "reimbursement is paid to customers by support", "a server logs every rollout"},
		{"change keybindings", "keyboard hotkeys", "boil salted pasta"},
		{"was an appointment delayed", "team meeting postponed to thursday", "garlic and olive oil"},
	} {
		v := embed(t, m, c.question, c.answer, c.stranger)
		if near, far := dot(v[0], v[1]), dot(v[0], v[2]); near < far+.3 {
			t.Errorf("%q: cosine %.2f to %q and %.2f to %q", c.question, near, c.answer, far, c.stranger)
		}
	}
}

// tinyStatic writes a static model of three words into a folder.
func tinyStatic(t *testing.T, tensors ...tensor) string {
	t.Helper()
	dir := t.TempDir()
	writeTokenizer(t, dir, []string{"red", "green", "blue"}) // 5, 6, 7
	writeTensors(t, filepath.Join(dir, "model.safetensors"), tensors...)
	return dir
}

// rows are the rows of the eight tokens of tinyStatic: those of the words are (3, 4), (0, 2) and (-1, 0).
var rows = []float32{9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 3, 4, 0, 2, -1, 0}

// Look up, average, normalise: rows of F32, F16, BF16 and int8, a mapping of tokens to rows, and weights of tokens.
func TestStaticModelAveragesRowsOfEveryFormat(t *testing.T) {
	t.Parallel()
	want := map[string][2]float64{"red": {.6, .8}, "Red, green!": {3 / math.Hypot(3, 6), 6 / math.Hypot(3, 6)}}
	formats := map[string][]tensor{}
	for _, dtype := range []string{"F32", "F16", "BF16", "I8"} {
		formats[dtype] = []tensor{{Name: "embedding.weight", Type: dtype, Shape: []int{8, 2}, Values: rows}}
	}
	formats["mapping and weights"] = []tensor{
		{Name: "embeddings", Type: "F32", Shape: []int{3, 2}, Values: []float32{1.5, 2, 0, 1, 9, 9}},
		{Name: "mapping", Type: "I32", Shape: []int{8}, Values: []float32{2, 2, 2, 2, 2, 0, 1, 2}},
		{Name: "weights", Type: "F32", Shape: []int{8}, Values: []float32{1, 1, 1, 1, 1, 2, 2, 1}},
	}
	for name, tensors := range formats {
		t.Run(name, func(t *testing.T) {
			m := open(t, tinyStatic(t, tensors...), local.Options{})
			for text, w := range want {
				v := embed(t, m, text)[0]
				if math.Abs(float64(v[0])-w[0]) > 1e-6 || math.Abs(float64(v[1])-w[1]) > 1e-6 {
					t.Errorf("%q has the vector %v, want %v", text, v, w)
				}
			}
		})
	}
}

// A text without a known token, or whose rows cancel out, has an error of its own and does not affect the others.
func TestStaticModelGivesATextWithoutTokensItsOwnError(t *testing.T) {
	t.Parallel()
	m := open(t, tinyStatic(t, tensor{Name: "embeddings", Type: "F32", Shape: []int{8, 2},
		Values: []float32{9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 3, 4, -3, -4, float32(math.NaN()), 0}}), local.Options{})
	embedded, err := m.Embed(t.Context(), local.Query, []string{"", "unknown", "red", "red green", "blue"})
	if err != nil {
		t.Fatal(err)
	}
	for i, wantErr := range []bool{true, true, false, true, true} {
		if e := embedded[i]; errors.Is(e.Err, local.ErrNoTokens) != wantErr || (e.Vector == nil) != wantErr {
			t.Errorf("text %d has the outcome %+v", i, e)
		}
	}
}

// A file that is cut off while it is mapped is an error for its readers, not the end of the process: before they read, and in
// the middle of it.
func TestModelFileCutOffWhileInUse(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(testing.TB, string){
		"static":      writeStatic,
		"transformer": func(tb testing.TB, dir string) { writeTransformer(tb, dir, modelShape{Hidden: 256}) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir)
			m := open(t, dir, local.Options{})
			embed(t, m, "laptop")
			texts := make([]string, 200)
			for i := range texts {
				texts[i] = "garden water and the garlic in the kitchen of the laptop"
			}
			errs := make(chan error)
			go func() {
				for {
					if _, err := m.Embed(t.Context(), local.Document, texts); err != nil {
						errs <- err
						return
					}
				}
			}()
			if err := os.Truncate(filepath.Join(dir, "model.safetensors"), 100); err != nil {
				t.Fatal(err)
			}
			if err := <-errs; !errors.Is(err, encoder.ErrChanged) {
				t.Errorf("the error is %v, want ErrChanged", err)
			}
		})
	}
}
