package server

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"kioku/memory"
)

// maxName is the maximum size of a name in bytes: of a session, a channel, a model.
const maxName = 256

// badField returns the error of a bad field.
func badField(field, format string, args ...any) error {
	return &memory.InputError{Field: field, Problem: fmt.Sprintf(format, args...)}
}

// checkName refuses a name that is too long or has control characters.
func checkName(field, text string) error {
	if err := checkLine(field, text); err != nil {
		return err
	}
	return checkSize(field, text, maxName)
}

// checkLine refuses a text with control characters.
func checkLine(field, text string) error {
	if strings.ContainsFunc(text, unicode.IsControl) {
		return badField(field, "must have no control characters and no line breaks")
	}
	return nil
}

// checkKey is checkName for required names.
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

func checkCount[T int | int32 | int64](field string, n T) error {
	if n < 0 {
		return badField(field, "must not be negative")
	}
	return nil
}

// inZone returns a time in the zone that decides its day; the zero time stays zero.
func (s *Server) inZone(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.In(s.opt.Location)
}
