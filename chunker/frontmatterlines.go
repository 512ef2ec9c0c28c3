package chunker

import (
	"strings"

	"kioku/internal/text"
)

// FrontMatterLines returns the number of lines of the front matter at the start of a file, with the lines --- around it, and
// its length in bytes. Both are 0 if there is none. It does not parse the front matter: a block whose first property has a colon counts.
func FrontMatterLines(src string) (lines, length int) {
	block, length, err := text.FrontMatterBlock(src)
	if err != nil || !strings.Contains(text.FirstProperty(block), ":") {
		return 0, 0
	}
	return countLines(src[:length]), length
}
