package llm

import "testing"

func TestTokensAreEstimatedByScript(t *testing.T) {
	for text, want := range map[string]int{"": 0, "tea": 1, "teas": 1, "a cup of tea": 3, "お茶": 2, "お茶 tea": 3} {
		if got := EstimateTokens(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestUsagesAddUp(t *testing.T) {
	one := Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4}
	got := one.Plus(Usage{Input: 10, Output: 20, CacheRead: 30, CacheWrite: 40})
	if got != (Usage{Input: 11, Output: 22, CacheRead: 33, CacheWrite: 44}) || got.Prompt() != 88 {
		t.Errorf("%+v", got)
	}
	if rest := got.Minus(one); rest != (Usage{Input: 10, Output: 20, CacheRead: 30, CacheWrite: 40}) {
		t.Errorf("%+v", rest)
	}
}
