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

// parseVector parses a list of numbers, or a base64 string of little-endian float32. It returns an error for an empty vector.
// raw is valid JSON without surrounding space.
func parseVector(raw json.RawMessage) ([]float32, error) {
	switch {
	case len(raw) > 2 && raw[0] == '"':
		return parseBase64(raw)
	case len(raw) > 1 && raw[0] == '[':
		return parseNumbers(raw[1 : len(raw)-1])
	}
	return nil, errNotNumbers
}

var errNotNumbers = errors.New("not a list of numbers")

// parseBase64 parses a JSON string; some servers escape a slash or a plus.
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

// parseNumbers parses the text between the brackets. The decoder of encoding/json takes three times as long, and decodes a
// null among the numbers as a zero.
func parseNumbers(list []byte) ([]float32, error) {
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
