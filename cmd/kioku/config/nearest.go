package config

import (
	"fmt"
	"strings"

	names "kioku/internal/text" // text is a kind of setting
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
	if near := names.Nearest(key, candidates); near != "" {
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
