package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"sync"

	"github.com/viterin/vek/vek32"

	"kioku/embed/local/encoder"
	"kioku/embed/local/tokenizer"
)

// table is a static model: a row of numbers for each token.
type table struct {
	dims int
	// rows are the numbers of all rows, in the file if that has them as float32.
	rows []float32
	// mapping is the row of each token id; nil if the id is the row.
	mapping []int
	// importance is what the row of each token id is multiplied by; nil means 1.
	importance []float32
	unknown    int32
}

// staticNames are the names of the matrix of a static model.
var staticNames = []string{"embeddings", "embedding.weight", "embeddings.weight", "embedding"}

// staticTensor returns the matrix of a static model and its name; the name is empty for other models.
func staticTensor(file *encoder.File) (encoder.Tensor, string) {
	for _, name := range staticNames {
		if t, ok := file.Tensors()[name]; ok {
			return t, name
		}
	}
	return encoder.Tensor{}, ""
}

// newTable makes a static model of the tensors of a file.
func newTable(file *encoder.File, tok *tokenizer.Tokenizer) (*table, error) {
	tensor, _ := staticTensor(file)
	rows, err := tensor.Float32s()
	if err != nil {
		return nil, err
	}
	t := &table{dims: tensor.Shape[1], rows: rows, unknown: tok.Unknown()}
	return t, errors.Join(t.readMapping(file, tok.MaxID()), t.readImportance(file, tok.MaxID()))
}

// readMapping reads which token has which row, and checks that each token has one.
func (t *table) readMapping(file *encoder.File, maxID int) error {
	rows := len(t.rows) / t.dims
	tokens := rows
	if tensor, ok := file.Tensors()["mapping"]; ok {
		var err error
		if t.mapping, err = tensor.Ints(); err != nil {
			return err
		}
		for token, row := range t.mapping {
			if row < 0 || row >= rows {
				return fmt.Errorf("the token %d is mapped to row %d of %d", token, row, rows)
			}
		}
		tokens = len(t.mapping)
	}
	if maxID >= tokens {
		return fmt.Errorf("the tokenizer has ids up to %d, the model has %d tokens: the files are of different models", maxID, tokens)
	}
	return nil
}

// readImportance reads how much each token counts.
func (t *table) readImportance(file *encoder.File, maxID int) error {
	tensor, ok := file.Tensors()["weights"]
	if !ok {
		return nil
	}
	var err error
	if t.importance, err = tensor.Float32s(); err != nil {
		return err
	}
	if maxID >= len(t.importance) {
		return fmt.Errorf("the tokenizer has ids up to %d, the model has %d weights of tokens", maxID, len(t.importance))
	}
	return nil
}

// minTexts is the number of texts for which a thread of its own pays.
const minTexts = 8

// embed returns the mean of the rows of the tokens of each text, at unit length, computed by a number of threads.
func (t *table) embed(ctx context.Context, tok *tokenizer.Tokenizer, prefix string, texts []string, threads int) ([]Embedding, error) {
	out := make([]Embedding, len(texts))
	threads = min(threads, (len(texts)+minTexts-1)/minTexts)
	errs := make([]error, max(threads, 1))
	var workers sync.WaitGroup
	for i := range errs {
		from, to := i*len(texts)/len(errs), (i+1)*len(texts)/len(errs)
		workers.Go(func() { errs[i] = t.embedPart(ctx, tok, prefix, texts[from:to], out[from:to]) })
	}
	workers.Wait()
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	return out, nil
}

// embedPart writes the outcomes of texts to out. A page of the file that was cut off while it is read is an error, not the end of
// the process.
func (t *table) embedPart(ctx context.Context, tok *tokenizer.Tokenizer, prefix string, texts []string, out []Embedding) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer recoverFault(&err)
	for i, text := range texts {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if prefix != "" {
			text = prefix + text
		}
		ids, _, err := tok.Tokens(text, 0)
		if err != nil {
			out[i].Err = err
			continue
		}
		out[i] = t.mean(ids)
	}
	return nil
}

// mean returns the unit vector of the mean of the rows of ids.
func (t *table) mean(ids []int32) Embedding {
	sum := make([]float32, t.dims)
	tokens := 0
	for _, id := range ids {
		if id == t.unknown {
			continue
		}
		tokens++
		row := t.row(id)
		if t.importance != nil {
			vek32.Add_Inplace(sum, vek32.MulNumber(row, t.importance[id]))
			continue
		}
		vek32.Add_Inplace(sum, row)
	}
	if tokens == 0 {
		return Embedding{Err: ErrNoTokens}
	}
	return unit(sum, tokens)
}

// unit scales a vector to unit length, and refuses one that has none.
func unit(vector []float32, tokens int) Embedding {
	var squares float64
	for _, x := range vector {
		squares += float64(x) * float64(x)
	}
	length := math.Sqrt(squares)
	if !(length > 1e-9) || math.IsInf(length, 0) {
		return Embedding{Err: fmt.Errorf("%w: its vector has the length %g", ErrNoTokens, length)}
	}
	vek32.MulNumber_Inplace(vector, float32(1/length))
	return Embedding{Vector: vector, Tokens: tokens}
}

// row returns the row of a token, to be read only.
func (t *table) row(id int32) []float32 {
	at := int(id)
	if t.mapping != nil {
		at = t.mapping[at]
	}
	return t.rows[at*t.dims : (at+1)*t.dims]
}
