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
	"kioku/cmd/kioku/internal/modelstore"
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

// value reads and writes a value of a Config.
type value struct {
	kind kind
	// typ is the Type of the Field.
	typ string
	// set takes one item for a scalar, one for each entry of a list, and "name=value" for each entry of a map.
	set func(items []string) error
	get func() string
}

// setText sets a value that is written in one line.
func (v *value) setText(text string) error { return v.set(split(v.kind, text)) }

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

// check returns a text as it is stored, or what is wrong with it.
type check = func(text string) (string, error)

// Types of settings.
const (
	textType    = "text"
	pathType    = "path"
	secretType  = "secret"
	integerType = "integer"
	numberType  = "number"
	toggleType  = "true or false"
	listType    = "list"
	// pathsType is a list of paths that are relative to where they are written.
	pathsType = "paths"
	// globsType is a list of globs, for which a file may also have a single text.
	globsType = "globs"
	// pairsType is a block of names and values.
	pairsType  = "pairs"
	blocksType = "blocks"
	// notType is a toggle whose opposite is stored.
	notType = "not"
)

// add registers the setting that is stored in at, a pointer or a map. form is one of the types of settings, the choices of a text,
// "on | off", or the bounds of a number, "1..100". checks are applied to each text of the value.
func (r *registry) add(at any, key, form, doc string, checks ...check) {
	r.register(key, doc, r.valueOf(at, key, form, checks))
}

// valueOf returns the value that is stored in at, by the type of at.
func (r *registry) valueOf(at any, key, form string, checks []check) *value {
	switch at := at.(type) {
	case *string:
		return r.textValue(at, key, form, checks)
	case **string:
		return scalar(at, aText, textType, optional(func(s string) (string, error) { return s, nil }), formatOptional(same))
	case *slog.Level:
		return scalar(at, aText, form, parseLevel(form), func(level slog.Level) string { return strings.ToLower(level.String()) })
	case **time.Location:
		return scalar(at, aText, form, parseZone, (*time.Location).String)
	case *int:
		return scalar(at, anInteger, integerType, parseInteger[int](form), strconv.Itoa)
	case *int64:
		return scalar(at, anInteger, integerType, parseInteger[int64](form), func(n int64) string { return strconv.FormatInt(n, 10) })
	case *float64:
		return scalar(at, aNumber, numberType, parseDecimal(form), formatDecimal)
	case **float64:
		return scalar(at, aNumber, numberType, optional(parseDecimal(form)), formatOptional(formatDecimal))
	case *time.Duration:
		unit := float64(unitOf(key))
		return scalar(at, aNumber, numberType, func(s string) (time.Duration, error) {
			x, err := parseDecimal(form)(s)
			return time.Duration(x * unit), err
		}, func(d time.Duration) string { return formatDecimal(float64(d) / unit) })
	case *bool:
		return scalar(at, aToggle, toggleType, func(s string) (bool, error) {
			b, err := parseToggle(s)
			return b != (form == notType), err
		}, func(b bool) string { return strconv.FormatBool(b != (form == notType)) })
	case **bool:
		return scalar(at, aToggle, toggleType, optional(parseToggle), formatOptional(strconv.FormatBool))
	case *[]string:
		return r.listValue(at, form, checks)
	case map[string]string:
		return r.pairsValue(at, checks)
	}
	return nil
}

// scalar returns a value whose text parse turns into what at points to, and format turns back.
func scalar[T any](at *T, kind kind, typ string, parse func(text string) (T, error), format func(T) string) *value {
	return &value{
		kind: kind, typ: typ,
		set: func(items []string) error {
			v, err := parse(strings.Join(items, ","))
			if err == nil {
				*at = v
			}
			return err
		},
		get: func() string { return format(*at) },
	}
}

// optional is the parser of a value that may be unset, nil, and formatOptional its opposite.
func optional[T any](parse func(text string) (T, error)) func(text string) (*T, error) {
	return func(text string) (*T, error) {
		v, err := parse(text)
		return &v, err
	}
}

func formatOptional[T any](format func(T) string) func(*T) string {
	return func(v *T) string {
		if v == nil {
			return ""
		}
		return format(*v)
	}
}

func same(s string) string { return s }

// checked applies checks to a text.
func checked(text string, checks []check) (string, error) {
	for _, check := range checks {
		var err error
		if text, err = check(text); err != nil {
			return "", err
		}
	}
	return text, nil
}

func (r *registry) textValue(at *string, key, form string, checks []check) *value {
	switch {
	case form == secretType:
		s := &secretSetting{key: key, at: at}
		r.secrets = append(r.secrets, s)
		return scalar(&s.written, aText, secretType, func(text string) (string, error) { return r.reference(text), nil }, shown)
	case form == pathType:
		checks = []check{func(text string) (string, error) { return r.abs(text), nil }}
	case strings.Contains(form, " | "):
		checks = []check{chosenOf(form)}
	}
	return scalar(at, aText, form, func(text string) (string, error) { return checked(text, checks) }, same)
}

// chosenOf returns the check that a text is one of the choices of a form.
func chosenOf(form string) check {
	choices := strings.Split(form, " | ")
	return func(text string) (string, error) {
		if !slices.Contains(choices, text) {
			return "", fmt.Errorf("%q is not possible; choose %s", text, strings.Join(choices, ", "))
		}
		return text, nil
	}
}

func parseLevel(form string) func(string) (slog.Level, error) {
	return func(text string) (level slog.Level, err error) {
		if _, err := chosenOf(form)(text); err != nil {
			return 0, err
		}
		return level, level.UnmarshalText([]byte(text))
	}
}

