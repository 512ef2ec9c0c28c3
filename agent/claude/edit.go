package claude

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"time"

	"kioku/internal/files"
	"kioku/internal/secrets"
	"kioku/memory"
)

// maxToldLines bounds how many lines an error names.
const maxToldLines = 10

// create writes a new file.
func (f *folder) create(rel, text string) (string, error) {
	text, err := f.checked("file_text", text, "")
	if err == nil {
		err = checkSize(rel, text)
	}
	if err == nil {
		err = f.makeRoom(rel)
	}
	if err != nil {
		return "", err
	}
	if err := files.Create(f.root, rel, []byte(text), 0o644); errors.Is(err, fs.ErrExist) {
		return "", errChanged(rel)
	} else if err != nil {
		return "", err
	}
	said := fmt.Sprintf("Created %s with %d lines.", shown(rel), len(splitLines(text)))
	if !strings.HasSuffix(rel, ".md") {
		said += " A search of memory finds only files that end in .md."
	}
	return said, nil
}

// replace puts a text in place of the one that must occur exactly once.
func (f *folder) replace(rel, old, new string) (string, error) {
	new, err := f.checked("new_str", new, old)
	switch {
	case err != nil:
		return "", err
	case isDay(rel):
		return "", errDay(rel)
	case old == "":
		return "", refuse("old_str", "must not be empty; insert adds text")
	case old == new:
		return "", refuse("old_str", "is the same as new_str; nothing was changed")
	}
	return f.edit("str_replace", rel, func(text string) (string, int, error) {
		if strings.Contains(text, "\r\n") && !strings.Contains(text, old) {
			// A view shows lines without their ends, so a model cannot know of these.
			old, new = withCRLF(old), withCRLF(new)
		}
		lines := occurrences(text, old)
		switch len(lines) {
		case 0:
			return "", 0, refuse("old_str", "does not occur in %s letter for letter; view shows the text", shown(rel))
		case 1:
			return strings.Replace(text, old, new, 1), lines[0], nil
		}
		return "", 0, refuse("old_str", "occurs more than once in %s, in the lines %s; add some of what stands around it", shown(rel), listLines(lines))
	})
}

// insert puts whole lines after a line.
func (f *folder) insert(ctx context.Context, rel string, after int, added string) (string, error) {
	added, err := f.checked("insert_text", added, "")
	if err != nil {
		return "", err
	}
	added = wholeLine(added)
	if added == "" {
		added = "\n"
	}
	if isDay(rel) {
		return f.appendDay(ctx, rel, after, added)
	}
	return f.edit("insert", rel, func(text string) (string, int, error) {
		lines := strings.SplitAfter(text, "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		if after < 0 || after > len(lines) {
			return "", 0, refuse("insert_line", "%d is not in the file; it must be 0 to %d", after, len(lines))
		}
		head, tail := strings.Join(lines[:after], ""), strings.Join(lines[after:], "")
		return wholeLine(head) + added + tail, after + 1, nil
	})
}

