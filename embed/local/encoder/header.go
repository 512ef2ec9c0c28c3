package encoder

import (
	"encoding/json"
	"fmt"
)

// maxRank is the largest number of dimensions of a tensor, which no real model comes near.
const maxRank = 8

// headerEntry is the JSON of one tensor in the header of a file.
type headerEntry struct {
	DType   string  `json:"dtype"`
	Shape   []int64 `json:"shape"`
	Offsets []int64 `json:"data_offsets"`
}

// parseHeader returns the tensors of a header, whose elements are in data. They have to lie within it, and to reach its end.
func parseHeader(header, data []byte) (Tensors, error) {
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(header, &entries); err != nil {
		return nil, fmt.Errorf("header: it is not a JSON object: %w", err)
	}
	delete(entries, "__metadata__")
	tensors, end := Tensors{}, 0
	for name, raw := range entries {
		var e headerEntry
		err := json.Unmarshal(raw, &e)
		if err == nil {
			tensors[name], err = e.tensor(data)
		}
		if err != nil {
			return nil, fmt.Errorf("header: tensor %.80q: %w", name, err)
		}
		end = max(end, int(e.Offsets[1]))
	}
	if end != len(data) {
		return nil, fmt.Errorf("the tensors end at byte %d of %d bytes of data: the file has more at its end", end, len(data))
	}
	return tensors, nil
}

// tensor checks that the shape of an entry and its type need as many bytes as its offsets hold, and that the data has them.
func (e headerEntry) tensor(data []byte) (Tensor, error) {
	t := Tensor{Type: Type(e.DType), Shape: make([]int, len(e.Shape))}
	width := t.Type.size()
	if width == 0 {
		return Tensor{}, fmt.Errorf("unknown type %.20q", e.DType)
	}
	if len(e.Shape) > maxRank {
		return Tensor{}, fmt.Errorf("it has %d dimensions", len(e.Shape))
	}
	if len(e.Offsets) != 2 || e.Offsets[0] < 0 || e.Offsets[1] < e.Offsets[0] {
		return Tensor{}, fmt.Errorf("impossible offsets %v", e.Offsets)
	}
	if e.Offsets[1] > int64(len(data)) {
		return Tensor{}, fmt.Errorf("it ends at byte %d of %d bytes of data: the file is cut off", e.Offsets[1], len(data))
	}
	length := e.Offsets[1] - e.Offsets[0]
	elements := int64(1)
	for i, n := range e.Shape {
		if n < 0 || n > length || n > 0 && elements > length/n {
			return Tensor{}, fmt.Errorf("the shape %v does not fit into %d bytes", e.Shape, length)
		}
		elements *= n
		t.Shape[i] = int(n)
	}
	if elements > length/int64(width) || elements*int64(width) != length {
		return Tensor{}, fmt.Errorf("the shape %v of %s does not need %d bytes", e.Shape, t.Type, length)
	}
	t.Data = data[e.Offsets[0]:e.Offsets[1]:e.Offsets[1]]
	return t, nil
}
