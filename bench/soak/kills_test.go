package soak

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"time"
)

// killsPerRound is how often the daemon of one place is killed before everything is checked.
const killsPerRound = 8

// kills kills the daemon again and again, while writers append notes, editors change files, searchers ask, and the embedding
// provider fails.
func kills(s *soak, d time.Duration) {
	var killed, acked, lost, searches, told, failed, silent int
	provider := newProvider(s)
	end := time.Now().Add(d)
	for round := 0; round == 0 || time.Now().Before(end); round++ {
		m := &model{place: newPlace(s, s.TempDir(), nil)}
		if round%2 == 0 {
			m.place.provider = provider
		}
		s.killRound(m, fmt.Sprintf("r%d", round), killsPerRound)
		provider.fault.Store(fine)
		m.place.serve()
		lost += m.check(s)
		killed += killsPerRound
		acked += len(m.acked)
		searches += m.searches
		told += m.told
		failed += m.errors
		silent += len(m.silent)
		if len(m.silent) > 0 {
			s.broken("round %d: %d answers lack an old note and do not say so, as %s", round, len(m.silent), m.silent[0])
		}
		if m.errors > 0 {
			s.broken("round %d: %d searches failed although the daemon was there; %q", round, m.errors, m.place.tail())
		}
	}
	s.add("kills", "%d", killed)
	s.add("writes acknowledged / lost", "%d / %d", acked, lost)
	s.add("searches beside kills: asked / incomplete and said so / incomplete in silence / failed", "%d / %d / %d / %d", searches, told, silent, failed)
}

// killRound starts a daemon and everybody who uses it, and kills the daemon n times.
func (s *soak) killRound(m *model, name string, n int) {
	stop := make(chan struct{})
	var users sync.WaitGroup
	m.place.start()
	for i := range 8 {
		users.Go(func() { m.write(fmt.Sprintf("%sw%dx", name, i), stop) })
	}
	for i := range 2 {
		users.Go(func() {
			if err := m.edit(fmt.Sprintf("%se%dx", name, i), stop); err != nil {
				s.broken("edit: %v", err)
			}
		})
		r := rand.New(rand.NewPCG(*seed, uint64(i)))
		users.Go(func() { m.ask(r, stop) })
	}
	for range n {
		if m.place.provider != nil {
			m.place.provider.fault.Store(s.rand.Int32N(faults))
		}
		life := time.Duration(20+s.rand.IntN(500)) * time.Millisecond
		if s.rand.IntN(5) > 0 { // the others are killed while they start
			m.place.answers()
			life *= 2
		}
		time.Sleep(life)
		m.place.stop(syscall.SIGKILL)
		m.place.start()
	}
	close(stop)
	users.Wait()
	m.place.stop(syscall.SIGKILL)
}
