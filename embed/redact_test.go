package embed_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"kioku/embed"
)

// recorder is a network of one server, which answers with a vector for each text and a score for each passage.
type recorder struct{ sent strings.Builder }

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	r.sent.Write(body)
	var in struct {
		Input     []string `json:"input"`
		Documents []string `json:"documents"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	var data, results []map[string]any
	for i := range in.Input {
		data = append(data, map[string]any{"index": i, "embedding": []float32{1, float32(i)}})
	}
	for i := range in.Documents {
		results = append(results, map[string]any{"index": i, "relevance_score": 0.5})
	}
	answer, err := json.Marshal(map[string]any{"data": data, "results": results})
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(string(answer))), Request: req}, err
}

// Texts and queries that are sent to another machine lack secrets of known shapes, which are counted, unless a person wants them sent. (C13)
func TestSecretsAreNotSentToProviders(t *testing.T) {
	t.Parallel()
	const secret = "sk-" + "proj-Ab3dE6gH9jK2mN5pQ8sT1vX4z9f2a"
	for name, c := range map[string]struct {
		base string
		send bool
		want bool
	}{
		"another machine": {"https://embeddings.example/v1", false, false},
		"as wished":       {"https://embeddings.example/v1", true, true},
		"this machine":    {"http://127.0.0.1:11434/v1", false, true},
		"localhost":       {"http://localhost:11434/v1", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, counted := &recorder{}, 0
			client, err := embed.New(embed.Config{Provider: "openai", BaseURL: c.base, APIKey: "k", SendSecrets: c.send, Transport: server,
				Tried: func(tried embed.Try) { counted += tried.Secrets }})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := client.Documents(t.Context(), []string{"The key is " + secret + ", he said."}); err != nil {
				t.Fatal(err)
			}
			if _, err := client.Query(t.Context(), "what is "+secret); err != nil {
				t.Fatal(err)
			}
			ranker, err := embed.NewReranker(embed.RerankConfig{Provider: "http", BaseURL: c.base, SendSecrets: c.send, Transport: server})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ranker.Score(t.Context(), secret, []string{secret, "he said"}); err != nil {
				t.Fatal(err)
			}
			sent := server.sent.String()
			if strings.Contains(sent, secret) != c.want || strings.Count(sent, "he said") != 2 || (counted == 2) == c.want {
				t.Errorf("%d secrets counted; sent %s", counted, sent)
			}
		})
	}
}
