package llm

import (
	"context"
	"encoding/json"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	// ollamaWindow is the most that is asked for where nobody says how large the window shall be: memory grows with it.
	ollamaWindow = 32_768
	// showTimeout bounds the question for a model's window, showAgain is the pause after one that failed.
	showTimeout = 5 * time.Second
	showAgain   = time.Minute
)

// ollamaBody is a request to /api/chat.
type ollamaBody struct {
	Model    string          `json:"model"`
	Messages []ollamaMessage `json:"messages"`
	Tools    []openAITool    `json:"tools,omitempty"`
	Stream   bool            `json:"stream"`
	Format   json.RawMessage `json:"format,omitempty"`
	Options  map[string]int  `json:"options,omitempty"`
	// Truncate false has a prompt that is too long refused instead of cut without a word; older servers do not know it.
	Truncate bool `json:"truncate"`
}

type ollamaMessage struct {
	Role     string       `json:"role"`
	Content  string       `json:"content"`
	Images   [][]byte     `json:"images,omitempty"`
	Calls    []ollamaCall `json:"tool_calls,omitempty"`
	ToolName string       `json:"tool_name,omitempty"`
}

type ollamaCall struct {
	ID       string `json:"id,omitempty"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

func (a *ollama) body(req Request, h hold) ollamaBody {
	b := ollamaBody{Model: a.model, Tools: functions(req.Tools), Stream: true, Options: map[string]int{}}
	if req.System != "" {
		b.Messages = append(b.Messages, ollamaMessage{Role: "system", Content: req.System})
	}
	for _, m := range req.Messages {
		message := ollamaMessage{Role: string(m.Role), Content: m.Text, ToolName: m.ToolName}
		for _, image := range m.Images {
			message.Images = append(message.Images, image.Data)
		}
		for _, c := range m.ToolCalls {
			var call ollamaCall
			call.Function.Name, call.Function.Arguments = c.Name, objectOf(c.Input)
			message.Calls = append(message.Calls, call)
		}
		b.Messages = append(b.Messages, message)
	}
	if h == bySchema {
		b.Format = req.Schema
	}
	if req.MaxTokens > 0 {
		b.Options["num_predict"] = req.MaxTokens
	}
	if tokens := a.window(); tokens > 0 {
		b.Options["num_ctx"] = tokens
	}
	return b
}

// window returns the window that requests ask for. Where nobody has set it the server is asked once what the model was made
// with; while it does not answer the window is unknown.
func (a *ollama) window() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.tokens == 0 && !a.server.now().Before(a.again) {
		ctx, cancel := context.WithTimeout(context.Background(), showTimeout)
		defer cancel()
		a.tokens = a.show(ctx)
		a.again = a.server.now().Add(showAgain)
	}
	return a.tokens
}

// numCtx is the window in the parameters of a model.
var numCtx = regexp.MustCompile(`(?m)^num_ctx\s+(\d+)`)

// show asks for the window of the model: what its maker has set, or else what it was trained with, up to ollamaWindow.
func (a *ollama) show(ctx context.Context) int {
	resp, err := a.server.post(ctx, a.endpoint("/api/show"), map[string]string{"model": a.model}, func() []string { return nil })
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
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
