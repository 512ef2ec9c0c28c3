package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kioku/internal/text"
	"kioku/memory"
)

const (
	// maxConditions is the maximum number of conditions of a filter, maxConditionValues that of the values of one, and
	// maxConditionBytes the maximum length of a name or value.
	maxConditions      = 32
	maxConditionValues = 64
	maxConditionBytes  = 256
)

// conditionGrammar says how a condition is written.
const conditionGrammar = `a condition is a field, one of = != in < <= > >=, and a value: status = done, tags in a,b, rating >= 4, due < 2026-02-01, date >= 2026`

// readConditions returns conditions with lower-case names, the operator of each, and days in the place of times. It returns
// a *memory.InputError that says how a condition is written.
func readConditions(where []memory.Condition) ([]memory.Condition, error) {
	if len(where) > maxConditions {
		return nil, badField("filter", "has %d conditions; at most %d", len(where), maxConditions)
	}
	read := slices.Clone(where)
	for i := range read {
		if err := readCondition(&read[i]); err != nil {
			return nil, err
		}
	}
	return read, nil
}

// otherNames are other names of the fields that every file has.
var otherNames = map[string]string{"tag": "tags", "alias": "aliases"}

// readCondition checks a condition and fills in its operator. A tag loses its #.
func readCondition(c *memory.Condition) error {
	c.Field = strings.ToLower(strings.TrimSpace(c.Field))
	c.Field = cmp.Or(otherNames[c.Field], c.Field)
	c.Op = cmp.Or(c.Op, memory.Equal)
	c.Values = slices.Clone(c.Values)
	for i := range c.Values {
		if c.Values[i] = strings.TrimSpace(c.Values[i]); c.Field == "tags" {
			c.Values[i] = strings.Trim(c.Values[i], "#/")
		}
	}
	bad := func(format string, args ...any) error {
		return badField("filter", "%s; %s", fmt.Sprintf(format, args...), conditionGrammar)
	}
	switch {
	case c.Field == "" || len(c.Field) > maxConditionBytes:
		return bad("a condition has no field, or one of more than %d bytes", maxConditionBytes)
	case len(c.Values) == 0 || len(c.Values) > maxConditionValues:
		return bad("%s has %d values; 1 to %d are possible", c.Field, len(c.Values), maxConditionValues)
	case len(c.Values) > 1 && c.Op != memory.In:
		return bad("%s has %d values, which only %q takes", c.Field, len(c.Values), memory.In)
	case c.Field == "tags" && slices.Contains(c.Values, ""):
		return bad("a tag is empty")
	case slices.ContainsFunc(c.Values, func(v string) bool { return len(v) > maxConditionBytes }):
		return bad("a value of %s has more than %d bytes", c.Field, maxConditionBytes)
	}
	switch c.Op {
	case memory.Equal, memory.NotEqual, memory.In:
	case memory.Less, memory.LessEqual, memory.Greater, memory.GreaterEqual:
		value, ok := comparable(c.Values[0])
		if !ok {
			return bad("%s %s %.80q compares with neither a number nor a day, month or year", c.Field, c.Op, c.Values[0])
		}
		c.Values = []string{value}
	default:
		return bad("%.20q is no operator", c.Op)
	}
	return nil
}

// comparable returns a number, a day, month or year, or the day of a time in its own zone.
func comparable(value string) (string, bool) {
	value = strings.TrimSpace(value)
	if _, _, ok := text.Period(value); ok {
		return value, true
	}
	if day, err := readDay("filter", value); err == nil && value != "" {
		return day, true
	}
	n, err := strconv.ParseFloat(value, 64)
	return value, err == nil && n == n
}

// conditionText returns a condition as a person writes it.
func conditionText(c memory.Condition) string {
	return fmt.Sprintf("%s %s %s", c.Field, c.Op, strings.Join(c.Values, ","))
}

// noteExcluded says how many files the filter leaves out because they have no date or lack a field. A file without tags lacks
// nothing.
func (r *searchState) noteExcluded(ctx context.Context, rd Reader) error {
	f := r.query.Filter
	fields := []string{}
	if f.Since != "" || f.Until != "" {
		fields = append(fields, "date")
	}
	for _, c := range f.Where {
		if c.Op != memory.NotEqual && !slices.Contains(fields, c.Field) {
			fields = append(fields, c.Field)
		}
	}
	for _, field := range fields {
		n, err := rd.Lacking(ctx, field)
		switch {
		case err != nil:
			return fmt.Errorf("count files without %s: %w", field, err)
		case n > 0 && n >= r.index.Files:
			r.leaveAllOut("No note has the field %s, so the filter leaves all of them out.", field)
		case n > 0 && field != "tags":
			r.degrade(memory.FilterExcludes, "%d of %d notes have no %s and are left out by the filter.", n, r.index.Files, field)
		}
	}
	return nil
}

// leaveAllOut says why the filter leaves no note.
func (r *searchState) leaveAllOut(format string, args ...any) {
	r.allOut = true
	r.degrade(memory.FilterExcludes, format, args...)
}

// noteAllExcluded says which parts of the filter leave no note. It says nothing if the filter leaves any.
func (r *searchState) noteAllExcluded(ctx context.Context, rd Reader) error {
	parts := filterParts(r.query.Filter)
	if r.allOut || len(parts) == 0 {
		return nil
	}
	ids, err := rd.Match(ctx, Terms{}, r.query.Filter, 1)
	switch {
	case err != nil:
		return fmt.Errorf("apply the filter: %w", err)
	case len(ids) == 0:
		r.leaveAllOut("No note has %s, so the filter leaves all of them out.", strings.Join(parts, " and "))
	}
	return nil
}

// filterParts returns what a filter asks of a note, in the words of people; none if it asks for nothing.
func filterParts(f memory.Filter) []string {
	var parts []string
	if f.PathPrefix != "" {
		parts = append(parts, fmt.Sprintf("a path that begins with %q", f.PathPrefix))
	}
	if len(f.Sources) > 0 {
		parts = append(parts, "the source "+strings.Join(f.Sources, " or "))
	}
	if f.Since != "" {
		parts = append(parts, "a date from "+f.Since+" on")
	}
	if f.Until != "" {
		parts = append(parts, "a date up to "+f.Until)
	}
	for _, c := range f.Where {
		parts = append(parts, conditionText(c))
	}
	return parts
}
