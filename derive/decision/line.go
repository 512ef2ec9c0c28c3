package decision

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
	unit.DecidePin: units, unit.DecideUnpin: units, unit.DecideForget: units, unit.DecideCorrect: units, unit.DecideUndo: units,
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
	rest := line[1:]
	for _, field := range []*string{&d.Day, &d.Verb, &d.Kind, &d.Target} {
		*field, rest = nextField(rest)
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

// nextField returns the field that follows a blank, and the rest of the line.
func nextField(rest string) (field, after string) {
	rest = strings.TrimPrefix(rest, " ")
	end := strings.IndexByte(rest, ' ')
	if end < 0 {
		end = len(rest)
	}
	return rest[:end], rest[end:]
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
		return fmt.Errorf("has the verb %q; it must be pin, unpin, forget, correct, close, reopen, undo, merge or split", text.Shorten(d.Verb, 20))
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

// parseArgument reads what a verb has beside its target, and returns the rest of the line.
func parseArgument(d *unit.Decision, rest string) (string, error) {
	word, after := nextField(rest)
	switch {
	case d.Verb == unit.DecideCorrect:
		return parseChange(d, strings.TrimPrefix(rest, " "))
	case d.Verb == unit.DecideMerge:
		if d.Other, rest = nextField(after); word != "into" || strings.Contains(d.Other, ",") || !areOthers(d.Other, d.Target) {
			return "", fmt.Errorf("must go on with: into ID, the id of another entity, of %d digits", uidDigits)
		}
	case d.Verb == unit.DecidePin && word == "over":
		if d.Other, rest = nextField(after); d.Kind != memory.KindFact || !areOthers(d.Other, d.Target) {
			return "", fmt.Errorf("must go on with: over ID, the id of another fact, of %d digits; commas divide several", uidDigits)
		}
	}
	return rest, nil
}

// areOthers reports whether a list has UIDs only, none of which is the target.
func areOthers(list, target string) bool {
	for uid := range strings.SplitSeq(list, ",") {
		if !isHash(uid, uidDigits) || uid == target {
			return false
		}
	}
	return true
}

// errNoObject: a correction has no fields.
var errNoObject = errors.New(`must go on with one JSON object, such as {"text":"Porto"}`)

// parseChange reads the JSON object of a correction.
func parseChange(d *unit.Decision, rest string) (string, error) {
	dec := json.NewDecoder(strings.NewReader(rest))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return "", errNoObject
	}
	seen := map[string]bool{}
	for dec.More() {
		key, _ := dec.Token()
		value, err := dec.Token()
		name, isName := key.(string)
		text, isText := value.(string)
		switch {
		case err != nil || !isName:
			return "", errNoObject
		case seen[name]:
			return "", errors.New("has one key twice in its JSON object")
		}
		seen[name] = true
		if err := checkField(name, text, isText); err != nil {
			return "", err
		}
	}
	if _, err := dec.Token(); err != nil {
		return "", errNoObject
	}
	if len(seen) == 0 {
		return "", errors.New("changes nothing: its JSON object is empty")
	}
	end := int(dec.InputOffset())
	d.Change = rest[:end]
	return rest[end:], nil
}

// checkField returns what is wrong with a field of a correction.
func checkField(name, value string, isText bool) error {
	_, _, isPeriod := text.Period(value)
	short := text.Shorten(value, 20)
	switch {
	case !slices.Contains([]string{"text", "from", "to", "due", "sensitivity"}, name):
		return fmt.Errorf("sets %q; only text, from, to, due and sensitivity can be set", text.Shorten(name, 20))
	case !isText:
		return fmt.Errorf("sets %q to what is no text", name)
	case name == "text" && strings.TrimSpace(value) == "":
		return errors.New("sets a blank text; forget it instead")
	case (name == "from" || name == "to") && value != "" && !isPeriod:
		return fmt.Errorf("sets %q to %q; it must be YYYY, YYYY-MM or YYYY-MM-DD, or empty", name, short)
	case name == "due" && value != "" && (!isPeriod || len(value) != len(time.DateOnly)):
		return fmt.Errorf("sets %q to %q; it must be YYYY-MM-DD, or empty", name, short)
	case name == "sensitivity" && !slices.Contains(sensitivities, value):
		return errors.New("sets a sensitivity other than normal, private or secret")
	}
	return nil
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
	fields := map[string]string{}
	if c.Text != "" {
		fields["text"] = text.OneLine(text.Clean(c.Text))
	}
	for key, value := range map[string]*string{"from": c.From, "to": c.To, "due": c.Due} {
		if value != nil {
			fields[key] = *value
		}
	}
	if c.Sensitivity != nil {
		fields["sensitivity"] = c.Sensitivity.String()
	}
	if len(fields) == 0 {
		return "", &memory.InputError{Field: "set", Problem: "is empty: say what to correct"}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(fields)
	return strings.TrimSpace(b.String()), err
}
