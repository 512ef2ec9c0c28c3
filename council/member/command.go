package member

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"kioku/council"
	"kioku/internal/secrets"
	"kioku/internal/text"
	"kioku/llm"
	"kioku/llm/ask"
)

// maxStderr is how much of the standard error of a command is kept.
const maxStderr = 64 << 10

var (
	// errMalformed reports output that cannot be a reply.
	errMalformed = errors.New("the output cannot be used")
	errTooLong   = fmt.Errorf("%w: it is longer than %d MiB", errMalformed, ask.MaxAnswer>>20)
)

// commandSpeaker asks an external program. The prompt is on its standard input and never among its arguments, which other users can
// see and which are limited.
type commandSpeaker struct{ member council.Member }

func (s commandSpeaker) model() string { return s.member.ModelName() }
func (s commandSpeaker) window() int   { return 0 }
func (s commandSpeaker) remote() bool  { return false }

// speak implements speaker. The program runs in a new folder that is empty, in a process group that is killed with it.
func (s commandSpeaker) speak(ctx context.Context, _ Question, req llm.Request) (llm.Response, error) {
	dir, err := os.MkdirTemp("", "kioku-council-")
	if err != nil {
		return llm.Response{}, fmt.Errorf("create a folder for the command: %w", err)
	}
	defer os.RemoveAll(dir)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	out := &capped{limit: ask.MaxAnswer, full: func() { stop(errTooLong) }}
	errs := &capped{limit: maxStderr}
	err = Program{Argv: s.member.Command, Dir: dir, Env: s.member.Env, Stdin: commandInput(req), Stdout: out, Stderr: errs}.Run(ctx)
	if out.over {
		return llm.Response{}, errTooLong
	}
	if err != nil {
		return llm.Response{}, s.failure(err, errs.kept.String())
	}
	reply, err := unwrap(out.kept.Bytes(), s.member.Output)
	return llm.Response{Message: llm.Message{Role: llm.RoleAssistant, Text: reply}, Stop: llm.StopEnd}, err
}

// failure returns the error of a command, with the end of what it has said about it.
func (s commandSpeaker) failure(err error, stderr string) error {
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("run %s: %w: install it, or correct members.%s.command", s.member.Command[0], err, s.member.Name)
	}
	said, _ := secrets.Redact(text.Tail(text.OneLine(escapeHidden(stderr)), 300))
	return fmt.Errorf("run %s: %w: %s", filepath.Base(s.member.Command[0]), err, cmp.Or(said, "it says nothing on its standard error"))
}

// commandInput returns a request as one text.
func commandInput(req llm.Request) string {
	parts := []string{req.System}
	for _, m := range req.Messages {
		switch m.Role {
		case llm.RoleAssistant:
			parts = append(parts, "## Your earlier reply\n\n"+m.Text)
		default:
			parts = append(parts, m.Text)
		}
	}
	parts = append(parts, "The JSON Schema of your reply:\n\n"+string(req.Schema))
	return strings.Join(parts, "\n\n") + "\n"
}

// unwrap returns the string at a path in JSON, such as "result" or "message.text"; the output as it is for an empty path.
func unwrap(output []byte, path string) (string, error) {
	if path == "" {
		return string(output), nil
	}
	var value any
	if err := json.Unmarshal(output, &value); err != nil {
		return "", fmt.Errorf("%w: it is not JSON, and the settings name the field %q in it: %w", errMalformed, path, err)
	}
	for name := range strings.SplitSeq(path, ".") {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	s, ok := value.(string)
	if !ok {
		return "", fmt.Errorf("%w: it has no text in the field %q", errMalformed, path)
	}
	return s, nil
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
