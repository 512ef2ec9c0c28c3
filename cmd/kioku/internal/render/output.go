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

	"golang.org/x/term"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// Output is where a command writes, and how.
type Output struct {
	Stdout, Stderr io.Writer
	// Env is the environment, as os.Environ gives it.
	Env []string
	// JSON says that answers are written as JSON.
	JSON bool
}

// Notice writes a line for people to Stderr.
func (o *Output) Notice(format string, args ...any) {
	fmt.Fprintf(o.Stderr, "kioku: %s\n", OneLine(fmt.Sprintf(format, args...)))
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// ProtoJSON returns a message as proto3 JSON on one line, including fields with their default value. Equal messages give
// equal bytes, unlike protojson, which varies its white space on purpose.
func ProtoJSON(m proto.Message) (*bytes.Buffer, error) {
	text, err := protojson.MarshalOptions{EmitDefaultValues: true}.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("write JSON: %w", err)
	}
	var out bytes.Buffer
	if err := json.Compact(&out, text); err != nil {
		return nil, fmt.Errorf("write JSON: %w", err)
	}
	return &out, nil
}

// WriteProtoLine writes a message as JSON on a line.
func (o *Output) WriteProtoLine(m proto.Message) error {
	text, err := ProtoJSON(m)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.Stdout, "%s\n", text)
	return err
}

// WriteProto writes a message as indented JSON.
func (o *Output) WriteProto(m proto.Message) error {
	text, err := ProtoJSON(m)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, text.Bytes(), "", "  "); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	_, err = fmt.Fprintf(o.Stdout, "%s\n", &out)
	return err
}

// WriteJSON writes a value as indented JSON.
func (o *Output) WriteJSON(v any) error {
	enc := json.NewEncoder(o.Stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// Page collects output for people and cleans the texts that are added.
type Page struct {
	b     strings.Builder
	color bool
}

// Page returns an empty page, in colour if Stdout may have colours.
func (o *Output) Page() *Page {
	return &Page{color: o.Colors(o.Stdout)}
}

// Colors reports whether text on w may have colours: w is a terminal, NO_COLOR is unset and TERM is not dumb.
func (o *Output) Colors(w io.Writer) bool {
	return IsTerminal(w) && !slices.ContainsFunc(o.Env, func(e string) bool {
		return strings.HasPrefix(e, "NO_COLOR=") && e != "NO_COLOR=" || e == "TERM=dumb"
	})
}

// Show writes the page.
func (o *Output) Show(p *Page) error {
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
	if text := Clean(p.text); !color || text == "" {
		return text
	} else {
		return "\x1b[" + p.style + "m" + text + "\x1b[0m"
	}
}
