package kioku

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"kioku/chunker"
	"kioku/indexer"
	"kioku/internal/atomicfile"
	"kioku/internal/filelock"
	"kioku/internal/safefile"
	"kioku/memory"
)

const (
	// maxNoteBytes bounds the text of one note.
	maxNoteBytes = 32 << 10
	// maxCategoryChars bounds the category, which becomes part of a heading.
	maxCategoryChars = 64
	// maxKeyBytes bounds an idempotency key.
	maxKeyBytes = 256

	// maxReopened is how often a file is opened anew that was replaced while its lock was waited for. Who does nothing else
	// but replace it is ahead some hundred times in a row.
	maxReopened = 10_000

	longTermFile = "MEMORY.md"
	// bulletIndent begins the further lines of a bullet.
	bulletIndent = "  "
)

// Append writes a note at the end of today's file or of MEMORY.md, whole or not at all, fsyncs it, and starts a sync, so
// that the note is found soon, without waiting for it. In the mode ReadIndex, the owner of the index
// finds the note. The day is that of the clock in Options.Location. A daily note becomes a section "## 15:04 - category", a
// long-term one a bullet.
//
// The same text twice in one file, or the same key twice in the file of today, yesterday or MEMORY.md, is written once;
// a key leaves its fingerprint in the file as an HTML comment, so that this holds whatever happens to the index. The
// source of a note stands in the same comment, which no search finds or shows; it does not make another note of a text.
// Memories that were recalled into the conversation are taken out of the text, so that memory does not fill up with itself.
// Append returns a *memory.InputError for a note that is blank, only recalled, too long or no valid text, memory.ErrReadOnly
// in the mode ReadOnly, memory.ErrNotWritable if this user may not write to the workspace, and memory.ErrUnavailable if the
// workspace is gone or full.
func (m *Memory) Append(ctx context.Context, note memory.Note) (memory.Appended, error) {
	if err := m.enter(); err != nil {
		return memory.Appended{}, err
	}
	defer m.leave()
	if m.opt.Mode == ReadOnly {
		return memory.Appended{}, memory.ErrReadOnly
	}
	note, err := checkNote(note)
	if err != nil {
		return memory.Appended{}, err
	}
	if err := ctx.Err(); err != nil {
		return memory.Appended{}, err
	}
	a, err := m.write(ctx, note)
	if err == nil && !a.Deduplicated && m.opt.Mode == Own {
		m.syncInBackground(ctx)
	}
	return a, err
}

// write puts a checked note into its file.
func (m *Memory) write(ctx context.Context, note memory.Note) (memory.Appended, error) {
	m.appending.Lock()
	defer m.appending.Unlock()
	root, err := os.OpenRoot(m.workspace)
	if err != nil {
		return memory.Appended{}, fmt.Errorf("%w: %w; the note was not written", memory.ErrUnavailable, err)
	}
	defer root.Close()
	now := m.opt.Now().In(m.opt.Location)
	if note.Target == memory.TargetLongTerm {
		return appendNote(ctx, root, note, longTermFile, "", "", bullet(note))
	}
	today, yesterday := dayFile(now), dayFile(now.AddDate(0, 0, -1))
	title := "# " + now.Format(time.DateOnly) + "\n"
	return appendNote(ctx, root, note, today, yesterday, title, section(note, now))
}

