package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// protoJSON is a message as proto3 JSON, on one line, with the fields that hold their default. protojson varies its
// white space on purpose; this is always the same.
func protoJSON(m proto.Message) (*bytes.Buffer, error) {
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

// writeProtoLine writes a message as JSON on a line.
func (a *app) writeProtoLine(m proto.Message) error {
	text, err := protoJSON(m)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "%s\n", text)
	return err
}

// writeProto writes a message as indented JSON.
func (a *app) writeProto(m proto.Message) error {
	text, err := protoJSON(m)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, text.Bytes(), "", "  "); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	_, err = fmt.Fprintf(a.stdout, "%s\n", &out)
	return err
}

// writeJSON writes a value as indented JSON.
func (a *app) writeJSON(v any) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// page collects what people read on stdout; texts of notes are cleaned on the way in.
type page struct {
	b     strings.Builder
	color bool
}

// page returns an empty page, in colour where a terminal shows it and NO_COLOR does not forbid.
func (a *app) page() *page {
	return &page{color: a.colors(a.stdout)}
}

// colors reports whether a text on w may have colours.
func (a *app) colors(w io.Writer) bool {
	return isTerminal(w) && !slices.ContainsFunc(a.env, func(e string) bool {
		return strings.HasPrefix(e, "NO_COLOR=") && e != "NO_COLOR=" || e == "TERM=dumb"
	})
}

// show writes the page.
func (a *app) show(p *page) error {
	_, err := fmt.Fprint(a.stdout, p.b.String())
	return err
}

// linef adds a line. Arguments that are texts are cleaned, paint excepted.
func (p *page) linef(format string, args ...any) {
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			args[i] = clean(arg)
		case paint:
			args[i] = arg.on(p.color)
		}
	}
	p.b.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " ") + "\n")
}

// paint is a text in a colour, or another style, of ANSI.
type paint struct{ style, text string }

func bold(s string) paint { return paint{"1", s} }
func dim(s string) paint  { return paint{"2", s} }
func cyan(s string) paint { return paint{"36", s} }

func (p paint) on(color bool) string {
	if text := clean(p.text); !color || text == "" {
		return text
	} else {
		return "\x1b[" + p.style + "m" + text + "\x1b[0m"
	}
}

// count is a number with its noun: "1 file", "2 files".
func count[T int | int32 | int64](n T, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
