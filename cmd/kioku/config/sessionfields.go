package config

import (
	"errors"
	"fmt"
	"slices"

	"kioku/memory"
)

// sessionFields are the settings of transcripts as a source.
func sessionFields() []Field {
	return []Field{
		sourceList("sources", "What is indexed: memory, and sessions for what users and assistants have said in the agent's transcripts.",
			func(c *Config) *[]string { return &c.Sources }),
		number("sync.sessions.deltaBytes", "Bytes by which a transcript grows before the daemon indexes it again.", 1, 1<<26,
			func(c *Config) *int64 { return &c.Index.Sessions.DeltaBytes }),
		number("sync.sessions.deltaMessages", "Messages by which a transcript grows before the daemon indexes it again.", 1, 1_000_000,
			func(c *Config) *int { return &c.Index.Sessions.DeltaMessages }),
	}
}

// sourceList is the sources to index, of which memory is always one.
func sourceList(key, doc string, at func(*Config) *[]string) Field {
	f := list(key, doc, at)
	known := []string{memory.SourceMemory, memory.SourceSessions}
	f.set = func(c *Config, in input) error {
		for _, item := range in.items {
			if !slices.Contains(known, item) {
				return fmt.Errorf("%q is no source; there are memory and sessions", shorten(item))
			}
		}
		if !slices.Contains(in.items, memory.SourceMemory) {
			return errors.New("memory is always indexed; write memory,sessions")
		}
		*at(c) = slices.Clone(in.items)
		return nil
	}
	return f
}

// HasSessions reports whether transcripts are to be indexed.
func (c *Config) HasSessions() bool { return slices.Contains(c.Sources, memory.SourceSessions) }
