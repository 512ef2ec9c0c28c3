package bench

import (
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// texts counts the characters of the lines of the files of a set.
type texts struct {
	set Set
	// sums by workspace and path: sums[n] is the number of characters of the first n lines, line ends included. A file that
	// cannot be read has no lines.
	sums map[[2]string][]int
}

func newTexts(s Set) *texts { return &texts{set: s, sums: map[[2]string][]int{}} }

// lines returns the number of lines of a file, 0 if it cannot be read.
func (t *texts) lines(ws, path string) int { return len(t.file(ws, path)) - 1 }

// chars returns the number of characters of a range of lines, line ends included. Lines after the end of the file have none.
func (t *texts) chars(ws string, r Range) int {
	sums := t.file(ws, r.Path)
	last := len(sums) - 1
	return sums[min(r.End, last)] - sums[min(max(r.Start-1, 0), last)]
}

// file returns the sums of a file.
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
