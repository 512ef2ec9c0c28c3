package recall

import (
	"strings"

	"kioku/internal/text"
	"kioku/memory"
)

// maxQuery is how many bytes a query may have.
const maxQuery = 4 << 10

// Query returns what is searched for a user's message: its text without what was recalled into it. Of more than 4 KiB the
// beginning and the end are left, because what is asked stands in one of the two; cuts fall between words.
func Query(message string) string {
	query := strings.TrimSpace(strings.ToValidUTF8(memory.StripRecalled(message), " "))
	if len(query) <= maxQuery {
		return query
	}
	const half = (maxQuery - 1) / 2
	head, tail := text.HeadBytes(query, half), text.TailBytes(query, half)
	// A long run without blank space is Chinese or Japanese, or nothing that has words.
	if end := strings.LastIndexAny(head, " \n\t"); end > half/2 {
		head = head[:end]
	}
	if begin := strings.IndexAny(tail, " \n\t"); begin >= 0 && begin < half/2 {
		tail = tail[begin:]
	}
	return strings.TrimSpace(head) + "\n" + strings.TrimSpace(tail)
}
