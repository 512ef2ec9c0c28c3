package main

import (
	"fmt"
	"os/exec"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku/cmd/kioku/internal/render"
)

func TestParsePlace(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]struct {
		path        string
		from, count int32
	}{
		"a.md": {"a.md", 0, 0}, "a.md:7": {"a.md", 7, 0}, "a.md:7:3": {"a.md", 7, 3}, "a.md#L3": {"a.md", 3, 0},
		"a.md#L3-L9": {"a.md", 3, 7}, "a.md#L9-L3": {"a.md", 9, 1}, "a:b.md": {"a:b.md", 0, 0}, "a:b.md:4": {"a:b.md", 4, 0},
		"a:": {"a:", 0, 0}, "MEMORY.md#L5-9": {"MEMORY.md", 5, 5}, "a.md:b.md": {"a.md:b.md", 0, 0}, "a.md:b.md:2": {"a.md:b.md", 2, 0}, ":3": {":3", 0, 0}, "12:34:5:6": {"12:34", 5, 6},
	} {
		t.Run(in, func(t *testing.T) {
			path, from, count, err := parsePlace(in)
			if err != nil || path != want.path || from != want.from || count != want.count {
				t.Errorf("%s is %s, %d, %d, %v; want %v", in, path, from, count, err, want)
			}
		})
	}
	for _, in := range []string{"MEMORY.md:abc", "MEMORY.md:-1", "a.md:", "a.md:3-5", "a.md:x:2", "a.jsonl#3", "A.MD#L", "a.md:0", "a.md:1:0", "a.md#L0", "a.md:99999999999"} {
		if _, _, _, err := parsePlace(in); exitCode(err) != exitUsage {
			t.Errorf("%s: got %v", in, err)
		}
	}
}

func TestShellQuote(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"plain/path", "", "two words", "it's", `$HOME "x" \ ;`, "日本"} {
		out, err := exec.Command("sh", "-c", "printf %s "+render.ShellQuote(s)).Output()
		if err != nil || string(out) != s {
			t.Errorf("%q comes back as %q, %v", s, out, err)
		}
	}
}

func TestExitCodeOfARefusedArgumentIsMisuse(t *testing.T) {
	t.Parallel()
	refused := status.Error(codes.InvalidArgument, "query: is empty")
	if code := exitCode(fmt.Errorf("question 3: %w", refused)); code != exitUsage {
		t.Errorf("exit %d", code)
	}
}
