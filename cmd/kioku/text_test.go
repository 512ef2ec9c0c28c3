package main

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	kiokuv1 "kioku/proto/kioku/v1"
)

func TestAPlaceIsAPathWithLines(t *testing.T) {
	for in, want := range map[string]struct {
		path        string
		from, count int32
	}{
		"a.md": {"a.md", 0, 0}, "a.md:7": {"a.md", 7, 0}, "a.md:7:3": {"a.md", 7, 3}, "a.md#L3": {"a.md", 3, 0},
		"a.md#L3-L9": {"a.md", 3, 7}, "a.md#L9-L3": {"a.md", 9, 1}, "a:b.md": {"a:b.md", 0, 0}, "a:b.md:4": {"a:b.md", 4, 0},
		"a:": {"a:", 0, 0}, "MEMORY.md#L5-9": {"MEMORY.md", 5, 5}, "a.md:b.md": {"a.md:b.md", 0, 0}, "a.md:b.md:2": {"a.md:b.md", 2, 0}, ":3": {":3", 0, 0}, "12:34:5:6": {"12:34", 5, 6},
	} {
		path, from, count, err := parsePlace(in)
		if err != nil || path != want.path || from != want.from || count != want.count {
			t.Errorf("%s is %s, %d, %d, %v; want %v", in, path, from, count, err, want)
		}
	}
	for _, in := range []string{"MEMORY.md:abc", "MEMORY.md:-1", "a.md:", "a.md:3-5", "a.md:x:2", "a.jsonl#3", "A.MD#L", "a.md:0", "a.md:1:0", "a.md#L0", "a.md:99999999999"} {
		if _, _, _, err := parsePlace(in); exitCode(err) != exitUsage {
			t.Errorf("%s: got %v", in, err)
		}
	}
}

func TestSizesAreWrittenWithThreeDigits(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1 kB", 152_345: "152 kB", 999_999: "1 MB", 5_250_000_000: "5.25 GB"} {
		if got := size(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}

func TestShellQuoteIsReadBackByAShell(t *testing.T) {
	for _, s := range []string{"plain/path", "", "two words", "it's", `$HOME "x" \ ;`, "日本"} {
		out, err := exec.Command("sh", "-c", "printf %s "+shellQuote(s)).Output()
		if err != nil || string(out) != s {
			t.Errorf("%q comes back as %q, %v", s, out, err)
		}
	}
}

func TestAProviderThatDoesNotAnswerSaysWhen(t *testing.T) {
	p := &kiokuv1.Provider{Provider: "openai", Model: "m", Dims: 3, Error: "refused", RetryAt: timestamppb.New(time.Unix(0, 0))}
	got := providerText(p)
	if !strings.HasPrefix(got, "openai m, 3 dimensions, not answering: refused, next try at ") {
		t.Errorf("got %q", got)
	}
	p.Healthy = true
	if got := providerText(p); got != "openai m, 3 dimensions" {
		t.Errorf("got %q", got)
	}
}

func TestAStatusIsToldWithoutItsCodeWhereverItStands(t *testing.T) {
	refused := status.Error(codes.InvalidArgument, "query: is empty")
	for err, want := range map[error]string{
		refused:                               "query: is empty",
		fmt.Errorf("question 3: %w", refused): "question 3: query: is empty",
		fmt.Errorf("a: %w; b", status.Error(5, "gone")): "a: gone; b",
	} {
		if got := message(err); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if code := exitCode(fmt.Errorf("question 3: %w", refused)); code != exitUsage {
		t.Errorf("exit %d", code)
	}
}
