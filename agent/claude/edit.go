package claude

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// maxToldLines bounds how many lines an error names.
const maxToldLines = 10

// create writes a new file.
func (f *folder) create(ctx context.Context, rel, text string) (string, error) {
	text, err := f.checked(text, "file_text")
	if err != nil {
		return "", err
	}
	if len(text) > f.opt.MaxFileBytes {
		return "", f.tooLarge(rel, len(text))
	}
	if err := f.place(rel); err != nil {
		return "", err
	}
	if err := f.writeNew(ctx, rel, text); err != nil {
		return "", err
	}
	said := fmt.Sprintf("Created %s with %d lines.", shown(rel), len(splitLines(text)))
	if !strings.HasSuffix(rel, ".md") {
		said += " A search of memory finds only files that end in .md."
	}
	return said, nil
}

// replace puts a text in the place of the one that must occur exactly once.
func (f *folder) replace(ctx context.Context, rel, old, new string) (string, error) {
	new, err := f.checked(new, "new_str")
	switch {
	case err != nil:
		return "", err
	case old == "":
		return "", refuse("old_str: must not be empty; insert adds text")
	case old == new:
		return "", refuse("old_str and new_str are the same; nothing was changed")
	}
	return f.edit(ctx, "str_replace", rel, func(text string) (string, int, error) {
		old, new := old, new
		if strings.Contains(text, "\r\n") && !strings.Contains(text, old) {
			// A view shows lines without their ends, so a model cannot know of these.
			old, new = withCRLF(old), withCRLF(new)
		}
		lines := occurrences(text, old)
		switch len(lines) {
		case 0:
			return "", 0, refuse("old_str: does not occur in %s letter for letter; view shows the text", shown(rel))
		case 1:
			return strings.Replace(text, old, new, 1), lines[0], nil
		}
		return "", 0, refuse("old_str: occurs more than once in %s, in the lines %s; add some of what stands around it", shown(rel), told(lines))
	})
}

// insert puts whole lines behind a line.
func (f *folder) insert(ctx context.Context, rel string, after int, added string) (string, error) {
	added, err := f.checked(added, "insert_text")
	if err != nil {
		return "", err
	}
	return f.edit(ctx, "insert", rel, func(text string) (string, int, error) {
		lines := strings.SplitAfter(text, "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		if after < 0 || after > len(lines) {
			return "", 0, refuse("insert_line: %d is not in the file; it must be 0 to %d", after, len(lines))
		}
		head, tail := strings.Join(lines[:after], ""), strings.Join(lines[after:], "")
		if head != "" && !strings.HasSuffix(head, "\n") {
			head += "\n"
		}
		if !strings.HasSuffix(added, "\n") {
			added += "\n"
		}
		return head + added + tail, after + 1, nil
	})
}

// edit changes the text of a file, of which a copy is kept, and shows what stands around the change. change returns the new
// text and the line at which it begins to differ. Text that MemoryAppend adds meanwhile is not lost: change sees it, or it
// is added to the new text.
func (f *folder) edit(ctx context.Context, verb, rel string, change func(text string) (string, int, error)) (string, error) {
	file, err := f.openLocked(ctx, rel)
	if err != nil {
		return "", err
	}
	defer file.Close()
	old, err := f.readText(rel, file)
	if err != nil {
		return "", err
	}
	text, line, err := change(old)
	if err != nil {
		return "", err
	}
	if len(text) > f.opt.MaxFileBytes {
		return "", f.tooLarge(rel, len(text))
	}
	if err := f.keepText(verb, rel, old); err != nil {
		return "", err
	}
	if err := f.write(file, rel, old, text); err != nil {
		return "", err
	}
	return fmt.Sprintf("Edited %s.%s", shown(rel), around(text, line)), nil
}

// openLocked opens a plain file for an edit and waits for the kernel's lock on it.
func (f *folder) openLocked(ctx context.Context, rel string) (*os.File, error) {
	info, err := f.stat(rel)
	switch {
	case err != nil:
		return nil, err
	case info == nil:
		return nil, errMissing(rel)
	case info.IsDir():
		return nil, refuse("%s is a folder; only files have text", shown(rel))
	}
	file, err := lockFile(ctx, f.root, rel)
	if err != nil {
		return nil, unreadable(rel, err)
	}
	return file, nil
}

// checked returns a text as it may be stored.
func (f *folder) checked(text, parameter string) (string, error) {
	if strings.ContainsRune(text, 0) {
		return "", refuse("%s: must be text without NUL", parameter)
	}
	clean := f.opt.Clean(text)
	if strings.TrimSpace(clean) == "" && strings.TrimSpace(text) != "" {
		return "", refuse("%s: holds nothing but memories that are stored already", parameter)
	}
	return clean, nil
}

func (f *folder) tooLarge(rel string, n int) error {
	return refuse("%s would have %d bytes; the most is %d: write a new file", shown(rel), n, f.opt.MaxFileBytes)
}

// withCRLF ends lines as Windows does.
func withCRLF(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
}

// occurrences returns the lines in which part begins, one for each place, also of those that overlap.
func occurrences(text, part string) []int {
	var lines []int
	line := 1
	for at := 0; len(lines) <= maxToldLines; {
		i := strings.Index(text[at:], part)
		if i < 0 {
			return lines
		}
		line += strings.Count(text[at:at+i], "\n")
		lines = append(lines, line)
		if text[at+i] == '\n' {
			line++
		}
		at += i + 1
	}
	return lines
}

// told lists line numbers.
func told(lines []int) string {
	s := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(lines[:min(len(lines), maxToldLines)])), ", "), "[]")
	if len(lines) > maxToldLines {
		s += " and more"
	}
	return s
}

// around shows the lines about a change.
func around(text string, line int) string {
	all := splitLines(text)
	first, last := max(1, line-3), min(len(all), line+6)
	if first > last {
		return ""
	}
	body, _ := numbered(all, first, last, 4<<10)
	return " It now reads:\n" + body
}
