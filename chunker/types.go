package chunker

// Options of a Chunker. The zero value means 400 tokens with an overlap of 80, counted with cl100k_base.
type Options struct {
	// Tokens is the maximum number of tokens of a chunk, 16 to 8192. 0 means 400, and then an Overlap of 0 means 80.
	Tokens int
	// Overlap is the maximum number of tokens, of whole lines, that a chunk repeats from the one before; less than Tokens.
	// 0 means no overlap, unless Tokens is 0.
	Overlap int
	// Encoding is the tiktoken vocabulary: "cl100k_base" (also if it is empty) or "o200k_base".
	Encoding string
}

// Kind is the structure of a file.
type Kind int

const (
	// Notes is ordinary Markdown.
	Notes Kind = iota
	// Entries is a curated list (MEMORY.md, USER.md). Each heading and each top-level bullet is an entry, which is not cut
	// if it fits into a chunk. A section under a heading of level 1 or 2 starts a new chunk if the chunk before it has an
	// eighth of Options.Tokens; smaller sections share a chunk.
	Entries
	// DailyLog is claw0's daily log: one JSON object {ts, category, content} a line. Each line is a chunk.
	DailyLog
)

// Document is a file cut into chunks.
type Document struct {
	// Lines is the number of lines of the file, including an unterminated last one.
	Lines int
	// Meta is the front matter, zero if there is none.
	Meta Meta
	// Chunks in the order of the file. There are no blank chunks, so an empty file has none.
	Chunks []Chunk
}

// Meta contains the keys of the front matter of a file that Kioku knows.
type Meta struct {
	// Date as YYYY-MM-DD, empty if there is none or it is not a calendar day.
	Date string
	// Tags of the file, nil if there are none.
	Tags []string
	// Evergreen is set if the file does not lose weight with its age.
	Evergreen bool
	// Supersedes contains the paths of files that this one replaces, nil if there are none.
	Supersedes []string
}

// Chunk is a run of whole lines. If a line is longer than Options.Tokens, it is a part of that line, with whole lines
// beside it.
type Chunk struct {
	// StartLine is the first line, from 1.
	StartLine int
	// EndLine is the last line, inclusive.
	EndLine int
	// Headings above the first line, or on it, outermost first: "# Projects > ## Acme". At most 200 characters: the
	// outermost are left out first. Empty if there is none. Front matter does not count as the first line.
	Headings string
	// Text is an exact substring of the file after Normalize, without the final newline. Only the text of an entry of a
	// DailyLog is "category: content", because JSON escapes hide words from a search.
	Text string
	// Tokens is the number of tokens of Text, at most Options.Tokens.
	Tokens int
	// Fence is the mark of the code fence in which the chunk begins, "```"; empty if it begins in none.
	Fence string
	// Closed reports whether the chunk ends with a section: a heading follows, or only blank lines. In a DailyLog each line
	// is a section.
	Closed bool
	// Date of the entry as YYYY-MM-DD, only in a DailyLog; empty if the entry has none.
	Date string
}
