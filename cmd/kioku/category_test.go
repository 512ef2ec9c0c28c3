package main

import (
	"fmt"
	"strings"
	"testing"
)

// A note appended with the category decision is found by "what did we decide about the API?", in a folder that init made and in
// a folder of hundreds of notes.
func TestSearchFindsADecision(t *testing.T) {
	t.Parallel()
	many := map[string]string{}
	for i := range 300 {
		many[fmt.Sprintf("memory/n%d.md", i)] = fmt.Sprintf("# Note %d\n\nThe pump of the harbour, order %d, and what the supplier said about it.\n", i, i)
	}
	for name, files := range map[string]map[string]string{"made by init": nil, "hundreds of notes": many} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t, files)
			if files == nil {
				s.run("init", s.workspace).wants(t, exitOK)
			}
			s.run("append", "--category", "decision", "REST, not GraphQL.").wants(t, exitOK)
			got := s.run("search", "what did we decide about the API?")
			got.wants(t, exitOK)
			if !strings.Contains(got.stdout, "REST, not GraphQL.") || strings.Contains(got.stdout, "(weak)") {
				t.Errorf("found %q", got.stdout)
			}
		})
	}
}

// For "can I get my money back" notes that have only "back" in common with it are weak, and the answer says what would help.
func TestSearchSaysWhichWordsNoNoteHas(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 60 {
		files[fmt.Sprintf("memory/n%d.md", i)] = fmt.Sprintf("# Page %d\n\nThe module number %d of the library.\n", i, i)
	}
	for i := range 6 {
		files[fmt.Sprintf("memory/b%d.md", i)] = fmt.Sprintf("# Contents %d\n\nGo back to the top of the page.\n", i)
	}
	s := newSandbox(t, files)
	s.run("index").wants(t, exitOK)
	s.run("search", "can I get my money back").wants(t, exitOK, "3 results", `No note contains "money".`, "kioku model add minilm")
}
