package render

import (
	"errors"
	"strings"
	"testing"
	"time"

	"kioku/embed"
	"kioku/server"
)

func TestSizeHasThreeDigits(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1 kB", 152_345: "152 kB", 999_999: "1 MB", 5_250_000_000: "5.25 GB"} {
		t.Run(want, func(t *testing.T) {
			if got := Size(n); got != want {
				t.Errorf("%d is %s", n, got)
			}
		})
	}
}

func TestProviderTextNamesTheNextAttempt(t *testing.T) {
	t.Parallel()
	var st server.IndexStatus
	st.Space, st.Health = embed.Space{Provider: "openai", Model: "m", Dims: 3}, embed.Health{Err: errors.New("refused"), RetryAt: time.Unix(0, 0)}
	got := providerText(st)
	if !strings.HasPrefix(got, "openai m, 3 dimensions, not answering: refused, next try at ") {
		t.Errorf("got %q", got)
	}
	st.Health.Healthy = true
	if got := providerText(st); got != "openai m, 3 dimensions" {
		t.Errorf("got %q", got)
	}
}

func TestNumberHasCommas(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", -999: "-999"} {
		t.Run(want, func(t *testing.T) {
			if got := Number(n); got != want {
				t.Errorf("%d is %s", n, got)
			}
		})
	}
}
