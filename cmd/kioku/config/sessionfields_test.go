package config_test

import (
	"strings"
	"testing"

	"kioku/cmd/kioku/config"
)

func TestHasIsFalseForSessionsByDefault(t *testing.T) {
	t.Parallel()
	c := load(t, write(t, ""))
	if c.Has("sessions") || c.Index.Sessions.DeltaBytes != 100_000 || c.Index.Sessions.DeltaMessages != 50 {
		t.Errorf("by default: %v, %+v", c.Sources, c.Index.Sessions)
	}
	c = load(t, write(t, "sources: [memory, sessions]\nsync: {sessions: {deltaBytes: 7, deltaMessages: 8}}\n"))
	if !c.Has("sessions") || c.Index.Sessions.DeltaBytes != 7 || c.Index.Sessions.DeltaMessages != 8 {
		t.Errorf("as set: %v, %+v", c.Sources, c.Index.Sessions)
	}
}

func TestOpenClawBlockTurnsTranscriptsOn(t *testing.T) {
	t.Parallel()
	c := load(t, write(t, `{"memorySearch": {"sources": ["memory", "sessions"], "experimental": {"sessionMemory": true},
		"sync": {"sessions": {"deltaBytes": 100, "deltaMessages": 5, "postCompactionForce": true}}}}`))
	if !c.Has("sessions") || c.Index.Sessions.DeltaBytes != 100 || c.Index.Sessions.DeltaMessages != 5 {
		t.Errorf("%v, %+v", c.Sources, c.Index.Sessions)
	}
	if len(c.Notices) != 2 || !strings.Contains(c.Notices[0], "memorySearch.experimental has no effect: sources: [memory, sessions] is enough") {
		t.Errorf("notices: %q", c.Notices)
	}
}

func TestSourcesRefusesUnknownOnes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"sources: [memory, web]\n":               `"web" is not a source`,
		"sources: [sessions]\n":                  "memory is always indexed",
		"sources: []\n":                          "memory is always indexed",
		"sync: {sessions: {deltaMessages: 0}}\n": "0 is not between",
		"sync: {sessions: {deltaMesages: 4}}\n":  "deltaMessages",
	} {
		t.Run(text, func(t *testing.T) {
			if _, err := config.Load(write(t, text)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v", text, err)
			}
		})
	}
}
