package embed_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"testing"

	"pgregory.net/rapid"

	"kioku/embed"
)

func hashClient(t *testing.T, cfg embed.Config) *embed.Client {
	t.Helper()
	cfg.Provider = "hash"
	c, err := embed.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestHashSpaceIsKnownAtOnce(t *testing.T) {
	t.Parallel()
	for want, cfg := range map[embed.Space]embed.Config{
		{Provider: "hash", Model: "hash-256", Dims: 256}: {},
		{Provider: "hash", Model: "hash-64", Dims: 64}:   {Dims: 64},
		{Provider: "hash", Model: "hash-32", Dims: 32}:   {Model: "hash-32"},
		{Provider: "hash", Model: "hash-16", Dims: 16}:   {Model: "hash-16", Dims: 16},
	} {
		c := hashClient(t, cfg)
		if c.Space() != want || !c.Weak() || !c.Enabled() {
			t.Errorf("got %+v, weak %v", c.Space(), c.Weak())
		}
		vec, err := c.Query(t.Context(), "tea")
		if err != nil || embed.Check(vec, want.Dims) != nil {
			t.Errorf("%+v: %d dimensions, %v", want, len(vec), err)
		}
	}
}

// The sum covers every bit of the vectors: a change makes every stored index worthless.
func TestHashVectorsAreTheSameOnEveryMachine(t *testing.T) {
	t.Parallel()
	c := hashClient(t, embed.Config{})
	got, err := c.Documents(t.Context(), []string{"The quick brown fox, 2026-01-20.", "昨日は東京で会議があった。", "我们喜欢喝茶", "!?"})
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.New()
	for _, e := range got {
		for _, x := range e.Vector {
			binary.Write(sum, binary.LittleEndian, math.Float32bits(x))
		}
	}
	const want = "b05931a77a8c6dbc"
	if s := hex.EncodeToString(sum.Sum(nil)[:8]); s != want {
		t.Errorf("sum of the vectors is %s, was %s", s, want)
	}
}

func TestHashVectorsOfTextsThatShareWordsAreNear(t *testing.T) {
	t.Parallel()
	c := hashClient(t, embed.Config{})
	for _, test := range []struct{ query, near, far string }{
		{"where is the budget spreadsheet", "The budget spreadsheet is in the finance folder.", "Anna likes green tea with lemon."},
		{"database migration", "We migrated the database on Friday.", "Lunch with Tom was moved to noon."},
		{"ｂｕｄｇｅｔ", "budget", "lunch"},
		{"東京の会議", "昨日は東京で会議があった。", "母の誕生日は五月です。"},
		{"喝茶", "我们喜欢喝茶", "项目下周开始"},
	} {
		q, err := c.Query(t.Context(), test.query)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Documents(t.Context(), []string{test.near, test.far})
		if err != nil {
			t.Fatal(err)
		}
		if a, b := dot(q, got[0].Vector), dot(q, got[1].Vector); a < b+0.1 {
			t.Errorf("%q: %.2f to %q, %.2f to %q", test.query, a, test.near, b, test.far)
		}
	}
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestHashVectorOfEveryTextIsUsable(t *testing.T) {
	t.Parallel()
	c := hashClient(t, embed.Config{Dims: 2}) // features often cancel out
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringN(0, 4, -1), rapid.StringMatching(`[a-c!? 茶記]{1,6}`)).Draw(rt, "text") + "."
		got, err := c.Documents(t.Context(), []string{text})
		if err != nil || got[0].Err != nil || embed.Check(got[0].Vector, 2) != nil {
			rt.Fatalf("%q: %v, %v", text, got, err)
		}
	})
}
