package chunker

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
)

// version must change when the same file and options may yield other chunks than before.
const version = 4

// Limits of Options.Tokens. A smaller chunk could not contain a word in some scripts; a larger one is longer than embedding
// models read.
const (
	minTokens = 16
	maxTokens = 8192
)

// Chunker cuts files into chunks. It is safe for concurrent use.
type Chunker struct {
	opts Options
	// vocabulary returns that of opts.Encoding; the first call in the process loads it.
	vocabulary func() *vocabulary
	// counters contains unused counters with their caches.
	counters sync.Pool
}

// New returns a Chunker, or an error if an option is out of its range or the encoding is unknown. It is cheap: the
// vocabulary is loaded, from the binary, when the first text is counted.
func New(opts Options) (*Chunker, error) {
	if opts.Tokens == 0 {
		opts.Tokens = 400
		if opts.Overlap == 0 {
			opts.Overlap = 80
		}
	}
	if opts.Encoding == "" {
		opts.Encoding = "cl100k_base"
	}
	vocabulary, known := encodings[opts.Encoding]
	switch {
	case opts.Tokens < minTokens || opts.Tokens > maxTokens:
		return nil, fmt.Errorf("chunk size: %d tokens is out of range, choose %d to %d", opts.Tokens, minTokens, maxTokens)
	case opts.Overlap < 0 || opts.Overlap >= opts.Tokens:
		return nil, fmt.Errorf("chunk overlap: %d tokens is out of range, choose 0 to %d, less than the chunk size",
			opts.Overlap, opts.Tokens-1)
	case !known:
		return nil, fmt.Errorf("token encoding: %q is unknown, choose one of %s", opts.Encoding,
			strings.Join(slices.Sorted(maps.Keys(encodings)), ", "))
	}
	return &Chunker{opts: opts, vocabulary: vocabulary}, nil
}

// Fingerprint identifies what decides where files are cut, "v4 cl100k_base 400/80". An index must not contain chunks with
// different fingerprints.
func (c *Chunker) Fingerprint() string {
	return fmt.Sprintf("v%d %s %d/%d", version, c.opts.Encoding, c.opts.Tokens, c.opts.Overlap)
}

// Count returns the number of tokens of text, exactly as tiktoken does. It takes linear time, and n log n for a run of n
// letters or signs.
func (c *Chunker) Count(text string) int {
	v := c.vocabulary()
	once := counter{vocabulary: v, merger: merger{vocabulary: v}}
	return once.count(text)
}

// Split cuts a file into chunks. Every line that is not blank is in at least one chunk, no chunk has more tokens than
// Options.Tokens, and each chunk starts after the start of the one before. Lines of drawings and views of Obsidian count as blank. Every file has a Document: bad UTF-8, front
// matter or JSON is plain text.
func (c *Chunker) Split(kind Kind, src []byte) Document {
	counter, _ := c.counters.Get().(*counter)
	if counter == nil {
		counter = newCounter(c.vocabulary())
	}
	defer c.counters.Put(counter)
	text := Normalize(src)
	doc := Document{Lines: countLines(text)}
	if kind == DailyLog {
		doc.Chunks = splitLog(c.opts, counter, text)
		return doc
	}
	meta, body := frontMatter(text)
	text = hideData(text, body, meta)
	o := newOutline(c.opts, counter, kind, text)
	o.pushPlain(text[:body])
	lines := Lines(text[body:], "", true)
	doc.Meta, doc.Heading = meta, fileHeading(lines)
	if kind == Notes {
		doc.Placeholders, doc.OnlyPlaceholders = readPlaceholders(text[:body], lines)
	}
	doc.Tags, doc.Links = readInline(lines, o.line, slices.Clone(meta.Tags))
	_, properties := readInline(Lines(text[:body], "", true), 1, nil)
	doc.Links = slices.Concat(properties, doc.Links)
	doc.Links = doc.Links[:min(len(doc.Links), maxLinks)]
	o.pushMarkdown(lines)
	doc.Chunks = newPacker(o).chunks()
	return doc
}

// KindOf returns the kind of the file at a path relative to the workspace, with "/". Case matters.
func KindOf(file string) Kind {
	if file == "MEMORY.md" || file == "USER.md" {
		return Entries
	}
	if daily, _ := path.Match("memory/daily/*.jsonl", file); daily {
		return DailyLog
	}
	return Notes
}
