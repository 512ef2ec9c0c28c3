package embed

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"kioku/internal/modelhttp"
)

// gemini is the client of Google's Gemini API. It tells queries from documents by a task type, except for models that want a
// prefix.
type gemini struct {
	remote
	url string
	// tasks is true if the model takes task types.
	tasks bool
}

func newGemini(_ Config, r remote) (provider, error) {
	r.model = strings.TrimPrefix(r.model, "models/")
	path := "models/" + url.PathEscape(r.model) + ":batchEmbedContents"
	return &gemini{remote: r, url: modelhttp.VersionedEndpoint(r.root, "v1beta", path), tasks: prefixesOf(r.model) == prefixes{}}, nil
}

type geminiRequest struct {
	Requests []geminiText `json:"requests"`
}

type geminiText struct {
	Model   string        `json:"model"`
	Content geminiContent `json:"content"`
	Task    string        `json:"taskType,omitempty"`
	Dims    int           `json:"outputDimensionality,omitempty"`
}

type geminiContent struct {
	Parts []geminiPart `json:"parts"`
}

type geminiPart struct {
	Text string `json:"text"`
}

func (p *gemini) embed(ctx context.Context, kind textKind, texts []string) ([][]float32, error) {
	var body geminiRequest
	for _, t := range texts {
		one := geminiText{Model: "models/" + p.model, Content: geminiContent{[]geminiPart{{t}}}, Dims: p.dims}
		if p.tasks {
			one.Task = geminiTasks[kind]
		}
		body.Requests = append(body.Requests, one)
	}
	answer, err := p.http.PostWhole(ctx, p.url, body, answerLimit(len(texts)), texts)
	if err != nil {
		return nil, err
	}
	return p.parseOrdered(answer, texts, func() ([]json.RawMessage, error) { return parseGemini(answer) })
}

var geminiTasks = map[textKind]string{document: "RETRIEVAL_DOCUMENT", query: "RETRIEVAL_QUERY"}

func parseGemini(answer []byte) ([]json.RawMessage, error) {
	var parsed struct {
		Embeddings []struct{ Values json.RawMessage }
	}
	if err := json.Unmarshal(answer, &parsed); err != nil {
		return nil, fmt.Errorf("the answer is not the JSON it should be: %w", err)
	}
	var raw []json.RawMessage
	for _, e := range parsed.Embeddings {
		raw = append(raw, e.Values)
	}
	return raw, nil
}
