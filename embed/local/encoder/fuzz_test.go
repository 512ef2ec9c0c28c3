package encoder_test

import (
	"encoding/json"
	"testing"

	"kioku/embed/local/encoder"
)

// FuzzNewAndEncode: any config.json beside the tensors of a small model, and any ids, are vectors of numbers or an error.
func FuzzNewAndEncode(f *testing.F) {
	config := encoder.Config{ModelType: "bert", Layers: 1, Hidden: 8, Heads: 2, Inner: 12, Vocabulary: 16, Positions: 20, Types: 2}
	good, err := json.Marshal(config)
	if err != nil {
		f.Fatal(err)
	}
	tensors := newRandomModel(config, "", encoder.F32)
	f.Add(good, []byte{1, 2, 15})
	f.Add([]byte(`{"model_type":"xlm-roberta","hidden_size":8,"num_attention_heads":9223372036854775807,"pad_token_id":-1}`), []byte{0})
	f.Fuzz(func(t *testing.T, text, ids []byte) {
		c := config
		if json.Unmarshal(text, &c) != nil {
			return
		}
		e, err := encoder.New(c, tensors, encoder.Options{Head: encoder.Head(len(ids) % 3), Int8: len(ids)%2 == 0})
		if err != nil {
			return
		}
		defer e.Close()
		var in encoder.Input
		for _, id := range ids {
			in.IDs = append(in.IDs, int32(int8(id)))
		}
		vectors, err := e.Encode(t.Context(), []encoder.Input{in, {IDs: []int32{3}}}, 2)
		if err != nil {
			return
		}
		for _, v := range vectors {
			if len(v) != e.Dims() {
				t.Errorf("%d numbers, want %d", len(v), e.Dims())
			}
		}
	})
}
