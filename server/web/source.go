package web

import (
	"context"
	"strings"
	"unicode/utf8"

	"kioku/chunker"
	"kioku/internal/text"
	"kioku/memory"
	"kioku/server"
)

const (
	// pageBytes is about how much of a note one page of the reader shows. It bounds the time that rendering takes.
	pageBytes = 96 << 10
	// linesBefore are the lines that a page shows before the line that it is asked for, if that line is not on the first page.
	linesBefore = 40
)

// source is a part of the text of a note.
type source struct {
	// Path of the note.
	Path string
	// Lines without their newlines, cleaned of what controls a terminal or reorders text.
	Lines []string
	// First is the number of the first line, and Total the number of lines of the note.
	First, Total int
	// Next is the line that the next part begins with; 0 at the end of the note.
	Next int
	// Cut is true if a line was too long to be read whole.
	Cut bool
}

// Last returns the number of the last line.
func (s source) Last() int { return s.First + len(s.Lines) - 1 }

// text returns the lines as one text.
func (s source) text() string { return strings.Join(s.Lines, "\n") + "\n" }

// readSource reads the part of a note that begins with a line; or, if from is 0, the first part, or the part around want if that line is
// not on the first.
func (s *site) readSource(ctx context.Context, agent, path string, from, want int) (source, error) {
	src, err := s.readFrom(ctx, agent, path, max(from, 1))
	if err != nil || from > 0 || want <= src.Last() || want > src.Total {
		return src, err
	}
	return s.readFrom(ctx, agent, path, max(1, want-linesBefore))
}

// readFrom reads the part of a note that begins with a line.
func (s *site) readFrom(ctx context.Context, agent, path string, from int) (source, error) {
	src := source{Path: path, First: from, Next: from}
	for size := 0; src.Next > 0 && size < pageBytes; {
		got, err := server.Notes.Get.Call(ctx, s.conn, server.GetNote{
			OfAgent: server.OfAgent{Agent: agent}, GetRequest: memory.GetRequest{Path: path, From: src.Next, Lines: 10_000},
		})
		if err != nil {
			return source{}, err
		}
		src.Path, src.Total, src.Next = got.Path, got.TotalLines, got.NextFrom
		if got.Lines == 0 {
			break
		}
		size += len(got.Text)
		src.Cut = src.Cut || got.Truncated && got.Lines == 1 && utf8.RuneCountInString(got.Text) >= 12_000
		src.Lines = append(src.Lines, strings.Split(strings.TrimSuffix(text.Clean(got.Text), "\n"), "\n")...)
	}
	src.endWithSection()
	return src, nil
}

// endWithSection shortens a part that is not the last one, so that it ends before a heading or behind a blank line, outside of code.
func (s *source) endWithSection() {
	if s.Next == 0 {
		return
	}
	lines := chunker.Lines(s.text(), "", false)
	blank := 0
	for i := len(s.Lines) - 1; i > len(s.Lines)/2; i-- {
		if lines[i].Fence != "" || lines[i].Block > 0 {
			continue
		}
		if lines[i].Level > 0 {
			s.cut(i)
			return
		}
		if blank == 0 && strings.TrimSpace(s.Lines[i]) == "" {
			blank = i + 1
		}
	}
	if blank > 0 && blank < len(s.Lines) {
		s.cut(blank)
	}
}

// cut keeps the first n lines.
func (s *source) cut(n int) {
	s.Lines, s.Next = s.Lines[:n], s.First+n
}
