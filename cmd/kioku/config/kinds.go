package config

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"kioku"
	"kioku/memory"
)

// kind is the shape of a value.
type kind int

const (
	aText kind = iota
	anInteger
	aNumber
	aToggle
	aList
	aMap
)

// input is a value on its way into a Config: one item for a scalar, one for each entry of a list, and "name=value"
// for each entry of a map.
type input struct {
	items []string
	// base is the folder that relative paths start from, home the user's.
	base, home string
}

func (in input) text() string { return strings.Join(in.items, ",") }

// abs makes a path absolute; "~/" is the user's home.
func (in input) abs(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && in.home != "" {
		return filepath.Join(in.home, rest)
	}
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(in.base, path)
}

func text(key, doc string, at func(*Config) *string) Field {
	return Field{
		Key: key, Type: "text", Doc: doc,
		set: func(c *Config, in input) error { *at(c) = in.text(); return nil },
		get: func(c *Config) string { return *at(c) },
	}
}

func path(key, doc string, at func(*Config) *string) Field {
	f := text(key, doc, at)
	f.Type = "path"
	f.set = func(c *Config, in input) error { *at(c) = in.abs(in.text()); return nil }
	return f
}

func choice(key, doc string, choices []string, at func(*Config) *string) Field {
	f := text(key, doc, at)
	f.Type = strings.Join(choices, " | ")
	f.set = func(c *Config, in input) error {
		if !slices.Contains(choices, in.text()) {
			return fmt.Errorf("%q is not possible; choose %s", in.text(), strings.Join(choices, ", "))
		}
		*at(c) = in.text()
		return nil
	}
	return f
}

func agentID(key, doc string, at func(*Config) *string) Field {
	f := text(key, doc, at)
	f.set = func(c *Config, in input) error {
		if err := CheckAgent(in.text()); err != nil {
			return err
		}
		*at(c) = in.text()
		return nil
	}
	return f
}

// CheckAgent returns an error unless id may name an agent.
func CheckAgent(id string) error {
	var input *memory.InputError
	if errors.As(kioku.CheckAgent(id), &input) {
		return fmt.Errorf("%q names no agent: it %s", shorten(id), input.Problem)
	}
	return nil
}

// shorten keeps a foreign text from filling the screen.
func shorten(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "..."
	}
	return s
}

func number[T int | int64](key, doc string, lo, hi T, at func(*Config) *T) Field {
	return Field{
		Key: key, Type: "integer", Doc: doc, kind: anInteger,
		set: func(c *Config, in input) error {
			n, err := strconv.ParseInt(in.text(), 0, 64)
			if err != nil {
				return fmt.Errorf("%q is not a whole number", shorten(in.text()))
			}
			if n < int64(lo) || n > int64(hi) {
				return fmt.Errorf("%d is not between %d and %d", n, lo, hi)
			}
			*at(c) = T(n)
			return nil
		},
		get: func(c *Config) string { return strconv.FormatInt(int64(*at(c)), 10) },
	}
}

// parseNumber reads a number between lo and hi.
func parseNumber(text string, lo, hi float64) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) {
		return 0, fmt.Errorf("%q is not a number", shorten(text))
	}
	if x < lo || x > hi {
		return 0, fmt.Errorf("%g is not between %g and %g", x, lo, hi)
	}
	return x, nil
}

func formatNumber(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func fraction(key, doc string, hi float64, at func(*Config) *float64) Field {
	return Field{
		Key: key, Type: "number", Doc: doc, kind: aNumber,
		set: func(c *Config, in input) error {
			x, err := parseNumber(in.text(), 0, hi)
			if err == nil {
				*at(c) = x
			}
			return err
		},
		get: func(c *Config) string { return formatNumber(*at(c)) },
	}
}

// weight sets the weight of a channel for real models and for weak ones: who chooses a weight means it for both.
func weight(key, doc string, at func(*Config) (strong, weak *float64)) Field {
	f := fraction(key, doc, 1, func(c *Config) *float64 { strong, _ := at(c); return strong })
	set := f.set
	f.set = func(c *Config, in input) error {
		err := set(c, in)
		if strong, weak := at(c); err == nil {
			*weak = *strong
		}
		return err
	}
	return f
}

// span is a duration as a number of units.
func span(key, doc string, unit time.Duration, lo, hi float64, at func(*Config) *time.Duration) Field {
	return Field{
		Key: key, Type: "number", Doc: doc, kind: aNumber,
		set: func(c *Config, in input) error {
			x, err := parseNumber(in.text(), lo, hi)
			if err == nil {
				*at(c) = time.Duration(x * float64(unit))
			}
			return err
		},
		get: func(c *Config) string { return formatNumber(float64(*at(c)) / float64(unit)) },
	}
}

func toggle(key, doc string, at func(*Config) *bool) Field {
	return Field{
		Key: key, Type: "true or false", Doc: doc, kind: aToggle,
		set: func(c *Config, in input) error {
			b, err := strconv.ParseBool(in.text())
			if err != nil {
				return fmt.Errorf("%q is neither true nor false", shorten(in.text()))
			}
			*at(c) = b
			return nil
		},
		get: func(c *Config) string { return strconv.FormatBool(*at(c)) },
	}
}

func list(key, doc string, at func(*Config) *[]string) Field {
	return Field{
		Key: key, Type: "list", Doc: doc, kind: aList,
		set: func(c *Config, in input) error { *at(c) = append([]string{}, in.items...); return nil },
		get: func(c *Config) string { return strings.Join(*at(c), ",") },
	}
}

// paths is a list of paths, of which only "~/" is resolved: what a relative one starts from is not known here.
func paths(key, doc string, at func(*Config) *[]string) Field {
	f := list(key, doc, at)
	f.set = func(c *Config, in input) error { *at(c) = in.expanded(); return nil }
	return f
}

// expanded returns the items with "~/" in the place of the user's home; it is never nil.
func (in input) expanded() []string {
	items := []string{}
	for _, item := range in.items {
		if strings.HasPrefix(item, "~/") {
			item = in.abs(item)
		}
		items = append(items, item)
	}
	return items
}

func timezone(key, doc string) Field {
	return Field{
		Key: key, Type: "text", Doc: doc,
		set: func(c *Config, in input) error {
			if in.text() == "" || strings.EqualFold(in.text(), "local") {
				c.Location = time.Local
				return nil
			}
			zone, err := time.LoadLocation(in.text())
			if err != nil {
				return fmt.Errorf("%q is no time zone; write it like Asia/Tokyo, or UTC or Local", shorten(in.text()))
			}
			c.Location = zone
			return nil
		},
		get: func(c *Config) string { return c.Location.String() },
	}
}

func logLevel(key, doc string) Field {
	levels := map[string]slog.Level{
		"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
	}
	name := func(c *Config) *string { s := strings.ToLower(c.LogLevel.String()); return &s }
	f := choice(key, doc, []string{"debug", "info", "warn", "error"}, name)
	check := f.set
	f.set = func(c *Config, in input) error {
		err := check(c, in)
		if err == nil {
			c.LogLevel = levels[in.text()]
		}
		return err
	}
	return f
}
