package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// ResultFiles collects the results of sets for one file, or for one file a set in a folder.
type ResultFiles struct {
	path   string
	folder bool
	// texts by the path of their file.
	texts map[string]*bytes.Buffer
}

// InputError is the error of a path that may not take results.
type InputError struct {
	// Problem names the path and says what is wrong with it.
	Problem string
}

// Error returns the problem.
func (e *InputError) Error() string { return e.Problem }

func inputError(format string, args ...any) error {
	return &InputError{fmt.Sprintf(format, args...)}
}

// NewResultFiles checks path, which names a file or, if folder is true, a folder that it creates. It returns an
// [*InputError] if a file is in one of the sets, or if one file would contain two questions with the same id, by which a scorer finds them.
func NewResultFiles(path string, folder bool, sets []Set) (*ResultFiles, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		folder = true
	}
	f := &ResultFiles{path: path, folder: folder, texts: map[string]*bytes.Buffer{}}
	for _, s := range sets {
		if err := checkApart(f.of(s), sets); err != nil {
			return nil, err
		}
	}
	if folder {
		if err := os.MkdirAll(path, 0o755); err != nil {
			return nil, fmt.Errorf("make the folder for the results: %w", err)
		}
		return f, checkWritable(filepath.Join(path, sets[0].Name+".jsonl"))
	}
	of := map[string]string{}
	for _, s := range sets {
		for _, q := range s.Questions {
			if other, ok := of[q.ID]; ok {
				return nil, inputError("%s and %s both have a question %q; end --out with / for a file a set", other, s.Name, q.ID)
			}
			of[q.ID] = s.Name
		}
	}
	return f, checkWritable(path)
}

// checkWritable returns an error if a file cannot be written, before the measurement takes its time. An existing file is not
// changed.
func checkWritable(path string) error {
	_, missing := os.Lstat(path)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	if missing != nil {
		err = os.Remove(path)
	}
	return errors.Join(err, file.Close())
}

// of returns the file for the results of a set.
func (f *ResultFiles) of(set Set) string {
	if f.folder {
		return filepath.Join(f.path, set.Name+".jsonl")
	}
	return f.path
}

// checkApart returns an error if a file is in a set or is, through a link, one of its questions or notes.
func checkApart(path string, sets []Set) error {
	parents := ancestors(path)
	for _, s := range sets {
		places := []string{s.Folder, s.File()}
		for _, ws := range s.Workspaces() {
			places = append(places, s.Workspace(ws))
		}
		for _, place := range places {
			info, err := os.Stat(place)
			if err == nil && slices.ContainsFunc(parents, func(p os.FileInfo) bool { return os.SameFile(p, info) }) {
				return inputError("--out %s lies in the set %s; write the results elsewhere", path, s.Name)
			}
		}
	}
	return nil
}

// ancestors returns a file and the folders that contain it, as far as they exist, with symbolic links resolved.
func ancestors(path string) []os.FileInfo {
	var found []os.FileInfo
	for {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
			if info, err := os.Stat(path); err == nil {
				found = append(found, info)
			}
		}
		parent := filepath.Dir(path)
		if parent == path {
			return found
		}
		path = parent
	}
}

// Keep keeps the results of a set until Write.
func (f *ResultFiles) Keep(set Set, asked []Asked) error {
	path := f.of(set)
	if f.texts[path] == nil {
		f.texts[path] = &bytes.Buffer{}
	}
	return WriteResults(f.texts[path], asked)
}

// Write writes the results. On nil it does nothing.
func (f *ResultFiles) Write() error {
	if f == nil {
		return nil
	}
	for path, text := range f.texts {
		if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
			return fmt.Errorf("write results: %w", err)
		}
	}
	return nil
}

// answerLine is a line of results in the format of the scorers of sets.
type answerLine struct {
	ID      string       `json:"id"`
	Results []resultLine `json:"results"`
}

type resultLine struct {
	Range
	Score float64 `json:"score"`
}

// WriteResults writes a line of JSON for each question: {"id", "results": [{"path", "start_line", "end_line", "score"}]}. The
// results are best first.
func WriteResults(w io.Writer, asked []Asked) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, a := range asked {
		line := answerLine{ID: a.Question.ID, Results: []resultLine{}}
		for _, r := range a.Results {
			line.Results = append(line.Results, resultLine{r.Range, r.Score})
		}
		if err := enc.Encode(line); err != nil {
			return fmt.Errorf("write results: %w", err)
		}
	}
	return nil
}
