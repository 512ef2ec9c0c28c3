package openclaw

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/internal/testkit"
)

// decode reads what JSON5 has beyond JSON, and refuses what is neither.
func TestDecodeReadsJSON5(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"JSON":                {`{"a": [1, 2.5, -3e2, true, null, "x"]}`, `{"a": [1, 2.5, -300, true, null, "x"]}`},
		"names and comments":  {"// c\n{ a: 1, /* b:\n2 */ $c_d: 'x', } // end", `{"a": 1, "$c_d": "x"}`},
		"trailing commas":     {"{a: [1, 2,], b: {c: 1,},}", `{"a": [1, 2], "b": {"c": 1}}`},
		"single quotes":       {`{a: 'say "hi"', b: "it's"}`, `{"a": "say \"hi\"", "b": "it's"}`},
		"escapes":             {"{a: '\\x41\\u3042\\n\\'', b: 'one\\\n two'}", `{"a": "Aあ\n'", "b": "one two"}`},
		"numbers":             {"{a: 0x1F, b: +1, c: .5, d: 5., e: -0x10}", `{"a": 31, "b": 1, "c": 0.5, "d": 5, "e": -16}`},
		"addresses":           {`{a: "http://127.0.0.1/v1", b: 'x'}`, `{"a": "http://127.0.0.1/v1", "b": "x"}`},
		"a byte order mark":   {"\ufeff{a: 1}", `{"a": 1}`},
		"text of any script":  {`{名前: "河馬"}`, `{"名前": "河馬"}`},
		"true as a name":      {`{true: true}`, `{"true": true}`},
		"space before colons": {"{a : 1} // c", `{"a": 1}`},
	} {
		t.Run(name, func(t *testing.T) {
			var want map[string]any
			testkit.Must(t, json.Unmarshal([]byte(c.want), &want))
			got, err := decode([]byte(c.text))
			if d := cmp.Diff(want, got); err != nil || d != "" {
				t.Errorf("%v\n%s", err, d)
			}
		})
	}
	for _, text := range []string{"", "{", "[1]", "{a: }", "{a: b}", "{a: 'x", "{a: 1 b: 2}", "{a: /* 1}", "{a: '\\u12'}", "{a: 0xZ}", "{a: \xff}", "{a: '\n'}"} {
		if got, err := decode([]byte(text)); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

// Whatever the text is, decode ends, and what it reads from JSON is what a decoder of JSON reads.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{`{"a": [1, {"b": "\u0041"}]}`, "{a: 'b', // c\n}", "{a: 0x1, b: [,]}", "/*", "{\"a\": \"\\ud83d\\ude00\"}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := decode([]byte(text))
		var want map[string]any
		if json.Unmarshal([]byte(text), &want) != nil || want == nil {
			return
		}
		if err != nil {
			t.Fatalf("JSON is refused: %v", err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	})
}
