package text

import "testing"

func TestEstimateTokens(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"empty":            {"", 0},
		"one token":        {"tea", 1},
		"four characters":  {"teas", 1},
		"English":          {"a cup of tea", 3},
		"Cyrillic":         {"чашка чая", 5},
		"accents":          {"café", 2},
		"Japanese":         {"お茶", 2},
		"Chinese":          {"我喜欢喝茶。", 6},
		"mixed":            {"お茶 tea", 3},
		"emoji":            {"🍵", 1},
		"no valid UTF-8":   {"\xff\xff", 2},
		"a quarter counts": {"茶 ", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := EstimateTokens(c.text); got != c.want {
				t.Errorf("EstimateTokens(%q) = %d, want %d", c.text, got, c.want)
			}
		})
	}
}
