package main

import (
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/render"
	"kioku/memory"
)

// filterFlags restrict files and hits.
type filterFlags struct {
	since, until         string
	sources, tags, where []string
}

// addFlags adds the flags to a command.
func (f *filterFlags) addFlags(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.since, "since", "", "only notes dated on or after this `day`: 2026-01-20, 2026-01, today or yesterday")
	fl.StringVar(&f.until, "until", "", "only notes dated on or before this `day`; a month means its last day")
	fl.StringSliceVar(&f.sources, "source", nil, "only these `sources`: "+strings.Join(memory.Sources(), ", "))
	completeFlag(cmd, "source", memory.Sources()...)
	fl.StringArrayVar(&f.tags, "tag", nil, "only notes with this `tag`, or one below it as in tag/more (repeatable)")
	fl.StringArrayVar(&f.where, "where", nil, "only notes whose front matter meets a `condition` (repeatable): status=done, status!=done, \"status in done,open\", rating>=4")
}

// filter returns what the flags let through. Months, today and yesterday are days in it.
func (f *filterFlags) filter(today time.Time) (out memory.Filter, err error) {
	since, _, ok := daysOf(f.since, today)
	if !ok && f.since != "" {
		return out, notADay("since", f.since)
	}
	_, until, ok := daysOf(f.until, today)
	if !ok && f.until != "" {
		return out, notADay("until", f.until)
	}
	where, err := f.conditions(today)
	return memory.Filter{Sources: f.sources, Since: since, Until: until, Where: where}, err
}

// notADay returns the misuse of a flag whose value is no day.
func notADay(flag, value string) error {
	return render.Misuse("--%s must be a day like 2026-01-20, a month like 2026-01, today or yesterday, not %q", flag, value)
}

// conditions returns the conditions of --tag and --where.
func (f *filterFlags) conditions(today time.Time) ([]memory.Condition, error) {
	var all []memory.Condition
	for _, tag := range f.tags {
		if strings.Trim(tag, "#/ ") == "" {
			return nil, render.Misuse("--tag %q names no tag", tag)
		}
		all = append(all, memory.Condition{Field: "tags", Op: memory.Equal, Values: []string{strings.TrimPrefix(tag, "#")}})
	}
	for _, text := range f.where {
		c, err := parseCondition(text)
		if err != nil {
			return nil, err
		}
		spanToDay(&c, today)
		all = append(all, c)
	}
	return all, nil
}

// spanToDay replaces a month, today or yesterday that a condition compares with by a day: before a month is before its first day,
// after a month after its last.
func spanToDay(c *memory.Condition, today time.Time) {
	first, last, ok := daysOf(c.Values[0], today)
	switch c.Op {
	case memory.Less, memory.GreaterEqual:
		if ok {
			c.Values = []string{first}
		}
	case memory.Greater, memory.LessEqual:
		if ok {
			c.Values = []string{last}
		}
	}
}

var (
	// comparison matches a field, an operator and a value.
	comparison = regexp.MustCompile(`^\s*([^=!<>]+?)\s*(!=|<=|>=|==?|<|>)\s*(.*?)\s*$`)
	// choice matches a field and values of which it has one.
	choice = regexp.MustCompile(`(?i)^\s*([^=!<>]+?)\s+in\s+(.*?)\s*$`)
)

// parseCondition parses "field=value", with one of the operators, or "field in a,b". A value may be in quotes.
func parseCondition(text string) (memory.Condition, error) {
	if m := choice.FindStringSubmatch(text); m != nil {
		c := memory.Condition{Field: m[1], Op: memory.In}
		for value := range strings.SplitSeq(strings.Trim(m[2], "()[]"), ",") {
			if value = unquoted(value); value != "" {
				c.Values = append(c.Values, value)
			}
		}
		if len(c.Values) > 0 {
			return c, nil
		}
	}
	if m := comparison.FindStringSubmatch(text); m != nil {
		op := m[2]
		if op == "==" {
			op = memory.Equal
		}
		return memory.Condition{Field: m[1], Op: op, Values: []string{unquoted(m[3])}}, nil
	}
	return memory.Condition{}, render.Misuse("--where %q is no condition; write it like status=done, status!=done, \"status in done,open\" or rating>=4", text)
}

// unquoted returns a value without the white space and the quotes around it.
func unquoted(value string) string {
	value = strings.TrimSpace(value)
	if n := len(value); n >= 2 && value[0] == value[n-1] && (value[0] == '"' || value[0] == '\'') {
		return value[1 : n-1]
	}
	return value
}
