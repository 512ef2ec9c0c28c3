package member

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"kioku/council"
	"kioku/internal/records"
	"kioku/internal/secrets"
	"kioku/internal/text"
)

const (
	// logFolder is below the folder of the council, and has a folder for each member.
	logFolder = "logs"
	// maxLogFile is the size in bytes of a file, maxLogText that of a text in it.
	maxLogFile = 10 << 20
	maxLogText = 64 << 10
	// logDays is how long a file stays.
	logDays = 30
)

// Levels of lines.
const (
	LevelInfo  = "info"
	LevelWarn  = "warn"
	LevelError = "error"
)

// Logs are logs/<member>/<YYYY-MM-DD>.jsonl below the folder of a council, at most 10 MB a file; a day that is longer loses its
// beginning. Its methods may be called concurrently. A nil *Logs writes nothing.
type Logs struct {
	root *os.Root
	now  func() time.Time
}

// OpenLogs returns the logs of a council. now is the clock; nil means time.Now.
func OpenLogs(root *os.Root, now func() time.Time) *Logs {
	if now == nil {
		now = time.Now
	}
	return &Logs{root: root, now: now}
}

// Write appends a line to the log of a member. Secrets of known shapes are replaced. A zero time is now.
func (l *Logs) Write(member string, line council.LogLine) error {
	if l == nil {
		return nil
	}
	if line.Time.IsZero() {
		line.Time = l.now().UTC()
	}
	line.Text, _ = secrets.Redact(text.HeadBytes(strings.ToValidUTF8(line.Text, "\uFFFD"), maxLogText))
	name := path.Join(logFolder, member, line.Time.UTC().Format(time.DateOnly)+".jsonl")
	return records.Lines{Root: l.root, Name: name, Max: maxLogFile, Aside: name + oldSuffix}.Append(line)
}

// Sweep removes the files of more than 30 days ago.
func (l *Logs) Sweep() error {
	if l == nil {
		return nil
	}
	oldest := l.now().UTC().AddDate(0, 0, -logDays).Format(time.DateOnly)
	var errs []error
	err := fs.WalkDir(l.root.FS(), logFolder, func(name string, entry fs.DirEntry, err error) error {
		day, _, isLog := strings.Cut(path.Base(name), ".jsonl")
		if err != nil || !entry.Type().IsRegular() || !isLog || len(day) != len(time.DateOnly) || day >= oldest {
			return ignoreMissing(err)
		}
		errs = append(errs, l.root.Remove(name))
		return nil
	})
	return errors.Join(append(errs, err)...)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
