package embed

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestParseVectorReadsNumbersAsEncodingJSON compares every bit, of numbers in each way of writing them.
func TestParseVectorReadsNumbersAsEncodingJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		formats := rapid.SampledFrom([]string{"%g", "%e", "%f", " %v", "%v\n", "\t%.3G "})
		var list []string
		for _, x := range rapid.SliceOfN(rapid.Float32Range(-1e9, 1e9), 1, 20).Draw(rt, "vector") {
			list = append(list, fmt.Sprintf(formats.Draw(rt, "format"), x))
		}
		raw := "[" + strings.Join(list, ",") + "]"
		var want []float32
		if err := json.Unmarshal([]byte(raw), &want); err != nil {
			rt.Fatal(err)
		}
		if got, err := parseVector(json.RawMessage(raw)); err != nil || !cmp.Equal(want, got) {
			rt.Error(raw, err, cmp.Diff(want, got))
		}
	})
}
