package note

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"kioku/memory"
)

const (
	// maxNoteBytes is the maximum length of the text of a note.
	maxNoteBytes = 32 << 10
	// maxCategoryChars is the maximum number of characters of a category, which becomes part of a heading.
	maxCategoryChars = 64
	// noCategory heads notes without a category.
	noCategory = "note"
	// maxKeyBytes is the maximum length of an idempotency key.
	maxKeyBytes = 256

	longTermFile, userFile = "MEMORY.md", "USER.md"
	// bulletIndent begins the further lines of a bullet.
	bulletIndent = "  "
)

// noteTargets are the targets of notes.
var noteTargets = []string{memory.TargetDaily, memory.TargetLongTerm, memory.TargetGroup}

// Append writes a note at the end of today's file, of that of a group, or of MEMORY.md, and fsyncs it. The clock in Options.Location
// decides the day. A daily note becomes a section "## 15:04 - category", a long-term note a bullet below the heading of its category, which
// is added at the end of the file if it is missing. A day whose file is full (Options.MaxFileBytes) goes on in 2026-01-05-2.md,
// 2026-01-05-3.md and so on.
//
// A text that the file already contains in the same category is not written again, nor a key that the files of today or yesterday, or MEMORY.md,
// contain. An HTML comment after the note, the marker, records fingerprints of its key and text, its source and its origin, so this does
// not depend on an index, nor on later edits of the note. Memories that were recalled into the conversation are removed from the text, so
// that memory does not fill up with itself. References take the places of passwords and keys in it, unless Note.KeepSecrets is set;
// Appended.Secrets tells of them.
//
// Other programs may append to the same files, or replace them, at any time; Append cuts off and overwrites nothing of theirs. A bullet
// that belongs in the middle of MEMORY.md goes to its end, below the heading once more, while another program has the file open.
// A crash, or a full disk while others write, may leave the beginning of a note. If the same note comes again, Append writes it whole
// behind what is left.
//
// Append waits for other writers of the same file until ctx ends, and writes nothing after that. It returns a
// *memory.InputError for a note that is blank, only recalled, too long, no valid text or does not fit in MEMORY.md, or has words of
// others than the owner there, memory.ErrConflict for a key that was used for another text, memory.ErrNotWritable if this user may not
// write to the folder, memory.ErrNoSpace if its disk is full, and memory.ErrUnavailable if it is gone. After an error the note may be in
// the file, but then it is found there when it comes again.
func (f *Folder) Append(ctx context.Context, n memory.Note) (memory.Appended, error) {
	n, err := checkNote(n)
	if err != nil {
		return memory.Appended{}, err
	}
	if err := ctx.Err(); err != nil {
		return memory.Appended{}, err
	}
	known, err := f.withoutForgotten(ctx, &n)
	if err != nil || strings.TrimSpace(n.Text) == "" {
		return memory.Appended{Forgotten: known}, err
	}
	done, err := f.takeTurn(ctx, n.Target)
	if err != nil {
		return memory.Appended{}, err
	}
	defer done()
	root, err := os.OpenRoot(f.opt.Path)
	if err != nil {
		return memory.Appended{}, fmt.Errorf("%w: %w; the note was not written", memory.ErrUnavailable, err)
	}
	defer root.Close()
	if err := f.opt.Prepare(ctx); err != nil {
		return memory.Appended{}, err
	}
	n, secrets := Redacted(n)
	for try := range maxReopened {
		p, err := f.openPlace(ctx, root, n)
		if err != nil {
			return memory.Appended{}, err
		}
		p.atEnd = try >= maxInserted
		a, lost, err := p.add(ctx)
		closeNotes(p.files)
		if err == nil && !lost {
			a.Secrets, a.Forgotten = secrets, known
			f.recordNote(ctx, p, a)
		}
		if err != nil || !lost {
			return a, err
		}
		// An editor has replaced the file meanwhile, so the note goes into the new one too, unless the editor has taken it over.
	}
	return memory.Appended{}, fmt.Errorf("%w: the file is replaced again and again by another program; try again later", memory.ErrUnavailable)
}

