package config_test

import (
	"strings"
	"testing"

	"kioku/cmd/kioku/config"
)

func TestHasIsFalseForSessionsByDefault(t *testing.T) {
	t.Parallel()
	c := load(t, write(t, ""))
	if c.Has("sessions") {
		t.Errorf("by default: %v", c.Sources)
	}
	c = load(t, write(t, "sources: [memory, sessions]\n"))
	if !c.Has("sessions") {
		t.Errorf("as set: %v", c.Sources)
	}
}

func TestSourcesRefusesUnknownOnes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"sources: [memory, web]\n":               `"web" is not a source`,
		"sources: [sessions]\n":                  "memory is always indexed",
		"sources: []\n":                          "memory is always indexed",
		"sync: {sessions: {deltaMessages: 0}}\n": "a transcript is indexed again after 50 messages",
	} {
		t.Run(text, func(t *testing.T) {
			if _, err := config.Load(write(t, text)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v", text, err)
			}
		})
	}
}
