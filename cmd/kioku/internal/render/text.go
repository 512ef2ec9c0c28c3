package render

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/rivo/uniseg"
)

// ThreeDigits formats a duration with about three digits.
func ThreeDigits(d time.Duration) string {
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	}
	return d.Round(time.Microsecond).String()
}

// Size formats a number of bytes with three digits.
func Size(n int64) string {
	const units = "kMGT"
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	x, i := float64(n)/1000, 0
	for x >= 999.5 && i < len(units)-1 {
		x, i = x/1000, i+1
	}
	return fmt.Sprintf("%.3g %cB", x, units[i])
}

// Tokens formats a number of tokens: "12,345 tokens".
func Tokens(n int) string { return Number(n) + " tokens" }

// Number formats a number with commas: "12,345".
func Number(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Count formats a number with its noun: "1 file", "2 files".
func Count[T int | int32 | int64](n T, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// MaxTextBytes is the maximum size of a text read from standard input. It is larger than the service's limit for notes.
const MaxTextBytes = 1 << 20

// ShellQuote quotes a text as one word of a shell command.
func ShellQuote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,@%+") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Rounded formats a number with two digits that count: "1,200", "64", "0.35".
func Rounded(x float64) string {
	if x <= 0 {
		return "0"
	}
	if x < 10 {
		return strconv.FormatFloat(x, 'g', 2, 64)
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-1)
	return Number(int(math.Round(x/unit) * unit))
}

// Pad returns a cleaned text with spaces behind it, so that a terminal shows it at least width columns wide. A character of Chinese,
// Japanese or Korean, and an emoji, takes two columns; a combining mark takes none.
func Pad(s string, width int) string {
	s = CleanLine(s)
	return s + strings.Repeat(" ", max(width-Width(s), 0))
}

// Width returns how many columns a terminal shows a text in.
func Width(s string) int { return uniseg.StringWidth(Clean(s)) }
