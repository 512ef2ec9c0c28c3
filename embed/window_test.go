package embed

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// randomWindows returns windows with random unit vectors, and the vectors.
func randomWindows(r *rand.Rand, n, dims int) ([]Window, [][]float32) {
	windows, vectors := []Window{}, [][]float32{}
	for i := range n {
		v := make([]float32, dims)
		for j := range v {
			v[j] = float32(r.NormFloat64())
		}
		normalise(v)
		windows, vectors = append(windows, QuantizeWindow(3*i, 3*i+r.IntN(3), v)), append(vectors, v)
	}
	return windows, vectors
}

// Windows survive encoding, whatever their number and dimensions.
func TestWindowsSurviveEncoding(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 7, 200} {
		windows, _ := randomWindows(r, n, 1+r.IntN(400))
		dims := 0
		if n > 0 {
			dims = len(windows[0].Codes)
		}
		got, err := DecodeWindows(EncodeWindows(windows), dims)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(windows, got); d != "" {
			t.Errorf("%d windows: %s", n, d)
		}
	}
}

// The scalar product with a quantized window differs from the exact one by less than a hundredth.
func TestWindowDotIsNearTheCosine(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, dims := range []int{3, 384, 1025} {
		windows, vectors := randomWindows(r, 20, dims)
		query := vectors[0]
		for i, w := range windows {
			var want float64
			for j, x := range vectors[i] {
				want += float64(x) * float64(query[j])
			}
			if got := w.Dot(query); math.Abs(got-want) > .01 {
				t.Errorf("%d dimensions: %v, want %v", dims, got, want)
			}
		}
		if got := windows[0].Dot(query[1:]); got != 0 {
			t.Errorf("a query of other dimensions: %v, want 0", got)
		}
	}
}

// Damaged windows are an error: cut off, too long, of other dimensions, of an unknown format, with counts that the bytes
// cannot hold, or with a scale that is no number.
func TestDecodeWindowsRefusesDamage(t *testing.T) {
	windows, _ := randomWindows(rand.New(rand.NewPCG(5, 6)), 3, 8)
	good := EncodeWindows(windows)
	for cut := range len(good) {
		if _, err := DecodeWindows(good[:cut], 8); err == nil {
			t.Errorf("the first %d of %d bytes are accepted", cut, len(good))
		}
	}
	nan := append([]byte(nil), good...)
	copy(nan[5:], []byte{0, 0, 0xc0, 0x7f})
	for name, b := range map[string][]byte{
		"too long":       append(good[:len(good):len(good)], 0),
		"unknown format": append([]byte{1}, good[1:]...),
		"2^40 windows":   {1, 8, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40},
		"2^29 windows":   {1, 0, 0x80, 0x80, 0x80, 0x80, 2},
		"scale NaN":      nan,
	} {
		if _, err := DecodeWindows(b, 8); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := DecodeWindows(good, 9); err == nil {
		t.Error("other dimensions: accepted")
	}
}

// Decoding foreign bytes neither panics nor allocates much, and what it accepts encodes to windows that are equal.
func FuzzDecodeWindows(f *testing.F) {
	windows, _ := randomWindows(rand.New(rand.NewPCG(7, 8)), 2, 4)
	f.Add(EncodeWindows(windows), 4)
	f.Add(EncodeWindows(nil), 0)
	f.Add([]byte{1, 0, 0xff, 0xff, 0xff, 0xff, 1}, 0)
	f.Fuzz(func(t *testing.T, b []byte, dims int) {
		got, err := DecodeWindows(b, dims)
		if err != nil {
			return
		}
		if len(got) > len(b) {
			t.Fatalf("%d windows of %d bytes", len(got), len(b))
		}
		again, err := DecodeWindows(EncodeWindows(got), dims)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(got, again); d != "" {
			t.Error(d)
		}
	})
}
