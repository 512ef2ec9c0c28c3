package kioku

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

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

	longTermFile = "MEMORY.md"
	// bulletIndent begins the further lines of a bullet.
	bulletIndent = "  "
)

// Append writes a note at the end of today's file or of MEMORY.md and fsyncs it. It starts a sync and does not wait for it.
// In the mode ReadIndex, the owner of the index finds the note. The clock in Options.Location decides the day. A daily note
// becomes a section "## 15:04 - category", a long-term note a bullet. A day whose file is full (IndexOptions.MaxFileBytes)
// goes on in 2026-01-05-2.md, 2026-01-05-3.md and so on.
//
// A text that the file already contains is not written again, nor a key that the files of today or yesterday, or MEMORY.md,
// contain. An HTML comment after the note, the marker, records fingerprints of its key and text and its source, so this does
// not depend on the index, nor on later edits of the note. No search finds or shows markers. Memories that were recalled into
// the conversation are removed from the text, so that memory does not fill up with itself.
//
// Other programs may append to the same files, or replace them, at any time; Append cuts off and overwrites nothing of theirs.
// A crash, or a full disk while others write, may leave the beginning of a note. If the same note comes again and what is left
// of it is the end of the file, Append writes the rest. If others have appended behind it, Append leaves it, writes the
// note whole and names the place in the log.
//
// Append waits for other writers of the same file until ctx ends, and writes nothing after that. It returns a
// *memory.InputError for a note that is blank, only recalled, too long, no valid text or does not fit in MEMORY.md,
// memory.ErrConflict for a key that was used for another text, memory.ErrReadOnly in the mode ReadOnly,
// memory.ErrNotWritable if this user may not write to the workspace, and memory.ErrUnavailable if the workspace is gone or
// full. After an error the note may be in the file, but then it is found there when it comes again.
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
		m.notesWritten.Add(1)
		m.syncInBackground(ctx)
	}
	return a, err
}

// writeNote writes a checked note. If an editor replaces the file meanwhile, it writes the note into the new file too, unless
// the editor has taken it over.
func (m *Memory) writeNote(ctx context.Context, n memory.Note) (memory.Appended, error) {
	select {
	case m.appending[n.Target] <- struct{}{}:
		defer func() { <-m.appending[n.Target] }()
	case <-ctx.Done():
		return memory.Appended{}, fmt.Errorf("wait for other notes: %w", ctx.Err())
	}
	root, err := os.OpenRoot(m.workspace)
	if err != nil {
		return memory.Appended{}, fmt.Errorf("%w: %w; the note was not written", memory.ErrUnavailable, err)
	}
	defer root.Close()
	for range maxReopened {
		p, err := m.openPlace(ctx, root, n)
		if err != nil {
			return memory.Appended{}, err
		}
		a, lost, err := p.add(ctx)
		closeNotes(p.files)
		if err != nil || !lost {
			return a, err
		}
	}
	return memory.Appended{}, fmt.Errorf("%w: the file is replaced again and again by another program; try again later", memory.ErrUnavailable)
}

// notePlace is where a note goes: the files of today, or MEMORY.md.
type notePlace struct {
	root *os.Root
	log  *slog.Logger
	note memory.Note
	// files are open and locked. The note goes into the last of them.
	files []*noteFile
	// before are the files of yesterday, which may have the key of the note. They are only read.
	before []*noteFile
	// next returns the path of part 2, 3, ... for when the last file is full; nil if there is only one file.
	next func(part int) string
	// title begins a new file, and block is the note as Markdown.
	title, block string
	// limit is the size above which a file is not indexed.
	limit int64
}

// openPlace opens the files in which a note may be or go.
func (m *Memory) openPlace(ctx context.Context, root *os.Root, n memory.Note) (*notePlace, error) {
	p := &notePlace{root: root, log: m.log, note: n, limit: m.opt.Index.maxFileBytes()}
	var err error
	if n.Target == memory.TargetLongTerm {
		p.block = bullet(n)
		file, err := openNotes(ctx, root, longTermFile, p.limit)
		p.files = []*noteFile{file}
		return p, err
	}
	now := m.opt.Now().In(m.opt.Location)
	p.title, p.block = "# "+now.Format(time.DateOnly)+"\n", section(n, now)
	p.next = func(part int) string { return dayFile(now, part) }
	if n.Key != "" {
		p.before = readDay(root, now.AddDate(0, 0, -1), p.limit)
	}
	p.files, err = openDay(ctx, root, now, p.limit)
	return p, err
}

// addition is what is to be appended to a file.
type addition struct {
	file *noteFile
	data []byte
	// below is how many lines below the first line of data the note begins; negative if its beginning is in the file already.
	below int
}

// add appends the note, unless one of the files has it already. lost is set if the file was replaced meanwhile.
func (p *notePlace) add(ctx context.Context) (a memory.Appended, lost bool, err error) {
	known, err := p.findKey()
	if err != nil {
		return memory.Appended{}, false, err
	}
	if w := p.rest(); w != nil {
		line, err := w.file.finish(ctx, w.data)
		if !errors.Is(err, errFollowed) {
			return p.added(w, line, err)
		}
		p.tellLeft(w.file, line+w.below)
	}
	if !known.Deduplicated {
		known, err = p.findText()
	}
	if err != nil || known.Deduplicated {
		return known, false, err
	}
	w, err := p.whole(ctx)
	if err != nil {
		return memory.Appended{}, false, err
	}
	line, err := w.file.write(ctx, p.root, w.data)
	return p.added(w, line, err)
}

