// Package bench measures retrieval. It indexes workspaces whose questions have known answers, searches for each question,
// and reports how much of the evidence the results contain.
//
// A set is a folder with ws/<workspace>/ and queries.jsonl; docs/bench.md explains how to make one of your own notes. A
// result hits an evidence if both are in one file and the lines that they share are at least half of the evidence or at
// least half of the result. Each evidence counts once, at its first hit. Lines are 1-based and inclusive, characters are
// code points.
package bench

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// questionsFile is the name of the file that makes a folder a set.
const questionsFile = "queries.jsonl"

// Adversarial is the category of questions that are made to mislead. They are reported separately.
const Adversarial = "adversarial"

// Range is a run of lines of a file. As evidence it is the whole file if Start is 0.
type Range struct {
	// Path is relative to the workspace, with "/".
	Path string `json:"path"`
	// Start is the first line, from 1.
	Start int `json:"start_line"`
	// End is the last line, inclusive.
	End int `json:"end_line"`
}

// Question is a question with the places that answer it.
type Question struct {
	// ID is unique in the set.
	ID string `json:"id"`
	// WS is the name of the workspace.
	WS string `json:"ws"`
	// Query is the text of the question. It may be blank, and then has no results.
	Query string `json:"query"`
	// Category of the question, such as Adversarial; may be empty.
	Category string `json:"category"`
	// Lang is the language, only for reports; may be empty.
	Lang string `json:"lang"`
	// Now is the time of the question as it is written, empty if it has none.
	Now string `json:"now"`
	// Relevant lists the evidence; empty if no note answers the question, which only a golden file can say.
	Relevant []Range `json:"relevant"`

	// Line of the golden file on which the question begins, from 1; 0 for a question of a set.
	Line int `json:"-"`
	// Asked is the time of the question: Now, else the newest day in the names of the workspace's files, else zero.
	Asked time.Time `json:"-"`
}

// Set is a folder of workspaces and questions.
type Set struct {
	// Name of the folder.
	Name string
	// Folder is the absolute path of the folder with ws/ and queries.jsonl.
	Folder string
	// Questions in the order of the file, at least one.
	Questions []Question
}

// Workspace returns the folder of a workspace.
func (s Set) Workspace(name string) string { return filepath.Join(s.Folder, "ws", name) }

// File returns the file of the questions.
func (s Set) File() string { return filepath.Join(s.Folder, questionsFile) }

// Workspaces returns the names of the workspaces, in the order of the questions.
func (s Set) Workspaces() []string {
	var names []string
	for _, q := range s.Questions {
		if !slices.Contains(names, q.WS) {
			names = append(names, q.WS)
		}
	}
	return names
}

// Load reads sets. A folder without queries.jsonl stands for all sets in it, in the order of their names. The error names
// the file, and the line if one is at fault. Two sets with the same name are an error.
func Load(folders ...string) ([]Set, error) {
	var sets []Set
	for _, folder := range folders {
		dirs, err := findSets(folder)
		if err != nil {
			return nil, err
		}
		for _, dir := range dirs {
			s, err := loadSet(dir)
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(sets, func(o Set) bool { return o.Name == s.Name }) {
				return nil, fmt.Errorf("%s: a set called %s was named before; rename the folder", dir, s.Name)
			}
			sets = append(sets, s)
		}
	}
	return sets, nil
}

// findSets returns folder if it is a set, else the sets in it.
func findSets(folder string) ([]string, error) {
	if isSet(folder) {
		return []string{folder}, nil
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("read set %s: %w", folder, err)
	}
	var sets []string
	for _, e := range entries {
		if dir := filepath.Join(folder, e.Name()); isSet(dir) {
			sets = append(sets, dir)
		}
	}
	if len(sets) == 0 {
		return nil, fmt.Errorf("%s is no set and holds none: a set is a folder with %s and ws/", folder, questionsFile)
	}
	return sets, nil
}

// isSet reports whether a folder is a set.
func isSet(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, questionsFile))
	return err == nil && info.Mode().IsRegular()
}

// loadSet reads one set.
func loadSet(dir string) (Set, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Set{}, fmt.Errorf("read set %s: %w", dir, err)
	}
	file := filepath.Join(dir, questionsFile)
	text, err := os.ReadFile(file)
	if err != nil {
		return Set{}, fmt.Errorf("read set: %w", err)
	}
	s := Set{Name: filepath.Base(abs), Folder: abs}
	c := checker{set: s, ids: map[string]bool{}, newest: map[string]time.Time{}, lengths: newTexts(s)}
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	for i, line := range bytes.Split(text, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		q, err := parseQuestion(line)
		if err == nil {
			err = c.check(&q)
		}
		if err != nil {
			return Set{}, fmt.Errorf("%s:%d: %w", file, i+1, err)
		}
		s.Questions = append(s.Questions, q)
	}
	if len(s.Questions) == 0 {
		return Set{}, fmt.Errorf("%s holds no question", file)
	}
	return s, nil
}

// checker checks questions against their workspaces.
type checker struct {
	set     Set
	ids     map[string]bool
	newest  map[string]time.Time
	lengths *texts
}

// check returns an error if a question does not fit the set. It sets q.Asked.
func (c *checker) check(q *Question) error {
	if c.ids[q.ID] {
		return fmt.Errorf("a question %q was there before", q.ID)
	}
	c.ids[q.ID] = true
	if _, known := c.newest[q.WS]; !known {
		day, err := newestDay(c.set.Workspace(q.WS))
		if err != nil {
			return fmt.Errorf("workspace %s: %w", q.WS, err)
		}
		c.newest[q.WS] = day
	}
	for _, r := range q.Relevant {
		if n := c.lengths.lines(q.WS, r.Path); n == 0 {
			return fmt.Errorf("ws/%s/%s is no file that can be read", q.WS, r.Path)
		} else if r.End > n {
			return fmt.Errorf("ws/%s/%s has %d lines, the evidence ends at %d", q.WS, r.Path, n, r.End)
		}
	}
	q.Asked = c.newest[q.WS]
	if q.Now == "" {
		return nil
	}
	asked, err := ParseNow(q.Now)
	q.Asked = asked
	return err
}

// ParseNow parses the time of a question: a day (2026-01-20 means its noon in UTC) or a time in RFC 3339.
func ParseNow(text string) (time.Time, error) {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day.Add(12 * time.Hour), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("now is %q; write a day, 2026-01-20, or a time, 2026-01-20T09:30:00Z", text)
	}
	return t, nil
}

// newestDay returns the noon of the newest day at the start of the name of a file in a folder, zero if there is none.
func newestDay(folder string) (time.Time, error) {
	var newest time.Time
	err := filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || len(d.Name()) < len(time.DateOnly) {
			return err
		}
		if day, err := time.Parse(time.DateOnly, d.Name()[:len(time.DateOnly)]); err == nil && day.After(newest) {
			newest = day
		}
		return nil
	})
	if !newest.IsZero() {
		newest = newest.Add(12 * time.Hour)
	}
	return newest, err
}
