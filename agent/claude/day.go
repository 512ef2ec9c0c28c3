package claude

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"syscall"
	"time"

	"kioku/internal/files"
)

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

// appendDay adds whole lines at the end of the file of a day, which must be where they are to be inserted.
func (f *folder) appendDay(ctx context.Context, rel string, after int, added string) (string, error) {
	file, err := f.lockDay(ctx, rel)
	if err != nil {
		return "", err
	}
	defer file.Close()
	old, _, err := f.readText(rel)
	if err != nil {
		return "", err
	}
	if !f.holds(file, rel) {
		return "", errChanged(rel)
	}
	last := len(splitLines(old))
	if after != last {
		return "", refuse("insert_line: %s holds the notes of a day, to which text is only added: it must be %d, the last line", shown(rel), last)
	}
	text := wholeLine(old) + added
	if err := checkSize(rel, text); err != nil {
		return "", err
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := files.Append(file, []byte(text[len(old):])); err != nil {
		return "", fmt.Errorf("memory tool: write %s: %w", shown(rel), err)
	}
	return edited(rel, text, last+1), nil
}

// lockDay opens the file of a day to append to it and takes the lock that MemoryAppend takes. It waits until ctx ends.
func (f *folder) lockDay(ctx context.Context, rel string) (*os.File, error) {
	if _, _, err := f.readText(rel); err != nil { // refuses links and pipes
		return nil, err
	}
	file, err := f.root.OpenFile(rel, os.O_RDWR|os.O_APPEND|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, unreadable(rel, err)
	}
	if err := files.Lock(ctx, file); err != nil {
		file.Close()
		return nil, unreadable(rel, err)
	}
	return file, nil
}

// holds reports whether rel still names an open file. If it was replaced, what is written into the file would be lost.
func (f *folder) holds(file *os.File, rel string) bool {
	locked, err := file.Stat()
	if err != nil {
		return false
	}
	now, err := f.root.Lstat(rel)
	return err == nil && os.SameFile(locked, now) && files.Refusal(now) == ""
}