// checkNote refuses a note that cannot be written and fills in what it leaves open.
func checkNote(n memory.Note) (memory.Note, error) {
	own := memory.StripRecalled(n.Text)
	if strings.TrimSpace(own) == "" && strings.TrimSpace(n.Text) != "" {
		return n, &memory.InputError{Field: "text", Problem: "was recalled from memory and is stored there already; store only what is new"}
	}
	n.Text = strings.TrimSpace(withoutMarks(strings.ReplaceAll(own, "\r\n", "\n")))
	n.Category = strings.Join(strings.Fields(withoutMarks(n.Category)), " ")
	if n.Target == "" {
		n.Target = memory.TargetDaily
	}
	if n.Category == "" {
		n.Category = "note"
	}
	bad := func(field, problem string) (memory.Note, error) {
		return n, &memory.InputError{Field: field, Problem: problem}
	}
	switch {
	case n.Text == "":
		return bad("text", "must not be blank")
	case len(n.Text) > maxNoteBytes:
		return bad("text", fmt.Sprintf("is %d bytes long; the most is %d: split the note", len(n.Text), maxNoteBytes))
	case !utf8.ValidString(n.Text) || strings.ContainsRune(n.Text, 0):
		return bad("text", "must be valid UTF-8 without NUL")
	case n.Target != memory.TargetDaily && n.Target != memory.TargetLongTerm:
		return bad("target", fmt.Sprintf("is %q; must be %q or %q", n.Target, memory.TargetDaily, memory.TargetLongTerm))
	case utf8.RuneCountInString(n.Category) > maxCategoryChars:
		return bad("category", fmt.Sprintf("must have at most %d characters", maxCategoryChars))
	case !utf8.ValidString(n.Category) || strings.ContainsFunc(n.Category, isControl):
		return bad("category", "must be valid UTF-8 without control characters")
	case len(n.Key) > maxKeyBytes:
		return bad("idempotency_key", fmt.Sprintf("must have at most %d bytes", maxKeyBytes))
	}
	return n, checkSource(n.Source)
}

// dayFile is the daily file of a day.
func dayFile(t time.Time) string { return path.Join("memory", t.Format(time.DateOnly)+".md") }

// section is a daily note as Markdown.
func section(n memory.Note, now time.Time) string {
	return fmt.Sprintf("## %s - %s\n\n%s\n", now.Format("15:04"), n.Category, marked(n.Text, "", n))
}

// bullet is a long-term note as Markdown; further lines are indented so that they belong to the bullet.
func bullet(n memory.Note) string { return marked(bulletText(n), bulletIndent, n) + "\n" }

// bulletText is a bullet without mark and line end.
func bulletText(n memory.Note) string {
	return "- " + strings.ReplaceAll(n.Text, "\n", "\n"+bulletIndent)
}

// appendNote writes block at the end of a file under the kernel's lock on it, unless the note is there already, or its key
// in the file before. title starts a file that is made.
func appendNote(ctx context.Context, root *os.Root, n memory.Note, name, before, title, block string) (memory.Appended, error) {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return memory.Appended{}, unwritten(name, err)
	}
	f, err := openForAppend(ctx, root, name)
	if err != nil {
		return memory.Appended{}, unwritten(name, err)
	}
	defer f.Close()
	have, err := io.ReadAll(f)
	if err != nil {
		return memory.Appended{}, unwritten(name, err)
	}
	if line, found := findNote(string(have), n, true); found {
		return memory.Appended{Path: name, StartLine: line, Deduplicated: true}, nil
	}
	if n.Key != "" && before != "" {
		if line, found := findNote(readNotes(root, before), n, false); found {
			return memory.Appended{Path: before, StartLine: line, Deduplicated: true}, nil
		}
	}
	lead := separator(string(have), title, block)
	if err := atomicfile.Append(f, int64(len(have)), []byte(lead+block)); err != nil {
		return memory.Appended{}, unwritten(name, err)
	}
	return memory.Appended{Path: name, StartLine: 1 + strings.Count(string(have)+lead, "\n")}, nil
}

// unwritten says why a note could not be written, as one of the errors that callers know where it is one.
func unwritten(name string, err error) error {
	kind := error(nil)
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		kind = memory.ErrNotWritable
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EIO):
		kind = memory.ErrUnavailable
	}
	if kind == nil {
		return fmt.Errorf("append to %s: %w", name, err)
	}
	return fmt.Errorf("append to %s: %w: %w", name, kind, err)
}