// added returns the outcome of an addition whose first line is line.
func (p *notePlace) added(w *addition, line int, err error) (a memory.Appended, lost bool, _ error) {
	if err != nil {
		return memory.Appended{}, false, unwritten(w.file.name, err)
	}
	named, err := hasName(p.root, w.file.name, w.file.f)
	// Whoever saved the file without its last line break has not taken the note away.
	return memory.Appended{Path: w.file.name, StartLine: line + w.below, Deduplicated: string(w.data) == "\n"}, !named, err
}

// findKey returns where the note with this key is. It returns memory.ErrConflict if that note has another text.
func (p *notePlace) findKey() (memory.Appended, error) {
	for _, file := range slices.Concat(p.files, p.before) {
		switch line, same := findKey(file.text, p.note); {
		case same:
			return file.deduplicated(line)
		case line > 0:
			return memory.Appended{}, fmt.Errorf("append to %s: %w: line %d has another text under this key; nothing was written",
				file.name, memory.ErrConflict, line)
		}
	}
	return memory.Appended{}, nil
}

// findText returns where the text of the note is.
func (p *notePlace) findText() (memory.Appended, error) {
	for _, file := range p.files {
		if line := findText(file.text, p.note); line > 0 {
			return file.deduplicated(line)
		}
	}
	return memory.Appended{}, nil
}

// rest returns what is left to be written of a note whose beginning is the end of a file; nil if there is no such file.
func (p *notePlace) rest() *addition {
	for _, file := range p.files {
		u := findUnfinished(file.text, p.note, p.block)
		switch {
		case u.line == 0:
		case u.rest == nil || !p.fits(file, len(u.rest)):
			p.tellLeft(file, u.line)
		default:
			return &addition{file, u.rest, u.line - 1 - countLineBreaks(file.text)}
		}
	}
	return nil
}

// tellLeft logs that the beginning of a note stays in a file.
func (p *notePlace) tellLeft(file *noteFile, line int) {
	p.log.Warn("the beginning of a note is left from a write that failed; the whole note is elsewhere", "path", file.name, "line", line)
}

// whole returns the note as it is to be appended to the last file, or to a new one if it does not fit.
func (p *notePlace) whole(ctx context.Context) (*addition, error) {
	for {
		file := p.files[len(p.files)-1]
		lead := separator(file.text, p.title, p.block)
		if p.fits(file, len(lead)+len(p.block)) {
			below := strings.Count(lead, "\n")
			if strings.HasPrefix(p.block, markerStart) {
				below++ // the marker stands above the bullet
			}
			return &addition{file, []byte(lead + p.block), below}, nil
		}
		if p.next == nil {
			return nil, &memory.InputError{Field: "target", Problem: fmt.Sprintf("is %q, but %s would be %s, and no search would find "+
				"what is in it; move old notes from it to other files in memory/", p.note.Target, file.name, safefile.TooLarge(p.limit))}
		}
		if len(file.text) == 0 {
			return nil, &memory.InputError{Field: "text", Problem: "does not fit in a file; a file that is " + safefile.TooLarge(p.limit) + " is not indexed"}
		}
		file, err := openNotes(ctx, p.root, p.next(len(p.files)+1), p.limit)
		if err != nil {
			return nil, err
		}
		p.files = append(p.files, file)
	}
}

// fits reports whether a file may grow by n bytes.
func (p *notePlace) fits(file *noteFile, n int) bool {
	return !file.tooLarge && int64(len(file.text)+n) <= p.limit
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

// section returns a daily note as Markdown.
func section(n memory.Note, now time.Time) string {
	heading := "## " + now.Format("15:04") + " - " + n.Category
	if isLong(n) {
		heading += " " + beginMarkerOf(n)
	}
	return heading + "\n\n" + withMarker(n.Text, "", n) + "\n"
}

// bullet returns a long-term note as Markdown. Further lines are indented, so that they belong to the bullet.
func bullet(n memory.Note) string {
	text := withMarker(bulletText(n), bulletIndent, n) + "\n"
	if isLong(n) {
		text = beginMarkerOf(n) + "\n" + text
	}
	return text
}

// bulletText returns a bullet without its marker and its line break.
func bulletText(n memory.Note) string {
	return "- " + strings.ReplaceAll(n.Text, "\n", "\n"+bulletIndent)
}

// separator returns the text between the text of a file and a new block: a title for a new file, a line break after an
// unfinished line, and a blank line before a section.
func separator(have []byte, title, block string) string {
	lead := ""
	switch {
	case len(have) == 0:
		lead = title
	case have[len(have)-1] != '\n':
		lead = "\n"
	}
	text := string(have[max(0, len(have)-2):]) + lead
	if strings.HasPrefix(block, "## ") && !strings.HasSuffix(text, "\n\n") && text != "" {
		lead += "\n"
	}
	return lead
}

// countLineBreaks returns the number of line breaks in a text.
func countLineBreaks(text []byte) int { return bytes.Count(text, []byte("\n")) }
