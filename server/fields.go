package server

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"google.golang.org/protobuf/types/known/timestamppb"

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

// readTimestamp returns the time of a field, zero if the field is unset.
func readTimestamp(field string, t *timestamppb.Timestamp) (time.Time, error) {
	if t == nil {
		return time.Time{}, nil
	}
	if err := t.CheckValid(); err != nil {
		return time.Time{}, badField(field, "is no time between the years 1 and 9999")
	}
	return t.AsTime(), nil
}

// inZone returns a time in the zone that decides its day; the zero time stays zero.
func (s *Server) inZone(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.In(s.opt.Location)
}
