package config

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"kioku"
	"kioku/indexer"
	"kioku/memory"

	"go.yaml.in/yaml/v3"
)

// kind is the shape of a value in the config file.
type kind int

const (
	aText kind = iota
	anInteger
	aNumber
	aToggle
	aList
	aMap
)

// value is a flag.Value that points into a Config.
type value struct {
	kind kind
	// typ is the Type of the Field.
	typ string
	// set takes one item for a scalar, one for each entry of a list, and "name=value" for each entry of a map.
	set func(items []string) error
	get func() string
}

// Set implements flag.Value. Commas separate the items of a list.
func (v *value) Set(text string) error { return v.set(split(v.kind, text)) }

// String implements flag.Value.
func (v *value) String() string {
	if v.get == nil {
		return ""
	}
	return v.get()
}

// split returns the items of a value that is written in one line: with commas between them, or as a list of YAML or JSON.
func split(k kind, text string) []string {
	if k != aList && k != aMap {
		return []string{text}
	}
	var list []string
	if strings.HasPrefix(strings.TrimSpace(text), "[") && yaml.Unmarshal([]byte(text), &list) == nil {
		return list
	}
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// abs makes a path absolute; "~/" is the user's home.
func (r *registry) abs(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && r.home != "" {
		return filepath.Join(r.home, rest)
	}
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(r.base, path)
}

// shorten keeps a foreign text from filling the screen.
func shorten(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "..."
	}
	return s
}

// scalar adds a setting whose text parse turns into what at points to, and format turns back.
func scalar[T any](r *registry, at *T, kind kind, typ, key, doc string, parse func(text string) (T, error), format func(T) string) {
	r.register(key, doc, &value{
		kind: kind, typ: typ,
		set: func(items []string) error {
			v, err := parse(strings.Join(items, ","))
			if err == nil {
				*at = v
			}
			return err
		},
		get: func() string { return format(*at) },
	})
}

func same(s string) string { return s }

func parseText(s string) (string, error) { return s, nil }

func (r *registry) text(at *string, key, doc string) {
	scalar(r, at, aText, "text", key, doc, parseText, same)
}

func (r *registry) path(at *string, key, doc string) {
	scalar(r, at, aText, "path", key, doc, func(s string) (string, error) { return r.abs(s), nil }, same)
}

func (r *registry) agentID(at *string, key, doc string) {
	scalar(r, at, aText, "text", key, doc, func(s string) (string, error) { return s, CheckAgent(s) }, same)
}

func (r *registry) choice(at *string, choices []string, key, doc string) {
	scalar(r, at, aText, strings.Join(choices, " | "), key, doc, func(s string) (string, error) {
		if !slices.Contains(choices, s) {
			return "", fmt.Errorf("%q is not possible; choose %s", s, strings.Join(choices, ", "))
		}
		return s, nil
	}, same)
}

// CheckAgent returns an error unless id may name an agent.
func CheckAgent(id string) error {
	var input *memory.InputError
	if errors.As(kioku.CheckAgent(id), &input) {
		return fmt.Errorf("%q is not an agent id: it %s", shorten(id), input.Problem)
	}
	return nil
}

func number[T int | int64](r *registry, at *T, lo, hi T, key, doc string) {
	scalar(r, at, anInteger, "integer", key, doc, func(s string) (T, error) {
		n, err := strconv.ParseInt(s, 0, 64)
		if err != nil {
			return 0, fmt.Errorf("%q is not a whole number", shorten(s))
		}
		if n < int64(lo) || n > int64(hi) {
			return 0, fmt.Errorf("%d is not between %d and %d", n, lo, hi)
		}
		return T(n), nil
	}, func(n T) string { return strconv.FormatInt(int64(n), 10) })
}

// parseDecimal returns a parser of numbers between lo and hi.
func parseDecimal(lo, hi float64) func(text string) (float64, error) {
	return func(text string) (float64, error) {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(x) {
			return 0, fmt.Errorf("%q is not a number", shorten(text))
		}
		if x < lo || x > hi {
			return 0, fmt.Errorf("%g is not between %g and %g", x, lo, hi)
		}
		return x, nil
	}
}

