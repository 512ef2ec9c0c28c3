package text

import "time"

// FindDay returns the first calendar day of the years 1900 to 2199 in s, as YYYY-MM-DD, and the offsets at which it starts and
// ends. A day is written 2026-01-20, 2026_01_20, 2026.01.20 or 20260120, without a digit beside it. day is empty if there is
// none.
func FindDay(s string) (day string, start, end int) {
	for i := 0; i < len(s); i++ {
		if !isDigit(s[i]) {
			continue
		}
		if day, end := dayAt(s, i); day != "" {
			return day, i, end
		}
		for i+1 < len(s) && isDigit(s[i+1]) {
			i++
		}
	}
	return "", 0, 0
}

// dayAt returns the day that is written at an offset, and where it ends.
func dayAt(s string, at int) (string, int) {
	digits, end := make([]byte, 0, 8), at
	for end < len(s) && len(digits) < 8 {
		switch c := s[end]; {
		case isDigit(c):
			digits = append(digits, c)
		case (end-at == 4 || end-at == 7) && (c == '-' || c == '_' || c == '.') && (end-at == 4 || c == s[at+4]):
		default:
			return "", 0
		}
		end++
	}
	if n := end - at; len(digits) < 8 || n != 8 && n != 10 || end < len(s) && isDigit(s[end]) {
		return "", 0
	}
	t, err := time.Parse("20060102", string(digits))
	if err != nil || t.Year() < 1900 || t.Year() > 2199 {
		return "", 0
	}
	return t.Format(time.DateOnly), end
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
