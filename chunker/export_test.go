package chunker

// ReadInline returns the tags and links in lines of Markdown.
func ReadInline(lines []Line) ([]string, []Link) { return readInline(lines, 1, nil) }
