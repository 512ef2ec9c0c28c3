package embed

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// parseVector reads a list of numbers, or a base64 string of little-endian float32. It returns no empty vector. raw is
// valid JSON without space around it.
func parseVector(raw json.RawMessage) ([]float32, error) {
	switch {
	case len(raw) > 2 && raw[0] == '"':
		return parseBase64(raw)
	case len(raw) > 1 && raw[0] == '[':
		return parseNumbers(raw[1 : len(raw)-1])
	}
	return nil, errNumbers
}

// errNumbers: what should be a vector is something else.
var errNumbers = errors.New("not a list of numbers")

// parseBase64 reads what is in quotes; some servers escape a slash or a plus.
func parseBase64(quoted []byte) ([]float32, error) {
	text := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(text, '\\') >= 0 {
		var plain string
		if err := json.Unmarshal(quoted, &plain); err != nil {
			return nil, err
		}
		text = []byte(plain)
	}
	data := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(data, text)
	if err != nil || n%4 != 0 {
		return nil, fmt.Errorf("%d characters are no base64 of float32", len(text))
	}
	vec := make([]float32, n/4)
	for i := range vec {
		vec[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return vec, nil
}

// parseNumbers reads what is between the brackets. The decoder of encoding/json takes three times as long, and would take
// a null among the numbers for a zero.
func parseNumbers(list []byte) ([]float32, error) {
	vec := make([]float32, 0, bytes.Count(list, []byte(","))+1)
	for text := range bytes.SplitSeq(list, []byte(",")) {
		x, err := strconv.ParseFloat(string(bytes.TrimSpace(text)), 32)
		if err != nil {
			return nil, parseError(list)
		}
		vec = append(vec, float32(x))
	}
	return vec, nil
}

// parseError is why a list is no vector.
func parseError(list []byte) error {
	if len(bytes.TrimSpace(list)) == 0 {
		return errors.New("it is empty")
	}
	return errNumbers
}
