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
	"unicode"

	"kioku/internal/files"
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
	// Salt of the hashes, and what was forgotten.
	Salt string  `json:"salt,omitempty"`
	Said []Value `json:"said,omitempty"`
	// Lifted says that it was taken back: what Only names, else all.
	Lifted bool     `json:"lifted,omitempty"`
	Only   []string `json:"only,omitempty"`
}

// Value is a sentence that was forgotten, by hashes.
type Value struct {
	// Whole is the sentence, by its words in their order.
	Whole string `json:"whole"`
	// Words are what it says, and Keys those of them that make it what it is: numbers and codes; see isKey.
	Words []string `json:"words"`
	Keys  []string `json:"keys,omitempty"`
}

// Set is what people have had forgotten. Its methods may be called concurrently.
type Set struct {
	Stones []Stone // in the order of the file
	salts  []string
	// whole has the ids of stones, by the hash of a sentence, and byWord the values, by the hash of a word. Hashes have their salt in them.
	whole  map[string]string
	byWord map[string][]*value
}

// value is a Value of a stone.
type value struct {
	*Value
	id string
}

// hash returns what the file has of a word or sentence.
func hash(salt, said string) string {
	sum := sha256.Sum256([]byte(salt + "\x00" + said))
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
		case t.Lifted && len(t.Only) == 0:
			stones[at].Lifted = true
		case t.Lifted:
			stones[at].Said = slices.DeleteFunc(stones[at].Said, func(v Value) bool { return slices.Contains(t.Only, v.Whole) })
		}
	}
	return setOf(stones)
}

