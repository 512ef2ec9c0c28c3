package main

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/internal/testkit"
	"kioku/memory"
)

// heard are the messages of the user, as a model was asked them last.
func (p *provider) heard() []string {
	asked := p.asked()
	if len(asked) == 0 {
		return nil
	}
	var said []string
	for _, m := range asked[len(asked)-1].Messages {
		if m.Role == "user" {
			said = append(said, memory.StripRecalled(m.Content))
		}
	}
	return said
}

// colored is what sets a colour or another style.
var colored = regexp.MustCompile(`\x1b\[[0-9;]*m`)

func TestChatEditsLinesAndTakesAPasteAsOneMessage(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	lines := []struct{ keys, said string }{
		{"日本語\x7f\x1b[D人", "日人本"},
		{"a\x18\x1a\x00b\x01c\x05d", "cabd"},
		{"one\x1b\rtwo", "one\ntwo"},
		{"paste: .\x1b[D\x1b[200~first\r\n二行\n\x1b[201~third", "paste: first\n二行\nthird."},
		{strings.Repeat("長い", 40) + strings.Repeat("\x1b[D", 70) + "★", strings.Repeat("長い", 5) + "★" + strings.Repeat("長い", 35)},
		{"long " + "\x1b[200~" + strings.Repeat("line\n", 5000) + "end" + "\x1b[201~", "long " + strings.Repeat("line\n", 5000) + "end"},
	}
	model := newProvider(t, slices.Repeat([]func(http.ResponseWriter, *http.Request){says("Heard.\n")}, len(lines)+1)...)
	p := s.atTerminal(append(model.flags(), "--set", "llm.window=200000")...)
	var want []string
	for _, line := range lines {
		p.prompted()
		p.press(line.keys[:len(line.keys)/2])
		p.press(line.keys[len(line.keys)/2:] + "\r")
		if got := p.shows("Heard."); colored.MatchString(got) {
			t.Errorf("it has colours: %q", got)
		}
		want = append(want, line.said)
	}
	p.prompted()
	p.press("half\\\r")
	p.shows(". ")
	p.press("whole\r")
	p.shows("Heard.")
	if got := model.heard(); !cmp.Equal(got, append(want, "half\nwhole")) {
		t.Errorf("the model heard %q", got)
	}
	p.prompted()
	p.press("\x04")
	if code := p.ends(); code != exitOK {
		t.Errorf("exit %d", code)
	}
}

func TestChatHistoryIsKeptPrivateAndBounded(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	path := filepath.Join(s.own(), "agents", "main", "chat_history")
	testkit.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	testkit.Must(t, os.WriteFile(path, []byte(strings.Repeat("old\n", 1000)+"a\nb\nlast\n"), 0o644))
	model := newProvider(t, says("Heard.\n"), says("Heard.\n"), says("Heard.\n"))
	p := s.atTerminal(model.flags()...)
	p.prompted()
	p.press("\x1b[A!\r")
	p.shows("Heard.")
	p.prompted()
	p.press("\x1b[200~one\ntwo\x1b[201~\r")
	p.shows("Heard.")
	p.prompted()
	p.press("\x04")
	p.ends()
	if got := model.heard(); !cmp.Equal(got, []string{"last!", "one\ntwo"}) {
		t.Errorf("the model heard %q", got)
	}
	again := s.atTerminal(model.flags()...)
	again.prompted()
	again.press("\x1b[A")
	again.shows("one↵two")
	again.press("\r")
	again.shows("Heard.")
	if got := model.heard(); !cmp.Equal(got, []string{"one\ntwo"}) {
		t.Errorf("the model heard %q", got)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	text, err := os.ReadFile(path)
	if n := bytes.Count(text, []byte("\n")); err != nil || n > 1003 || !strings.Contains(string(text), "last\nlast!\none\uFDD0two\n") {
		t.Errorf("%d lines, %v: %q", n, err, text[max(0, len(text)-100):])
	}
}

func TestChatHistoryThatCannotBeKeptIsReported(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	testkit.Must(t, os.MkdirAll(filepath.Join(s.own(), "agents", "main", "chat_history"), 0o700))
	p := s.atTerminal("--echo")
	p.shows("kioku: keep the history: ", "the lines of this chat are not kept")
	p.prompted()
	p.press("hello there\r")
	p.shows("You said: hello there")
	p.prompted()
	p.press("\x1b[A")
	p.shows("hello there")
}

func TestChatEndsAtTwoInterruptsAtAnEmptyPrompt(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	p := s.atTerminal("--echo")
	p.prompted()
	p.press("\x03")
	p.shows("Ctrl-C once more, Ctrl-D or /exit ends the chat")
	p.prompted()
	p.press("half\x03")
	p.shows("^C")
	if got := p.prompted(); strings.Contains(got, "once more") {
		t.Errorf("a line that was given up counts as an empty one: %q", got)
	}
	p.press("\x03")
	p.shows("Ctrl-C once more")
	p.prompted()
	p.press("\x03")
	if code := p.ends(); code != exitOK {
		t.Errorf("exit %d", code)
	}
}

func TestChatInterruptAtATerminalCancelsTheTurn(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	gone := make(chan struct{})
	p := s.atTerminal(newProvider(t, hangs("Let me think\n", gone), says("Back again.")).flags()...)
	p.prompted()
	p.press("a hard question\r")
	p.shows("Let me think")
	p.press("\x03")
	p.shows("· canceled; the conversation continues")
	<-gone
	p.prompted()
	p.press("an easy one\r")
	p.shows("Back again.")
}

func TestChatKeepsWhatIsTypedAhead(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	release := make(chan struct{})
	slow := func(w http.ResponseWriter, r *http.Request) {
		send(w, map[string]string{"content": "Let me think\n"})
		<-release
		says("Done.\n")(w, r)
	}
	model := newProvider(t, slow, says("Second.\n"), says("Third.\n"))
	p := s.atTerminal(model.flags()...)
	p.prompted()
	p.press("one\r")
	p.shows("Let me think")
	p.press("二つ\rthr")
	p.shows("二つ", "thr") // echoed by the terminal
	close(release)
	p.shows("Done.", "Second.", "thr")
	p.press("ee\r")
	p.shows("Third.")
	if got := model.heard(); !cmp.Equal(got, []string{"one", "二つ", "three"}) {
		t.Errorf("the model heard %q", got)
	}
}

func TestChatRestoresTheTerminalAtSIGTERM(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	p := s.atTerminal("--echo")
	usual := p.mode()
	p.prompted()
	p.press("unsent")
	p.shows("unsent")
	if editing := p.mode(); *editing == *usual {
		t.Error("at the prompt the terminal is as before")
	}
	testkit.Must(t, p.cmd.Process.Signal(syscall.SIGTERM))
	p.shows("\x1b[?2004l", "interrupted")
	if code := p.ends(); code != 143 {
		t.Errorf("exit %d", code)
	}
	if after := p.mode(); *after != *usual {
		t.Error("the terminal is not restored")
	}
}
