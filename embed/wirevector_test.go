package embed

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
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

func TestParseVectorReadsEscapedBase64(t *testing.T) {
	t.Parallel()
	want := []float32{math.Float32frombits(0xfbeffbef), math.Float32frombits(0x3fffffff), -2.5}
	text := base64.StdEncoding.EncodeToString([]byte{0xef, 0xfb, 0xef, 0xfb, 0xff, 0xff, 0xff, 0x3f, 0, 0, 0x20, 0xc0})
	if !strings.Contains(text, "+") || !strings.Contains(text, "/") {
		t.Fatalf("%s has nothing to escape", text)
	}
	for _, escape := range []*strings.Replacer{
		strings.NewReplacer(), strings.NewReplacer("/", `\/`), strings.NewReplacer("+", `\u002B`, "/", `\u002f`),
	} {
		raw := `"` + escape.Replace(text) + `"`
		if got, err := parseVector(json.RawMessage(raw)); err != nil || !cmp.Equal(want, got) {
			t.Error(raw, err, cmp.Diff(want, got))
		}
	}
}
