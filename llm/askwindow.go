package llm

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"kioku/internal/modelhttp"
)

// maxModels bounds in bytes the list of models of a server.
const maxModels = 16 << 20

// windowAsker asks a server with OpenAI's interface for the window of a model. None of its requests leaves the server of base.
type windowAsker struct {
	http  *modelhttp.Client
	base  url.URL
	model string
}

// ask returns the window that the server tells, 0 if it does not say. It asks vLLM, SGLang, OpenRouter and others by their
// list of models, llama.cpp by its properties, and LM Studio by its own list. The error is of a server that does not answer or
// has not loaded the model.
func (a windowAsker) ask(ctx context.Context) (int, error) {
	for _, ask := range []func(context.Context) (int, error){a.listed, a.llamaCpp, a.lmStudio} {
		if tokens, err := ask(ctx); err != nil || tokens > 0 {
			return tokens, err
		}
	}
	return 0, nil
}

// get reads the JSON at an address. found is false if the server has no such address; the error is of a server that does not
// answer.
func (a windowAsker) get(ctx context.Context, address string, into any) (found bool, err error) {
	body, err := a.http.GetWhole(ctx, address, maxModels)
	if err := unanswered(err); err != nil {
		return false, err
	}
	return json.Unmarshal(body, into) == nil, nil
}

// root returns an address beside the version of the API.
func (a windowAsker) root(path string) string {
	u := a.base
	u.Path = strings.TrimSuffix(u.Path, "/chat/completions")
	u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/messages"), "/v1") + path
	return u.String()
}

// listedModel is a model in the list of a server.
type listedModel struct {
	ID string `json:"id"`
	// How servers name the window: vLLM and SGLang, OpenRouter and Together, Groq, Mistral.
	MaxModelLen      int `json:"max_model_len"`
	ContextLength    int `json:"context_length"`
	ContextWindow    int `json:"context_window"`
	MaxContextLength int `json:"max_context_length"`
	// TopProvider is the endpoint that OpenRouter prefers.
	TopProvider struct {
		ContextLength int `json:"context_length"`
	} `json:"top_provider"`
	// State and LoadedContextLength are LM Studio's. Its MaxContextLength is what the model could take.
	State               string `json:"state"`
	LoadedContextLength int    `json:"loaded_context_length"`
}

// window returns the smallest window that is said, 0 if none is.
func (m listedModel) window() int {
	smallest := 0
	for _, n := range []int{m.MaxModelLen, m.ContextLength, m.ContextWindow, m.MaxContextLength, m.TopProvider.ContextLength} {
		if n > 0 && (smallest == 0 || n < smallest) {
			smallest = n
		}
	}
	return smallest
}

// find returns the model in a list, or the only one of a server that goes by another name.
func (a windowAsker) find(ctx context.Context, address string) (m listedModel, err error) {
	var list struct {
		Data []listedModel `json:"data"`
	}
	if found, err := a.get(ctx, address, &list); !found {
		return m, err
	}
	for _, m := range list.Data {
		if strings.EqualFold(m.ID, a.model) {
			return m, nil
		}
	}
	if len(list.Data) == 1 {
		return list.Data[0], nil
	}
	return m, nil
}

func (a windowAsker) listed(ctx context.Context) (int, error) {
	base := a.base
	base.Path = strings.TrimSuffix(strings.TrimSuffix(base.Path, "/chat/completions"), "/messages")
	m, err := a.find(ctx, modelhttp.Endpoint(&base, "models"))
	return m.window(), err
}

func (a windowAsker) llamaCpp(ctx context.Context) (int, error) {
	var props struct {
		Settings struct {
			Window int `json:"n_ctx"`
		} `json:"default_generation_settings"`
	}
	_, err := a.get(ctx, a.root("/props"), &props)
	return max(props.Settings.Window, 0), err
}

func (a windowAsker) lmStudio(ctx context.Context) (int, error) {
	m, err := a.find(ctx, a.root("/api/v0/models"))
	switch {
	case m.LoadedContextLength > 0:
		return m.LoadedContextLength, err
	case m.State == "not-loaded":
		return 0, errNotLoaded
	}
	return m.window(), err
}