// withoutForgotten takes the sentences out of a note that say what people have had forgotten. What a person writes holds again.
func (f *Folder) withoutForgotten(ctx context.Context, n *memory.Note) (id string, err error) {
	if n.Source == memory.NoteFromUser {
		return "", f.lift(ctx, n.Text)
	}
	if id, _ = f.Forgotten().Restates(n.Text); id != "" {
		n.Text = string(f.Forgotten().MaskRestated([]byte(n.Text)))
	}
	return id, nil
}

// recordNote adds a note that was written to the change log, so that UndoWrites knows it. A note counts as written without it too, so an
// error is logged.
func (f *Folder) recordNote(ctx context.Context, p *notePlace, a memory.Appended) {
	if a.Deduplicated {
		return
	}
	err := f.changes.add(context.WithoutCancel(ctx), change{ID: f.NewID(), Time: f.opt.Now().UTC(), Path: a.Path, Line: a.StartLine, Source: p.note.Source, Session: p.note.Session, After: p.block})
	if err != nil {
		f.opt.Log.Warn("a note was written that kioku undo will not know", "path", a.Path, "err", err)
	}
}

// checkNote returns a note with its defaults filled in, or a *memory.InputError.
func checkNote(n memory.Note) (memory.Note, error) {
	own := memory.StripRecalled(n.Text)
	if strings.TrimSpace(own) == "" && strings.TrimSpace(n.Text) != "" {
		return n, &memory.InputError{Field: "text", Problem: "was recalled from memory and is stored there already; store only what is new"}
	}
	n.Text = strings.TrimSpace(removeMarkers(strings.ReplaceAll(own, "\r\n", "\n")))
	n.Category = strings.TrimSpace(removeMarkers(strings.Join(strings.Fields(n.Category), " ")))
	if n.Target == "" {
		n.Target = memory.TargetDaily
	}
	if n.Category == "" {
		n.Category = noCategory
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
	case n.Target == memory.TargetGroup && (n.Origin == nil || strings.TrimSpace(n.Origin.Channel) == ""):
		return bad("channel", "must name the channel whose folder the note goes to")
	case n.Target == memory.TargetLongTerm && !n.Origin.ByOwner():
		return bad("target", fmt.Sprintf("is %q, whose file counts as the words of the owner; this note has words of others: leave the target out", n.Target))
	case !slices.Contains(noteTargets, n.Target):
		return bad("target", fmt.Sprintf("is %q; must be %q or %q", n.Target, memory.TargetDaily, memory.TargetLongTerm))
	case utf8.RuneCountInString(n.Category) > maxCategoryChars:
		return bad("category", fmt.Sprintf("must have at most %d characters", maxCategoryChars))
	case !utf8.ValidString(n.Category) || strings.ContainsFunc(n.Category, isControl):
		return bad("category", "must be valid UTF-8 without control characters")
	case len(n.Session) > maxKeyBytes || strings.ContainsFunc(n.Session, isControl):
		return bad("session", fmt.Sprintf("must have at most %d bytes, and no control characters", maxKeyBytes))
	case len(n.Key) > maxKeyBytes:
		return bad("idempotency_key", fmt.Sprintf("must have at most %d bytes", maxKeyBytes))
	}
	return n, checkSource(n.Source)
}

// section returns a daily note as Markdown.
func section(n memory.Note, now time.Time) string {
	heading := "## " + now.Format("15:04") + " - " + n.Category
	if n.Origin != nil {
		heading += " " + beginMarkerOf(n)
	}
	return heading + "\n\n" + withMarker(n.Text, "", n) + "\n"
}

// bullet returns a long-term note as Markdown. Further lines are indented, so that they belong to the bullet.
func bullet(n memory.Note) string {
	text := withMarker(bulletText(n), bulletIndent, n) + "\n"
	if n.Origin != nil {
		text = beginMarkerOf(n) + "\n" + text
	}
	return text
}

// bulletText returns a bullet without its marker and its line break.
func bulletText(n memory.Note) string {
	return "- " + strings.ReplaceAll(n.Text, "\n", "\n"+bulletIndent)
}

// isControl reports whether r is a control character.
func isControl(r rune) bool { return r < 0x20 || r == 0x7f }
