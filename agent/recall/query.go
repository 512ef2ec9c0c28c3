package recall

import (
	"strings"
	"unicode/utf8"

	"kioku/memory"
)

// maxQuery is how many bytes a query may have.
const maxQuery = 4 << 10

// Query returns what is searched for a user's message: its text without what was recalled into it. Of more than 4 KiB the
// beginning and the end are left, because what is asked stands in one of the two; cuts fall between words.
func Query(message string) string {
	text := strings.TrimSpace(strings.ToValidUTF8(memory.StripRecalled(message), " "))
	if len(text) <= maxQuery {
		return text
	}
	half := (maxQuery - 1) / 2
	return head(text, half) + "\n" + tail(text, half)
}

// head returns at most the first n bytes.
func head(text string, n int) string {
	for !utf8.RuneStart(text[n]) {
		n--
	}
	head := text[:n]
	// A long run without blank space is Chinese or Japanese, or nothing that has words.
	if end := strings.LastIndexAny(head, " \n\t"); end > n/2 {
		head = head[:end]
	}
	return strings.TrimSpace(head)
}

// tail returns at most the last n bytes.
func tail(text string, n int) string {
	at := len(text) - n
	for !utf8.RuneStart(text[at]) {
		at++
	}
	tail := text[at:]
	if begin := strings.IndexAny(tail, " \n\t"); begin >= 0 && begin < n/2 {
		tail = tail[begin:]
	}
	return strings.TrimSpace(tail)
}
