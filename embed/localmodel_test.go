package embed_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kioku/embed"
)

// copyModel copies a small model of local/testdata ("static", "transformer", "cross") into dir.
func copyModel(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.CopyFS(dir, os.DirFS("local/testdata/"+name)); err != nil {
		t.Fatal(err)
	}
}

// localClient returns a client of the provider "local".
func localClient(t *testing.T, cfg embed.Config) *embed.Client {
	t.Helper()
	cfg.Provider = "local"
	c, err := embed.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// A static model answers questions without a server: a paraphrase is nearer than a stranger.
func TestLocalStaticModel(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "tiny-static")
	copyModel(t, dir, "static")
	c := localClient(t, embed.Config{ModelDir: dir})
	if s := c.Space(); s.Provider != "local" || s.Model != "tiny-static" || s.Dims != 16 || s.Endpoint == "" {
		t.Errorf("the space is %+v", s)
	}
	if c.Class() != embed.Static || !c.Enabled() || !c.Health().Healthy {
		t.Errorf("class %v, health %+v", c.Class(), c.Health())
	}
	question, err := c.Query(t.Context(), "can i get my money back")
	if err != nil {
		t.Fatal(err)
	}
	documents, err := c.Documents(t.Context(), []string{"reimbursement is paid to customers", "boil the pasta", "日本語"})
	if err != nil {
		t.Fatal(err)
	}
	if near, far := dot(question, documents[0].Vector), dot(question, documents[1].Vector); near < far+.3 {
		t.Errorf("cosine %.2f to the answer, %.2f to a stranger", near, far)
	}
	if !errors.Is(documents[2].Err, embed.ErrBlank) {
		t.Errorf("a text without a known word has the error %v, want ErrBlank", documents[2].Err)
	}
	if !c.Health().Healthy {
		t.Error("a text that cannot be embedded makes the provider unhealthy")
	}
}

// A transformer reads the beginning of a long text and says how long it is.
func TestLocalTransformerEmbedsTheBeginning(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	copyModel(t, dir, "transformer")
	if err := os.WriteFile(filepath.Join(dir, "sentence_bert_config.json"), []byte(`{"max_seq_length": 16}`), 0o644); err != nil {
		t.Fatal(err)
	}
	c := localClient(t, embed.Config{ModelDir: dir, BatchItems: 2})
	texts := []string{"laptop", strings.Repeat("garden soil ", 40), "hotkey", "laptop"}
	got, err := c.Documents(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range got {
		if e.Err != nil || math.Abs(dot(e.Vector, e.Vector)-1) > 1e-5 || (e.Bytes > 0) != (i == 1) {
			t.Errorf("text %d: %d bytes, error %v", i, e.Bytes, e.Err)
		}
	}
	if c.Class() != embed.Small {
		t.Errorf("class %v, want small", c.Class())
	}
}

// A query that times out in the model falls back to words and says so: the error wraps ErrUnavailable, and the provider stays healthy.
func TestLocalQueryThatTimesOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	copyModel(t, dir, "transformer")
	c := localClient(t, embed.Config{ModelDir: dir, QueryTimeout: time.Microsecond, ModelThreads: 1})
	_, err := c.Query(t.Context(), strings.Repeat("laptop sleep garden ", 150))
	if !errors.Is(err, embed.ErrUnavailable) || !strings.Contains(err.Error(), "time") {
		t.Errorf("the error is %v, want one that wraps ErrUnavailable and names the time", err)
	}
	if h := c.Health(); !h.Healthy {
		t.Errorf("a slow query makes the provider unhealthy: %v", h.Err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Query(ctx, "laptop"); !errors.Is(err, context.Canceled) {
		t.Errorf("the error of a caller who gave up is %v", err)
	}
}

// A model whose file was cut off is unhealthy, and says what to do.
func TestLocalModelWhoseFileWasCutOff(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	copyModel(t, dir, "static")
	c := localClient(t, embed.Config{ModelDir: dir})
	if err := os.Truncate(filepath.Join(dir, "model.safetensors"), 64); err != nil {
		t.Fatal(err)
	}
	_, err := c.Query(t.Context(), "laptop")
	if !errors.Is(err, embed.ErrUnavailable) || !strings.Contains(err.Error(), "restart") || c.Health().Healthy {
		t.Errorf("the error is %v, health %+v", err, c.Health())
	}
}

// A local model that cannot be used leaves words: the client is enabled and unhealthy, and says why.
func TestLocalModelThatDoesNotFitIsUnhealthy(t *testing.T) {
	t.Parallel()
	static, cross := t.TempDir(), t.TempDir()
	copyModel(t, static, "static")
	copyModel(t, cross, "cross")
	for _, c := range []struct {
		cfg  embed.Config
		want string
	}{
		{embed.Config{}, "no model is chosen"},
		{embed.Config{ModelDir: t.TempDir()}, "no model.safetensors"},
		{embed.Config{ModelDir: static, Dims: 768}, "16 dimensions, 768 are configured"},
		{embed.Config{ModelDir: cross}, "cross-encoder"},
	} {
		c.cfg.Provider, c.cfg.Reason = "local", "it was added"
		client, err := embed.New(c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		h := client.Health()
		if !client.Enabled() || h.Healthy || !strings.Contains(h.Err.Error(), c.want) || !strings.Contains(h.Err.Error(), "kioku doctor") || client.Reason() != "it was added" {
			t.Errorf("enabled %t, health %+v, want one with %q", client.Enabled(), h, c.want)
		}
		if _, err := client.Query(t.Context(), "tea"); !errors.Is(err, embed.ErrUnavailable) {
			t.Errorf("%v", err)
		}
	}
}

// A local model whose words cannot be read is opened for its space only, and unhealthy from the first query or Prepare on.
func TestLocalModelThatCannotBeReadIsUnhealthy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	copyModel(t, dir, "static")
	if err := os.Truncate(filepath.Join(dir, "tokenizer.json"), 50); err != nil {
		t.Fatal(err)
	}
	asked, prepared := localClient(t, embed.Config{ModelDir: dir}), localClient(t, embed.Config{ModelDir: dir})
	if asked.Space().Dims != 16 || !asked.Health().Healthy {
		t.Errorf("space %+v, health %+v", asked.Space(), asked.Health())
	}
	if _, err := asked.Query(t.Context(), "laptop"); !errors.Is(err, embed.ErrUnavailable) || !strings.Contains(err.Error(), "tokenizer.json") {
		t.Errorf("the error is %v", err)
	}
	prepared.Prepare()
	for _, c := range []*embed.Client{asked, prepared} {
		if h := c.Health(); h.Healthy || !strings.Contains(h.Err.Error(), "tokenizer.json") {
			t.Errorf("health %+v", h)
		}
	}
}
