package embed_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"kioku/embed"
)

// A broken local model leaves words: the client is enabled and unhealthy, and says why.
func TestNewUsableOfABrokenLocalModelIsUnhealthy(t *testing.T) {
	t.Parallel()
	c, err := embed.NewUsable(embed.Config{Provider: "local", ModelDir: filepath.Join(t.TempDir(), "minilm"), Reason: "it was added"})
	if err != nil {
		t.Fatal(err)
	}
	h := c.Health()
	if !c.Enabled() || h.Healthy || !strings.Contains(h.Err.Error(), "kioku doctor") || c.Space().Model != "minilm" || c.Reason() != "it was added" {
		t.Errorf("enabled %t, health %+v, space %v", c.Enabled(), h, c.Space())
	}
	if _, err := c.Query(t.Context(), "tea"); !errors.Is(err, embed.ErrUnavailable) {
		t.Errorf("%v", err)
	}
	if _, err := embed.NewUsable(embed.Config{Provider: "oracle"}); err == nil {
		t.Error("any provider is usable")
	}
}