// openForAppend opens or makes a regular file and waits for the kernel's lock on it. Who replaces a file meanwhile, as editors
// do, leaves the lock on one that has lost its name: then the new one is opened.
func openForAppend(ctx context.Context, root *os.Root, name string) (*os.File, error) {
	for range maxReopened {
		f, named, err := lockNamed(ctx, root, name)
		if named || err != nil {
			return f, err
		}
	}
	return nil, fmt.Errorf("%w: it is replaced again and again by another program; try again later", memory.ErrUnavailable)
}

// lockNamed opens and locks a file. Where that has no name any more when it is locked, named is false and there is no file.
func lockNamed(ctx context.Context, root *os.Root, name string) (f *os.File, named bool, err error) {
	if info, err := root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return nil, false, fmt.Errorf("%w: it is not a regular file; move it away", memory.ErrUnavailable)
	}
	f, err = root.OpenFile(name, os.O_CREATE|os.O_RDWR|os.O_APPEND|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0o644)
	if err != nil {
		return nil, false, err
	}
	var locked os.FileInfo
	if err = filelock.Lock(ctx, f); err == nil {
		locked, err = f.Stat()
	}
	if err == nil {
		now, gone := root.Lstat(name)
		named = gone == nil && os.SameFile(locked, now)
	}
	if !named {
		return nil, false, errors.Join(err, f.Close())
	}
	return f, true, nil
}

// separator is what goes between the text of a file and a new block: a title for a new file, an end for an unfinished
// line, and a blank line before a section.
func separator(have, title, block string) string {
	lead := ""
	switch {
	case have == "":
		lead = title
	case !strings.HasSuffix(have, "\n"):
		lead = "\n"
	}
	if strings.HasPrefix(block, "## ") && !strings.HasSuffix(have+lead, "\n\n") && have+lead != "" {
		lead += "\n"
	}
	return lead
}

// readNotes reads another file of notes. One that is missing, or that the index would not read either, holds no key.
func readNotes(root *os.Root, name string) string {
	f, info, err := safefile.OpenRegular(root, name)
	if err != nil {
		return ""
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, min(info.Size(), indexer.DefaultMaxFileBytes)))
	if err != nil {
		return ""
	}
	return string(src)
}

// findNote looks for a note in the text of a file and returns the line of its heading or bullet: by its key, and where
// byText is set also by its text, as the whole of a section or bullet.
func findNote(src string, n memory.Note, byText bool) (line int, found bool) {
	text := chunker.Normalize([]byte(src))
	at := -1
	if n.Key != "" {
		at = strings.Index(text, markStart+keyPart(n.Key)+" ")
	}
	if at < 0 && byText {
		at = findText(text, n)
	}
	if at < 0 {
		return 0, false
	}
	return blockLine(text[:at], n.Target), true
}

// findText returns an offset in the block that is the note's text and nothing else, -1 where there is none.
func findText(text string, n memory.Note) int {
	block, ends := "\n\n"+n.Text, append(markStarts(""), "\n\n## ")
	if n.Target == memory.TargetLongTerm {
		block, ends = "\n"+bulletText(n), append(markStarts(bulletIndent), "\n\n", "\n- ", "\n#")
	}
	// A line break before the first line and a heading after the last one, so that these are no special cases.
	padded := "\n" + strings.TrimRight(text, "\n") + "\n\n## "
	for _, end := range ends {
		if i := strings.Index(padded, block+end); i >= 0 {
			return min(i+len("\n- "), len(text))
		}
	}
	return -1
}

// blockLine returns the line of the last heading, or for a long-term note bullet, in a text.
func blockLine(text, target string) int {
	prefix := "## "
	if target == memory.TargetLongTerm {
		prefix = "- "
	}
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i > 0; i-- {
		if strings.HasPrefix(lines[i], prefix) {
			return i + 1
		}
	}
	return 1
}
