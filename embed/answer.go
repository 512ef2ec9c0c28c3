package embed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"kioku/internal/modelhttp"
)

// unmarshalAnswer decodes the JSON of an answer.
func unmarshalAnswer(answer []byte, into any) error {
	if err := json.Unmarshal(answer, into); err != nil {
		return fmt.Errorf("the answer is not the JSON it should be: %w", err)
	}
	return nil
}

// countError is the error of an answer with another number of vectors than there are texts.
func countError(n int, texts []string) error {
	return fmt.Errorf("the answer holds %d vectors for %d texts", n, len(texts))
}

// parse returns the vectors of an answer, of which raw is the list of numbers for each text, unless err says why the answer makes
// no sense. A single list that is no vector is a refusal, because some servers overflow on some texts.
func (r remote) parse(answer []byte, texts []string, raw []json.RawMessage, err error) ([]Embedding, error) {
	if err == nil && len(raw) != len(texts) {
		err = countError(len(raw), texts)
	}
	if err != nil {
		return nil, modelhttp.Errorf(modelhttp.Malformed, "%s: %w: check that remote.baseUrl is an embeddings service (it said: %s)",
			r.name, err, r.http.Quote(answer, texts))
	}
	out := make([]Embedding, len(raw))
	for i, list := range raw {
		if out[i].Vector, err = parseVector(list); err != nil {
			return nil, modelhttp.Errorf(modelhttp.Rejected, "%s: no usable vector at index %d: %w", r.name, i, err)
		}
	}
	return out, nil
}

var errNotNumbers = errors.New("not a list of numbers")

// parseVector parses a list of numbers. The decoder of encoding/json takes three times as long, and decodes a null among the
// numbers as a zero. raw is valid JSON without surrounding space.
func parseVector(raw json.RawMessage) ([]float32, error) {
	if len(raw) < 2 || raw[0] != '[' {
		return nil, errNotNumbers
	}
	list := raw[1 : len(raw)-1]
	vec := make([]float32, 0, bytes.Count(list, []byte(","))+1)
	for text := range bytes.SplitSeq(list, []byte(",")) {
		x, err := strconv.ParseFloat(string(bytes.TrimSpace(text)), 32)
		if err != nil {
			if len(bytes.TrimSpace(list)) == 0 {
				return nil, errors.New("it is empty")
			}
			return nil, errNotNumbers
		}
		vec = append(vec, float32(x))
	}
	return vec, nil
}
