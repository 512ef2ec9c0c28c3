package embed

import (
	"encoding/json"
	"errors"
	"fmt"

	"kioku/internal/modelhttp"
)

// errNoVector is wrapped if an answer is valid except for a vector.
var errNoVector = errors.New("no usable vector at index")

// parseOpenAI parses the answer of OpenAI to n texts. It returns the vectors ordered by their index, or an error unless there is
// exactly one for each text.
func parseOpenAI(answer []byte, n int) ([][]float32, error) {
	var parsed struct {
		Data []struct {
			Index     *int
			Embedding json.RawMessage
		}
	}
	if err := json.Unmarshal(answer, &parsed); err != nil {
		return nil, fmt.Errorf("the answer is not the JSON it should be: %w", err)
	}
	if len(parsed.Data) != n {
		return nil, fmt.Errorf("the answer holds %d vectors for %d texts", len(parsed.Data), n)
	}
	vecs := make([][]float32, n)
	for _, d := range parsed.Data {
		switch {
		case d.Index == nil:
			return nil, errors.New("a vector lacks its index")
		case *d.Index < 0 || *d.Index >= n:
			return nil, fmt.Errorf("a vector has the index %d, of %d texts", *d.Index, n)
		case vecs[*d.Index] != nil:
			return nil, fmt.Errorf("two vectors have the index %d", *d.Index)
		}
		vec, err := parseVector(d.Embedding)
		if err != nil {
			return nil, fmt.Errorf("%w %d: %w", errNoVector, *d.Index, err)
		}
		vecs[*d.Index] = vec
	}
	return vecs, nil
}

// parseIndexed returns the vectors of an answer like OpenAI's.
func (r remote) parseIndexed(answer []byte, texts []string) ([][]float32, error) {
	vecs, err := parseOpenAI(answer, len(texts))
	return vecs, r.parseError(err, answer, texts)
}

// parseOrdered returns the vectors of an answer that lists them in the order of the texts. list gets them out of it, each as a
// list of numbers.
func (r remote) parseOrdered(answer []byte, texts []string, list func() ([]json.RawMessage, error)) ([][]float32, error) {
	raw, err := list()
	if err == nil && len(raw) != len(texts) {
		err = fmt.Errorf("the answer holds %d vectors for %d texts", len(raw), len(texts))
	}
	if err != nil {
		return nil, r.malformed(err, answer, texts)
	}
	vecs := make([][]float32, len(raw))
	for i, list := range raw {
		if vecs[i], err = parseVector(list); err != nil {
			return nil, r.parseError(fmt.Errorf("%w %d: %w", errNoVector, i, err), answer, texts)
		}
	}
	return vecs, nil
}

// parseError returns the error of an answer that could not be parsed, nil if it could.
func (r remote) parseError(err error, answer []byte, texts []string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errNoVector):
		return modelhttp.Errorf(modelhttp.Rejected, "%s: %w", r.name, err) // some servers overflow on some texts
	}
	return r.malformed(err, answer, texts)
}
