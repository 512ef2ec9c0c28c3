package chunker

// Options sizes chunks. The zero value means 400 tokens with an overlap of 80, counted with cl100k_base.
type Options struct {
	// Tokens is the most a chunk may hold, 16 to 8192. 0 means 400, and then an Overlap of 0 means 80.
	Tokens int
	// Overlap is how many tokens of whole lines a chunk repeats from the one before it; 0 <= Overlap < Tokens.
	Overlap int
	// Encoding is the tiktoken vocabulary: "cl100k_base" (also when empty) or "o200k_base".
	Encoding string
}

// Kind says how a file is to be read.
type Kind int

const (
	// Notes is ordinary Markdown.
	Notes Kind = iota
	// Entries is a curated list (MEMORY.md, USER.md), in which each heading and each top-level bullet
	// is an entry that is not cut while it fits. A section under a heading of level 1 or 2 starts a chunk of
	// its own once the chunk before it holds an eighth of the budget; smaller sections are packed together.
	Entries
	// DailyLog is claw0's daily log: one JSON object {ts, category, content} a line, one entry a chunk.
	DailyLog
)

// Document is a file cut into chunks.
type Document struct {
	// Lines of the file, as wc -l counts them plus an unterminated last one.
	Lines int
	Meta  Meta
	// Chunks in the order of the file. Blank chunks are left out, so an empty file has none.
	Chunks []Chunk
}

// Meta is the front matter of a file, as far as Kioku knows its keys.
type Meta struct {
	// Date as YYYY-MM-DD, empty where there is none or it is no calendar day.
	Date       string
	Tags       []string
	Evergreen  bool
	Supersedes []string
}

// Chunk is a run of whole lines, or of parts of a line that is longer than the budget together with whole
// lines beside it.
type Chunk struct {
	StartLine int
	EndLine   int
	// Headings in force at the first line, which may be a heading itself, outermost first:
	// "# Projects > ## Acme". Empty where there is none, at most 200 characters: the outermost are left out
	// first. Front matter does not count as the first line.
	Headings string
	// Text is an exact substring of the file after Normalize, without the final newline. The one exception is
	// a line of a DailyLog with no other keys than ts, category and content: its text is "category: content",
	// because JSON escapes hide words from a search.
	Text string
	// Tokens of Text; never more than Options.Tokens.
	Tokens int
	// Fence is the mark of the code fence within which the chunk begins, "```"; empty where it begins in none.
	Fence string
	// Closed says that the chunk ends where a section does: a heading follows, or nothing but blank lines. In a DailyLog
	// each line is a section.
	Closed bool
	// Date of this entry (YYYY-MM-DD) where the file tells one for each; only in a DailyLog.
	Date string
}
