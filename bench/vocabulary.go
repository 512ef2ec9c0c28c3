package bench

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kioku/search/analysis"
)

// vocabularies are those of the workspaces of a set.
type vocabularies struct {
	set   Set
	known map[string]vocabulary
}

func newVocabularies(s Set) *vocabularies {
	return &vocabularies{set: s, known: map[string]vocabulary{}}
}

// vocabulary counts the lines that hold each term.
type vocabulary map[string]int

func (v *vocabularies) of(ws string) (vocabulary, error) {
	if words, ok := v.known[ws]; ok {
		return words, nil
	}
	words := vocabulary{}
	folder := v.set.Workspace(ws)
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Ext(path) != ".md" {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil {
			words.add(string(text))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the words of workspace %s: %w", ws, err)
	}
	v.known[ws] = words
	return words, nil
}

// add counts the lines of a text.
func (v vocabulary) add(text string) {
	for line := range strings.Lines(text) {
		terms := analysis.Terms(line)
		slices.Sort(terms)
		for _, term := range slices.Compact(terms) {
			v[term]++
		}
	}
}

// rarest returns the word of a text that the fewest lines hold, but at least one; ok is false where there is none.
func (v vocabulary) rarest(text string) (rarest span, ok bool) {
	fewest := 0
	for _, w := range latinWords(text) {
		if n := v.count(w.text); n > 0 && (fewest == 0 || n < fewest) {
			rarest, fewest = w, n
		}
	}
	return rarest, fewest > 0
}

// count returns in how many lines a word stands.
func (v vocabulary) count(word string) int {
	n := 0
	for _, term := range analysis.Terms(word) {
		n = max(n, v[term])
	}
	return n
}
