package resolve

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/memory"
)

// Corrected returns what decisions about a unit have corrected and not taken back, by the names of the fields.
func Corrected(decisions []unit.Decision) map[string]string { return fold(decisions) }

// Was returns the change of a correction that gives a unit what it said in an earlier version: only the fields that differ, of which it
// leaves out those that follow from others. now and then are payloads of versions. It is empty if none differ.
func Was(now, then string) (string, error) {
	a, err := decodeObject(now)
	if err != nil {
		return "", err
	}
	b, err := decodeObject(then)
	if err != nil {
		return "", err
	}
	differ := differing(a, b)
	if fact, ok := differ["fact"].(map[string]any); ok {
		delete(fact, "key")
		delete(fact, "subject")
	}
	if len(differ) == 0 {
		return "", nil
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err = enc.Encode(map[string]any{"was": differ})
	return strings.TrimSpace(out.String()), err
}

// decodeObject returns a JSON object with its numbers as they are written.
func decodeObject(object string) (m map[string]any, err error) {
	dec := json.NewDecoder(strings.NewReader(unit.Modern(object)))
	dec.UseNumber()
	err = dec.Decode(&m)
	return m, err
}

// differing returns the fields of then that are other than those of now, of objects in them too. Fields that only now has are null.
func differing(now, then map[string]any) map[string]any {
	differ := map[string]any{}
	for key, was := range then {
		inner, ok := was.(map[string]any)
		is, both := now[key].(map[string]any)
		switch {
		case ok && both:
			if d := differing(is, inner); len(d) > 0 {
				differ[key] = d
			}
		case !reflect.DeepEqual(now[key], was):
			differ[key] = was
		}
	}
	for key := range now {
		if _, ok := then[key]; !ok {
			differ[key] = nil
		}
	}
	return differ
}

// restore returns a unit with the fields that a correction says that it had, and with the evidence that there is now. A change that
// fits no such unit is left out.
func restore(now memory.Unit, was json.RawMessage) memory.Unit {
	raw, err := json.Marshal(now)
	if err != nil {
		return now
	}
	fields, err := decodeObject(string(raw))
	if err != nil {
		return now
	}
	wanted, err := decodeObject(string(was))
	if err != nil {
		return now
	}
	mergeFields(fields, wanted)
	var u memory.Unit
	if raw, err = json.Marshal(fields); err != nil || json.Unmarshal(raw, &u) != nil {
		return now
	}
	if u.Kind != now.Kind || (u.Fact == nil) != (now.Fact == nil) || (u.Loop == nil) != (now.Loop == nil) || (u.Summary == nil) != (now.Summary == nil) {
		return now
	}
	u.UID, u.ID, u.Version, u.RecordedAt, u.ChangedAt, u.Evidence = now.UID, now.ID, now.Version, now.RecordedAt, now.ChangedAt, now.Evidence
	if u.Fact != nil {
		u.Fact.Subject = now.Fact.Subject
		u.Fact.Key = vocab.FactKey(u.Fact.Subject, u.Fact.Predicate, u.Fact.Object)
	}
	return u
}

// mergeFields sets fields, of objects in them too.
func mergeFields(fields, wanted map[string]any) {
	for key, want := range wanted {
		inner, ok := want.(map[string]any)
		if is, both := fields[key].(map[string]any); ok && both {
			mergeFields(is, inner)
			continue
		}
		fields[key] = want
	}
}
