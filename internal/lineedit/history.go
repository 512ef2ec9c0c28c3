package lineedit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// History is what was entered before, the oldest first. It is kept in a file that only its owner may read, a JSON string a
// line, because an entry may have several lines itself.
type History struct {
	path    string
	most    int
	entries []string
}

// OpenHistory reads the history in a file, of which the newest entries up to most are kept. A file that is not there is an
// empty history; lines that are no entries are left out. After an error the history is empty and works, without the file.
func OpenHistory(path string, most int) (*History, error) {
	h := &History{most: most}
	entries, err := readEntries(path)
	if err != nil {
		return h, fmt.Errorf("read the history: %w", err)
	}
	if len(entries) > most {
		entries = slices.Clone(entries[len(entries)-most:])
		if err := rewrite(path, entries); err != nil {
			return h, fmt.Errorf("shorten the history: %w", err)
		}
	}
	h.path, h.entries = path, entries
	return h, nil
}

// Entries are all entries, the oldest first.
func (h *History) Entries() []string { return slices.Clone(h.entries) }

// Add adds an entry, unless it is blank or the same as the last one. After an error the entry is in the history but not in
// the file.
func (h *History) Add(entry string) error {
	if strings.TrimSpace(entry) == "" || len(h.entries) > 0 && h.entries[len(h.entries)-1] == entry {
		return nil
	}
	h.entries = append(h.entries, entry)
	if len(h.entries) > h.most {
		h.entries = slices.Delete(h.entries, 0, len(h.entries)-h.most)
	}
	if h.path == "" {
		return nil
	}
	if err := h.append(entry); err != nil {
		return fmt.Errorf("keep the history: %w", err)
	}
	return nil
}

func (h *History) append(entry string) error {
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(h.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line(entry))
	return errors.Join(err, f.Close())
}

// line is an entry as the file has it. One write is one line, also where two programs add at once.
func line(entry string) string {
	text, _ := json.Marshal(entry) // a string always has a JSON form
	return string(text) + "\n"
}

// maxEntry is more than anybody enters; a longer line of the file is no entry.
const maxEntry = 1 << 20

func readEntries(path string) ([]string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var entries []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxEntry)
	for lines.Scan() {
		var entry string
		if json.Unmarshal(lines.Bytes(), &entry) == nil && entry != "" {
			entries = append(entries, printable(entry))
		}
	}
	return entries, lines.Err()
}

// rewrite puts a file with these entries in the place of the old one.
func rewrite(path string, entries []string) error {
	var text strings.Builder
	for _, e := range entries {
		text.WriteString(line(e))
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".history-*")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text.String())
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