// setOf returns what tombstones say.
func setOf(stones []Stone) *Set {
	f := &Set{Stones: stones, whole: map[string]string{}, byWord: map[string][]*value{}}
	for _, t := range f.Stones {
		if t.Lifted {
			continue
		}
		if !slices.Contains(f.salts, t.Salt) {
			f.salts = append(f.salts, t.Salt)
		}
		for i := range t.Said {
			v := &value{&t.Said[i], t.ID}
			f.whole[v.Whole] = t.ID
			for _, w := range v.Words {
				f.byWord[w] = append(f.byWord[w], v)
			}
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
	said := words(sentence)
	if said == "" {
		return
	}
	v := Value{Whole: hash(t.Salt, said), Words: []string{}}
	for _, w := range analysis.ContentTerms(sentence) {
		h := hash(t.Salt, w)
		v.Words = append(v.Words, h)
		if isKey(w) {
			v.Keys = append(v.Keys, h)
		}
	}
	t.Said = append(t.Said, v)
}

// year matches what many sentences have.
var year = regexp.MustCompile(`^(19|20)\d\d$`)

// isKey reports whether a word is a number or code that few sentences have.
func isKey(word string) bool {
	digits := 0
	for _, r := range word {
		if unicode.IsDigit(r) {
			digits++
		}
	}
	return digits >= 3 && !year.MatchString(word)
}

// Empty reports whether nothing is forgotten.
func (f *Set) Empty() bool { return len(f.whole) == 0 }

// Says returns the id of what was forgotten if a sentence is it, in the same words; empty if it is another one.
func (f *Set) Says(sentence string) string {
	id, _ := f.find(sentence)
	return id
}

// find returns also the hash of the sentence.
func (f *Set) find(sentence string) (id, whole string) {
	if f.Empty() {
		return "", ""
	}
	said := words(sentence)
	for _, salt := range f.salts {
		whole = hash(salt, said)
		if id = f.whole[whole]; id != "" && said != "" {
			return id, whole
		}
	}
	return "", ""
}

// SaysAny is Says for the first sentence of a text that was forgotten.
func (f *Set) SaysAny(said string) (id, sentence string) {
	return f.first(said, f.Says)
}

// Restates is SaysAny for what a model writes, which may put it in other words: with all its words and few others, or with its numbers and
// half of its words.
func (f *Set) Restates(said string) (id, sentence string) {
	return f.first(said, f.Restated)
}

func (f *Set) first(said string, says func(sentence string) string) (id, sentence string) {
	if f.Empty() {
		return "", ""
	}
	for _, s := range Sentences([]byte(said)) {
		if id := says(s.Text); id != "" {
			return id, s.Text
		}
	}
	return "", ""
}

// Restated returns the id of what was forgotten and a sentence says in other words; see Restates.
func (f *Set) Restated(sentence string) string {
	terms := analysis.ContentTerms(sentence)
	for _, salt := range f.salts {
		found, keys := map[*value]int{}, map[*value]int{}
		for _, w := range terms {
			h := hash(salt, w)
			for _, v := range f.byWord[h] {
				found[v]++
				if slices.Contains(v.Keys, h) {
					keys[v]++
				}
				n := len(v.Words)
				all := found[v] == n && len(terms) <= n+max(1, n/2) && (n > 1 || len(terms) == 1)
				if all || len(v.Keys) > 0 && keys[v] == len(v.Keys) && found[v] > len(v.Keys) && 2*found[v] >= n {
					return v.id
				}
			}
		}
	}
	return f.Says(sentence)
}

// Lifts returns what takes the sentences of a text back that were forgotten; none if none were.
func (f *Set) Lifts(said string) (lifts []Stone) {
	if f.Empty() {
		return nil
	}
	for _, s := range Sentences([]byte(said)) {
		if id, whole := f.find(s.Text); id != "" {
			lifts = append(lifts, Stone{ID: id, Lifted: true, Only: []string{whole}})
		}
	}
	return lifts
}

// Mask returns a text without the sentences that were forgotten. Lines keep their numbers. A text without such a sentence comes back as it
// is.
func (f *Set) Mask(src []byte) []byte { return f.mask(src, f.Says) }

// MaskRestated is Mask for what a model writes; see Restates.
func (f *Set) MaskRestated(src []byte) []byte { return f.mask(src, f.Restated) }

func (f *Set) mask(src []byte, says func(sentence string) string) []byte {
	if f.Empty() {
		return src
	}
	out := src
	for _, s := range slices.Backward(Sentences(src)) {
		if says(s.Text) == "" {
			continue
		}
		breaks := strings.Repeat("\n", bytes.Count(src[s.From:s.To], []byte("\n")))
		to := s.To
		for to < len(out) && out[to] == ' ' {
			to++
		}
		out = slices.Concat(out[:s.From], []byte(breaks), out[to:])
		start := 1 + bytes.LastIndexByte(out[:s.From], '\n')
		end := s.From + max(0, strings.IndexAny(string(out[s.From:])+"\n", "\r\n"))
		if emptyItem.Match(marker.ReplaceAll(out[start:end], nil)) {
			out = slices.Concat(out[:start], out[end:])
		}
	}
	return out
}

// MaskJSONL is Mask for the texts within lines of JSON.
func (f *Set) MaskJSONL(src []byte) []byte {
	if f.Empty() {
		return src
	}
	var out bytes.Buffer
	for line := range bytes.Lines(src) {
		var v any
		if json.Unmarshal(line, &v) == nil {
			if masked, changed := f.maskIn(v); changed {
				if text, err := json.Marshal(masked); err == nil {
					line = append(text, '\n')
				}
			}
		}
		out.Write(line)
	}
	return out.Bytes()
}

// maskIn masks the texts within a value of JSON.
func (f *Set) maskIn(v any) (masked any, changed bool) {
	switch v := v.(type) {
	case string:
		text := string(f.Mask([]byte(v)))
		return text, text != v
	case []any:
		for i := range v {
			m, c := f.maskIn(v[i])
			v[i], changed = m, changed || c
		}
	case map[string]any:
		for k := range v {
			m, c := f.maskIn(v[k])
			v[k], changed = m, changed || c
		}
	}
	return v, changed
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
