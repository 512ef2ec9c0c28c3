package llmtest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/llm"
	"kioku/llm/llmtest"
)

func TestScriptGoesThroughItsSteps(t *testing.T) {
	broken := llmtest.Say("half an ")
	broken.Err = &llm.Error{Kind: llm.KindUnavailable}
	checked := llmtest.Say("fine")
	checked.Check = func(r llm.Request) error {
		if r.System != "s" {
			return errors.New("another system prompt")
		}
		return nil
	}
	s := &llmtest.Script{Tokens: 1000, Steps: []llmtest.Step{
		llmtest.Say("two words"), llmtest.Call("c1", "now", map[string]int{"n": 1}), broken, checked, llmtest.Fail(llm.KindOverflow)}}
	var heard []string
	listen := func(e llm.Event) {
		if e.ToolCall != nil {
			heard = append(heard, e.ToolCall.Name+string(e.ToolCall.Input))
			return
		}
		heard = append(heard, e.Text)
	}
	for i, want := range []string{"", "", llm.KindUnavailable, "", llm.KindOverflow} {
		if _, err := s.Generate(t.Context(), llm.Request{System: "s"}, listen); llm.KindOf(err) != want || (err != nil) != (want != "") {
			t.Errorf("step %d: %v", i, err)
		}
	}
	if diff := cmp.Diff([]string{"two ", "words", `now{"n":1}`, "half ", "an ", "fine"}, heard); diff != "" {
		t.Error(diff)
	}
	if _, err := s.Generate(t.Context(), llm.Request{}, nil); err == nil || len(s.Requests()) != 6 {
		t.Errorf("a script goes on after its end: %v", err)
	}
}

func TestScriptStepWaitsForItsChannelOrTheCaller(t *testing.T) {
	step := llmtest.Say("late")
	step.Wait = make(chan struct{})
	s := &llmtest.Script{Steps: []llmtest.Step{step}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Generate(ctx, llm.Request{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
