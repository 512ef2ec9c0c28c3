// Package render writes the output of the kioku commands: answers, progress, notices and errors, for people and as JSON.
package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"kioku/server/op"
)

// Values of Output.Color.
const (
	// ColorAuto gives colours to a terminal, unless the environment forbids them.
	ColorAuto = "auto"
	// ColorAlways gives colours to everything, also to a file.
	ColorAlways = "always"
	// ColorNever gives no colours.
	ColorNever = "never"
)

// Output is where a command writes, and how.
type Output struct {
	Stdout, Stderr io.Writer // for answers and for notices
	// Env is the environment, as os.Environ gives it.
	Env []string
	// JSON says that answers are written as JSON.
	JSON bool
	// Color says when answers have colours: ColorAuto, ColorAlways or ColorNever; empty means ColorAuto.
	Color string
	// Clock gives the time before each notice; nil writes notices without one. A command that serves has it.
	Clock func() time.Time
}

// Notice writes a line for people to Stderr.
func (o *Output) Notice(format string, args ...any) {
	at := ""
	if o.Clock != nil {
		at = o.Clock().Format(time.DateTime) + " "
	}
	fmt.Fprintf(o.Stderr, "kioku: %s%s\n", at, CleanLine(fmt.Sprintf(format, args...)))
}

// TellNew reports notices, without those that have been told.
func (o *Output) TellNew(notices, told []string) {
	for _, n := range notices {
		if !slices.Contains(told, n) {
			o.Notice("%s", n)
		}
	}
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Write writes a value as JSON if JSON is wanted, else the page that fill fills in.
func (o *Output) Write(v any, fill func(*Page)) error {
	if o.JSON {
		return o.WriteJSON(v, "  ")
	}
	return o.Show(fill)
}

// WriteJSON writes a value as JSON with this indent, as operations answer it; without one it is on one line.
func (o *Output) WriteJSON(v any, indent string) error {
	text, err := op.Marshal(v)
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	var line bytes.Buffer
	if indent == "" {
		err = json.Compact(&line, text)
	} else {
		err = json.Indent(&line, text, "", indent)
	}
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	_, err = o.Stdout.Write(escapeForbidden(append(line.Bytes(), '\n')))
	return err
}

// escapeForbidden writes what controls a terminal as \u escapes, which say the same in JSON. Newlines and tabs are those between values.
func escapeForbidden(text []byte) []byte {
	if bytes.IndexFunc(text, Forbidden) < 0 {
		return text
	}
	var out []byte
	for _, r := range string(text) {
		if Forbidden(r) {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

// Page collects output for people and cleans the texts that are added.
type Page struct {
	b     strings.Builder
	color bool
}

// Colors reports whether text on w may have colours: as Color says, and by default if w is a terminal, NO_COLOR is unset and TERM is
// not dumb.
func (o *Output) Colors(w io.Writer) bool {
	switch o.Color {
	case ColorAlways:
		return true
	case ColorNever:
		return false
	}
	return IsTerminal(w) && !slices.ContainsFunc(o.Env, func(e string) bool {
		return strings.HasPrefix(e, "NO_COLOR=") && e != "NO_COLOR=" || e == "TERM=dumb"
	})
}

// Show writes the page that fill fills in, in colour if Stdout may have colours.
func (o *Output) Show(fill func(*Page)) error {
	p := &Page{color: o.Colors(o.Stdout)}
	fill(p)
	_, err := fmt.Fprint(o.Stdout, p.String())
	return err
}

// String returns the page.
func (p *Page) String() string { return p.b.String() }

// Linef adds a line. Arguments that are strings are cleaned.
func (p *Page) Linef(format string, args ...any) {
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			args[i] = Clean(arg)
		case Paint:
			args[i] = arg.On(p.color)
		}
	}
	p.b.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " ") + "\n")
}

// Row adds a line that begins with a name.
func (p *Page) Row(name, format string, args ...any) {
	p.Linef("%-10s %s", name, fmt.Sprintf(format, args...))
}

// Paint is a text in a colour or style of ANSI.
type Paint struct{ style, text string }

// Bold is a text in bold letters.
func Bold(s string) Paint { return Paint{"1", s} }

// Dim is a text in faint letters.
func Dim(s string) Paint { return Paint{"2", s} }

// Cyan is a text in cyan.
func Cyan(s string) Paint { return Paint{"36", s} }

// On returns the text, with its style if color is true.
func (p Paint) On(color bool) string {
	text := Clean(p.text)
	if !color || text == "" {
		return text
	}
	return "\x1b[" + p.style + "m" + text + "\x1b[0m"
}
