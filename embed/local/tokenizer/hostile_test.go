package tokenizer_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"kioku/embed/local/tokenizer"
)

// A hostile, truncated or foreign tokenizer.json is a clear error: ids out of range, a vocabulary of 2^31, merges of tokens that are
// not there, damaged tables, unknown parts.
func TestParseRefusesWhatIsNoTokenizer(t *testing.T) {
	t.Parallel()
	model := func(model string) string { return `{"model": ` + model + `}` }
	with := func(part string) string {
		return `{"model": {"type": "WordPiece", "vocab": {"[UNK]": 0}}, ` + part + `}`
	}
	for _, c := range []struct{ name, content, want string }{
		{"empty", ``, "unexpected end"},
		{"cut off", `{"model": {"type": "BPE", "vocab": {"a": 0`, "unexpected end"},
		{"another file", `{"model_type": "bert"}`, "has none"},
		{"unknown model", model(`{"type": "Neural"}`), `"Neural" is not supported; WordPiece, Unigram and BPE are`},
		{"no vocabulary", model(`{"type": "WordPiece", "vocab": {}}`), "empty"},
		{"negative id", model(`{"type": "WordPiece", "vocab": {"[UNK]": -1}}`), "has the id -1"},
		{"id of 2^31", model(`{"type": "BPE", "vocab": {"a": 2147483648}, "merges": []}`), "has the id 2147483648"},
		{"id that is no number", model(`{"type": "BPE", "vocab": {"a": 1e99}, "merges": []}`), "cannot unmarshal"},
		{"no unknown token", model(`{"type": "WordPiece", "vocab": {"a": 1}}`), `lacks "[UNK]"`},
		{"merge of nothing", model(`{"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]}`), `"b" is not in the vocabulary`},
		{"merge of three", model(`{"type": "BPE", "vocab": {"a": 0}, "merges": ["a a a"]}`), "two tokens"},
		{"merge into nothing", model(`{"type": "BPE", "vocab": {"a": 0}, "merges": [["a", "a"]]}`), `"aa" is not in the vocabulary`},
		{"unk_id beyond the vocabulary", model(`{"type": "Unigram", "vocab": [["a", -1]], "unk_id": 7}`), "unk_id 7"},
		{"entry without a score", model(`{"type": "Unigram", "vocab": [["a"]]}`), "not a pair"},
		{"unknown normalizer", with(`"normalizer": {"type": "Shuffle"}`), "Shuffle"},
		{"unknown pre-tokenizer", with(`"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Cut"}]}`), "Cut"},
		{"unknown post-processor", with(`"post_processor": {"type": "Frame"}`), "Frame"},
		{"damaged charsmap", with(`"normalizer": {"type": "Precompiled", "precompiled_charsmap": "/////w=="}`), "precompiled_charsmap"},
		{"charsmap that is no base64", with(`"normalizer": {"type": "Precompiled", "precompiled_charsmap": "?"}`), "base64"},
		{"words of its own", model(`{"type": "WordLevel", "vocab": {"a": 0}}`), "WordPiece, Unigram and BPE are"},
		{"BPE of CLIP", model(`{"type": "BPE", "vocab": {"a</w>": 0}, "merges": [], "end_of_word_suffix": "</w>"}`), "end_of_word_suffix"},
		{"splits of Llama 3", with(`"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "\\s+"}, "behavior": "Isolated"}`), "BertPreTokenizer, WhitespaceSplit, Metaspace and ByteLevel are"},
		{"long sequence of pre-tokenizers", with(`"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{}, {}, {}, {}, {}]}`), "long"},
		{"regular expression with an error", with(`"normalizer": {"type": "Replace", "pattern": {"Regex": "("}, "content": "a"}`), "regular expression"},
		{"regular expression of another engine", with(`"normalizer": {"type": "Replace", "pattern": {"Regex": "\\p{L}(?=a)"}, "content": "a"}`), "regular expression"},
		{"no pattern", with(`"normalizer": {"type": "Replace", "content": "a"}`), "pattern"},
		{"long content", with(`"normalizer": {"type": "Prepend", "prepend": "` + strings.Repeat("a", 2000) + `"}`), "long text"},
		{"template without its token", with(`"post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}]}`), "special_tokens"},
		{"template with a huge id", with(`"post_processor": {"type": "BertProcessing", "sep": ["a", 99999999999], "cls": ["a", 0]}`), "99999999999"},
		{"added token with a negative id", with(`"added_tokens": [{"id": -5, "content": "<s>"}]`), "has the id -5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := tokenizer.Parse([]byte(c.content))
			if !errors.Is(err, tokenizer.ErrFormat) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want one with %q", err, c.want)
			}
		})
	}
}