func parseZone(text string) (*time.Location, error) {
	if text == "" || strings.EqualFold(text, "local") {
		return time.Local, nil
	}
	return zoneOf(text)
}

// boundsOf returns the bounds of a form, "1..100".
func boundsOf(form string) (lo, hi float64) {
	from, to, _ := strings.Cut(form, "..")
	lo, _ = strconv.ParseFloat(from, 64)
	hi, _ = strconv.ParseFloat(to, 64)
	return lo, hi
}

func parseInteger[T int | int64](form string) func(text string) (T, error) {
	lo, hi := boundsOf(form)
	return func(text string) (T, error) {
		n, err := strconv.ParseInt(text, 0, 64)
		if err != nil {
			return 0, fmt.Errorf("%q is not a whole number", shorten(text))
		}
		if n < int64(lo) || n > int64(hi) {
			return 0, fmt.Errorf("%d is not between %d and %d", n, int64(lo), int64(hi))
		}
		return T(n), nil
	}
}

func parseDecimal(form string) func(text string) (float64, error) {
	lo, hi := boundsOf(form)
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

// unitOf returns the unit that the name of a setting ends with.
func unitOf(key string) time.Duration {
	for unit, d := range map[string]time.Duration{"Seconds": time.Second, "Minutes": time.Minute, "Days": 24 * time.Hour} {
		if strings.HasSuffix(key, unit) {
			return d
		}
	}
	return time.Millisecond
}

func parseToggle(text string) (bool, error) {
	b, err := strconv.ParseBool(text)
	if err != nil {
		err = fmt.Errorf("%q is neither true nor false", shorten(text))
	}
	return b, err
}

// listValue returns a list. One that is set is never nil.
func (r *registry) listValue(at *[]string, form string, checks []check) *value {
	if form == pathsType {
		checks = append(checks, func(item string) (string, error) { return r.abs(item), nil })
	}
	return &value{
		kind: aList, typ: form,
		set: func(items []string) error {
			all := []string{}
			for _, item := range items {
				item, err := checked(item, checks)
				if err != nil {
					return err
				}
				all = append(all, item)
			}
			*at = all
			return nil
		},
		get: func() string { return strings.Join(*at, ",") },
	}
}

// pairsValue returns a map of names to values, which may be secrets if nothing checks them; of two entries with one name the later
// wins.
func (r *registry) pairsValue(at map[string]string, checks []check) *value {
	show := same
	if checks == nil {
		show, checks = shown, []check{func(text string) (string, error) { return r.reference(text), nil }}
	}
	return &value{
		kind: aMap, typ: pairsType,
		set: func(items []string) error {
			for _, item := range items {
				name, text, ok := strings.Cut(item, "=")
				if !ok || name == "" {
					return errors.New("an entry is not name=value")
				}
				text, err := checked(text, checks)
				if err != nil {
					return fmt.Errorf("%s: %w", shorten(name), err)
				}
				at[name] = text
			}
			return nil
		},
		get: func() string { return pairs(at, show) },
	}
}

// pairs returns a map as text, "name=value,name=value".
func pairs[T any](m map[string]T, show func(T) string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		all = append(all, name+"="+show(m[name]))
	}
	return strings.Join(all, ",")
}

// CheckAgent returns an error unless id may name an agent.
func CheckAgent(id string) error {
	var input *memory.InputError
	if errors.As(kioku.CheckAgent(id), &input) {
		return fmt.Errorf("%q is not an agent id: it %s", shorten(id), input.Problem)
	}
	return nil
}

func agentID(id string) (string, error) { return id, CheckAgent(id) }

// included and excluded check globs of files to index, and of files not to index.
func included(glob string) (string, error) { return glob, indexer.CheckGlobs([]string{glob}, nil) }
func excluded(glob string) (string, error) { return glob, indexer.CheckGlobs(nil, []string{glob}) }

// inHome resolves "~/" and leaves other paths relative to a workspace that is not known here.
func (r *registry) inHome(path string) (string, error) {
	if strings.HasPrefix(path, "~/") {
		path = r.abs(path)
	}
	return path, nil
}

// source checks one of what is indexed.
func source(name string) (string, error) {
	if name != memory.SourceMemory && name != SourceHosts && !memory.IsTranscript(name) {
		return "", fmt.Errorf("%q is not a source; there are %s, %s, %s, %s and %s", shorten(name),
			memory.SourceMemory, memory.SourceSessions, memory.SourceClaudeCode, memory.SourceCodex, SourceHosts)
	}
	return name, nil
}

// localModel checks the name or path of a local model. In the file of a workspace it is only a name: a path there would have a
// stranger's folder say which files this program maps into memory.
func (r *registry) localModel(text string) (string, error) {
	if !strings.ContainsAny(text, `/\`) && text != "" {
		text = strings.ToLower(text)
		return text, modelstore.CheckName(text)
	}
	return r.abs(text), nil
}

// viewFolder checks a folder of the workspace that is none of the folders of notes.
func viewFolder(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	clean := filepath.ToSlash(filepath.Clean(path))
	first, _, _ := strings.Cut(clean, "/")
	if !filepath.IsLocal(path) || clean == "." || strings.EqualFold(first, "memory") {
		return "", fmt.Errorf("%q must be a folder below the workspace, and not in memory/, whose files are indexed", shorten(path))
	}
	return clean, nil
}

// predicateClass checks the class of a predicate.
func predicateClass(class string) (string, error) {
	if !slices.Contains([]string{"set", "exclusive", "event"}, class) {
		return "", fmt.Errorf("%q is no class; choose set, exclusive or event", shorten(class))
	}
	return class, nil
}
