package memory_test

import (
	"errors"
	"strings"
	"testing"

	"kioku/memory"
)

func TestCheckRecallNamesTheBadField(t *testing.T) {
	t.Parallel()
	turn, high := memory.Turn{Speaker: memory.SpeakerUser, Text: "hello"}, memory.Secret+1
	for field, q := range map[string]memory.Query{
		"context":         {Context: make([]memory.Turn, 21)},
		"queries":         {Queries: []string{"a", "b", "c", "d", "e", "f"}},
		"kinds":           {Kinds: []string{memory.KindFact, "episode"}},
		"max_sensitivity": {MaxSensitivity: &high},
	} {
		var bad *memory.InputError
		if err := q.CheckRecall(); !errors.As(err, &bad) || bad.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	for name, q := range map[string]memory.Query{
		"a tool speaks":       {Context: []memory.Turn{{Speaker: memory.SpeakerTool, Text: "x"}}},
		"a long message":      {Context: []memory.Turn{{Speaker: memory.SpeakerUser, Text: strings.Repeat("x", 1<<20)}}},
		"a long wording":      {Queries: []string{strings.Repeat("あ", 201)}},
		"a kind of no search": {Kinds: []string{""}},
	} {
		if q.CheckRecall() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	good := memory.Query{Context: []memory.Turn{turn}, Queries: []string{strings.Repeat("あ", 200)}, Kinds: memory.QueryKinds()}
	if err := good.CheckRecall(); err != nil || !good.AsksDerived() || (memory.Query{Text: "x", Kinds: []string{memory.KindChunk}}).AsksDerived() {
		t.Errorf("error %v", err)
	}
}

func TestParseSensitivity(t *testing.T) {
	t.Parallel()
	for _, s := range []memory.Sensitivity{memory.Normal, memory.Private, memory.Secret} {
		if got, ok := memory.ParseSensitivity(s.String()); !ok || got != s {
			t.Errorf("%v: %v, %t", s, got, ok)
		}
	}
	if _, ok := memory.ParseSensitivity("public"); ok {
		t.Error("public is no sensitivity")
	}
}
