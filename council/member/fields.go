package member

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"kioku/internal/text"
)

// fields reads the fields of a reply and collects what is wrong with them.
type fields struct {
	all  map[string]any
	read map[string]bool
	errs []error
}

// fieldsOf returns the fields of the JSON object in a reply.
func fieldsOf(reply string) (*fields, error) {
	all, err := findObject(reply)
	if err != nil {
		return nil, err
	}
	return &fields{all: all, read: map[string]bool{}}, nil
}

// finish returns what is wrong, also of fields that nobody has read.
func (f *fields) finish() error {
	for _, key := range slices.Sorted(maps.Keys(f.all)) {
		if !f.read[key] {
			f.complain(key, "is not a field of the contract")
		}
	}
	return errors.Join(f.errs...)
}

func (f *fields) complain(key, problem string) {
	f.errs = append(f.errs, fmt.Errorf("%.60q %s", key, problem))
}

// take returns the value of a field, nil if it is missing or null.
func (f *fields) take(key string) any {
	f.read[key] = true
	return f.all[key]
}

// text returns a field of 1 to limit characters.
func (f *fields) text(key string, limit int) string {
	s := f.optionalText(key, limit)
	if s == "" {
		f.complain(key, "is missing or empty")
	}
	return s
}

// optionalText returns a field of at most limit characters, without what controls a terminal.
func (f *fields) optionalText(key string, limit int) string {
	value := f.take(key)
	if value == nil {
		return ""
	}
	s, ok := value.(string)
	if !ok {
		f.complain(key, "must be a string")
	}
	return f.bounded(key, s, limit)
}

// bounded returns a cleaned text, empty if it is too long.
func (f *fields) bounded(key, s string, limit int) string {
	s = strings.TrimSpace(text.Clean(s))
	if n := utf8.RuneCountInString(s); n > limit {
		f.complain(key, fmt.Sprintf("has %d characters; at most %d", n, limit))
		return ""
	}
	return s
}

// texts returns a list of at most count texts of at most limit characters; blank ones are left out.
func (f *fields) texts(key string, count, limit int) []string {
	value := f.take(key)
	if value == nil {
		return nil
	}
	list, ok := value.([]any)
	if !ok {
		f.complain(key, "must be a list of strings")
		return nil
	}
	if len(list) > count {
		f.complain(key, fmt.Sprintf("has %d items; at most %d", len(list), count))
		return nil
	}
	var texts []string
	for _, item := range list {
		s, ok := item.(string)
		if !ok {
			f.complain(key, "must be a list of strings")
			return nil
		}
		if s = f.bounded(key, s, limit); s != "" {
			texts = append(texts, s)
		}
	}
	return texts
}

// oneOf returns a field that must be one of words.
func (f *fields) oneOf(key string, words ...string) string {
	s, ok := f.take(key).(string)
	if !ok || !slices.Contains(words, s) {
		f.complain(key, "must be "+strings.Join(quoted(words), " or "))
		return ""
	}
	return s
}

func quoted(words []string) []string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = strconv.Quote(w)
	}
	return all
}

// whole complains unless a field is the integer want.
func (f *fields) whole(key string, want int) {
	n, ok := f.take(key).(json.Number)
	if got, err := n.Int64(); !ok || err != nil || got != int64(want) {
		f.complain(key, fmt.Sprintf("must be %d", want))
	}
}

// flag returns a field that must be true or false.
func (f *fields) flag(key string) bool {
	b, ok := f.take(key).(bool)
	if !ok {
		f.complain(key, "must be true or false")
	}
	return b
}

// share returns a number in [0,1], nil if it is missing.
func (f *fields) share(key string) *float64 {
	value := f.take(key)
	if value == nil {
		return nil
	}
	return f.shareOf(key, value)
}

// shareOf returns value as a number in [0,1], nil if it is none.
func (f *fields) shareOf(key string, value any) *float64 {
	n, ok := value.(json.Number)
	v, err := n.Float64()
	if !ok || err != nil || !(v >= 0 && v <= 1) {
		f.complain(key, "must be a number from 0 to 1")
		return nil
	}
	return &v
}

// required returns a number in [0,1].
func (f *fields) required(key string) float64 {
	if v := f.share(key); v != nil {
		return *v
	}
	if f.all[key] == nil {
		f.complain(key, "is missing")
	}
	return 0
}

// shares returns an object of numbers in [0,1] by the names that are known; null ones and others are left out.
func (f *fields) shares(key string, known []string, all bool) map[string]float64 {
	value := f.take(key)
	object, ok := value.(map[string]any)
	if !ok && (all || value != nil) {
		f.complain(key, "must be an object of numbers")
		return nil
	}
	values := map[string]float64{}
	for _, name := range known {
		switch v := object[name]; {
		case v != nil:
			if n := f.shareOf(key+"."+name, v); n != nil {
				values[name] = *n
			}
		case all:
			f.complain(key+"."+name, "is missing")
		}
	}
	return values
}
