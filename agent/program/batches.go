package program

import (
	"fmt"
	"sync"
	"time"
)

const (
	// maxBatch is the maximum number of lines that are passed on at a time, and maxBatchBytes that of their bytes.
	maxBatch      = 1000
	maxBatchBytes = 64 << 10
)

// Batches passes lines on at most once a second. What is too much is left out, but never the end. Its methods may be called concurrently.
type Batches struct {
	// Pass gets lines, and whether they are the last. It reports false for lines that have to wait for later ones.
	Pass func(lines []string, last bool) bool
	// All keeps the end of all lines. It is read after End.
	All Tail

	mu    sync.Mutex
	lines []string
	bytes int         // of lines
	cut   int         // lines before them that are left out
	timer *time.Timer // nil if no lines wait
}

// Add adds a line.
func (b *Batches) Add(line string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, _ = b.All.Write([]byte(line + "\n"))
	b.lines = append(b.lines, line)
	for b.bytes += len(line); len(b.lines) > maxBatch || b.bytes > maxBatchBytes; b.lines = b.lines[1:] {
		b.bytes -= len(b.lines[0])
		b.cut++
	}
	if b.timer == nil {
		b.timer = time.AfterFunc(time.Second, func() { b.pass(false) })
	}
}

// End passes the last lines on.
func (b *Batches) End() { b.pass(true) }

func (b *Batches) pass(last bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
	lines := b.lines
	if b.cut > 0 {
		lines = append([]string{fmt.Sprintf("[%d lines are left out]", b.cut)}, lines...)
	}
	if len(lines) > 0 && b.Pass(lines, last) {
		b.lines, b.bytes, b.cut = nil, 0, 0
	}
}
