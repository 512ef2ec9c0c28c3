package soak

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// diskSize is the size of the small disk.
const diskSize = "24m"

// fullDisks puts workspace and state on a small disk and lets it become full again and again, while notes are written. It is
// skipped, with the reason, where this process may not mount one.
func fullDisks(s *soak, d time.Duration) {
	dir := s.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size="+diskSize); err != nil {
		s.add("full disks", "skipped: mount a small disk: %v", err)
		return
	}
	s.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			s.broken("unmount: %v", err)
		}
	})
	m := &model{place: newPlace(s, dir, nil)}
	m.place.serve()
	stop := make(chan struct{})
	var users sync.WaitGroup
	for i := range 2 {
		users.Go(func() { m.write(fmt.Sprintf("full%dx", i), stop) })
		r := rand.New(rand.NewPCG(*seed, uint64(i)))
		users.Go(func() { m.ask(r, stop) })
	}
	users.Go(func() { m.editOnAFullDisk(s, stop) })
	full := 0
	end := time.Now().Add(max(d-2*time.Second, 0))
	for ; full == 0 || time.Now().Before(end) && m.place.alive(); full++ {
		time.Sleep(time.Duration(200+s.rand.IntN(500)) * time.Millisecond)
		s.fillDisk(dir)
		time.Sleep(time.Duration(200+s.rand.IntN(800)) * time.Millisecond)
		if err := os.Remove(filepath.Join(dir, "ballast")); err != nil {
			s.broken("%v", err)
		}
	}
	close(stop)
	users.Wait()
	s.add("full disks", "%d", full)
	if !m.place.alive() {
		s.broken("the daemon died of a full disk: %q", m.place.tail())
		return
	}
	lost := m.check(s)
	s.add("writes beside full disks: acknowledged / lost", "%d / %d", len(m.acked), lost)
	s.add("searches beside full disks: asked / incomplete and said so / incomplete in silence / failed", "%d / %d / %d / %d",
		m.searches, m.told, len(m.silent), m.errors)
	if len(m.silent) > 0 || m.errors > 0 {
		s.broken("on a full disk %d answers lack an old note and do not say so, and %d searches failed: %q", len(m.silent), m.errors, m.place.tail())
	}
}

// fillDisk writes a file until nothing fits any more.
func (s *soak) fillDisk(dir string) {
	f, err := os.Create(filepath.Join(dir, "ballast"))
	if err != nil {
		s.broken("%v", err)
		return
	}
	defer f.Close()
	for _, size := range []int{1 << 20, 4 << 10, 1} {
		for block := make([]byte, size); err == nil; {
			_, err = f.Write(block)
		}
		err = nil
	}
}

// editOnAFullDisk appends lines to the file of the day, and records those that were written whole.
func (m *model) editOnAFullDisk(s *soak, stop <-chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		case <-time.After(20 * time.Millisecond):
		}
		word := fmt.Sprintf("diskz%dz", i)
		path := filepath.Join(m.place.workspace, "memory", time.Now().UTC().Format(time.DateOnly)+".md")
		if appendLine(path, "- a line of "+word+" here\n") == nil {
			m.mu.Lock()
			m.others = append(m.others, word)
			m.mu.Unlock()
		}
	}
}
