package memory

// GetRequest asks for lines of a memory file.
type GetRequest struct {
	// Path as a hit gives it.
	Path string
	// From is the first line, 0 means 1; Lines how many, 0 means 120.
	From, Lines int
}

// Excerpt is a run of lines of a file.
type Excerpt struct {
	// Path of the file.
	Path string
	// Text is whole lines, at most 12,000 characters; empty beyond the end of the file.
	Text string
	// From is the first line of Text and Lines how many there are.
	From, Lines int
	// TotalLines of the file.
	TotalLines int
	// Truncated says that fewer lines came than were asked for although the file has more, or that the only line, of more
	// than 12,000 characters, is cut.
	Truncated bool
	// NextFrom is the line to continue from, 0 at the end of the file.
	NextFrom int
}
