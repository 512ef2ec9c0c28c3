package tokenizer

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// recordedModel returns the tokenizer of that name in testdata/huggingface.json.
func recordedModel(t *testing.T, name string) *Tokenizer {
	t.Helper()
	content, err := os.ReadFile("testdata/huggingface.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct {
		Tokenizers []struct {
			Name      string          `json:"name"`
			Tokenizer json.RawMessage `json:"tokenizer"`
		} `json:"tokenizers"`
	}
	if err := json.Unmarshal(content, &recorded); err != nil {
		t.Fatal(err)
	}
	for _, r := range recorded.Tokenizers {
		if r.Name == name {
			tok, err := Parse(r.Tokenizer)
			if err != nil {
				t.Fatal(err)
			}
			return tok
		}
	}
	t.Fatalf("no tokenizer %q is recorded", name)
	return nil
}

// A text that is cut before each run of marks for spaces has the tokens that it has as one word.
func TestTextCutAtSpacesHasTheSameTokens(t *testing.T) {
	t.Parallel()
	cut, whole := recordedModel(t, "llama-2"), recordedModel(t, "llama-2")
	if len(cut.splitters) != 1 {
		t.Fatal("the text is not cut")
	}
	whole.splitters = nil
	for _, text := range []string{"", "notes are kept", "  two  spaces  and   three ", "▁a▁▁b", "会議は 木曜日\n\n に", "names of the notes.", "▁"} {
		got, _, err := cut.Tokens(text, 0)
		want, _, err2 := whole.Tokens(text, 0)
		if err != nil || err2 != nil || !slices.Equal(got, want) {
			t.Errorf("%q has the tokens %v, as one word %v (%v, %v)", text, got, want, err, err2)
		}
	}
}

// Several goroutines may tokenize at a time, over one cache of words.
func TestTokensAreTheSameFromSeveralGoroutines(t *testing.T) {
	t.Parallel()
	tok := recordedModel(t, "bert uncased")
	const text = "Notes are kept as plain Markdown, unique names; 12345 and cancelled invoices."
	want, _, err := tok.Tokens(text, 0)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan []int32)
	for range 4 {
		go func() {
			var got []int32
			for range 200 {
				got, _, _ = tok.Tokens(text, 0)
			}
			done <- got
		}()
	}
	for range 4 {
		if got := <-done; !slices.Equal(got, want) {
			t.Errorf("the tokens are %v, want %v", got, want)
		}
	}
}
