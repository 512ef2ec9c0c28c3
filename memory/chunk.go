package memory

// Chunks are the chunks of a file in the index.
type Chunks struct {
	// Path of the file.
	Path string `json:"path"`
	// Chunks in the order of their lines, which may overlap.
	Chunks []Chunk `json:"chunks"`
	// Skipped is why the file is not indexed and has no chunks, empty if it is indexed.
	Skipped string `json:"skipped"`
}

// Chunk is a run of lines that is indexed as one.
type Chunk struct {
	// StartLine and EndLine are the first and the last line, from 1.
	StartLine int `json:"start_line"`
	EndLine   int `json:"end_line"`
	// Heading is the headings above the chunk: "# Projects > ## Acme"; empty if there are none.
	Heading string `json:"heading"`
	// Date (YYYY-MM-DD) of the entry, else of the heading, else of the file; empty if there is none.
	Date string `json:"date"`
	// Language in whose way the words are stemmed, such as "de"; empty if as in English.
	Language string `json:"language"`
	// Tokens is the estimated number of tokens of the text.
	Tokens int `json:"tokens"`
	// Embedded reports that the chunk has a vector.
	Embedded bool `json:"embedded"`
}
