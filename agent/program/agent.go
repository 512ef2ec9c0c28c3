package program

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"kioku/agent/prompt"
	"kioku/internal/secrets"
	"kioku/internal/text"
	"kioku/llm"
)

const (
	// maxOutput is the maximum size of what a program prints, and maxStderr how much of its standard error is kept.
	maxOutput = 4 << 20
	maxStderr = 64 << 10
	// maxReason is the maximum number of characters of the reason of a failure.
	maxReason = 300
)

// Agent is a program that answers. The prompt is on its standard input and never among its arguments, which other users can see and
// which are limited.
type Agent struct {
	// Command is the argv. What stands in it as {NAME} is replaced, see places.
	Command []string
	// Env are the names of environment variables that it gets beside the usual ones, or NAME=VALUE, with {NAME} as in Command.
	Env []string
	// Output is the path of the reply in the JSON that the program prints, such as "result". It is empty for a program that prints the
	// reply itself, or one of the forms that read knows.
	Output string
	// Reads is a folder that the program may read; empty for none.
	Reads string
}

// Call calls a tool and returns its text, or what is wrong.
type Call func(ctx context.Context, call llm.ToolCall) (text string, failed bool)

// TakesTools reports whether the program can call tools of a request.
func (a Agent) TakesTools() bool {
	return a.names("{mcp}") || a.names("{socket}") || a.names("{gemini}")
}

// Line returns the variables that it gets and its command, as one would type them.
func (a Agent) Line() []string {
	isName := func(v string) bool { return !strings.Contains(v, "=") }
	return append(slices.DeleteFunc(slices.Clone(a.Env), isName), a.Command...)
}

// names reports whether the command or its environment names a place.
func (a Agent) names(place string) bool {
	return strings.Contains(strings.Join(a.Command, "\n")+"\n"+strings.Join(a.Env, "\n"), place)
}

// Ask asks the program. It runs in a new folder that is removed afterwards, in a process group that is killed with it. An output that
// cannot be a reply is an *llm.Error of the kind llm.KindAnswer. The response beside an error has the usage as far as the program tells it.
func (a Agent) Ask(ctx context.Context, req llm.Request, call Call) (llm.Response, error) {
	r, err := a.newRun(req)
	if err != nil {
		return llm.Response{}, err
	}
	defer r.remove()
	argv, env, err := r.fill()
	if err != nil {
		return llm.Response{}, err
	}
	if r.socket != "" {
		stop, err := serveTools(ctx, r.socket, req.Tools, call)
		if err != nil {
			return llm.Response{}, err
		}
		defer stop()
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	out := &capped{limit: maxOutput, full: func() { stop(errTooLong) }}
	errs := &capped{limit: maxStderr}
	err = Process{Argv: argv, Dir: r.folder, Env: env, Stdin: a.input(req), Stdout: out, Stderr: errs}.Run(ctx)
	if out.over {
		return llm.Response{}, errTooLong
	}
	said := read(out.kept.Bytes())
	resp := llm.Response{Stop: llm.StopEnd, Usage: said.usage, Message: llm.Message{Role: llm.RoleAssistant, Text: said.text}}
	if err != nil || said.failure != "" {
		return resp, a.failure(err, said.failure, errs.kept.String())
	}
	if a.Output != "" || !said.known {
		resp.Message.Text, err = unwrap(out.kept.Bytes(), a.Output)
	}
	return resp, err
}

// failure returns the error of a program, with the reason that it has printed, else the end of its standard error.
func (a Agent) failure(err error, reason, stderr string) error {
	name := filepath.Base(a.Command[0])
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("run %s: %w: install it, or correct the command of the member", name, err)
	}
	reason = cmp.Or(reason, read([]byte(stderr[max(strings.LastIndex(stderr, "\n{"), 0):])).failure, text.Tail(text.OneLine(stderr), maxReason))
	reason, _ = secrets.Redact(text.Shorten(prompt.VisibleLine(reason), maxReason))
	if err == nil {
		return fmt.Errorf("%s has failed: %s", name, reason)
	}
	return fmt.Errorf("run %s: %w: %s", name, err, cmp.Or(reason, "it does not say why"))
}

// input returns a request as one text, without what the program gets otherwise.
func (a Agent) input(req llm.Request) string {
	var parts []string
	if !a.names("{system}") {
		parts = append(parts, req.System)
	}
	for _, m := range req.Messages {
		switch m.Role {
		case llm.RoleAssistant:
			parts = append(parts, "## Your earlier reply\n\n"+m.Text)
		default:
			parts = append(parts, m.Text)
		}
	}
	if a.Reads != "" {
		parts = append(parts, "With your tools you may read what is below "+a.Reads+". Name file and line of what you rely on.")
	}
	if !a.names("{schema}") && !a.names("{schemaFile}") {
		parts = append(parts, "The JSON Schema of your reply:\n\n"+string(req.Schema))
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// malformed returns the error of an output that cannot be a reply.
func malformed(format string, args ...any) error {
	return &llm.Error{Kind: llm.KindAnswer, Message: "the output cannot be used: " + fmt.Sprintf(format, args...)}
}

var errTooLong = malformed("it is longer than %d MiB", maxOutput>>20)

// unwrap returns the text at a path in JSON, such as "result" or "message.text"; the output as it is for an empty path. An object is
// returned as JSON.
func unwrap(output []byte, path string) (string, error) {
	if path == "" {
		return string(output), nil
	}
	for name := range strings.SplitSeq(path, ".") {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(output, &object); err != nil {
			return "", malformed("it has no field %q: %v", path, err)
		}
		output = object[name]
	}
	var s string
	if json.Unmarshal(output, &s) == nil && s != "" {
		return s, nil
	}
	if bytes.HasPrefix(output, []byte("{")) {
		return string(output), nil
	}
	return "", malformed("it has no text in the field %q", path)
}

// capped keeps the beginning of what is written to it and accepts the rest.
type capped struct {
	kept  bytes.Buffer // not embedded: its ReadFrom would take everything
	limit int
	// full is called once there is more; nil for none.
	full func()
	over bool
}

// Write implements io.Writer. It belongs to the goroutine that copies the output.
func (c *capped) Write(p []byte) (int, error) {
	room := c.limit - c.kept.Len()
	if len(p) <= room {
		return c.kept.Write(p)
	}
	c.kept.Write(p[:max(room, 0)])
	if !c.over && c.full != nil {
		c.full()
	}
	c.over = true
	return len(p), nil
}