// Cyclic merges end: each merge takes one token away.
func TestCyclicMergesEnd(t *testing.T) {
	t.Parallel()
	tok, err := tokenizer.Parse([]byte(`{"model": {"type": "BPE", "vocab": {"": 0, "a": 1, "b": 2, "ab": 3, "ba": 4, "aba": 5},
		"merges": [["a", ""], ["", "a"], ["a", "b"], ["b", "a"], ["ab", "a"], ["a", "ba"]]}}`))
	if err != nil {
		t.Fatal(err)
	}
	ids, _, err := tok.Tokens(strings.Repeat("ab", 5000)+"a", 0)
	if err != nil || len(ids) == 0 || len(ids) > 10_001 {
		t.Errorf("%d tokens, error %v", len(ids), err)
	}
}

// Normalizers that double the text again and again are an error before they fill the memory.
func TestGrowingTextIsAnError(t *testing.T) {
	const most = 512 << 20 // bytes of all steps together; without a limit they are gigabytes
	const one = `{"type": "Replace", "pattern": {"String": "é"}, "content": "éé"}`
	for name, one := range map[string]string{"flat": one, "nested": `{"type": "Sequence", "normalizers": [` + one + `]}`} {
		t.Run(name, func(t *testing.T) {
			tok, err := tokenizer.Parse([]byte(`{"model": {"type": "WordPiece", "vocab": {"[UNK]": 0}},
				"normalizer": {"type": "Sequence", "normalizers": [` + strings.Repeat(one+",", 27) + one + `]}}`))
			if err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _, err = tok.Tokens("éééé", 0)
			runtime.ReadMemStats(&after)
			if allocated := after.TotalAlloc - before.TotalAlloc; err == nil || allocated > most {
				t.Errorf("%d bytes were allocated, error %v", allocated, err)
			}
		})
	}
}

// A megabyte without a space takes a time that grows with its length, not with its square.
func TestLongRunTakesLinearTime(t *testing.T) {
	for _, c := range readRecorded(t).Tokenizers {
		tok, err := tokenizer.Parse(c.Tokenizer)
		if err != nil {
			t.Fatal(err)
		}
		for _, unit := range []string{"ab", "会", "\u0301", "!"} {
			text := strings.Repeat(unit, 1<<20/len(unit)/8)
			if _, _, err := tok.Tokens(text, 0); err != nil { // work that grows with the square does not end in the time of go test
				t.Errorf("%s: %v", c.Name, err)
			}
		}
	}
}

// Any tokenizer.json is refused, or gives ids of its own for any text.
func FuzzParse(f *testing.F) {
	for _, c := range readRecorded(f).Tokenizers {
		f.Add([]byte(c.Tokenizer), "a note about Café 会議 123")
	}
	f.Add([]byte(`{"model": {"type": "BPE", "vocab": {"a": 0, "aa": 1}, "merges": ["a a"]}, "normalizer": {"type": "Precompiled", "precompiled_charsmap": "BAAAAAAAAAAAAAA="}}`), "aaa")
	f.Fuzz(func(t *testing.T, content []byte, text string) {
		tok, err := tokenizer.Parse(content)
		if err != nil {
			if !errors.Is(err, tokenizer.ErrFormat) {
				t.Errorf("the error %v is not an ErrFormat", err)
			}
			return
		}
		e, err := tok.Encode(text, 0)
		if err != nil {
			return
		}
		for _, id := range e.IDs {
			if id < 0 || int(id) > tok.MaxID() {
				t.Fatalf("id %d, the largest is %d", id, tok.MaxID())
			}
		}
		empty, err := tok.Encode("", 0)
		if err != nil {
			return
		}
		if cut, err := tok.Encode(text, 8); err == nil && len(cut.IDs) > max(8, len(empty.IDs)+1) {
			t.Fatalf("%d tokens, want at most 8", len(cut.IDs))
		}
	})
}
