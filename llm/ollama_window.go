package llm

import (
	"context"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"kioku/internal/modelhttp"
)

const (
	// ollamaWindow is the largest window in tokens to ask for unless it is set: the server's memory grows with it.
	ollamaWindow = 32_768
	// maxShown bounds in bytes what a server says of a model, with its template, licence and list of tensors.
	maxShown = 64 << 20
)

// askWindow returns the window that requests are to ask the server for: the parameter of the model's maker, or else the length
// that the model was trained with, up to ollamaWindow. A larger one with which the model is loaded already costs no more
// memory, and another one would load the model anew.
func (o *ollama) askWindow(ctx context.Context) (int, error) {
	set, trained, err := o.show(ctx)
	if err != nil || set > 0 || trained == 0 {
		return set, err
	}
	loaded, err := o.loaded(ctx)
	if err != nil {
		return 0, err
	}
	return max(min(trained, ollamaWindow), min(loaded, trained)), nil
}

// numCtx is the window in the parameters of a model.
var numCtx = regexp.MustCompile(`(?m)^num_ctx\s+(\d+)`)

// show returns the window in the parameters of the model and the length that it was trained with, 0 for what the server does
// not say.
func (o *ollama) show(ctx context.Context) (set, trained int, err error) {
	var shown struct {
		Parameters string         `json:"parameters"`
		Info       map[string]any `json:"model_info"`
	}
	body, err := o.http.PostWhole(ctx, o.address("/api/show"), map[string]string{"model": o.model}, maxShown, nil)
	if err != nil {
		return 0, 0, err // also for a model that the server does not have yet
	}
	if json.Unmarshal(body, &shown) != nil {
		return 0, 0, nil
	}
	if m := numCtx.FindStringSubmatch(shown.Parameters); m != nil {
		set, _ = strconv.Atoi(m[1]) // 0 for a number that is too large
	}
	for key, value := range shown.Info {
		if tokens, ok := value.(float64); ok && strings.HasSuffix(key, ".context_length") {
			trained = int(min(max(tokens, 0), 1<<30))
		}
	}
	return set, trained, nil
}

// loaded returns the window with which the model is loaded, 0 if it is not loaded or the server does not say.
func (o *ollama) loaded(ctx context.Context) (int, error) {
	var running struct {
		Models []struct {
			Name   string `json:"name"`
			Window int    `json:"context_length"`
		} `json:"models"`
	}
	body, err := o.http.GetWhole(ctx, o.address("/api/ps"), maxModels)
	if err := unanswered(err); err != nil {
		return 0, err
	}
	if json.Unmarshal(body, &running) != nil {
		return 0, nil
	}
	for _, m := range running.Models {
		if m.Name == o.model || m.Name == o.model+":latest" {
			return m.Window, nil
		}
	}
	return 0, nil
}

// unanswered returns err if the server may answer the same request later, and nil if it has answered, also that it has no such
// address.
func unanswered(err error) error {
	if err == nil {
		return nil
	}
	if class := modelhttp.ClassOf(err); class.Transient() || class == modelhttp.Auth {
		return err
	}
	return nil
}
