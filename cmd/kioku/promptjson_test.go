package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"kioku/agent/prompt"
	"kioku/agent/recall"
	"kioku/agent/sidecar"
)

func TestPromptJSONIsTheAnswerOfTheAgentService(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.write("SOUL.md", "Calm.")
	got := s.promptOf("boiler pressure")
	if !slices.ContainsFunc(got.Layers, func(l prompt.Layer) bool { return l.Name == "soul" && l.Chars > 0 }) {
		t.Errorf("layers %v", got.Layers)
	}
	hit := got.Recall.Memories[0]
	if hit.Path != "memory/2026-01-10.md" || hit.StartLine != 1 || hit.EndLine != 5 || hit.Date != "2026-01-10" ||
		!strings.Contains(hit.Text, "boiler pressure fell") || !strings.Contains(got.TurnBlock, "boiler pressure fell") {
		t.Errorf("got %v", got)
	}
}

func TestPromptAnswerTellsWhySearchesFailedAndNoTimes(t *testing.T) {
	t.Parallel()
	made := sidecar.Prompt{Recall: recall.Outcome{Took: time.Second, Searches: []recall.Search{
		{Agent: "main", Hits: 1, Mode: "hybrid", Took: time.Second}, {Agent: "team", Err: errors.New("gone")},
	}}}
	got := promptAnswer(made).Recall
	if got.Took != 0 || len(got.Searches) != 2 || got.Searches[0].Took != 0 || got.Searches[0].Err != nil || got.Searches[1].Err.Error() != "gone" {
		t.Fatalf("got %v", got)
	}
}
