package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"kioku/internal/testkit"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kioku"
)

// takes takes the index of the sandbox for this process, as a command that is at work does.
func (s *sandbox) takes(daemon bool) *kioku.Memory {
	s.t.Helper()
	m, err := kioku.Open(s.t.Context(), kioku.Options{Workspace: s.workspace, StateDir: s.own(), Daemon: daemon})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { m.Close() })
	return m
}

// Hazard A11: a daemon waits for a command that has the index for a moment, and says for whom it waits.
func TestServeWaitsForACommandThatHasTheIndex(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.must("index")
	owner := s.takes(false)
	p := s.start("serve", "--listen", "none")
	p.waits(p.err, "waiting for its owner")
	if err := owner.Close(); err != nil {
		t.Fatal(err)
	}
	p.waits(p.err, "ready: ")
	p.terminates()
}

// Hazard A11: a daemon beside another one does not start.
func TestServeRefusesToStartBesideAnotherDaemon(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.takes(true)
	s.run("serve", "--listen", "none").wants(t, exitError, "index is in use", "pid ")
	s.run("index", "--no-daemon").wants(t, exitError, "index is in use", "omit --no-daemon")
}

// Hazard A11: searches that open the index one after the other do not keep a daemon from starting.
func TestServeStartsBesideALoopOfSearches(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.must("index")
	stop := make(chan struct{})
	var loops sync.WaitGroup
	for range 3 {
		loops.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					s.run("search", "boiler pressure").wants(t, exitOK)
				}
			}
		})
	}
	p := s.start("serve", "--listen", "none")
	p.waits(p.err, "ready: ")
	close(stop)
	loops.Wait()
	p.terminates()
}

// Hazard A11: of searches that begin together, the first makes the index, and all answer.
func TestSearchesInParallelAllAnswer(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	var searches sync.WaitGroup
	for range 20 {
		searches.Go(func() {
			got := s.run("search", "boiler pressure")
			got.wants(t, exitOK)
			if !strings.Contains(got.stdout, "memory/2026-01-10.md") && !strings.Contains(got.stdout+got.stderr, "not indexed yet") {
				t.Errorf("an answer lacks the note and does not say so: %q, %q", got.stdout, got.stderr)
			}
		})
	}
	searches.Wait()
}

// Hazards A11, D10: an index in use can be read as it is, and the answer says that the folder has changed.
func TestReadOnlySearchOfAnIndexInUseSaysThatTheFolderHasChanged(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.must("index")
	s.takes(false)
	if got := s.object("search", "--read-only", "--json", "boiler pressure"); fmt.Sprint(got["degraded"]) != "[]" {
		t.Errorf("nothing has changed: %v", got["degraded"])
	}
	s.write("memory/2026-02-01.md", "The heron nests by the weir.")
	got := fmt.Sprint(s.object("search", "--read-only", "--json", "boiler pressure")["degraded"])
	if !strings.Contains(got, "index_stale") || !strings.Contains(got, "1 changed file") {
		t.Errorf("got %s", got)
	}
}

// Hazard A11: a command that has the index for long, here because its provider hangs, answers others, and ends by itself.
func TestCommandThatHasTheIndexAnswersOthers(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	asked := make(chan struct{}, 100)
	var hangs atomic.Bool
	released := make(chan struct{})
	release := sync.OnceFunc(func() { close(released) })
	t.Cleanup(release)
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hangs.Load() {
			asked <- struct{}{}
			<-released
			return
		}
		var req struct{ Input []string }
		err := json.NewDecoder(r.Body).Decode(&req)
		type item struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		var data []item
		for i := range req.Input {
			data = append(data, item{i, []float32{1, 0}})
		}
		if err := errors.Join(err, json.NewEncoder(w).Encode(map[string]any{"data": data})); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(provider.Close)
	flags := []string{"--provider", "openai", "--base-url", provider.URL, "--model", "m"}
	s.must(append([]string{"index", "--strict"}, flags...)...)
	hangs.Store(true)
	search := s.start(append([]string{"search", "boiler pressure"}, flags...)...)
	select {
	case <-asked:
	case <-time.After(patience):
		t.Fatal("the search does not ask the provider")
	}
	for _, args := range [][]string{{"get", "MEMORY.md"}, {"append", "The ferry leaves at six."}, {"ls"}, {"status"}} {
		s.run(args...).wants(t, exitOK)
	}
	s.run("stop").wants(t, exitError, "is no daemon; end it where it runs")
	select {
	case code := <-search.code:
		t.Errorf("the search ended with %d before the others", code)
	default:
	}
	hangs.Store(false)
	release()
	if code, _ := search.ends(); code != exitOK {
		t.Errorf("the search ends with %d: %s", code, search.said)
	}
	if out := s.must("search", "ferry"); !strings.Contains(out, "The ferry leaves at six.") {
		t.Errorf("the note is not found: %s", out)
	}
}

// Hazard A11: a chat and a daemon: the chat asks the daemon; a command beside a chat asks the chat, and the chat's memory has its note.
func TestChatAnswersOthers(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	chat := s.start("chat", "--echo")
	chat.waits(chat.err, "session")
	s.run("append", "The windmill was painted green.").wants(t, exitOK)
	if out := s.must("search", "windmill"); !strings.Contains(out, "painted green") {
		t.Errorf("got %s", out)
	}
	c := s.mcp()
	c.finds("boiler pressure", "0.8 bar")
	chat.in.Close()
	if code, _ := chat.ends(); code != exitOK {
		t.Errorf("the chat ends with %d: %s", code, chat.said)
	}
	c.finds("boiler pressure", "0.8 bar")
}

// Hazard A11: a command that cannot answer others says so, and does its work.
func TestCommandThatCannotAnswerOthersWorks(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.must("index")
	testkit.Must(t, os.MkdirAll(filepath.Join(s.own(), "memory", "main.sock", "in the way"), 0o700))
	chat := s.start("chat", "--echo")
	chat.waits(chat.err, "other commands wait until this one ends")
	chat.write("Remember that the heron sleeps in the reeds.")
	chat.waits(chat.out, "I have remembered it")
	chat.in.Close()
	if code, _ := chat.ends(); code != exitOK {
		t.Errorf("the chat ends with %d: %s", code, chat.said)
	}
}

// Hazard A04: without a daemon, a search that meets damage has the index made again, and so does each search after further damage.
func TestSearchMendsADamagedIndex(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.must("index")
	path := filepath.Join(s.own(), "memory", "main.sqlite")
	for page := 2; page <= 10; page += 2 {
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			_, err = file.WriteAt(make([]byte, 4096), int64(page-1)*4096)
			file.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		if r := s.run("search", "--no-daemon", "boiler pressure"); r.code != exitOK || !strings.Contains(r.stdout, "0.8 bar") {
			t.Errorf("page %d: exit %d\n%s%s", page, r.code, r.stdout, r.stderr)
		}
	}
}
