package embed_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"kioku/embed"
)

// limited is a provider whose model takes a number of tokens of four characters, and says so in a form of its own.
func limited(tokens int, status int, message func(asked int) string) func(request) reply {
	return func(r request) reply {
		for _, text := range r.Input {
			if asked := utf8.RuneCountInString(text) / 4; asked > tokens {
				return reply{status: status, body: message(asked)}
			}
		}
		return good(r)
	}
}

// Hazard E14: of a text that is too long for the model, the beginning is embedded, to the end of a word, and the embedding says
// how much that is. The other texts of the request are not affected.
func TestDocumentsEmbedTheBeginningOfATextThatIsTooLong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status  int
		message func(asked int) string
		least   int // bytes of the beginning of a long English text
	}{
		"numbers": {400, func(n int) string {
			return fmt.Sprintf(`{"error":{"message":"This model's maximum context length is 2000 tokens, however you requested %d tokens (%d in your prompt; 0 for the completion)."}}`, n, n)
		}, 7000},
		"inference": {413, func(n int) string {
			return fmt.Sprintf("{\"error\":\"Input validation error: `inputs` must have less than 2000 tokens. Given: %d\"}", n)
		}, 7000},
		"llama.cpp": {500, func(n int) string {
			return fmt.Sprintf(`{"error":{"code":500,"message":"input (%d tokens) is too large to process. increase the physical batch size (current batch size: 2000)"}}`, n)
		}, 7000},
		"Ollama": {400, func(int) string { return `{"error":"the input length exceeds the context length"}` }, 4000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, client := newFake(t, embed.Config{}, limited(2000, c.status, c.message))
			long := "記憶 " + strings.Repeat("remember the tea ", 2200) // 9,000 tokens
			kanji := strings.Repeat("茶", 9000)
			texts := append(numbered(20), long, kanji)
			got, err := client.Documents(t.Context(), texts)
			if err != nil {
				t.Fatal(err)
			}
			wantVectors(t, texts[:20], got[:20])
			for i, text := range texts[20:] {
				e := got[20+i]
				if e.Err != nil || e.Bytes < c.least || e.Bytes > 3*8000 {
					t.Fatalf("text %d: %d bytes, %v", i, e.Bytes, e.Err)
				}
				head := text[:e.Bytes]
				if !utf8.ValidString(head) || !near(e.Vector, unitOf(head)) {
					t.Errorf("text %d: the vector is not that of its first %d bytes", i, e.Bytes)
				}
			}
			if next := long[got[20].Bytes]; next != ' ' {
				t.Errorf("cut before %q, in a word", next)
			}
			if n := len(f.seen()); n > 30 {
				t.Errorf("%d requests", n)
			}
			if !client.Health().Healthy {
				t.Errorf("a long text made the provider ill: %v", client.Health().Err)
			}
		})
	}
}

// Hazard E14: a text that is refused as too long however short it becomes has its own error.
func TestDocumentsDoNotCutATextToNothing(t *testing.T) {
	t.Parallel()
	f, c := newFake(t, embed.Config{}, func(r request) reply {
		if strings.Contains(r.Input[0], "tea") {
			return reply{status: 413}
		}
		return good(r)
	})
	got, err := c.Documents(t.Context(), []string{strings.Repeat("tea ", 5000)})
	if err != nil || got[0].Err == nil || got[0].Vector != nil || got[0].Bytes != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if n := len(f.seen()); n > 10 {
		t.Errorf("%d requests", n)
	}
}
