package llm_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/llm"
)

func TestReadObjectReadsOneObject(t *testing.T) {
	t.Parallel()
	got, err := llm.ReadObject(` {"a":1.50,"b":[true,null,{"a":"x"}]} `, 3)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"a": json.Number("1.50"), "b": []any{true, nil, map[string]any{"a": "x"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s", diff)
	}
}

func TestReadObjectRefuses(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"":                           "nothing before it",
		"[1]":                        "nothing before it",
		"x {}":                       "nothing before it",
		"{} {}":                      "nothing after it",
		`{"a":1,"a":2}`:              `has the key "a" twice`,
		`{"a":[{"b":1,"b":1}]}`:      `has the key "a[0].b" twice`,
		`{"a":1,"\u0061":2}`:         `has the key "a" twice`,
		`{"a":`:                      "ends before",
		`{"a":NaN}`:                  "is not JSON",
		`{"a":1,}`:                   "is not JSON",
		`{1:2}`:                      "is not JSON",
		strings.Repeat(`{"a":`, 200): "more than 3 levels",
	} {
		if got, err := llm.ReadObject(text, 3); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
