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
	"slices"
	"strings"
	"syscall"
	"time"

	"kioku/council"
	"kioku/internal/secrets"
	"kioku/internal/text"
	"kioku/llm"
	"kioku/llm/ask"
)

const (
	// maxStderr is how much of the standard error of a command is kept.
	maxStderr = 64 << 10
	// killAfter is how long a command has after SIGTERM, and a grandchild after the end of the command.
	killAfter = 3 * time.Second
)

var (
	// errMalformed reports output that cannot be a reply.
	errMalformed = errors.New("the output cannot be used")
	errTooLong   = fmt.Errorf("%w: it is longer than %d MiB", errMalformed, ask.MaxAnswer>>20)
)

// passedOn are the environment variables that every command gets.
var passedOn = []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "SHELL"}

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
	cmd := exec.CommandContext(ctx, s.member.Command[0], s.member.Command[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, s.environment(os.Environ()), strings.NewReader(commandInput(req)), out, errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = killAfter
	err = cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what is left of the group
	}
	if out.over {
		return llm.Response{}, errTooLong
	}
	if errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil {
		err = nil // the program has ended well; only a grandchild kept its output open
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

// environment returns those variables of all that the command gets.
func (s commandSpeaker) environment(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return !slices.Contains(passedOn, name) && !strings.HasPrefix(name, "LC_") && !slices.Contains(s.member.Env, name)
	})
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
