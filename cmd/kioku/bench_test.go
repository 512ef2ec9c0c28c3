package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	kiokuv1 "kioku/proto/kioku/v1"
)

// BenchmarkDaemonMemory reports the most memory that a daemon held resident while it indexed 20 MB of Markdown in 2,000
// files and answered 50 searches.
func BenchmarkDaemonMemory(b *testing.B) {
	s := benchWorkspace(b, 2000, 10_000)
	for b.Loop() {
		s.state = filepath.Join(b.TempDir(), "state")
		p := s.start("serve", "--listen", "127.0.0.1:0")
		_, port, _ := net.SplitHostPort(strings.TrimPrefix(p.waits(p.err, "listening on tcp:"), "kioku: listening on tcp:"))
		p.waits(p.err, "kioku: ready: ")
		_, service := dial(b, net.JoinHostPort("127.0.0.1", port))
		for i := range 50 {
			req := &kiokuv1.MemorySearchRequest{Agent: "main", Query: fmt.Sprintf("what about %s and %s?", benchWord(i), benchWord(40*i))}
			if resp, err := service.MemorySearch(b.Context(), req); err != nil || len(resp.GetResults()) == 0 {
				b.Fatalf("search %d: %v, %v", i, resp, err)
			}
		}
		b.ReportMetric(peak(b, p.cmd.Process.Pid), "MB_peak(goal<=200)")
		p.terminates()
	}
}

// benchWorkspace makes a workspace of files with about size bytes each, the same in every run.
func benchWorkspace(b *testing.B, files, size int) *sandbox {
	s := newSandbox(b, nil)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range files {
		var text bytes.Buffer
		fmt.Fprintf(&text, "# Notes %d\n", i)
		for text.Len() < size {
			fmt.Fprintf(&text, "\n## %s\n\n", benchWord(r.IntN(5000)))
			for range 8 {
				for range 10 {
					// Squared, so that some words are common and most are rare.
					x := r.Float64()
					text.WriteString(benchWord(int(5000*x*x)) + " ")
				}
				text.WriteString("\n")
			}
		}
		s.write(fmt.Sprintf("memory/%02d/note-%04d.md", i%50, i), text.String())
	}
	return s
}

// benchWord is the n-th of a made-up vocabulary.
func benchWord(n int) string {
	syllables := [...]string{"ka", "mo", "ri", "ten", "lu", "sho", "bar", "vi", "ne", "qua"}
	word := ""
	for n += 10; n > 0; n /= len(syllables) {
		word += syllables[n%len(syllables)]
	}
	return word
}

// peak reads the most resident memory of a process so far, in MB.
func peak(b *testing.B, pid int) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Skip("no /proc here")
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) < 2 || fields[1] != "kB" {
		b.Fatalf("no VmHWM in %s", status)
	}
	kib, err := strconv.ParseFloat(fields[0], 64)
	if err != nil {
		b.Fatal(err)
	}
	return kib * 1024 / 1e6
}
