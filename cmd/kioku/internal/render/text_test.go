package render

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	kiokuv1 "kioku/proto/kioku/v1"
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
	p := &kiokuv1.Provider{Provider: "openai", Model: "m", Dims: 3, Error: "refused", RetryTime: timestamppb.New(time.Unix(0, 0))}
	got := providerText(p)
	if !strings.HasPrefix(got, "openai m, 3 dimensions, not answering: refused, next try at ") {
		t.Errorf("got %q", got)
	}
	p.Healthy = true
	if got := providerText(p); got != "openai m, 3 dimensions" {
		t.Errorf("got %q", got)
	}
}

func TestMessageLeavesOutTheCodeOfAStatus(t *testing.T) {
	t.Parallel()
	refused := status.Error(codes.InvalidArgument, "query: is empty")
	for err, want := range map[error]string{
		refused:                               "query: is empty",
		fmt.Errorf("question 3: %w", refused): "question 3: query: is empty",
		fmt.Errorf("a: %w; b", status.Error(5, "gone")): "a: gone; b",
	} {
		t.Run(want, func(t *testing.T) {
			if got := Message(err); got != want {
				t.Errorf("got %q", got)
			}
		})
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
