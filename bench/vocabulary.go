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

// vocabulary contains the number of lines with each term.
type vocabulary map[string]int

// readVocabulary reads the Markdown files of a workspace.
func readVocabulary(workspace string) (vocabulary, error) {
	v := vocabulary{}
	err := filepath.WalkDir(workspace, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Ext(path) != ".md" {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil {
			v.addLines(string(text))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the words of workspace %s: %w", workspace, err)
	}
	return v, nil
}

// addLines counts the lines of a text.
func (v vocabulary) addLines(text string) {
	for line := range strings.Lines(text) {
		terms := analysis.Terms(line)
		slices.Sort(terms)
		for _, term := range slices.Compact(terms) {
			v[term]++
		}
	}
}

// rarest returns the word of a text that is in the fewest lines, but at least in one; ok is false if there is none.
func (v vocabulary) rarest(text string) (rarest span, ok bool) {
	fewest := 0
	for _, w := range latinWords(text) {
		if n := v.count(w.text); n > 0 && (fewest == 0 || n < fewest) {
			rarest, fewest = w, n
		}
	}
	return rarest, fewest > 0
}

// count returns the number of lines with a word.
func (v vocabulary) count(word string) int {
	n := 0
	for _, term := range analysis.Terms(word) {
		n = max(n, v[term])
	}
	return n
}
