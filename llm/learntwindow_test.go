package llm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"kioku/llm"
	"net/http"
	"testing"

	"pgregory.net/rapid"
)

// tokenizer is a server whose model takes a number of tokens, of which it counts a factor more than the estimate.
type tokenizer struct {
	window int
	factor float64
	// named is set if refusals name the window.
	named    bool
	refusals int
}

func (s *tokenizer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Messages []struct{ Content string }
	}
	json.NewDecoder(r.Body).Decode(&body)
	estimate := 0
	for _, m := range body.Messages {
		estimate += len(m.Content)/4 + 4
	}
	tokens := int(float64(estimate) * s.factor)
	if tokens > s.window {
		s.refusals++
		w.WriteHeader(http.StatusBadRequest)
		if s.named {
			fmt.Fprintf(w, `{"error":{"message":"This model's maximum context length is %d tokens. However, you requested %d tokens."}}`, s.window, tokens)
		} else {
			io.WriteString(w, `{"error":{"code":"context_length_exceeded"}}`)
		}
		return
	}
	io.WriteString(w, sse(`{"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}`, fmt.Sprintf(`{"usage":{"prompt_tokens":%d}}`, tokens), "[DONE]"))
}

// A conversation that grows message by message, and is cut to half of the window when it is full, is refused a few times at most,
// whatever the model takes, however it counts and whatever was believed before; and most of the window is used.
func TestWindowIsLearntInAConversation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := &tokenizer{window: rapid.IntRange(2000, 10_000).Draw(t, "window"), factor: rapid.Float64Range(0.5, 3).Draw(t, "factor"),
			named: rapid.Bool().Draw(t, "named")}
		believed := rapid.SampledFrom([]int{0, 1000, 8000, 128_000}).Draw(t, "believed")
		m, err := llm.New(llm.Config{Provider: "openai", Model: "test-model", APIKey: testKey, MaxRetries: -1, Transport: transport{s}, Window: believed})
		if err != nil {
			t.Fatal(err)
		}
		size, largest := 200, 0
		for range 50 {
			if window := m.Window(); window > 0 && llm.RequestTokens(tea(size)) > window {
				size = window / 2
			}
			if _, err := m.Generate(context.Background(), tea(size), nil); err == nil {
				largest = max(largest, size)
				size += size / 3
			} else if asked := llm.RequestTokens(tea(size)); llm.KindOf(err) != llm.KindOverflow || m.Window() >= asked {
				t.Fatalf("%v; the window is %d after %d", err, m.Window(), asked)
			}
		}
		if s.refusals > 4 {
			t.Errorf("refused %d times", s.refusals)
		}
		fits := int(float64(s.window) / max(s.factor, 1))
		if believed > 0 {
			fits = min(fits, believed)
		}
		if largest < fits/3 {
			t.Errorf("at most %d of %d tokens were sent, the window is %d", largest, fits, m.Window())
		}
	})
}
