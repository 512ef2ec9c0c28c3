package claude

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"kioku/internal/files"
	"kioku/internal/secrets"
	"kioku/memory"
)

// maxToldLines bounds how many lines an error names.
const maxToldLines = 10

// create writes a new file.
func (f *folder) create(rel, text string) (string, error) {
	text, err := f.checked(text, "", "file_text")
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
		return "", fmt.Errorf("memory tool: create %s: %w", shown(rel), err)
	}
	said := fmt.Sprintf("Created %s with %d lines.", shown(rel), len(splitLines(text)))
	if !strings.HasSuffix(rel, ".md") {
		said += " A search of memory finds only files that end in .md."
	}
	return said, nil
}

// replace puts a text in place of the one that must occur exactly once.
func (f *folder) replace(rel, old, new string) (string, error) {
	new, err := f.checked(new, old, "new_str")
	switch {
	case err != nil:
		return "", err
	case isDay(rel):
		return "", errDay(rel)
	case old == "":
		return "", refuse("old_str: must not be empty; insert adds text")
	case old == new:
		return "", refuse("old_str and new_str are the same; nothing was changed")
	}
	return f.edit("str_replace", rel, func(text string) (string, int, error) {
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
		return "", 0, refuse("old_str: occurs more than once in %s, in the lines %s; add some of what stands around it", shown(rel), listLines(lines))
	})
}

// insert puts whole lines after a line.
func (f *folder) insert(ctx context.Context, rel string, after int, added string) (string, error) {
	added, err := f.checked(added, "", "insert_text")
	if err != nil {
		return "", err
	}
	if !strings.HasSuffix(added, "\n") {
		added += "\n"
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
			return "", 0, refuse("insert_line: %d is not in the file; it must be 0 to %d", after, len(lines))
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
		err = f.keep(verb, []string{rel}, func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(old)), nil })
	}
	if err != nil {
		return "", err
	}
	err = files.WriteIf(f.root, rel, []byte(text), before.Mode().Perm(), func() error {
		if now, err := f.root.Lstat(rel); err != nil || !files.Unchanged(before, now) {
			return errChanged(rel)
		}
		return nil
	})
	if input := new(InputError); err != nil && !errors.As(err, &input) {
		err = fmt.Errorf("memory tool: write %s: %w", shown(rel), err)
	}
	if err != nil {
		return "", err
	}
	return edited(rel, text, line), nil
}

// keep keeps copies of files that a command deletes or replaces.
func (f *folder) keep(verb string, files []string, open func(rel string) (io.ReadCloser, error)) error {
	_, err := copies{path: f.opt.Kept, now: f.opt.Now}.keep(verb, files, open)
	if input := new(InputError); err != nil && !errors.As(err, &input) {
		err = fmt.Errorf("memory tool: %w", err)
	}
	return err
}

// checked returns a text as it may be stored: with references in the places of secrets that the text before lacks.
func (f *folder) checked(text, before, parameter string) (string, error) {
	if strings.ContainsRune(text, 0) {
		return "", refuse("%s: must be text without NUL", parameter)
	}
	clean := memory.StripRecalled(text)
	if strings.TrimSpace(clean) == "" && strings.TrimSpace(text) != "" {
		return "", refuse("%s: holds nothing but memories that are stored already", parameter)
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
		return refuse("%s would have %d bytes; the most is %d: write a new file", shown(rel), len(text), maxFileBytes)
	}
	return nil
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
