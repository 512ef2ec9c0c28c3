package note

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"kioku/internal/files"
	"kioku/memory"
)

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
	// title begins a new file of a day, and block is the note as Markdown.
	title, block string
	// atEnd has a long-term note written to the end of the file, because its section is in the middle and cannot be written to now.
	atEnd bool
	// limit is the size above which a file is not indexed.
	limit int64
}

// openPlace opens the files in which a note may be or go.
func (f *Folder) openPlace(ctx context.Context, root *os.Root, n memory.Note) (*notePlace, error) {
	p := &notePlace{root: root, log: f.opt.Log, note: n, limit: f.opt.MaxFileBytes}
	var err error
	if n.Target == memory.TargetLongTerm {
		p.block = bullet(n)
		file, err := openNotes(ctx, root, longTermFile, p.limit)
		p.files = []*noteFile{file}
		return p, err
	}
	now := cmp.Or(n.At, f.opt.Now()).In(f.opt.Location)
	p.title, p.block = "# "+now.Format(time.DateOnly)+"\n", section(n, now)
	folder := dayFolder(n)
	p.next = func(part int) string { return dayFile(folder, now, part) }
	if n.Key != "" {
		p.before = readDay(root, folder, now.AddDate(0, 0, -1), p.limit)
	}
	p.files, err = openDay(ctx, root, folder, now, p.limit)
	return p, err
}

// addition is what is to be added to a file.
type addition struct {
	file *noteFile
	data []byte
	// at is the offset of data in the text of the file.
	at int
	// below is how many lines below the first line of data the note begins.
	below int
}

