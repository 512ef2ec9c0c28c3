package kioku

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kioku/memory"
)

// countedReader counts the bytes that are read.
type countedReader struct {
	io.ReaderAt
	read int
}

func (r *countedReader) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(p, off)
	r.read += n
	return n, err
}

// lineOrigin is the origin of a line of these tests, whose author is the line.
func lineOrigin(line []byte) *memory.Origin {
	return &memory.Origin{Authors: []memory.Author{{ID: strings.TrimSpace(string(line))}}}
}

// A search reads little more of a transcript than the lines of its hits, however long the transcript is, and no line that is too long
// as a whole.
func TestOriginOfATranscriptReadsOnlyTheLinesOfAHit(t *testing.T) {
	var text bytes.Buffer
	for i := range 20_000 {
		fmt.Fprintf(&text, "line %d %s\n", i+1, strings.Repeat("x", 500))
	}
	file := &countedReader{ReaderAt: bytes.NewReader(text.Bytes())}
	offsets := lineOffsets{at: []int64{0}}
	for _, first := range []int{19_990, 1, 256, 257, 258, 10_000, 19_990} {
		before := file.read
		var got []int
		known, err := offsets.scan(file, first, first+2, func(number int, line []byte) {
			if !strings.HasPrefix(string(line), fmt.Sprintf("line %d x", number)) {
				t.Errorf("line %d is %.20s", number, line)
			}
			got = append(got, number)
		})
		if err != nil || fmt.Sprint(got) != fmt.Sprint([]int{first, first + 1, first + 2}) {
			t.Errorf("%v, %v", got, err)
		}
		if n := file.read - before; len(offsets.at) > 1 && n > 400_000 {
			t.Errorf("from line %d on, %d bytes were read", first, n)
		}
		offsets = known
	}
	if len(offsets.at) != 79 {
		t.Errorf("%d offsets", len(offsets.at))
	}
	long := io.MultiReader(strings.NewReader("a\n"), strings.NewReader(strings.Repeat("b", maxOriginLine+1)), strings.NewReader("\nc"))
	all, _ := io.ReadAll(long)
	var lines []string
	if _, err := (lineOffsets{at: []int64{0}}).scan(bytes.NewReader(all), 1, 9, func(number int, line []byte) {
		lines = append(lines, fmt.Sprintf("%d %v %s", number, line == nil, line))
	}); err != nil || strings.Join(lines, "|") != "1 false a\n|2 true |3 false c" {
		t.Errorf("%.100q, %v", lines, err)
	}
}

// A transcript that grows keeps its offsets; one that was written anew, also at the same length and in the same file, has others.
func TestOriginOfATranscriptFollowsTheFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "s.jsonl")
	lines := func(n, width int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%0*d\n", width, i+1)
		}
		return b.String()
	}
	var c originCache
	for _, text := range []string{lines(600, 40), lines(2000, 40), lines(2000, 41), lines(100, 41), "", lines(2000, 7)} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, number := range []int{1, 99, 513, 1999} {
			notes, err := c.ofTranscript(dir, "s.jsonl", number, number, lineOrigin)
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.Count(text, "\n") >= number; len(notes) == 1 != want || want && strings.TrimLeft(notes[0].Origin.Authors[0].ID, "0") != fmt.Sprint(number) {
				t.Errorf("line %d of %d is %+v", number, strings.Count(text, "\n"), notes)
			}
		}
	}
}

// The cache of origins has a limit in bytes, whatever the files are.
func TestOriginCacheIsBounded(t *testing.T) {
	var c originCache
	for i := range 40 {
		c.keep(fmt.Sprint(i), fileOrigins{lines: []string{strings.Repeat("x", 1<<20)}})
		c.keep(fmt.Sprint(i), fileOrigins{lines: []string{strings.Repeat("x", 1<<19)}})
		var n int64
		for _, f := range c.files {
			n += f.size()
		}
		if n != c.bytes || n > maxOriginBytes || n == 0 {
			t.Fatalf("%d bytes, counted %d", n, c.bytes)
		}
	}
	c.keep("large", fileOrigins{lines: []string{strings.Repeat("x", maxOriginBytes+1)}})
	if _, ok := c.files["large"]; ok {
		t.Error("a file that is larger than the cache is in it")
	}
}