// wholeLine returns a text with an end of its last line.
func wholeLine(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// edit changes the text of a file, of which a copy is kept, and shows what stands around the change. change returns the new
// text and the line at which it begins to differ.
func (f *folder) edit(verb, rel string, change func(text string) (string, int, error)) (string, error) {
	old, before, err := f.readText(rel)
	if err != nil {
		return "", err
	}
	text, line, err := change(old)
	if err == nil {
		err = checkSize(rel, text)
	}
	if err == nil {
		_, err = f.keep(verb, rel)
	}
	if err == nil {
		err = files.WriteIf(f.root, rel, []byte(text), before.Mode().Perm(), func() error { return f.unchanged(rel, before) })
	}
	if err != nil {
		return "", err
	}
	return edited(rel, text, line), nil
}

// unchanged returns an error if a file is not what it was.
func (f *folder) unchanged(rel string, before fs.FileInfo) error {
	if now, err := f.root.Lstat(rel); err != nil || !files.Unchanged(before, now) {
		return errChanged(rel)
	}
	return nil
}

// dayName is the name of a file to which MemoryAppend writes the notes of a day. A long day goes on in 2026-01-20-2.md.
var dayName = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)(-([2-9]|[1-9]\d+))?\.md$`)

// isDay reports whether MemoryAppend writes the notes of a day to the file rel.
func isDay(rel string) bool {
	m := dayName.FindStringSubmatch(rel)
	if m == nil {
		return false
	}
	_, err := time.Parse(time.DateOnly, m[1])
	return err == nil
}

// appendDay adds whole lines at the end of the file of a day, which must be where they are to be inserted, under the lock that
// MemoryAppend takes.
func (f *folder) appendDay(ctx context.Context, rel string, after int, added string) (string, error) {
	if _, _, err := f.readText(rel); err != nil { // refuses links and pipes, and creates nothing
		return "", err
	}
	file, err := files.OpenLocked(ctx, f.root, rel, 0o644)
	if err != nil {
		return "", err
	}
	defer file.Close()
	old, _, err := f.readText(rel)
	if err != nil {
		return "", err
	}
	last := len(splitLines(old))
	if after != last {
		return "", refuse("insert_line", "%s holds the notes of a day, to which text is only added: it must be %d, the last line", shown(rel), last)
	}
	text := wholeLine(old) + added
	if err := checkSize(rel, text); err != nil {
		return "", err
	}
	if err := files.Append(file, []byte(text[len(old):])); err != nil {
		return "", err
	}
	return edited(rel, text, last+1), nil
}

// checked returns a text as it may be stored: with references in the places of secrets that the text before lacks.
func (f *folder) checked(field, text, before string) (string, error) {
	if strings.ContainsRune(text, 0) {
		return "", refuse(field, "must be text without NUL")
	}
	clean := memory.StripRecalled(text)
	if strings.TrimSpace(clean) == "" && strings.TrimSpace(text) != "" {
		return "", refuse(field, "holds nothing but memories that are stored already")
	}
	clean, f.left = secrets.RedactExcept(clean, func(secret string) bool { return strings.Contains(before, secret) })
	return clean, nil
}

// toldSecrets tells the model of secrets that were left out; empty if there were none.
func (f *folder) toldSecrets() string {
	if len(f.left) == 0 {
		return ""
	}
	var references []string
	for _, s := range f.left {
		references = append(references, s.Reference)
	}
	return " Secrets are not stored; the text has in their places: " + strings.Join(references, ", ") + ". Tell the user."
}

// checkSize refuses a text that is too large for one file.
func checkSize(rel, text string) error {
	if len(text) > maxFileBytes {
		return refuse("path", "%s would have %d bytes; the most is %d: write a new file", shown(rel), len(text), maxFileBytes)
	}
	return nil
}

// withCRLF ends lines as Windows does.
func withCRLF(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
}

// occurrences returns the lines in which part begins, one for each place, also of those that overlap.
func occurrences(text, part string) (lines []int) {
	for at := 0; len(lines) <= maxToldLines; at++ {
		i := strings.Index(text[at:], part)
		if i < 0 {
			break
		}
		at += i
		lines = append(lines, 1+strings.Count(text[:at], "\n"))
	}
	return lines
}

// listLines lists line numbers.
func listLines(lines []int) string {
	s := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(lines[:min(len(lines), maxToldLines)])), ", "), "[]")
	if len(lines) > maxToldLines {
		s += " and more"
	}
	return s
}

// edited tells the model of an edit, with the lines around it.
func edited(rel, text string, line int) string {
	said := fmt.Sprintf("Edited %s.", shown(rel))
	all := splitLines(text)
	if first, last := max(1, line-3), min(len(all), line+6); first <= last {
		body, _ := numbered(all, first, last, 4<<10)
		said += " It now reads:\n" + body
	}
	return said
}