func formatDecimal(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func (r *registry) decimal(at *float64, hi float64, key, doc string) {
	scalar(r, at, aNumber, "number", key, doc, parseDecimal(0, hi), formatDecimal)
}

// pointer is scalar for a value that may be unset, nil.
func pointer[T any](r *registry, at **T, kind kind, typ, key, doc string, parse func(text string) (T, error), format func(T) string) {
	scalar(r, at, kind, typ, key, doc, func(s string) (*T, error) {
		v, err := parse(s)
		return &v, err
	}, func(v *T) string {
		if v == nil {
			return ""
		}
		return format(*v)
	})
}

// optional adds a number between 0 and 1 that may be unset.
func (r *registry) optional(at **float64, key, doc string) {
	pointer(r, at, aNumber, "number", key, doc, parseDecimal(0, 1), formatDecimal)
}

// duration adds a duration as a number of units.
func (r *registry) duration(at *time.Duration, unit time.Duration, lo, hi float64, key, doc string) {
	scalar(r, at, aNumber, "number", key, doc, func(s string) (time.Duration, error) {
		x, err := parseDecimal(lo, hi)(s)
		return time.Duration(x * float64(unit)), err
	}, func(d time.Duration) string { return formatDecimal(float64(d) / float64(unit)) })
}

func (r *registry) toggle(at *bool, key, doc string) {
	scalar(r, at, aToggle, "true or false", key, doc, parseToggle, strconv.FormatBool)
}

// oppositeToggle adds a toggle that is true if what at points to is false.
func (r *registry) oppositeToggle(at *bool, key, doc string) {
	opposite := func(s string) (bool, error) {
		b, err := parseToggle(s)
		return !b, err
	}
	scalar(r, at, aToggle, "true or false", key, doc, opposite, func(b bool) string { return strconv.FormatBool(!b) })
}

// optionalToggle adds a toggle that may be unset.
func (r *registry) optionalToggle(at **bool, key, doc string) {
	pointer(r, at, aToggle, "true or false", key, doc, parseToggle, strconv.FormatBool)
}

func parseToggle(s string) (bool, error) {
	b, err := strconv.ParseBool(s)
	if err != nil {
		err = fmt.Errorf("%q is neither true nor false", shorten(s))
	}
	return b, err
}

func (r *registry) timezone(at **time.Location, key, doc string) {
	scalar(r, at, aText, "text", key, doc, func(s string) (*time.Location, error) {
		if s == "" || strings.EqualFold(s, "local") {
			return time.Local, nil
		}
		return zoneOf(s)
	}, (*time.Location).String)
}

func (r *registry) logLevel(at *slog.Level, key, doc string) {
	names := []string{"debug", "info", "warn", "error"}
	scalar(r, at, aText, strings.Join(names, " | "), key, doc, func(s string) (level slog.Level, err error) {
		if !slices.Contains(names, s) {
			return 0, fmt.Errorf("%q is not possible; choose %s", s, strings.Join(names, ", "))
		}
		return level, level.UnmarshalText([]byte(s))
	}, func(level slog.Level) string { return strings.ToLower(level.String()) })
}

// items adds a list whose items each turns into what the Config contains. A list that is set is never nil.
func (r *registry) items(at *[]string, typ, key, doc string, each func(item string) (string, error)) {
	r.register(key, doc, &value{
		kind: aList, typ: typ,
		set: func(items []string) error {
			all := []string{}
			for _, item := range items {
				item, err := each(item)
				if err != nil {
					return err
				}
				all = append(all, item)
			}
			*at = all
			return nil
		},
		get: func() string { return strings.Join(*at, ",") },
	})
}

func (r *registry) list(at *[]string, key, doc string) {
	r.items(at, "list", key, doc, func(item string) (string, error) { return item, nil })
}

func (r *registry) agentIDs(at *[]string, key, doc string) {
	r.items(at, "list", key, doc, func(item string) (string, error) { return item, CheckAgent(item) })
}

// folders adds a list of paths that are relative to where they are written.
func (r *registry) folders(at *[]string, key, doc string) {
	r.items(at, "paths", key, doc, func(item string) (string, error) { return r.abs(item), nil })
}

// paths adds a list of paths in which only "~/" is resolved: they are relative to a workspace that is not known here.
func (r *registry) paths(at *[]string, key, doc string) {
	r.items(at, "list", key, doc, func(item string) (string, error) {
		if strings.HasPrefix(item, "~/") {
			item = r.abs(item)
		}
		return item, nil
	})
}

// globs adds a list of globs, for which a file may also have a single text. check returns what is wrong with them.
func (r *registry) globs(at *[]string, key, doc string, check func(globs []string) error) {
	r.items(at, "globs", key, doc, func(item string) (string, error) { return item, check([]string{item}) })
}

// checkInclude and checkExclude return what is wrong with globs of files to index, and of files not to index.
func checkInclude(globs []string) error { return indexer.CheckGlobs(globs, nil) }
func checkExclude(globs []string) error { return indexer.CheckGlobs(nil, globs) }

// sources adds the list of what is indexed, which always contains memory.
func (r *registry) sources(at *[]string, key, doc string) {
	r.items(at, "list", key, doc, func(item string) (string, error) {
		if item != memory.SourceMemory && !memory.IsTranscript(item) {
			return "", fmt.Errorf("%q is not a source; there are %s, %s, %s and %s", shorten(item),
				memory.SourceMemory, memory.SourceSessions, memory.SourceClaudeCode, memory.SourceCodex)
		}
		return item, nil
	})
}

// secretSetting is a setting that may be a reference to a secret.
type secretSetting struct {
	// written is the value before the reference is resolved, and at the secret.
	key, written string
	at           *string
}

func (r *registry) secret(at *string, key, doc string) {
	s := &secretSetting{key: key, at: at}
	r.secrets = append(r.secrets, s)
	scalar(r, &s.written, aText, "secret", key, doc, func(s string) (string, error) { return r.reference(s), nil }, shown)
}

// pairsType is the type of settings that are a block of names and values.
const pairsType = "pairs"

// secretMap adds a map whose values may be secrets; of two entries with one name the later wins.
func (r *registry) secretMap(at map[string]string, key, doc string) {
	r.register(key, doc, &value{
		kind: aMap, typ: pairsType,
		set: func(items []string) error {
			for _, item := range items {
				name, text, ok := strings.Cut(item, "=")
				if !ok || name == "" {
					return errors.New("an entry is not name=value")
				}
				at[name] = r.reference(text)
			}
			return nil
		},
		get: func() string { return pairs(at, shown) },
	})
}

// pairs returns a map as text, "name=value,name=value".
func pairs[T any](m map[string]T, show func(T) string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		all = append(all, name+"="+show(m[name]))
	}
	return strings.Join(all, ",")
}
