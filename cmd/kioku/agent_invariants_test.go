package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"kioku"
	"kioku/agent/chat"
	"kioku/agent/flush"
	"kioku/agent/recall"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/llm"
	"kioku/llm/echo"
	"kioku/memory"
)

// talker is an agent over a real memory, in this process.
type talker struct {
	*chat.Conversation
	t       testing.TB
	session *session.Session
	notices []string
	flushes []flush.Outcome
	// compactions counts them.
	compactions int
	close       func()
}

// newTalker opens the memory of a sandbox, and a session in it, for a model. Its close leaves the files alone, as the end of
// a program does.
func newTalker(s *sandbox, id string, model llm.Model, change ...func(*sidecar.Options)) *talker {
	s.t.Helper()
	ctx := s.t.Context()
	m, err := kioku.Open(ctx, kioku.Options{Workspace: s.workspace, StateDir: s.own(), Location: time.UTC})
	if err != nil {
		s.t.Fatal(err)
	}
	opt := sidecar.Options{Agent: "main", State: s.state, Model: model, Settings: sidecar.Settings{Recall: recall.Options{Deadline: time.Minute}, Flush: flush.Defaults()}, Memories: func(string) memory.Service { return m }}
	opt.Bootstrap.Workspace, opt.Skills.Workspace = s.workspace, s.workspace
	for _, f := range change {
		f(&opt)
	}
	t := &talker{t: s.t}
	t.open(opt, id, chat.MemoryTools{Memory: m})
	t.close = func() {
		if err := errors.Join(t.session.Close(), m.Close()); err != nil {
			s.t.Error(err)
		}
	}
	return t
}

// open opens the conversation.
func (t *talker) open(opt sidecar.Options, id string, tools chat.Tools) {
	t.t.Helper()
	beside, err := sidecar.New(opt)
	if err != nil {
		t.t.Fatal(err)
	}
	folder, err := session.Folder(opt.State, "main")
	if err != nil {
		t.t.Fatal(err)
	}
	if t.session, _, err = session.Open(folder, id, session.Options{}); err != nil {
		t.t.Fatal(err)
	}
	if t.Conversation, err = chat.New(chat.Options{Sidecar: beside, Session: t.session, Tools: tools, Turn: sidecar.Turn{Channel: "terminal"}}); err != nil {
		t.t.Fatal(err)
	}
}

// say is a turn that must be answered.
func (t *talker) say(message string) string {
	t.t.Helper()
	reply, err := t.Turn(t.t.Context(), message, func(e chat.Event) {
		switch {
		case e.Notice != "":
			t.notices = append(t.notices, e.Notice)
		case e.Flushed != nil:
			t.flushes = append(t.flushes, *e.Flushed)
		case e.Compacted != nil:
			t.compactions++
		}
	})
	if err != nil || reply.Text == "" {
		t.t.Fatalf("%q: %+v, %v", message, reply, err)
	}
	return reply.Text
}

// noise are turns that fill a window and state nothing.
func (t *talker) noise(turns int) {
	t.t.Helper()
	for i := range turns {
		t.say(fmt.Sprintf("Can you tell me about number %d, %s?", i, strings.Repeat("the weather and the sea, ", 12)))
	}
}

// days are the daily notes of a workspace.
func (s *sandbox) days() string {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join(s.workspace, "memory", "*.md"))
	if err != nil {
		s.t.Fatal(err)
	}
	var all []string
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			s.t.Fatal(err)
		}
		all = append(all, string(text))
	}
	return strings.Join(all, "\n")
}

// Hazard F06: if notes cannot be written, this is told, nothing is written elsewhere, and each turn is answered.
func TestAgentGoesOnIfNotesCannotBeWritten(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*testing.T, *sandbox) func(*sidecar.Options){
		"a link in place of the folder": func(t *testing.T, s *sandbox) func(*sidecar.Options) {
			if err := os.Symlink(t.TempDir(), filepath.Join(s.workspace, "memory")); err != nil {
				t.Fatal(err)
			}
			return func(*sidecar.Options) {}
		},
		"a file in place of the folder": func(_ *testing.T, s *sandbox) func(*sidecar.Options) {
			s.write("memory", "no folder")
			return func(*sidecar.Options) {}
		},
		"read-only": func(*testing.T, *sandbox) func(*sidecar.Options) {
			return func(o *sidecar.Options) { o.ReadOnly = true }
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t, map[string]string{"MEMORY.md": "# Memory\n"})
			change := prepare(t, s)
			c := newTalker(s, "a", &echo.Model{Tokens: 8000}, change)
			defer c.close()
			c.say("My locker combination is 4-17-32.")
			c.noise(20)
			// Without a memory by configuration old messages may go; with one that is away they stay until they are stored.
			if (c.compactions > 0) != (name == "read-only") || len(c.notices) == 0 || !strings.Contains(c.notices[0], "Memories") {
				t.Errorf("%d compactions, notices %q", c.compactions, c.notices)
			}
			if len(c.flushes) == 0 || c.flushes[0].Outcome == session.FlushDone || c.flushes[0].Reason == "" {
				t.Errorf("flushes %+v", c.flushes)
			}
			if target, err := filepath.EvalSymlinks(filepath.Join(s.workspace, "memory")); err == nil {
				if files, _ := filepath.Glob(filepath.Join(target, "*")); len(files) > 0 {
					t.Errorf("written elsewhere: %q", files)
				}
			}
		})
	}
}

// Hazard F06: two agents of their own, in processes of their own, write to one day file at once. Every note is whole, and
// none is lost.
func TestAgentsWriteToOneDayFile(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, map[string]string{"MEMORY.md": "# Memory\n"})
	other := *s
	other.state = filepath.Join(t.TempDir(), "state")
	const each = 12
	var group errgroup.Group
	var want []string
	for name, box := range map[string]*sandbox{"one": s, "two": &other} {
		for i := range each {
			want = append(want, fmt.Sprintf("note %d of agent %s, %s", i, name, strings.Repeat("a long line ", 200)+"ends"))
		}
		group.Go(func() error {
			for i := range each {
				text := fmt.Sprintf("note %d of agent %s, %s", i, name, strings.Repeat("a long line ", 200)+"ends")
				if out := box.run("append", text); out.code != 0 {
					return fmt.Errorf("%s %d: exit %d: %s", name, i, out.code, out.stderr)
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(s.days(), "\n")
	for _, note := range want {
		found := 0
		for _, line := range lines {
			if text, _, _ := strings.Cut(line, " <!-- "); text == note {
				found++
			}
		}
		if found != 1 {
			t.Errorf("%d times in the file: %.30q", found, note)
		}
	}
	if n := len(slices.DeleteFunc(lines, func(l string) bool { return !strings.HasPrefix(l, "note ") })); n != 2*each {
		t.Errorf("%d notes", n)
	}
}
