// Package forgotten knows what people have had forgotten in a folder of notes, by hashes of its words.
package forgotten

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"kioku/internal/files"
	"kioku/internal/text"
	"kioku/search/analysis"
)

// File is the file of the folder that says what people have had forgotten. It has hashes of words and no text, and goes where the
// notes go, so that a copy of an old note, or a machine that has it still, does not bring back what was forgotten.
const File = ".kioku-forgotten.jsonl"

// maxBytes is the maximum size of the file.
const maxBytes = 16 << 20

// Stone is a line of the file: what was forgotten, or that it is no longer.
type Stone struct {
	ID   string    `json:"id"`
	Time time.Time `json:"time"`
	// Salt of the hashes, and for each sentence the hashes of its words.
	Salt   string     `json:"salt,omitempty"`
	Values [][]string `json:"values,omitempty"`
	// Lifted says that it was taken back.
	Lifted bool `json:"lifted,omitempty"`
}

// value is a sentence that was forgotten.
type value struct {
	stone int
	words int
}

// Set is what people have had forgotten. Its methods may be called concurrently.
type Set struct {
	Stones []Stone // in the order of the file
	values []value
	// byWord has the values with a word, by the salt and the hash of the word.
	byWord map[string]map[string][]int
}

// wordHash returns what the file has of a word.
func wordHash(salt, word string) string {
	sum := sha256.Sum256([]byte(salt + "\x00" + word))
	return base64.RawStdEncoding.EncodeToString(sum[:9])
}

// read reads the file. Lines that cannot be read say nothing.
func read(text string) *Set {
	var stones []Stone
	for line := range strings.Lines(text) {
		var t Stone
		if json.Unmarshal([]byte(line), &t) != nil || t.ID == "" {
			continue
		}
		at := slices.IndexFunc(stones, func(old Stone) bool { return old.ID == t.ID })
		switch {
		case at < 0:
			stones = append(stones, t)
		case t.Lifted:
			stones[at].Lifted = true
		}
	}
	return setOf(stones)
}

// setOf returns what tombstones say.
func setOf(stones []Stone) *Set {
	f := &Set{Stones: stones, byWord: map[string]map[string][]int{}}
	for i, t := range f.Stones {
		if t.Lifted {
			continue
		}
		if f.byWord[t.Salt] == nil {
			f.byWord[t.Salt] = map[string][]int{}
		}
		for _, words := range t.Values {
			for _, w := range words {
				f.byWord[t.Salt][w] = append(f.byWord[t.Salt][w], len(f.values))
			}
			f.values = append(f.values, value{i, len(words)})
		}
	}
	return f
}

// Of returns what says that sentences were forgotten.
func Of(said []string) *Set {
	t := Stone{ID: "?"}
	for _, s := range said {
		t.Add(s)
	}
	return setOf([]Stone{t})
}

// Add adds a sentence. One without words is none.
func (t *Stone) Add(sentence string) {
	var words []string
	for _, w := range analysis.ContentTerms(sentence) {
		words = append(words, wordHash(t.Salt, w))
	}
	if len(words) > 0 {
		t.Values = append(t.Values, words)
	}
}

// Empty reports whether nothing is forgotten.
func (f *Set) Empty() bool { return len(f.values) == 0 }

// Says returns the id of what was forgotten and a sentence says; empty if it says nothing of the kind. It says it if it has all its words
// and few others. A value of one word is only said by this word.
func (f *Set) Says(sentence string) string {
	if f.Empty() {
		return ""
	}
	words := analysis.ContentTerms(sentence)
	for salt, byWord := range f.byWord {
		found := map[int]int{}
		for _, w := range words {
			for _, v := range byWord[wordHash(salt, w)] {
				found[v]++
				n := f.values[v].words
				if found[v] == n && len(words) <= n+max(1, n/2) && (n > 1 || len(words) == 1) {
					return f.Stones[f.values[v].stone].ID
				}
			}
		}
	}
	return ""
}

// SaysAny is Says for the first sentence of a text that says something that was forgotten.
func (f *Set) SaysAny(said string) (id, sentence string) {
	if f.Empty() {
		return "", ""
	}
	for line := range strings.Lines(said) {
		for _, s := range text.Sentences(line, len(line)+1) {
			if id := f.Says(s); id != "" {
				return id, strings.TrimSpace(s)
			}
		}
	}
	return "", ""
}

// Mask returns a text without the sentences that say what was forgotten. Lines keep their numbers. A text without such a sentence comes
// back as it is.
func (f *Set) Mask(src []byte) []byte {
	if id, _ := f.SaysAny(string(src)); id == "" {
		return src
	}
	var out bytes.Buffer
	for line := range strings.Lines(string(src)) {
		body, end := strings.TrimRight(line, "\r\n"), ""
		end = line[len(body):]
		kept := ""
		for _, s := range text.Sentences(body, len(body)+1) {
			if f.Says(s) == "" {
				kept += s
			}
		}
		if kept != body && emptyItem.MatchString(kept) {
			kept = ""
		}
		out.WriteString(kept + end)
	}
	return out.Bytes()
}

// emptyItem matches what is left of an item of a list without its text.
var emptyItem = regexp.MustCompile(`^[ \t>]*(?:[-*+]|\d+[.)]|#+)?(?: \[[ xX]\])?[ \t]*$`)

// Reader reads the files of folders. Its methods may be called concurrently.
type Reader struct {
	cache *files.Cache
	mu    sync.Mutex // guards from and sets
	from  map[string]string
	sets  map[string]*Set
}

// NewReader returns a Reader.
func NewReader() *Reader {
	return &Reader{cache: files.NewCache(maxBytes), from: map[string]string{}, sets: map[string]*Set{}}
}

// In returns what people have had forgotten in a folder. The error is that of a file that cannot be read; then nothing is known.
func (r *Reader) In(dir string) (*Set, error) {
	text, err := r.cache.Read(dir, File)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = "", nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sets[dir] == nil || r.from[dir] != text {
		r.sets[dir], r.from[dir] = read(text), text
	}
	return r.sets[dir], err
}
