package modelhttp

import (
	"strings"
	"testing"
)

func TestEndpoint(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"https://api.openai.com":                                  "https://api.openai.com/v1/embeddings",
		"http://localhost:1234/":                                  "http://localhost:1234/v1/embeddings",
		"http://localhost:1234/v1":                                "http://localhost:1234/v1/embeddings",
		" http://localhost:1234/v1/ ":                             "http://localhost:1234/v1/embeddings",
		"http://localhost:1234/v1/embeddings":                     "http://localhost:1234/v1/embeddings",
		"https://openrouter.ai/api/v1":                            "https://openrouter.ai/api/v1/embeddings",
		"https://api.deepinfra.com/v1/openai":                     "https://api.deepinfra.com/v1/openai/embeddings",
		"https://generativelanguage.googleapis.com/v1beta/openai": "https://generativelanguage.googleapis.com/v1beta/openai/embeddings",
		"https://example.com/vectors":                             "https://example.com/vectors/v1/embeddings",
		"https://example.com/v1?api-version=2":                    "https://example.com/v1/embeddings?api-version=2",
	} {
		if got := endpoint(t, base); got != want {
			t.Errorf("%s: %s, want %s", base, got, want)
		}
	}
}

func endpoint(t *testing.T, base string) string {
	t.Helper()
	u, err := ParseBase(base, "remote.baseUrl")
	if err != nil {
		t.Fatal(err)
	}
	return Endpoint(u, "embeddings")
}

func TestParseBaseRefusesWithoutQuoting(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "localhost:1234", "ftp://me:hunter22@host/", "http://", "http://me:hunter22@ho st/"} {
		if _, err := ParseBase(base, "llm.baseUrl"); err == nil || strings.Contains(err.Error(), "hunter22") || !strings.Contains(err.Error(), "llm.baseUrl") {
			t.Errorf("%s: %v", base, err)
		}
	}
}
