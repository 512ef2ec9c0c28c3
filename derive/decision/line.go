package decision

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"kioku/derive/unit"
	"kioku/internal/text"
	"kioku/memory"
)

const (
	// maxNoteChars is the maximum number of characters of a note.
	maxNoteChars = 500
	// maxLineBytes is the maximum length of a line; the longest are corrections.
	maxLineBytes = 16 << 10
	// uidDigits and keyDigits are the lengths of UIDs and of hashes of keys.
	uidDigits, keyDigits = 32, 64
	// KindEntity is the kind of decisions about entities, beside the kinds of units.
	KindEntity = "entity"
	// noteMark stands between a decision and its note.
	noteMark = " : "
)

// sensitivities are the names of all levels.
var sensitivities = []string{memory.Normal.String(), memory.Private.String(), memory.Secret.String()}

// units are the kinds that most verbs are about.
var units = []string{memory.KindFact, memory.KindLoop, memory.KindSummary}

// kinds are the kinds of things that each verb can be about.
var kinds = map[string][]string{
	unit.DecidePin: units, unit.DecideUnpin: units, unit.DecideForget: units, unit.DecideCorrect: units, unit.DecideSensitivity: units,
	unit.DecideClose: {memory.KindLoop}, unit.DecideReopen: {memory.KindLoop},
	unit.DecideMerge: {KindEntity}, unit.DecideSplit: {KindEntity},
}

// Format returns the line of a decision, without a line break. It returns a *memory.InputError for a decision that no line can say.
func Format(d unit.Decision) (string, error) {
	d.Note = text.OneLine(text.Clean(d.Note))
	var b strings.Builder
	fmt.Fprintf(&b, "- %s %s %s %s", d.Day, d.Verb, d.Kind, d.Target)
	switch {
	case d.Verb == unit.DecideMerge:
		b.WriteString(" into " + d.Other)
	case d.Verb == unit.DecidePin && d.Other != "":
		b.WriteString(" over " + d.Other)
	case d.Change != "":
		b.WriteString(" " + d.Change)
	}
	if d.Note != "" {
		b.WriteString(noteMark + d.Note)
	}
	line := b.String()
	back, err := parseLine(line)
	if err != nil {
		return "", &memory.InputError{Field: "decision", Problem: err.Error()}
	}
	if d.Line = 0; back != d {
		return "", &memory.InputError{Field: "decision", Problem: "has a part that the verb " + d.Verb + " does not take"}
	}
	return line, nil
}

// attempt reports whether a line is an item of a list, which must be a decision.
func attempt(line string) bool {
	line = strings.TrimLeft(line, " \t\u3000")
	return strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "+ ") || strings.HasPrefix(line, "-\t")
}

// parseLine returns the decision that a line says, with Line 0. The error is a reason for people.
func parseLine(line string) (unit.Decision, error) {
	var d unit.Decision
	switch {
	case len(line) > maxLineBytes:
		return d, fmt.Errorf("is longer than %d bytes", maxLineBytes)
	case !utf8.ValidString(line):
		return d, errors.New("is no valid UTF-8")
	case strings.ContainsAny(line, "\r\n"):
		return d, errors.New("has a line break in it")
	case !strings.HasPrefix(line, "- "):
		return d, errors.New(`must begin with "- " at the first column`)
	}
	rest := line[2:]
	for _, field := range []*string{&d.Day, &d.Verb, &d.Kind, &d.Target} {
		*field, rest, _ = strings.Cut(rest, " ")
	}
	if day, err := time.Parse(time.DateOnly, d.Day); err != nil || day.Year() < 1900 {
		return d, errors.New("must begin with a day, such as - 2026-11-20 pin fact ID")
	}
	if err := checkTarget(d); err != nil {
		return d, err
	}
	rest, err := parseArgument(&d, rest)
	if err != nil {
		return d, err
	}
	d.Note, err = parseNote(rest)
	return d, err
}

