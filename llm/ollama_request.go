package llm

import (
	"context"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	// ollamaWindow is the largest window in tokens to ask for unless it is set: the server's memory grows with it.
	ollamaWindow = 32_768
	// showTimeout bounds the request for a model's window, showInterval is the minimum time between two.
	showTimeout  = 5 * time.Second
	showInterval = time.Minute
	// maxShown bounds in bytes what a server says of a model, with its template, licence and list of tensors.
	maxShown = 64 << 20
)

// ollamaBody is a request to /api/chat.
type ollamaBody struct {
	Model    string          `json:"model"`
	Messages []openAIMessage `json:"messages"`
	Tools    []openAITool    `json:"tools,omitempty"`
	Stream   bool            `json:"stream"`
	Format   json.RawMessage `json:"format,omitempty"`
	Options  map[string]int  `json:"options,omitempty"`
	// Truncate is false so that the server refuses a prompt that is too long and does not cut it silently; older servers
	// ignore it.
	Truncate bool `json:"truncate"`
}

func (o *ollama) body(req Request, mode schemaMode) ollamaBody {
	b := ollamaBody{Model: o.model, Tools: functions(req.Tools), Stream: true, Options: map[string]int{}}
	if req.System != "" {
		b.Messages = append(b.Messages, openAIMessage{Role: "system", Content: req.System})
	}
	for _, m := range req.Messages {
		message := openAIMessage{Role: string(m.Role), Content: m.Text, ToolName: m.ToolName}
		for _, image := range m.Images {
			message.Images = append(message.Images, image.Data)
		}
		for _, c := range m.ToolCalls {
			message.ToolCalls = append(message.ToolCalls, openAICall{Function: openAIFunction{c.Name, objectOf(c.Input)}})
		}
		b.Messages = append(b.Messages, message)
	}
	if mode == schemaEnforced {
		b.Format = req.Schema
	}
	if req.MaxTokens > 0 {
		b.Options["num_predict"] = req.MaxTokens
	}
	if tokens := o.window(); tokens > 0 {
		b.Options["num_ctx"] = tokens
	}
	return b
}

// window returns the window that requests ask for. Unless it is set, the server is asked once for the model's; while it does
// not answer the window is unknown.
func (o *ollama) window() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.tokens == 0 && !o.now().Before(o.showAt) {
		ctx, cancel := context.WithTimeout(context.Background(), showTimeout)
		defer cancel()
		o.tokens = o.show(ctx)
		o.showAt = o.now().Add(showInterval)
	}
	return o.tokens
}

// numCtx is the window in the parameters of a model.
var numCtx = regexp.MustCompile(`(?m)^num_ctx\s+(\d+)`)

// show asks the server for the window of the model: the parameter of its maker, or else the length that it was trained with,
// up to ollamaWindow. It returns 0 if the server does not say.
func (o *ollama) show(ctx context.Context) int {
	body, err := o.http.PostWhole(ctx, o.address("/api/show"), map[string]string{"model": o.model}, maxShown, nil)
	var shown struct {
		Parameters string         `json:"parameters"`
		Info       map[string]any `json:"model_info"`
	}
	if err != nil || json.Unmarshal(body, &shown) != nil {
		return 0
	}
	if set := numCtx.FindStringSubmatch(shown.Parameters); set != nil {
		if tokens, err := strconv.Atoi(set[1]); err == nil {
			return tokens
		}
	}
	for key, value := range shown.Info {
		if tokens, ok := value.(float64); ok && strings.HasSuffix(key, ".context_length") {
			return int(min(max(tokens, 0), ollamaWindow))
		}
	}
	return 0
}
