package modelhttp

import "testing"

func TestOverflowIsNotEveryLimit(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]bool{
		"This model's maximum context length is 8192 tokens": true,
		"maximum input length is 8192 tokens":                true,
		"input (900 tokens) is too large to process":         true,
		"Input text exceeds maximum of 8194 tokens":          true,
		"Too many tokens in batch. Max is 16384 got 17555":   true,
		"Too many tokens overall, split into more batches.":  true,
		"The example at index 0 in your batch has too many tokens and does not fit into the model's context window of 32000 tokens.": true,
		"The max allowed tokens per submitted batch is 120000.":                                                                      false, // fewer texts pass
		"输入长度超过模型限制":                                             true,
		"Prompt 超长":                                              true,
		"temperature must be <= 2":                               false,
		"batch size is invalid, it should not be larger than 10": false,
		"the content filter refuses this":                        false,
		"每分钟请求数超过限制":                                             false,
		"每分钟token超过限制":                                           false,
		"max_tokens is too large: 100000. This model supports at most 16384 completion tokens": false,
		"model not found": false,
	} {
		if got := overflowing.MatchString(said); got != want {
			t.Errorf("%q: %v", said, got)
		}
	}
}

func TestCountTokensOfVoyageAndMistral(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]TokenCount{
		"Too many tokens in batch. Max is 16384 got 17555":                                 {16384, 17555},
		"too many tokens and does not fit into the model's context window of 32000 tokens": {Limit: 32000},
	} {
		if got := countTokens(said, nil); got != want {
			t.Errorf("%q: %+v", said, got)
		}
	}
}

// An error that a server reports within an answer is a rate limit if the server says so, whatever its words.
func TestInterruptedByARateLimitIsNoOverflow(t *testing.T) {
	t.Parallel()
	c := New(Config{Provider: "p"})
	const said = `{"message":"you exceeded the token limit of a minute"}`
	if e := c.Interrupted("rate_limit_error", []byte(said), nil, "nothing"); e.Class != RateLimited {
		t.Errorf("class %d", e.Class)
	}
	if e := c.Interrupted("", []byte(`{"message":"prompt is too long: 9000 tokens > 8192 maximum"}`), nil, "nothing"); e.Class != Overflow || e.Tokens != (TokenCount{8192, 9000}) {
		t.Errorf("%+v", e)
	}
}

func FuzzCountTokensIsNeverNegative(f *testing.F) {
	f.Add("maximum context length is 8,192 tokens. However, you requested 9_012", `{"error":{"n_ctx":-4,"n_prompt_tokens":-1}}`)
	f.Add("999999999999999999999999 tokens > 1 maximum", `{"error":"x"}`)
	f.Fuzz(func(t *testing.T, said, body string) {
		if got := countTokens(said, []byte(body)); got.Limit < 0 || got.Asked < 0 {
			t.Errorf("%+v", got)
		}
	})
}
