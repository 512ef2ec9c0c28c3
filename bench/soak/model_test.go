package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"kioku/memory"
)

// model knows what must be in a memory: each text has a word of its own.
type model struct {
	place *place

	mu sync.Mutex
	// acked are the words of notes that the daemon has acknowledged. Guarded by mu.
	acked []string
	// others are the words of lines that other programs have added, and which nobody may touch. Guarded by mu.
	others []string
	// searches, told and errors count searches, those that lacked a note and said so, and those that failed though the daemon
	// was there. Guarded by mu.
	searches, told, errors int
	// silent are answers that lacked a note that had been there for long, without a word. Guarded by mu.
	silent []string
}

// write appends notes until stop is closed. A note that was not acknowledged is sent again with the same key.
func (m *model) write(name string, stop <-chan struct{}) {
	c := m.place.dial()
	defer c.Close()
	for i := 0; ; i++ {
		word := fmt.Sprintf("note%s%dz", name, i)
		for {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			_, err := c.Append(ctx, memory.Note{Text: "The keeper wrote " + word + " into the log.", Key: "key-" + word, Source: memory.NoteFromUser})
			cancel()
			select {
			case <-stop:
				if err == nil {
					m.ack(word)
				}
				return
			default:
			}
			if err == nil {
				m.ack(word)
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// ack records that a note was acknowledged.
func (m *model) ack(word string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.acked = append(m.acked, word)
}

// edit changes files like other programs do until stop is closed: it appends lines to the file of the day and to its own, and
// replaces its own file by a new one.
func (m *model) edit(name string, stop <-chan struct{}) error {
	own := filepath.Join(m.place.workspace, "memory", "editor-"+name+".md")
	for i := 0; ; i++ {
		select {
		case <-stop:
			return nil
		case <-time.After(15 * time.Millisecond):
		}
		word := fmt.Sprintf("other%s%dz", name, i)
		line := "- a line of " + word + " here\n"
		path := own
		if i%3 == 0 {
			path = filepath.Join(m.place.workspace, "memory", time.Now().UTC().Format(time.DateOnly)+".md")
		}
		var err error
		if i%3 == 2 {
			err = replaceWith(own, line)
		} else {
			err = appendLine(path, line)
		}
		if err != nil {
			return err
		}
		m.mu.Lock()
		m.others = append(m.others, word)
		m.mu.Unlock()
	}
}

// appendLine adds a line to a file in one write.
func appendLine(path, line string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(line)
	return err
}

// replaceWith adds a line to a file by renaming a new file over it.
func replaceWith(path, line string) error {
	old, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := os.WriteFile(path+".tmp", append(old, line...), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

// ask searches for acknowledged notes until stop is closed.
func (m *model) ask(r *rand.Rand, stop <-chan struct{}) {
	c := m.place.dial()
	defer c.Close()
	for {
		select {
		case <-stop:
			return
		case <-time.After(5 * time.Millisecond):
		}
		m.mu.Lock()
		// The daemon may take a moment to notice a note that it has just written.
		n := len(m.acked) - 200
		word := ""
		if n > 0 {
			word = m.acked[r.IntN(n)]
		}
		m.mu.Unlock()
		if word == "" {
			continue
		}
		answer, err := c.search(word)
		m.mu.Lock()
		m.searches++
		switch {
		case errors.Is(err, memory.ErrUnreachable): // it was killed meanwhile
		case err != nil:
			m.errors++
		case finds(answer, word):
		case len(answer.Degraded) > 0:
			m.told++
		default:
			m.silent = append(m.silent, word)
		}
		m.mu.Unlock()
	}
}

// check compares the files and the answers with the model, and returns how many acknowledged notes are lost. The daemon must
// be running and is stopped.
func (m *model) check(s *soak) (lost int) {
	s.Helper()
	if _, err := m.place.scrub(); err != nil {
		s.broken("the scrub fails after the attack: %v; %q", err, m.place.tail())
	}
	text := m.place.text(s)
	for _, word := range append(append([]string{}, m.acked...), m.others...) {
		if n := strings.Count(text, " "+word+" "); n != 1 {
			s.broken("%s is in the files %d times", word, n)
			lost++
		}
	}
	err := m.place.dialed(func(c client) error {
		if lacks := c.settle(patience); lacks != "" {
			s.broken("the index still lacks something %s after the attack: %s", patience, lacks)
		}
		for _, word := range append(append([]string{}, m.acked...), m.others...) {
			answer, err := c.search(word)
			if err != nil {
				return err
			}
			if !finds(answer, word) {
				s.broken("%s is not found after the attack; degraded: %v", word, answer.Degraded)
			}
		}
		return nil
	})
	if err != nil {
		s.broken("a search fails after the attack: %v", err)
	}
	m.place.stop(syscall.SIGTERM)
	if diff := m.place.compare(); len(diff) > 0 {
		s.broken("the index differs from a fresh one: %q", diff)
	}
	return lost
}

// dialed runs f with a connection.
func (p *place) dialed(f func(client) error) error {
	c := p.dial()
	defer c.Close()
	return f(c)
}

// text returns all files of the memory, joined.
func (p *place) text(s *soak) string {
	s.Helper()
	var all strings.Builder
	names, err := filepath.Glob(filepath.Join(p.workspace, "memory", "*.md"))
	if err != nil {
		s.Fatal(err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			s.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}
