package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	"kioku/agent/recall"
	"kioku/agent/sidecar"
	kiokuv1 "kioku/proto/kioku/v1"
)

func TestPromptJSONIsTheAnswerOfTheAgentService(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.write("SOUL.md", "Calm.")
	for _, args := range [][]string{{"boiler pressure"}, {"--mode", "none"}} {
		out := s.must(append([]string{"prompt", "--json"}, args...)...)
		var answer kiokuv1.AssemblePromptResponse
		if err := protojson.Unmarshal([]byte(out), &answer); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for i, fields := 0, answer.ProtoReflect().Descriptor().Fields(); i < fields.Len(); i++ {
			if name := fields.Get(i).JSONName(); !strings.Contains(out, "\n  \""+name+"\": ") {
				t.Errorf("%q: %s is missing: %s", args, name, out)
			}
		}
	}
	got := s.promptOf("boiler pressure")
	if !slices.ContainsFunc(got.GetLayers(), func(l *kiokuv1.PromptLayer) bool { return l.GetName() == "soul" && l.GetChars() > 0 }) {
		t.Errorf("layers %v", got.GetLayers())
	}
	hit := got.GetRecall().GetRecalled()[0]
	if hit.GetPath() != "memory/2026-01-10.md" || hit.GetStartLine() != 1 || hit.GetEndLine() != 5 || hit.GetDate() != "2026-01-10" ||
		!strings.Contains(hit.GetText(), "boiler pressure fell") || !strings.Contains(got.GetTurnBlock(), "boiler pressure fell") {
		t.Errorf("got %v", got)
	}
}

func TestPromptAnswerTellsWhySearchesFailedAndNoTimes(t *testing.T) {
	t.Parallel()
	made := sidecar.Prompt{Recall: recall.Outcome{Took: time.Second, Searches: []recall.Search{
		{Agent: "main", Hits: 1, Mode: "hybrid", Took: time.Second}, {Agent: "team", Err: errors.New("gone")},
	}}}
	got := promptAnswer(made).GetRecall()
	if got.GetTook() != nil || len(got.GetSearches()) != 2 {
		t.Fatalf("got %v", got)
	}
	for i, want := range []string{"", "gone"} {
		if s := got.GetSearches()[i]; s.GetError() != want || s.GetTook() != nil {
			t.Errorf("search %d: %v", i, s)
		}
	}
}
