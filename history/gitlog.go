package history

import (
	"strconv"
	"strings"
	"time"

	"kioku/memory"
)

// parseLog returns the changes in what git log -z writes with versionFormat, with --name-status or without. A commit without
// changes is one change without a path.
func (g *Git) parseLog(out string) []memory.FileChange {
	fields := strings.Split(out, "\x00")
	next := func() string {
		if len(fields) == 0 {
			return ""
		}
		f := fields[0]
		fields = fields[1:]
		return f
	}
	var all []memory.FileChange
	for len(fields) > 0 {
		hash, ok := strings.CutPrefix(strings.TrimPrefix(next(), "\n"), "\x01")
		if !ok {
			continue
		}
		v := memory.FolderVersion{ID: hash, History: memory.HistoryGit}
		if seconds, err := strconv.ParseInt(next(), 10, 64); err == nil {
			v.Time = time.Unix(seconds, 0).UTC()
		}
		v.Author, v.Subject = clean(next()), clean(next())
		if g.isJournal {
			v.History, v.Author, v.Subject = memory.HistoryJournal, "", ""
		}
		before := len(all)
		for len(fields) > 0 {
			change := changeOf(strings.TrimPrefix(fields[0], "\n"))
			if change == "" {
				break
			}
			status := strings.TrimPrefix(next(), "\n")
			c := memory.FileChange{FolderVersion: v, Change: change}
			if status[0] == 'R' || status[0] == 'C' {
				c.OldPath = next()
			}
			if c.Path = next(); status[0] == 'C' {
				c.OldPath = "" // the file that it was copied from is still there
			}
			all = append(all, c)
		}
		if len(all) == before {
			all = append(all, memory.FileChange{FolderVersion: v})
		}
	}
	return all
}

// changeOf returns what a status of git log --name-status means; empty for what is no status.
func changeOf(status string) string {
	if status == "" || strings.Trim(status[1:], "0123456789") != "" {
		return ""
	}
	switch status[0] {
	case 'A', 'C':
		return memory.FileAdded
	case 'M', 'T':
		return memory.FileChanged
	case 'D':
		return memory.FileRemoved
	case 'R':
		return memory.FileRenamed
	}
	return ""
}

// clean returns a text of a commit as valid UTF-8 without control characters.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}
