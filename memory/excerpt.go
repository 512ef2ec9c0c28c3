package memory

import (
	"cmp"
	"strings"
	"unicode/utf8"
)

const (
	// defaultLines is the number of lines of an excerpt if none is asked for, and maxExcerptChars bounds its text.
	defaultLines, maxExcerptChars = 120, 12_000
	// maxPathBytes bounds the path of a request; Linux allows no longer ones.
	maxPathBytes = 4096
)

// GetRequest asks for lines of a memory file.
type GetRequest struct {
	// Path as a hit gives it.
	Path string `json:"path"`
	// From is the first line, 0 means 1; Lines how many, 0 means 120.
	From  int `json:"from,omitempty"`
	Lines int `json:"lines,omitempty"`
}

// Excerpt is a run of lines of a file.
type Excerpt struct {
	// Path of the file.
	Path string `json:"path"`
	// Text is whole lines, at most 12,000 characters; empty beyond the end of the file.
	Text string `json:"text"`
	// From is the first line of Text and Lines how many there are.
	From  int `json:"from"`
	Lines int `json:"lines"`
	// TotalLines of the file.
	TotalLines int `json:"totalLineCount"`
	// Truncated says that fewer lines came than were asked for although the file has more, or that the only line, of more
	// than 12,000 characters, is cut.
	Truncated bool `json:"truncated"`
	// NextFrom is the line to continue from, 0 at the end of the file.
	NextFrom int `json:"nextLine"`
}

// CheckPath returns an *InputError for a path that no memory file can have.
func CheckPath(path string) error {
	problem := ""
	switch {
	case path == "":
		problem = "must name a memory file, as a search result does"
	case len(path) > maxPathBytes:
		problem = "is too long"
	case !utf8.ValidString(path) || strings.ContainsFunc(path, func(r rune) bool { return r < 0x20 || r == 0x7f }):
		problem = "must not hold control characters or invalid UTF-8"
	case strings.HasSuffix(path, "/"):
		problem = "names a folder; name a file in it"
	default:
		return nil
	}
	return &InputError{Field: "path", Problem: problem}
}

// Excerpt returns the lines of a file that are asked for, of its whole text.
func (req GetRequest) Excerpt(text string) Excerpt {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	ex := Excerpt{Path: req.Path, From: max(req.From, 1), TotalLines: len(lines)}
	if ex.From > len(lines) {
		return ex
	}
	lines = lines[ex.From-1:]
	lines = lines[:min(cmp.Or(max(req.Lines, 0), defaultLines), len(lines))]
	ex.Text, ex.Lines = takeLines(lines)
	ex.Truncated = ex.Lines < len(lines) || len(ex.Text) < len(lines[0])
	if next := ex.From + ex.Lines; next <= ex.TotalLines {
		ex.NextFrom = next
	}
	return ex
}

// takeLines joins whole lines up to maxExcerptChars and returns how many it took; a first line that is longer is cut.
func takeLines(lines []string) (taken string, n int) {
	chars := 0
	for i, line := range lines {
		if chars += utf8.RuneCountInString(line); chars <= maxExcerptChars {
			continue
		}
		if i == 0 {
			return string([]rune(line)[:maxExcerptChars]), 1
		}
		return strings.Join(lines[:i], ""), i
	}
	return strings.Join(lines, ""), len(lines)
}
