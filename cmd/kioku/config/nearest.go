package config

import (
	"fmt"
	"strings"
)

// unknown returns the error for a key that is no setting.
func unknown(where, key string) *Error {
	problem := "no such setting"
	candidates := keys()
	if parts := strings.Split(key, "."); len(parts) == 3 && parts[0] == "agents" {
		candidates = nil
		for _, name := range agentSettings() {
			candidates = append(candidates, "agents."+parts[1]+"."+name)
		}
	}
	if near := nearest(key, candidates); near != "" {
		problem += fmt.Sprintf("; did you mean %s?", near)
	} else {
		problem += "; kioku config list shows all"
	}
	return &Error{Where: where, Key: shorten(key), Problem: problem}
}

func keys() []string {
	var all []string
	for _, f := range Fields() {
		all = append(all, f.Key)
	}
	return all
}

// nearest returns the candidate that name was probably meant to be, empty where none is near. The last element of a
// key counts alone too: somebody may know its name but not its block.
func nearest(name string, candidates []string) string {
	if len(name) > 200 {
		return ""
	}
	best, least := "", 1+max(1, len(name)/3)
	for _, c := range candidates {
		d := min(distance(name, c), 1+distance(last(name), last(c)))
		if d < least {
			best, least = c, d
		}
	}
	return best
}

func last(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// distance counts the edits between two names, without regard to case; swapped neighbours are one edit (optimal
// string alignment).
func distance(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
