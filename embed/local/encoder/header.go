package encoder

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Limits of a header that no real model comes near.
const (
	maxTensors = 100_000
	maxRank    = 8
)

// layout is where one tensor lies in the data after the header.
type layout struct {
	name     string
	dtype    Type
	shape    []int
	from, to int64
}

// headerEntry is the JSON of one tensor.
type headerEntry struct {
	DType   string  `json:"dtype"`
	Shape   []int64 `json:"shape"`
	Offsets []int64 `json:"data_offsets"`
}

// parseHeader returns the tensors of a header, in the order of their data, which has size bytes. As the format demands, the
// tensors fill the data without a gap or an overlap.
func parseHeader(header []byte, size int64) ([]layout, error) {
	entries, err := decodeHeader(header)
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	slices.SortFunc(entries, func(a, b layout) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	var end int64
	for _, l := range entries {
		if l.from != end {
			return nil, fmt.Errorf("tensor %.80q begins at byte %d of the data, not at %d where the one before it ends", l.name, l.from, end)
		}
		end = l.to
	}
	if end != size {
		return nil, fmt.Errorf("the tensors end at byte %d of %d bytes of data: the file is cut off, or has more at its end", end, size)
	}
	return entries, nil
}

// decodeHeader reads the JSON object of the header, in which no name may be twice.
func decodeHeader(header []byte) ([]layout, error) {
	dec := json.NewDecoder(bytes.NewReader(header))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("it does not begin with a JSON object")
	}
	var entries []layout
	seen := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string)
		if seen[name] {
			return nil, fmt.Errorf("%.80q is there twice", name)
		}
		if seen[name] = true; len(seen) > maxTensors {
			return nil, fmt.Errorf("it has more than %d tensors", maxTensors)
		}
		if name == "__metadata__" {
			var metadata map[string]string
			if err := dec.Decode(&metadata); err != nil {
				return nil, fmt.Errorf("__metadata__: %w", err)
			}
			continue
		}
		var e headerEntry
		if err := dec.Decode(&e); err != nil {
			return nil, fmt.Errorf("tensor %.80q: %w", name, err)
		}
		l, err := e.layout(name)
		if err != nil {
			return nil, fmt.Errorf("tensor %.80q: %w", name, err)
		}
		entries = append(entries, l)
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("it has more after its JSON object")
	}
	return entries, nil
}

// layout checks that the shape of an entry and its type need as many bytes as its offsets hold.
func (e headerEntry) layout(name string) (layout, error) {
	dtype := Type(e.DType)
	width := dtype.size()
	if width == 0 {
		return layout{}, fmt.Errorf("unknown type %.20q", e.DType)
	}
	if len(e.Shape) > maxRank {
		return layout{}, fmt.Errorf("it has %d dimensions", len(e.Shape))
	}
	if len(e.Offsets) != 2 || e.Offsets[0] < 0 || e.Offsets[1] < e.Offsets[0] {
		return layout{}, fmt.Errorf("impossible offsets %v", e.Offsets)
	}
	length := e.Offsets[1] - e.Offsets[0]
	shape := make([]int, len(e.Shape))
	elements := int64(1)
	for i, n := range e.Shape {
		if n < 0 || n > length || n > 0 && elements > length/n {
			return layout{}, fmt.Errorf("the shape %v does not fit into %d bytes", e.Shape, length)
		}
		elements *= n
		shape[i] = int(n)
	}
	if elements > length/int64(width) || elements*int64(width) != length {
		return layout{}, fmt.Errorf("the shape %v of %s does not need %d bytes", e.Shape, dtype, length)
	}
	return layout{name, dtype, shape, e.Offsets[0], e.Offsets[1]}, nil
}