// checkTarget returns what is wrong with the verb, the kind or the target.
func checkTarget(d unit.Decision) error {
	allowed, ok := kinds[d.Verb]
	digits := uidDigits
	if d.Verb == unit.DecideForget {
		digits = keyDigits
	}
	switch {
	case !ok:
		return fmt.Errorf("has the verb %q; it must be pin, unpin, forget, correct, close, reopen, merge, split or sensitivity", text.Shorten(d.Verb, 20))
	case !slices.Contains(allowed, d.Kind):
		return fmt.Errorf("says %s %q; it must be %s", d.Verb, text.Shorten(d.Kind, 20), strings.Join(allowed, ", "))
	case !isHash(d.Target, digits):
		return fmt.Errorf("names %q; %s needs an id of %d digits 0-9 and a-f", text.Shorten(d.Target, 20), d.Verb, digits)
	}
	return nil
}

func isHash(s string, digits int) bool {
	return len(s) == digits && strings.Trim(s, "0123456789abcdef") == ""
}

// parseArgument reads what a verb needs beside its target, and returns the rest of the line.
func parseArgument(d *unit.Decision, rest string) (string, error) {
	switch d.Verb {
	case unit.DecideMerge:
		into, other, _ := strings.Cut(rest, " ")
		other, after, more := strings.Cut(other, " ")
		if into != "into" || !isHash(other, uidDigits) || other == d.Target {
			return "", fmt.Errorf("must go on with: into ID, the id of another entity, of %d digits", uidDigits)
		}
		d.Other = other
		if more {
			return " " + after, nil
		}
		return "", nil
	case unit.DecideSensitivity:
		level, after, more := strings.Cut(rest, " ")
		if !slices.Contains(sensitivities, level) {
			return "", errors.New("must end with normal, private or secret")
		}
		d.Change = level
		if more {
			return " " + after, nil
		}
		return "", nil
	case unit.DecideCorrect:
		return parseChange(d, rest)
	case unit.DecidePin:
		if over, ok := strings.CutPrefix(rest, "over "); ok {
			return parseOver(d, over)
		}
	}
	if rest != "" {
		return " " + rest, nil
	}
	return "", nil
}

// parseOver reads the facts over which a pinned one holds.
func parseOver(d *unit.Decision, rest string) (string, error) {
	over, after, more := strings.Cut(rest, " ")
	for uid := range strings.SplitSeq(over, ",") {
		if d.Kind != memory.KindFact || !isHash(uid, uidDigits) || uid == d.Target {
			return "", fmt.Errorf("must go on with: over ID, the id of another fact, of %d digits; commas divide several", uidDigits)
		}
	}
	d.Other = over
	if more {
		return " " + after, nil
	}
	return "", nil
}

// parseChange reads the JSON object of a correction.
func parseChange(d *unit.Decision, rest string) (string, error) {
	var object map[string]json.RawMessage
	dec := json.NewDecoder(strings.NewReader(rest))
	if err := dec.Decode(&object); err != nil || object == nil || rest[0] != '{' {
		return "", errors.New(`must go on with one JSON object, such as {"text":"Porto"}`)
	}
	if len(object) == 0 {
		return "", errors.New("changes nothing: its JSON object is empty")
	}
	end := int(dec.InputOffset())
	if d.Change = rest[:end]; duplicateKey(d.Change) {
		return "", errors.New("has one key twice in its JSON object")
	}
	return rest[end:], checkFields(object)
}

