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
	// fairMemory is how many times its memory of before a daemon may have after a crowd.
	fairMemory = 1.2
	// calm is how long after the crowd the memory is read.
	calm = 10 * time.Second
)

// crowd has many clients search at once for up to a minute.
func crowd(s *soak, d time.Duration) {
	d = min(max(d-calm, time.Second), time.Minute)
	p := damagePlace(s, newProvider(s))
	p.serve()
	warm := p.dial()
	warm.answers()
	warm.conn.Close()
	before := p.resident(s)
	took := make([][]time.Duration, searchers)
	failed := make([]error, searchers)
	end := time.Now().Add(d)
	var all sync.WaitGroup
	for i := range searchers {
		r := rand.New(rand.NewPCG(*seed, uint64(i)))
		all.Go(func() {
			c := p.dial()
			defer c.conn.Close()
			for time.Now().Before(end) {
				n, start := r.IntN(damageNotes), time.Now()
				answer, err := c.search(fmt.Sprintf("pilot of boat%dz", n))
				took[i] = append(took[i], time.Since(start))
				if err == nil && !finds(answer, fmt.Sprintf("boat%dz", n)) {
					err = fmt.Errorf("boat%dz is not found", n)
				}
				if err != nil && failed[i] == nil {
					failed[i] = err
				}
			}
		})
	}
	all.Wait()
	sorted := slices.Sorted(slices.Values(slices.Concat(took...)))
	p50, p99 := sorted[len(sorted)/2], sorted[len(sorted)*99/100]
	errs := slices.DeleteFunc(failed, func(err error) bool { return err == nil })
	s.add("searchers / searches / searchers with errors", "%d / %d / %d", searchers, len(sorted), len(errs))
	s.add("search p50 / p99", "%s / %s", p50.Round(100*time.Microsecond), p99.Round(100*time.Microsecond))
	if len(errs) > 0 {
		s.broken("%d searchers had errors, as %v", len(errs), errs[0])
	}
	if p99 > fairTail*p50 {
		s.broken("p99 %s is more than %d x p50 %s", p99, fairTail, p50)
	}
	after := p.resident(s)
	for wait := time.Now().Add(calm); float64(after) > fairMemory*float64(before) && time.Now().Before(wait); after = p.resident(s) {
		time.Sleep(200 * time.Millisecond)
	}
	s.add("resident MB before / after the crowd", "%d / %d", before>>20, after>>20)
	if float64(after) > fairMemory*float64(before) {
		s.broken("the daemon keeps %d MB after the crowd; it had %d", after>>20, before>>20)
	}
	p.stop(syscall.SIGTERM)
}

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
