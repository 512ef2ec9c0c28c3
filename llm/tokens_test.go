package llm

import "testing"

func TestTokensAreEstimatedByScript(t *testing.T) {
	for text, want := range map[string]int{"": 0, "tea": 1, "teas": 1, "a cup of tea": 3, "お茶": 2, "お茶 tea": 3} {
		if got := EstimateTokens(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
