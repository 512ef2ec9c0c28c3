package embed_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kioku/embed"
)

// Hazard D05: a vector that is not finite, or too small or too large, is refused.
func TestCheck(t *testing.T) {
	t.Parallel()
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, test := range map[string]struct {
		vec  []float32
		dims int
		ok   bool
	}{
		"unit":          {[]float32{0.6, 0.8}, 2, true},
		"any dimension": {[]float32{0.6, 0.8}, 0, true},
		"not unit":      {[]float32{30, -40}, 2, true},
		"empty":         {nil, 0, false},
		"too short":     {[]float32{1}, 2, false},
		"too long":      {[]float32{1, 0, 0}, 2, false},
		"NaN":           {[]float32{1, nan}, 2, false},
		"infinite":      {[]float32{inf, 1}, 2, false},
		"both infinite": {[]float32{inf, -inf}, 2, false},
		"zero":          {[]float32{0, 0}, 2, false},
		"denormal":      {[]float32{1e-40, math.SmallestNonzeroFloat32}, 2, false},
		"huge":          {[]float32{math.MaxFloat32, math.MaxFloat32}, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			if err := embed.Check(test.vec, test.dims); (err == nil) != test.ok {
				t.Errorf("%v", err)
			}
		})
	}
}

// Hazard D05: every vector that the client returns has unit length and passes Check.
func TestQueryReturnsUnitVectors(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		vec := rapid.SliceOfN(rapid.Float32(), 1, 8).Draw(rt, "vec")
		want := embed.Check(vec, 0) == nil
		_, c := newFake(t, embed.Config{}, func(r request) reply {
			return reply{body: `{"data":[{"index":0,"embedding":[` + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(vec)), ","), "[]") + `]}]}`}
		})
		got, err := c.Query(t.Context(), "tea")
		if (err == nil) != want {
			rt.Fatalf("%v: %v", vec, err)
		}
		if err != nil {
			return
		}
		var sum float64
		for _, x := range got {
			sum += float64(x) * float64(x)
		}
		if math.Abs(sum-1) > 1e-5 || embed.Check(got, len(vec)) != nil {
			rt.Fatalf("%v became %v", vec, got)
		}
	})
}
