package soak

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// searchers ask at the same time, each over a connection of its own.
	searchers = 64
	// fairTail is how many times as long as the median the slowest hundredth of the searches may take.
	fairTail = 5
	// fairMemory is how many times its memory of before a daemon may have after a crowd, and strayMemory the bytes on top of that.
	fairMemory  = 1.2
	strayMemory = 2 << 20
	// collectOften is a variable of the daemon's environment. With Go's default, a small daemon has between one and two times the
	// memory that it uses, as the last collection of garbage happens to be long ago or not, and two readings say little.
	collectOften = "GOGC=50"
	// calm is how long after the crowd the memory is read.
	calm = 10 * time.Second
)

// crowd has many clients search at once for up to a minute.
func crowd(s *soak, d time.Duration) {
	p := damagePlace(s, newProvider(s))
	p.env = []string{collectOften}
	p.serve()
	idle := p.resident(s)
	p.search(time.Second) // opens what is opened once
	before := p.calmed(s, idle)
	took, failed := p.search(min(max(d-2*calm, time.Second), time.Minute))
	slices.Sort(took)
	p50, p99 := took[len(took)/2], took[len(took)*99/100]
	s.add("searchers / searches / searchers with errors", "%d / %d / %d", searchers, len(took), len(failed))
	s.add("search p50 / p99", "%s / %s", p50.Round(100*time.Microsecond), p99.Round(100*time.Microsecond))
	if len(failed) > 0 {
		s.broken("%d searchers had errors, as %v", len(failed), failed[0])
	}
	if p99 > fairTail*p50 {
		s.broken("p99 %s is more than %d x p50 %s", p99, fairTail, p50)
	}
	after := p.calmed(s, before)
	s.add("resident MB: idle / in use / after the crowd", "%d / %d / %d", idle>>20, before>>20, after>>20)
	if !isFair(after, before) {
		s.broken("the daemon keeps %d MB after the crowd; it had %d", after>>20, before>>20)
	}
	p.stop(syscall.SIGTERM)
}

// search has all searchers search for a time. It returns how long each search took, and the first error of each searcher that
// had any.
func (p *place) search(d time.Duration) (took []time.Duration, failed []error) {
	var mu sync.Mutex
	var all sync.WaitGroup
	end := time.Now().Add(d)
	for i := range searchers {
		r := rand.New(rand.NewPCG(*seed, uint64(i)))
		all.Go(func() {
			mine, err := p.searchUntil(end, r)
			mu.Lock()
			defer mu.Unlock()
			took = append(took, mine...)
			if err != nil {
				failed = append(failed, err)
			}
		})
	}
	all.Wait()
	return took, failed
}

// searchUntil searches over one connection until a time. It returns how long each search took and the first error.
func (p *place) searchUntil(end time.Time, r *rand.Rand) (took []time.Duration, first error) {
	c := p.dial()
	defer c.Close()
	for time.Now().Before(end) {
		n, start := r.IntN(damageNotes), time.Now()
		answer, err := c.search(fmt.Sprintf("pilot of boat%dz", n))
		took = append(took, time.Since(start))
		if err == nil && !finds(answer, fmt.Sprintf("boat%dz", n)) {
			err = fmt.Errorf("boat%dz is not found", n)
		}
		if first == nil {
			first = err
		}
	}
	return took, first
}

// calmed returns the memory of the daemon after a pause, which ends as soon as that is little more than it was.
func (p *place) calmed(s *soak, was int64) int64 {
	s.Helper()
	now := p.resident(s)
	for end := time.Now().Add(calm); !isFair(now, was) && time.Now().Before(end); now = p.resident(s) {
		time.Sleep(200 * time.Millisecond)
	}
	return now
}

// isFair reports whether a daemon has little more memory than it had.
func isFair(now, was int64) bool { return float64(now) <= fairMemory*float64(was)+strayMemory }

// resident returns the memory of the daemon that is not backed by files, in bytes.
func (p *place) resident(s *soak) int64 {
	s.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		s.Fatal(err)
	}
	var kb int64
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "RssAnon:") {
			fmt.Sscanf(line, "RssAnon: %d kB", &kb)
		}
	}
	return kb << 10
}
