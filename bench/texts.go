package bench

import (
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// texts knows how many characters the lines of the files of a set have.
type texts struct {
	set Set
	// sums by workspace and path: sums[n] is how many characters the first n lines have, line ends included. A file
	// that cannot be read has no line.
	sums map[[2]string][]int
}

func newTexts(s Set) *texts { return &texts{set: s, sums: map[[2]string][]int{}} }

// lines returns how many lines a file has, 0 where it cannot be read.
func (t *texts) lines(ws, path string) int { return len(t.file(ws, path)) - 1 }

// chars returns how many characters a range of lines has in its file, line ends included; lines beyond its end have
// none.
func (t *texts) chars(ws string, r Range) int {
	sums := t.file(ws, r.Path)
	last := len(sums) - 1
	return sums[min(r.End, last)] - sums[min(max(r.Start-1, 0), last)]
}

func (t *texts) file(ws, path string) []int {
	key := [2]string{ws, path}
	if sums, ok := t.sums[key]; ok {
		return sums
	}
	sums := []int{0}
	if text, err := os.ReadFile(filepath.Join(t.set.Workspace(ws), filepath.FromSlash(path))); err == nil {
		lines := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(text))
		for i, line := range strings.Split(lines, "\n") {
			sums = append(sums, sums[i]+utf8.RuneCountInString(line)+1)
		}
	}
	t.sums[key] = sums
	return sums
}
