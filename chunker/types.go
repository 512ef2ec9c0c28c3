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
	// Heading is the words of the first heading of level 1 if it stands for the whole file: it is the first text of the file,
	// or the only heading of level 1. Empty if there is no such heading.
	Heading string
	// Placeholders reports that the file has placeholders of a template outside of code, {{date}} or <% tp.date.now() %>, and OnlyPlaceholders that
	// it has no other text.
	Placeholders, OnlyPlaceholders bool
	// Tags are those of the front matter, and the #tags in the text, each once whatever its case; nil if there are none.
	Tags []string
	// Links are the links to other notes, in the front matter and the text, in the order of the lines, at most 10,000; nil if there are none.
	Links []Link
	// Chunks in the order of the file. There are no blank chunks, so an empty file has none.
	Chunks []Chunk
}

// Meta is the front matter of a file. Values of the wrong kind, and what exceeds a limit, are left out.
type Meta struct {
	// Title of the file, empty if there is none.
	Title string
	// Aliases are other titles, nil if there are none.
	Aliases []string
	// Tags without the sign #, nil if there are none. "a/b" is a tag below the tag "a".
	Tags []string
	// Date is the day (YYYY-MM-DD) of the first of the keys date, published, created and updated, or of those that mean the same ("date created",
	// lastmod), that has one; empty if none has.
	Date string
	// Evergreen is set if the file does not lose weight with its age.
	Evergreen bool
	// Fields are all keys whose value is a scalar or a list of scalars, in the order of the file, at most 64.
	Fields []Field
	// Slip is the first thing that is no valid YAML, "front matter, line 3: found unexpected end of stream"; empty if all is. The other
	// lines are read.
	Slip string
}

// Field is a key of the front matter with its values.
type Field struct {
	// Name is the key in lower case; "author.name" for the key name of the mapping author. At most 64 bytes.
	Name string
	// Values are the scalars as they are written, without quotation marks, at most 64 of at most 256 bytes each; nil for an
	// empty value.
	Values []string
	// List is set if the value is a list.
	List bool
}

// Kinds of a Link.
const (
	// WikiLink is [[Note]] or [[Note|text]].
	WikiLink = "wiki"
	// EmbedLink is ![[Note]].
	EmbedLink = "embed"
	// PathLink is a Markdown link with a path, [text](notes/a.md), also by reference.
	PathLink = "path"
)

// Link is a link to another note.
type Link struct {
	// Line of the link, from 1.
	Line int
	// Text is the text that is shown, at most 256 bytes.
	Text string
	// Target is the name or the path of the other note as it is written, without %20 and without the heading behind a #. At
	// most 1,024 bytes.
	Target string
	// Kind is WikiLink, EmbedLink or PathLink.
	Kind string
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
	// Text is an exact substring of the file after Normalize, without the final newline, with blank lines in the place of drawings and views. Only the text of an entry of a
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
