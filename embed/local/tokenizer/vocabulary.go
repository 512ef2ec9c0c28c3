package tokenizer

import "fmt"

// vocabulary maps tokens to ids.
type vocabulary map[string]int32

// newVocabulary checks the ids of a file.
func newVocabulary(tokens map[string]int64) (vocabulary, error) {
	if len(tokens) == 0 {
		return nil, fmt.Errorf("the vocabulary is empty")
	}
	v := make(vocabulary, len(tokens))
	for token, id := range tokens {
		if id < 0 || id >= maxID {
			return nil, fmt.Errorf("the token %.40q has the id %d: ids are 0 to %d", token, id, maxID-1)
		}
		v[token] = int32(id)
	}
	return v, nil
}

// id implements model.
func (v vocabulary) id(token string) (int32, bool) {
	id, ok := v[token]
	return id, ok
}

// highest implements model.
func (v vocabulary) highest() int32 {
	var most int32
	for _, id := range v {
		most = max(most, id)
	}
	return most
}

// byteTokens returns the ids of the tokens <0x00> to <0xFF>, by which a model writes what it has no token for; -1 for those
// that it lacks.
func (v vocabulary) byteTokens() (ids [256]int32) {
	for b := range ids {
		id, ok := v[fmt.Sprintf("<0x%02X>", b)]
		if !ok {
			id = -1
		}
		ids[b] = id
	}
	return ids
}

// appendBytes appends the byte tokens of s; false means that one of them is missing, and nothing is appended.
func appendBytes(ids []int32, s string, tokens *[256]int32) ([]int32, bool) {
	before := len(ids)
	for i := range len(s) {
		id := tokens[s[i]]
		if id < 0 {
			return ids[:before], false
		}
		ids = append(ids, id)
	}
	return ids, true
}

// orElse returns what p points to, or value if it is nil.
func orElse[T any](p *T, value T) T {
	if p == nil {
		return value
	}
	return *p
}
