package main

import (
	"path/filepath"
	"strings"
	"testing"

	"kioku/agent/session"
	"kioku/llm"
)

// say adds a user's message to a session of an agent.
func (s *sandbox) say(agent, id, text string) {
	s.t.Helper()
	state := s.state
	if agent == "main" {
		state = s.own()
	}
	folder, err := session.Folder(state, agent)
	if err != nil {
		s.t.Fatal(err)
	}
	talk, _, err := session.Open(folder, id, session.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	defer talk.Close()
	if _, err := talk.Append(session.Entry{Kind: session.KindMessage, Message: &llm.Message{Role: llm.RoleUser, Text: text}}); err != nil {
		s.t.Fatal(err)
	}
}

func TestSessionsAreIndexedOnlyIfTheyAreASource(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.say("main", "s1", "the xylophone is out of tune")
	s.run("search", "xylophone").wants(t, exitOK, "no result")
	s.env = append(s.env, "KIOKU_SOURCES=memory,sessions")
	if out := s.must("search", "xylophone", "--source", "sessions"); !strings.Contains(out, "sessions/s1.jsonl") {
		t.Errorf("found: %s", out)
	}
	if out := s.must("get", "sessions/s1.jsonl"); !strings.Contains(out, "User: the xylophone is out of tune") || strings.Contains(out, "{") {
		t.Errorf("shown: %s", out)
	}
	s.say("main", "s1", "and so is the bassoon")
	s.must("index")
	if out := s.must("search", "bassoon"); !strings.Contains(out, "sessions/s1.jsonl") {
		t.Errorf("after kioku index: %s", out)
	}
	s.env[len(s.env)-1] = "KIOKU_SOURCES=memory"
	s.run("search", "xylophone").wants(t, exitOK, "no result")
}

// Hazard C05: the transcripts of another agent with the same state folder are neither found nor read.
func TestSessionsOfAnotherAgentAreNotIndexed(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.env = append(s.env, "KIOKU_SOURCES=memory,sessions")
	s.say("ann", "s1", "the xylophone is out of tune")
	s.run("search", "xylophone").wants(t, exitOK, "no result")
	for _, path := range []string{"sessions/s1.jsonl", filepath.Join(s.state, "agents", "ann", "sessions", "s1.jsonl")} {
		s.run("get", path).wants(t, exitError, "no such memory file")
	}
}