// checkFields returns what is wrong with the fields of a correction. A field that is null is no longer corrected.
func checkFields(object map[string]json.RawMessage) error {
	if was, ok := object["was"]; ok {
		return checkWas(object, was)
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		var value string
		if err := json.Unmarshal(object[key], &value); err != nil {
			return fmt.Errorf("sets %q to what is no text", text.Shorten(key, 20))
		}
		isNull := string(object[key]) == "null"
		_, _, isPeriod := text.Period(value)
		switch key {
		case "text", "from", "to", "due", "sensitivity":
		default:
			return fmt.Errorf("sets %q; only text, from, to, due and sensitivity can be set", text.Shorten(key, 20))
		}
		if isNull {
			continue
		}
		switch key {
		case "text":
			if strings.TrimSpace(value) == "" {
				return errors.New("sets a blank text; forget it instead")
			}
		case "from", "to":
			if value != "" && !isPeriod {
				return fmt.Errorf("sets %q to %q; it must be YYYY, YYYY-MM or YYYY-MM-DD, or empty", key, text.Shorten(value, 20))
			}
		case "due":
			if value != "" && (!isPeriod || len(value) != len(time.DateOnly)) {
				return fmt.Errorf("sets %q to %q; it must be YYYY-MM-DD, or empty", key, text.Shorten(value, 20))
			}
		case "sensitivity":
			if !slices.Contains(sensitivities, value) {
				return errors.New("sets a sensitivity other than normal, private or secret")
			}
		}
	}
	return nil
}

// checkWas returns what is wrong with a correction that gives a unit back what it said.
func checkWas(object map[string]json.RawMessage, was json.RawMessage) error {
	dec := json.NewDecoder(bytes.NewReader(was))
	dec.DisallowUnknownFields()
	if was[0] != '{' || len(object) > 1 || dec.Decode(new(memory.Unit)) != nil {
		return errors.New(`must have nothing but fields of a unit in "was"`)
	}
	return nil
}

// duplicateKey reports whether an object, or one in it, has a key twice.
func duplicateKey(object string) bool {
	dec := json.NewDecoder(strings.NewReader(object))
	var keys []map[string]bool // nil for lists
	isKey := false
	for {
		t, err := dec.Token()
		if errors.Is(err, io.EOF) || err != nil {
			return false
		}
		switch t {
		case json.Delim('{'):
			keys, isKey = append(keys, map[string]bool{}), true
			continue
		case json.Delim('['):
			keys, isKey = append(keys, nil), false
			continue
		case json.Delim('}'), json.Delim(']'):
			keys = keys[:len(keys)-1]
		default:
			if name, ok := t.(string); ok && isKey {
				if keys[len(keys)-1][name] {
					return true
				}
				keys[len(keys)-1][name], isKey = true, false
				continue
			}
		}
		isKey = len(keys) > 0 && keys[len(keys)-1] != nil
	}
}

// parseNote returns the note at the end of a line.
func parseNote(rest string) (string, error) {
	if strings.TrimSpace(rest) == "" {
		return "", nil
	}
	if !strings.HasPrefix(rest, noteMark) {
		return "", fmt.Errorf("goes on with %q; a note begins with %q", text.Shorten(strings.TrimSpace(rest), 20), noteMark)
	}
	note := strings.TrimSpace(rest[len(noteMark):])
	if utf8.RuneCountInString(note) > maxNoteChars {
		return "", fmt.Errorf("has a note of more than %d characters", maxNoteChars)
	}
	return note, nil
}

// Change returns the JSON object of a correction for [unit.Decision]'s Change. The same correction has the same bytes.
func Change(c unit.Correction) (string, error) {
	fields := map[string]*string{}
	if c.Text != "" {
		line := text.OneLine(text.Clean(c.Text))
		fields["text"] = &line
	}
	for key, value := range map[string]*string{"from": c.From, "to": c.To, "due": c.Due} {
		if value != nil {
			fields[key] = value
		}
	}
	if c.Sensitivity != nil {
		level := c.Sensitivity.String()
		fields["sensitivity"] = &level
	}
	if len(fields) == 0 {
		return "", &memory.InputError{Field: "set", Problem: "is empty: say what to correct"}
	}
	return ChangeOf(fields)
}

// ChangeOf returns the JSON object of a correction of fields by name; nil takes the corrections of a field back. It is empty if there
// are none.
func ChangeOf(fields map[string]*string) (string, error) {
	if len(fields) == 0 {
		return "", nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(fields); err != nil {
		return "", err
	}
	return strings.TrimSpace(b.String()), nil
}
