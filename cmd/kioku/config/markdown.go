package config

import (
	"fmt"
	"strings"
)

// Markdown returns the table of all settings, as the README has it.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| setting | default | |\n|---|---|---|\n")
	defaults := Default()
	for _, f := range Fields() {
		value := f.get(defaults)
		if value != "" {
			value = "`" + value + "`"
		}
		doc := f.Doc
		if strings.Contains(f.Type, "|") {
			doc += " One of `" + strings.ReplaceAll(f.Type, " | ", "`, `") + "`."
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Key, value, doc)
	}
	return b.String()
}
