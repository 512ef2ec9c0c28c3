package embed

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"kioku/embed/local"
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

func newGemini(r remote) (provider, error) {
	r.model = strings.TrimPrefix(r.model, "models/")
	path := "models/" + url.PathEscape(r.model) + ":batchEmbedContents"
	return &gemini{remote: r, url: modelhttp.VersionedEndpoint(r.root, "v1beta", path), tasks: local.KnownAs(r.model) == local.Known{}}, nil
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

var geminiTasks = map[textKind]string{document: "RETRIEVAL_DOCUMENT", query: "RETRIEVAL_QUERY"}

// embed implements provider.
func (p *gemini) embed(ctx context.Context, kind textKind, texts []string) ([]Embedding, error) {
	var body geminiRequest
	for _, t := range texts {
		one := geminiText{Model: "models/" + p.model, Content: geminiContent{[]geminiPart{{t}}}, Dims: p.dims}
		if p.tasks {
			one.Task = geminiTasks[kind]
		}
		body.Requests = append(body.Requests, one)
	}
	answer, err := p.post(ctx, p.url, body, texts)
	if err != nil {
		return nil, err
	}
	var parsed struct {
		Embeddings []struct{ Values json.RawMessage }
	}
	err = unmarshalAnswer(answer, &parsed)
	var raw []json.RawMessage
	for _, e := range parsed.Embeddings {
		raw = append(raw, e.Values)
	}
	return p.parse(answer, texts, raw, err)
}
