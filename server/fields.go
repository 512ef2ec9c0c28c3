package server

import (
	"fmt"
	"strings"
	"unicode"

	"kioku/memory"
)

const (
	// maxName is the most bytes of what names something: a session, a channel, a model.
	maxName = 256
	// maxQuestion is the most bytes of what a user has said.
	maxQuestion = 64 << 10
)

// badField is the error of a field that is not as it must be.
func badField(field, format string, args ...any) error {
	return &memory.InputError{Field: field, Problem: fmt.Sprintf(format, args...)}
}

// checkName refuses what is no name for a person's eyes: too long, or with characters that cannot be seen.
func checkName(field, text string) error {
	if strings.ContainsFunc(text, unicode.IsControl) {
		return badField(field, "must have no control characters and no line breaks")
	}
	return checkSize(field, text, maxName)
}

// checkKey is checkName for names that must not be missing.
func checkKey(field, text string) error {
	if strings.TrimSpace(text) == "" {
		return badField(field, "is required")
	}
	return checkName(field, text)
}

func checkSize(field, text string, most int) error {
	if len(text) > most {
		return badField(field, "has %d bytes; at most %d", len(text), most)
	}
	return nil
}

func checkCount[T int32 | int64](field string, n T) error {
	if n < 0 {
		return badField(field, "must not be negative")
	}
	return nil
}
