package main

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// logBuffer is a buffer for several goroutines.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) lines() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Split(strings.TrimSpace(b.buf.String()), "\n")
}

func newLimitedLog(out *logBuffer) *slog.Logger {
	return slog.New(newLogLimit(slog.NewTextHandler(out, nil)))
}

// Hazard G05: of a storm of like lines ten a minute are written, and how many were left out; other lines pass.
func TestLogLimitWritesTenLikeLinesAndCountsTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out logBuffer
		log := newLimitedLog(&out).With("agent", "main")
		for i := range 10_000 {
			log.Error("call failed", "method", "/Search", "id", i, "err", errors.New("disk on fire"))
		}
		log.Error("call failed", "method", "/Get")
		newLimitedLog(&out).Error("call failed", "method", "/Search", "agent", "other")
		for range 20 {
			log.Info("sync done")
		}
		if n := len(out.lines()); n != 10+1+1+20 {
			t.Errorf("%d lines are written at first", n)
		}
		time.Sleep(logPeriod + time.Second)
		synctest.Wait()
		lines := out.lines()
		last := lines[len(lines)-1]
		for _, want := range []string{"left out lines like this one", "count=9990", `line="call failed"`, "method=/Search", "agent=main"} {
			if !strings.Contains(last, want) {
				t.Errorf("the last line lacks %q: %s", want, last)
			}
		}
		log.Error("call failed", "method", "/Search")
		if n := len(out.lines()); n != len(lines)+1 {
			t.Errorf("after a minute %d lines are written, want %d", n, len(lines)+1)
		}
		time.Sleep(2 * logPeriod)
	})
}

// Lines that all differ are bounded too, and so is what is remembered of them.
func TestLogLimitBoundsLinesThatDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out logBuffer
		h := newLogLimit(slog.NewTextHandler(&out, nil))
		log := slog.New(h)
		for i := range 3 * maxKinds {
			log.Warn("skipped", "path", fmt.Sprint(i))
		}
		if n := len(out.lines()); n != maxKinds+logBurst {
			t.Errorf("%d lines are written, want %d", n, maxKinds+logBurst)
		}
		time.Sleep(2 * logPeriod)
		synctest.Wait()
		if len(h.kinds.seen) != 0 {
			t.Errorf("%d kinds are remembered", len(h.kinds.seen))
		}
	})
}

func TestLogLimitTakesPortsOfAPeerForOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out logBuffer
		log := newLimitedLog(&out).WithGroup("g")
		for i := range 100 {
			log.Warn("call", "from", fmt.Sprintf("127.0.0.1:%d", 40_000+i))
		}
		if n := len(out.lines()); n != logBurst {
			t.Errorf("%d lines are written", n)
		}
		time.Sleep(2 * logPeriod)
	})
}
