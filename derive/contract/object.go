package contract

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"kioku/internal/text"
	"kioku/llm"
)

// stopProblem says what is wrong with an answer that ended for a reason, "" if nothing is.
func stopProblem(stop string) string {
	switch stop {
	case llm.StopLength:
		return "was cut off: give fewer and shorter items"
	case llm.StopRefusal:
		return "is a refusal"
	case llm.StopTools:
		return "calls a tool; answer with the JSON object only"
	}
	return ""
}

// object is a JSON object of an answer. Its methods read fields; a field that is missing or has the wrong type makes the answer
// as a whole invalid.
type object struct {
	r      *reader
	path   string
	fields map[string]any
	read   map[string]bool
}

// at returns the path of a field.
func (o *object) at(key string) string { return join(o.path, key) }

// get returns a field. optional says that it may be missing or null.
func (o *object) get(key string, optional bool) (any, bool) {
	o.read[key] = true
	value, ok := o.fields[key]
	if ok && value != nil {
		return value, true
	}
	if !optional {
		if ok {
			o.r.invalid(o.at(key), "must not be null")
		} else {
			o.r.invalid(o.at(key), "is missing")
		}
	}
	return nil, false
}

// str returns a string as the model wrote it.
func (o *object) str(key string) string { return o.readString(key, false) }

// optionalStr is str for a field that may be missing or null.
func (o *object) optionalStr(key string) string { return o.readString(key, true) }

func (o *object) readString(key string, optional bool) string {
	value, ok := o.get(key, optional)
	if !ok {
		return ""
	}
	s, ok := value.(string)
	if !ok {
		o.r.invalid(o.at(key), "must be a string")
	}
	return s
}

// number returns a number.
func (o *object) number(key string) float64 {
	value, ok := o.get(key, false)
	if !ok {
		return 0
	}
	n, ok := value.(json.Number)
	if !ok {
		o.r.invalid(o.at(key), "must be a number")
		return 0
	}
	f, err := n.Float64()
	if err != nil {
		return math.Inf(1) // too large, and out of any range
	}
	return f
}

// integer returns an integer, and false if there is none.
func (o *object) integer(key string, optional bool) (int, bool) {
	value, ok := o.get(key, optional)
	if !ok {
		return 0, false
	}
	n, ok := value.(json.Number)
	if !ok {
		o.r.invalid(o.at(key), "must be an integer")
		return 0, false
	}
	i, err := strconv.Atoi(n.String())
	if err != nil {
		o.r.invalid(o.at(key), "must be an integer")
		return 0, false
	}
	return i, true
}

// child returns an object, nil if there is none.
func (o *object) child(key string, optional bool) *object {
	value, ok := o.get(key, optional)
	if !ok {
		return nil
	}
	return o.r.object(o.at(key), value)
}

// list returns the items of a list of objects. A list that has an item of another type makes the answer invalid.
func (o *object) list(key string) []*object {
	value, ok := o.get(key, false)
	if !ok {
		return nil
	}
	return o.r.objects(o.at(key), value)
}

// strings returns the items of a list of strings.
func (o *object) strings(key string) []string {
	value, ok := o.get(key, false)
	if !ok {
		return nil
	}
	items, ok := value.([]any)
	if !ok {
		o.r.invalid(o.at(key), "must be a list of strings")
		return nil
	}
	list := make([]string, 0, len(items))
	for i, item := range items {
		s, ok := item.(string)
		if !ok {
			o.r.invalid(fmt.Sprintf("%s[%d]", o.at(key), i), "must be a string")
		}
		list = append(list, s)
	}
	return list
}

// done counts the keys that nobody has asked for.
func (o *object) done() {
	for key := range o.fields {
		if !o.read[key] {
			o.r.report.UnknownKeys++
		}
	}
}

// object returns a value as an object, nil if it is none.
func (r *reader) object(path string, value any) *object {
	fields, ok := value.(map[string]any)
	if !ok {
		r.invalid(path, "must be an object")
		return nil
	}
	return &object{r: r, path: path, fields: fields, read: map[string]bool{}}
}

// objects returns a value as a list of objects.
func (r *reader) objects(path string, value any) []*object {
	items, ok := value.([]any)
	if !ok {
		r.invalid(path, "must be a list of objects")
		return nil
	}
	list := make([]*object, 0, len(items))
	for i, item := range items {
		if o := r.object(fmt.Sprintf("%s[%d]", path, i), item); o != nil {
			list = append(list, o)
		}
	}
	return list
}

// item reads the values of one item of a list. The first value that is not allowed drops the item; what is read after it is
// still checked for its type.
type item struct {
	*object
	dropped bool
}

// fail drops the item.
func (i *item) fail(key, reason, rule string) {
	if !i.dropped {
		i.dropped = true
		i.r.drop(strings.TrimSuffix(i.at(key), "."), reason, rule)
	}
}

// line returns a text of 1 to limit characters on one line.
func (i *item) line(key string, limit int) string {
	breaks := i.r.breaks
	s := i.str(key)
	if i.r.breaks > breaks {
		i.dropped = true // with the answer
		return ""
	}
	return i.checkedLine(key, s, limit)
}

// checkedLine is line for a text that was read.
func (i *item) checkedLine(key, s string, limit int) string {
	s = cleanLine(s)
	if s == "" {
		i.fail(key, ReasonText, "must not be blank")
	} else if utf8.RuneCountInString(s) > limit {
		i.fail(key, ReasonText, fmt.Sprintf("must have at most %d characters", limit))
	}
	return s
}

// cleanLine returns a text on one line without control characters.
func cleanLine(s string) string { return strings.Join(strings.Fields(text.Clean(s)), " ") }

// choice returns one of the allowed values.
func (i *item) choice(key string, allowed []string) string {
	s := strings.TrimSpace(i.str(key))
	if !slices.Contains(allowed, s) {
		i.fail(key, ReasonValue, "must be one of "+strings.Join(allowed, ", "))
	}
	return s
}

// unit returns a number in [0,1].
func (i *item) unit(key string) float64 {
	n := i.number(key)
	if !(n >= 0 && n <= 1) {
		i.fail(key, ReasonRange, "must be a number from 0 to 1")
		return 0
	}
	return n
}

// confidence returns the confidence of the item, and drops the item if that is below the floor.
func (i *item) confidence(floor float64) float64 {
	n := i.unit("confidence")
	if n < floor {
		i.fail("confidence", ReasonConfidence, fmt.Sprintf("is below %.1f", floor))
	}
	return n
}

// offered returns an id from 1 to n.
func (i *item) offered(key string, n int) int {
	id, ok := i.integer(key, false)
	if ok && (id < 1 || id > n) {
		i.fail(key, ReasonID, fmt.Sprintf("must be an id that was offered, 1 to %d", n))
		return 0
	}
	return id
}
