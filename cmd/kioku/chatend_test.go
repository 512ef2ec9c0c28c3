package main

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kioku/internal/testkit"
)

// train is a message with a fact that the scripted model stores in a flush.
const train = "My train leaves from platform 9."

// storesTrain fails unless the fact is in a note of a flush, once.
func (s *sandbox) storesTrain(t *testing.T, why string) {
	t.Helper()
	if notes := s.days(); strings.Count(notes, train) != 1 || !strings.Contains(notes, "from=flush") {
		t.Errorf("%s: the notes are %q", why, notes)
	}
}

// Ends of sessions: at /new, at another session, at /exit, /quit and the end of the input, what was not flushed is flushed. Nothing is
// asked of the model if nothing was said.
func TestChatStoresWhatWasSaidWhenItEnds(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string][]string{
		"the end of the input": {train}, "/exit": {train, "/exit"}, "/quit": {train, "/quit"}, "/new": {train, "/new", "/help"},
		"/session": {train, "/session other", "/exit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t, notes())
			s.chat(lines).shows(t, exitOK, "· storing what is worth keeping of this conversation", "· flush done: stored 1 note in ")
			s.storesTrain(t, name)
			again := s.chat([]string{"/help"}, "--continue")
			again.shows(t, exitOK)
			if strings.Contains(again.stderr, "storing") {
				t.Errorf("stored again: %s", again.stderr)
			}
		})
	}
	s := newSandbox(t, notes())
	if got := s.chat([]string{train}, "--set", "compaction.memoryFlush.onEnd=false"); got.code != exitOK || strings.Contains(got.stderr, "storing") {
		t.Errorf("although it is off: %s", got.stderr)
	}
}

// Ends of sessions: SIGTERM and SIGHUP store what was said, within a bounded time.
func TestChatStoresWhatWasSaidAtASignal(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		if signal.Ignored(sig) {
			continue // as nohup has it, for this test and for what it starts
		}
		s := newSandbox(t, notes())
		p := s.start("chat", "--echo")
		p.waits(p.err, "/help")
		p.write(train)
		p.waits(p.out, "You said: ")
		p.signal(sig)
		if code, took := p.ends(); code != 128+int(sig) || took > signalBound {
			t.Errorf("%v: exit %d after %v", sig, code, took)
		}
		s.storesTrain(t, sig.String())
	}
}

// signalBound is more than a chat may take to end at a signal.
const signalBound = 20 * time.Second

// Hazard F06: a chat that is killed loses nothing: the next one stores what it has left.
func TestChatStoresWhatAKilledOneHasLeft(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	p := s.start("chat", "--echo", "--session", "killed")
	p.waits(p.err, "/help")
	p.write(train)
	p.waits(p.out, "You said: ")
	p.signal(os.Kill)
	p.ends()
	if strings.Contains(s.days(), train) {
		t.Fatal("it is stored already: the test does not test")
	}
	next := s.start("chat", "--echo")
	next.waits(next.err, "/help")
	for begun := time.Now(); !strings.Contains(s.days(), train); time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > patience {
			t.Fatal("it is not stored")
		}
	}
	next.in.Close()
	next.waits(next.err, "stored what was worth keeping of 1 session that an earlier chat had left")
	next.ends()
	s.storesTrain(t, "the next chat")
}

// Ends of sessions: an idle time flushes too, while the chat waits for a line.
func TestChatStoresWhatWasSaidWhenItIsIdle(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	p := s.start("chat", "--echo", "--set", "compaction.memoryFlush.idleSeconds=1")
	p.waits(p.err, "/help")
	p.write(train)
	p.waits(p.out, "You said: ")
	recorded := func() bool { // the next line ends a flush that is under way
		turns, _ := os.ReadFile(filepath.Join(s.own(), "agents", "main", "turns", "turns.jsonl"))
		return strings.Contains(string(turns), `"kind":"flush"`)
	}
	for begun := time.Now(); !recorded() || !strings.Contains(s.days(), train); time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > patience {
			t.Fatal("it is not stored")
		}
	}
	p.write("And now?")
	p.waits(p.err, "flush done: stored 1 note")
	p.waits(p.out, "You said: And now?")
	p.in.Close()
	p.ends()
	s.storesTrain(t, "idle")
}

// Ctrl-C while a chat ends leaves at once; the next chat stores what is left.
func TestChatLeavesItsEndAtCtrlC(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	gone := make(chan struct{})
	model := newProvider(t, says("Noted."), hangs("", gone))
	p := s.start(append([]string{"chat"}, model.flags()[2:]...)...)
	p.waits(p.err, "/help")
	p.write(train)
	p.waits(p.out, "Noted.")
	testkit.Must(t, p.in.Close())
	p.waits(p.err, "storing what is worth keeping")
	for begun := time.Now(); len(model.asked()) < 2; time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > patience {
			t.Fatal("the model is not asked")
		}
	}
	p.signal(os.Interrupt)
	if code, took := p.ends(); code != exitOK || took > patience/2 {
		t.Errorf("exit %d after %v: %q", code, took, p.said)
	}
	<-gone
	if said := fmt.Sprint(p.said); !strings.Contains(said, "is not stored yet") {
		t.Errorf("it does not tell: %s", said)
	}
	s.chat([]string{"/help", "/help"}).shows(t, exitOK, "stored what was worth keeping of 1 session")
	s.storesTrain(t, "the next chat")
}
