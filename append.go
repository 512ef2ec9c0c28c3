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
	// maxNoteBytes is the maximum length of the text of a note.
	maxNoteBytes = 32 << 10
	// maxCategoryChars is the maximum number of characters of a category, which becomes part of a heading.
	maxCategoryChars = 64
	// maxKeyBytes is the maximum length of an idempotency key.
	maxKeyBytes = 256

	// maxReopened is the maximum number of times that a file is opened again because it was replaced while Append waited for
	// its lock. A program that does nothing but replace it wins some hundred times in a row.
	maxReopened = 10_000

	longTermFile = "MEMORY.md"
	// bulletIndent begins the further lines of a bullet.
	bulletIndent = "  "
)

// Append writes a note at the end of today's file or of MEMORY.md, whole or not at all, and fsyncs it. It starts a sync and
// does not wait for it. In the mode ReadIndex, the owner of the index finds the note. The clock in Options.Location decides
// the day. A daily note becomes a section "## 15:04 - category", a long-term note a bullet.
//
// A text that the file already contains is not written again, nor a key that the file of today or yesterday, or MEMORY.md,
// contains. An HTML comment after the note, the marker, records its key and its source, so this does not depend on the
// index. No search finds or shows markers. Memories that were recalled into the conversation are removed from the text, so
// that memory does not fill up with itself.
//
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
	a, err := m.writeNote(ctx, note)
	if err == nil && !a.Deduplicated && m.opt.Mode == Own {
		m.syncInBackground(ctx)
	}
	return a, err
}

// writeNote writes a checked note into its file.
func (m *Memory) writeNote(ctx context.Context, note memory.Note) (memory.Appended, error) {
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

// checkNote returns a note with its defaults filled in, or a *memory.InputError.
func checkNote(n memory.Note) (memory.Note, error) {
	own := memory.StripRecalled(n.Text)
	if strings.TrimSpace(own) == "" && strings.TrimSpace(n.Text) != "" {
		return n, &memory.InputError{Field: "text", Problem: "was recalled from memory and is stored there already; store only what is new"}
	}
	n.Text = strings.TrimSpace(removeMarkers(strings.ReplaceAll(own, "\r\n", "\n")))
	n.Category = strings.Join(strings.Fields(removeMarkers(n.Category)), " ")
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

// dayFile returns the path of the daily file of a day.
func dayFile(t time.Time) string { return path.Join("memory", t.Format(time.DateOnly)+".md") }

// section returns a daily note as Markdown.
func section(n memory.Note, now time.Time) string {
	return fmt.Sprintf("## %s - %s\n\n%s\n", now.Format("15:04"), n.Category, withMarker(n.Text, "", n))
}

// bullet returns a long-term note as Markdown. Further lines are indented, so that they belong to the bullet.
func bullet(n memory.Note) string { return withMarker(bulletText(n), bulletIndent, n) + "\n" }

// bulletText returns a bullet without its marker and its line break.
func bulletText(n memory.Note) string {
	return "- " + strings.ReplaceAll(n.Text, "\n", "\n"+bulletIndent)
}

// appendNote writes block at the end of a file under the kernel's lock on the file, unless the file contains the note
// already or the file before contains its key. A new file begins with title.
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

// unwritten returns the error of a note that could not be written. It wraps the error of package memory that fits, if any.
func unwritten(name string, err error) error {
	var kind error
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

// openForAppend opens or creates a regular file and waits for the kernel's lock on it. If the file was replaced meanwhile, as
// editors do, the lock is on a file without a name; then the new file is opened.
func openForAppend(ctx context.Context, root *os.Root, name string) (*os.File, error) {
	for range maxReopened {
		f, named, err := lockNamed(ctx, root, name)
		if named || err != nil {
			return f, err
		}
	}
	return nil, fmt.Errorf("%w: it is replaced again and again by another program; try again later", memory.ErrUnavailable)
}

// lockNamed opens and locks a file. If the file has lost its name by the time it is locked, named is false and f is nil.
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

// separator returns the text between the text of a file and a new block: a title for a new file, a line break after an
// unfinished line, and a blank line before a section.
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

// readNotes returns the text of another file of notes, "" if the file is missing or the index would not read it either.
func readNotes(root *os.Root, name string) string {
	src, _, err := safefile.Read(root, name, indexer.DefaultMaxFileBytes)
	if err != nil {
		return ""
	}
	return string(src)
}

// findNote looks for a note in the text of a file by its key, and if byText is set also by its text as the whole of a section
// or bullet. It returns the line of the heading or bullet.
func findNote(src string, n memory.Note, byText bool) (line int, found bool) {
	text := chunker.Normalize([]byte(src))
	at := -1
	if n.Key != "" {
		at = strings.Index(text, markerStart+markerKey(n.Key)+" ")
	}
	if at < 0 && byText {
		at = findText(text, n)
	}
	if at < 0 {
		return 0, false
	}
	return blockLine(text[:at], n.Target), true
}

// findText returns an offset in the block that contains the note's text and nothing else, -1 if there is none.
func findText(text string, n memory.Note) int {
	block, ends := "\n\n"+n.Text, append(markerStarts(""), "\n\n## ")
	if n.Target == memory.TargetLongTerm {
		block, ends = "\n"+bulletText(n), append(markerStarts(bulletIndent), "\n\n", "\n- ", "\n#")
	}
	// A line break before the first line and a heading after the last line, so that both are no special cases.
	padded := "\n" + strings.TrimRight(text, "\n") + "\n\n## "
	for _, end := range ends {
		if i := strings.Index(padded, block+end); i >= 0 {
			return min(i+len("\n- "), len(text))
		}
	}
	return -1
}

// blockLine returns the number of the last line of a text that is a heading, or a bullet for a long-term note; 1 if none is.
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
