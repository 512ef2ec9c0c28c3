package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"kioku/internal/modelhttp"
)

// gemini is the client of Google's generateContent.
type gemini struct {
	endpoint
	url string
	// signed says that calls of tools in a conversation need a signature, as for models since version 3.
	signed bool
}

func newGemini(cfg Config) (provider, error) {
	keyHint := cfg.keyHint("GEMINI_API_KEY")
	if cfg.APIKey == "" && cfg.BaseURL == "" {
		return nil, errors.New("gemini: no API key: set " + keyHint)
	}
	cfg.Model = strings.TrimPrefix(cfg.Model, "models/")
	base, e, err := cfg.connect(geminiBase, keyHint)
	if err != nil {
		return nil, err
	}
	address, err := url.Parse(modelhttp.VersionedEndpoint(base, "v1beta", "models/"+cfg.Model+":streamGenerateContent"))
	if err != nil {
		return nil, fmt.Errorf("gemini: llm.model %q cannot be part of an address: %w", cfg.Model, err)
	}
	query := address.Query()
	query.Set("alt", "sse")
	address.RawQuery = query.Encode()
	e.win.ask = nil // a list of models says nothing of how others run them
	return &gemini{endpoint: e, url: address.String(), signed: strings.Contains(cfg.Model, "gemini-3")}, nil
}

func (g *gemini) generate(ctx context.Context, req Request, mode schemaMode, emit func(Event)) (Response, error) {
	body, err := g.body(req, mode)
	if err != nil {
		return Response{}, modelhttp.Errorf(modelhttp.Rejected, "gemini: %w", err)
	}
	a := &geminiAnswer{answer: newAnswer(g.http, req, emit)}
	resp, err := g.http.Post(ctx, g.url, body, a.texts)
	if err != nil {
		return Response{}, err
	}
	defer resp.Body.Close()
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		var whole []byte // a server that does not stream
		if whole, err = io.ReadAll(resp.Body); err == nil {
			err = a.handleChunk(whole)
		}
	} else {
		err = readSSE(resp.Body, a.handleChunk)
	}
	return a.finish(err)
}

// geminiChunk is a part of an answer.
type geminiChunk struct {
	Candidates []struct {
		Content struct {
			Parts []geminiPart `json:"parts"`
		} `json:"content"`
		Finish string `json:"finishReason"`
	} `json:"candidates"`
	Feedback struct {
		Block string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage *struct {
		Prompt   int  `json:"promptTokenCount"`
		Answer   int  `json:"candidatesTokenCount"`
		Thoughts int  `json:"thoughtsTokenCount"`
		Cached   *int `json:"cachedContentTokenCount"`
	} `json:"usageMetadata"`
	Error *json.RawMessage `json:"error"`
}

// geminiAnswer collects the chunks of an answer.
type geminiAnswer struct{ answer }

// handleChunk handles the data of one event.
func (a *geminiAnswer) handleChunk(data []byte) error {
	var part geminiChunk
	if json.Unmarshal(data, &part) != nil {
		return errNotJSON
	}
	if part.Error != nil {
		return a.interrupted(*part.Error)
	}
	if u := part.Usage; u != nil {
		a.usage = Usage{Input: u.Prompt, Output: u.Answer + u.Thoughts, CacheKnown: u.Cached != nil}
		if u.Cached != nil {
			a.usage.CacheRead = min(*u.Cached, u.Prompt)
			a.usage.Input -= a.usage.CacheRead
		}
	}
	if part.Feedback.Block != "" {
		a.done, a.stop = true, StopRefusal
	}
	for _, candidate := range part.Candidates {
		for _, p := range candidate.Content.Parts {
			if !p.Thought {
				a.addText(p.Text)
			}
			if p.Call != nil {
				a.addToolCall(p.Call.ID, p.Call.Name, string(p.Call.Args))
			}
		}
		if candidate.Finish != "" {
			a.done, a.stop = true, geminiStop(candidate.Finish, len(a.calls))
		}
	}
	return nil
}

// geminiRefusals are the reasons for which the model or a filter has declined to answer.
var geminiRefusals = []string{"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "LANGUAGE"}

func geminiStop(reason string, calls int) string {
	switch {
	case reason == "MAX_TOKENS":
		return StopLength
	case slices.Contains(geminiRefusals, reason):
		return StopRefusal
	case reason == "STOP" && calls > 0:
		return StopTools
	case reason == "STOP":
		return StopEnd
	}
	return reason
}