// add appends the note, unless one of the files has it already. lost is set if the file was replaced meanwhile.
func (p *notePlace) add(ctx context.Context) (a memory.Appended, lost bool, err error) {
	known, err := p.findKey()
	if err != nil {
		return memory.Appended{}, false, err
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
	if w.at < len(w.file.text) {
		return p.insert(ctx, w)
	}
	line, err := w.file.write(ctx, p.root, w.data)
	a, lost, err = p.added(w, line, err)
	a.Similar = p.similar(w.file)
	return a, lost, err
}

// insert puts a note into the middle of a file, of which it writes a new one for that. If that cannot be done without a risk for what
// others write, the note goes to the end of the file, below another heading of its category.
func (p *notePlace) insert(ctx context.Context, w *addition) (a memory.Appended, lost bool, err error) {
	have := w.file.text
	want := slices.Concat(have[:w.at], w.data, have[w.at:])
	if err := ctx.Err(); err != nil {
		return memory.Appended{}, false, unwritten(w.file.name, err)
	}
	err = files.Replacement{File: w.file.f, Have: have, Want: want}.Replace(p.root, w.file.name)
	switch {
	case errors.Is(err, files.ErrChanged):
		return memory.Appended{}, true, nil
	case err != nil:
		p.log.Debug("a note goes to the end of the file", "path", w.file.name, "cause", err)
		p.atEnd = true
		return p.add(ctx)
	}
	// Whoever has replaced the file at the same time may not have seen the note.
	now, _, err := files.Read(p.root, w.file.name, searchedFiles*p.limit)
	above := countLineBreaks(have[:w.at])
	a = memory.Appended{Path: w.file.name, StartLine: 1 + above + w.below, Similar: p.similar(w.file)}
	if a.Similar != nil && a.Similar.Line > above {
		a.Similar.Line += countLineBreaks(w.data)
	}
	return a, err == nil && !bytes.Contains(now, w.data), nil
}

// added returns the outcome of an addition whose first line is line.
func (p *notePlace) added(w *addition, line int, err error) (a memory.Appended, lost bool, _ error) {
	if err != nil {
		return memory.Appended{}, false, unwritten(w.file.name, err)
	}
	named, err := files.HasName(p.root, w.file.name, w.file.f)
	return memory.Appended{Path: w.file.name, StartLine: line + w.below}, !named, err
}

// findKey returns where the note with this key is. It returns memory.ErrConflict if that note has another text.
func (p *notePlace) findKey() (memory.Appended, error) {
	for _, file := range slices.Concat(p.files, p.before) {
		switch line, same := findKey(file.text, p.note); {
		case same:
			return file.deduplicated(line)
		case line > 0:
			return memory.Appended{}, fmt.Errorf("append to %s: %w, in line %d; nothing was written: use another key for another note",
				file.name, memory.ErrConflict, line)
		}
	}
	return memory.Appended{}, nil
}

// findText returns where the text of the note is.
func (p *notePlace) findText() (memory.Appended, error) {
	for _, file := range p.files {
		line := findText(file.text, p.note)
		if line > 0 && p.note.Origin.ByOwner() && !originAt(file.text, line).ByOwner() {
			continue // what the owner says is the owner's, even if somebody else has said it before
		}
		if line > 0 {
			return file.deduplicated(line)
		}
	}
	return memory.Appended{}, nil
}

// whole returns the note as it is to be appended to the last file, or to a new one if it does not fit.
func (p *notePlace) whole(ctx context.Context) (*addition, error) {
	if p.next != nil && int64(len(separator(nil, p.title, p.block))+len(p.block)) > p.limit {
		return nil, &memory.InputError{Field: "text", Problem: "does not fit in a file; a file that is " + files.TooLarge(p.limit) + " is not indexed"}
	}
	for {
		file := p.files[len(p.files)-1]
		if w := p.additionTo(file); p.fits(file, len(w.data)) {
			return w, nil
		}
		if p.next == nil && file.closed != "" {
			return nil, &memory.InputError{Field: "target", Problem: fmt.Sprintf("is %q, but %s is %s", p.note.Target, file.name, file.closed)}
		}
		if p.next == nil {
			return nil, &memory.InputError{Field: "target", Problem: fmt.Sprintf("is %q, but %s would be %s, and no search would find "+
				"what is in it; move old notes from it to other files in memory/", p.note.Target, file.name, files.TooLarge(p.limit))}
		}
		file, err := openNotes(ctx, p.root, p.next(len(p.files)+1), p.limit)
		if err != nil {
			return nil, err
		}
		p.files = append(p.files, file)
	}
}

// additionTo returns the note as it is to be added to a file.
func (p *notePlace) additionTo(file *noteFile) *addition {
	spot := noteSpot{at: len(file.text)}
	switch {
	case p.note.Target != memory.TargetLongTerm:
		spot.lead = separator(file.text, p.title, p.block)
	case p.atEnd:
		spot = newSection(file.text, p.note.Category)
	default:
		spot = spotOf(file.text, p.note.Category)
	}
	below := strings.Count(spot.lead, "\n")
	if strings.HasPrefix(p.block, markerStart) {
		below++ // the marker stands above the bullet
	}
	data := spot.lead + p.block + spot.tail
	return &addition{file, []byte(file.withLineEnds(data)), spot.at, below}
}

// fits reports whether a file may grow by n bytes.
func (p *notePlace) fits(file *noteFile, n int) bool {
	return file.closed == "" && int64(len(file.text)+n) <= p.limit
}

// separator returns the text between the text of a file of a day and a new section: a title for a new file, a line break after an
// unfinished line, and a blank line before the section.
func separator(have []byte, title, block string) string {
	lead := ""
	switch {
	case len(have) == 0:
		lead = title
	case have[len(have)-1] != '\n':
		lead = "\n"
	}
	text := strings.ReplaceAll(string(have[max(0, len(have)-4):]), "\r\n", "\n") + lead
	if strings.HasPrefix(block, "## ") && !strings.HasSuffix(text, "\n\n") && text != "" {
		lead += "\n"
	}
	return lead
}

// countLineBreaks returns the number of line breaks in a text.
func countLineBreaks(text []byte) int { return bytes.Count(text, []byte("\n")) }
