package config_test

import "testing"

// The limits of the settings hold for the fallback too, and the class of the first model is not its own.
func TestFallbackHasTheLimitsOfTheSettings(t *testing.T) {
	c := load(t, write(t, "fallback: openai\nmaxTokensPerDay: 5000\nrequestsPerMinute: 7\ntokensPerMinute: 900\nmodelClass: static\nremote:\n  concurrency: 2\n"))
	f := c.Fallback
	if f.TokensPerDay != 5000 || f.RequestsPerMinute != 7 || f.TokensPerMinute != 900 || f.Concurrency != 2 || f.Class != "" {
		t.Errorf("%+v", f)
	}
}
