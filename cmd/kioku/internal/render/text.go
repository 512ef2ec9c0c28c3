package render

import (
	"fmt"
	"time"
)

// Brief is a time for people, to two or three digits.
func Brief(d time.Duration) string {
	switch {
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return "<1ms"
}

// Tokens is a number of tokens.
func Tokens(n int) string { return Number(n) + " tokens" }

// Number is a number with commas: 12,345.
func Number(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Count is a number with its noun: "1 file", "2 files".
func Count[T int | int32 | int64](n T, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// MaxTextBytes is more than any note may have; the service knows the limit, this one keeps a stream from filling
// the memory.
const MaxTextBytes = 1 << 20
