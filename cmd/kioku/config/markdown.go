package config

import (
	"fmt"
	"slices"
	"strings"
)

// Markdown returns the documentation of all settings, docs/settings.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString(`# Settings

A setting comes from a flag (` + "`--set query.maxResults=10`" + `), else from its environment variable (` + "`KIOKU_QUERY_MAX_RESULTS`" + `: each
further word of the key begins with _), else from ` + "`.kioku.yaml`" + ` of the workspace ([folders.md](folders.md)), which may contain the settings marked
*folder*, else from the config file (` + "`~/.config/kioku/config.yaml`, `--config`, `KIOKU_CONFIG`" + `), else it has its default. In a file a dot
begins a block: ` + "`query: {maxResults: 10}`" + `. A list is separated by commas in a flag or variable. ` + "`kioku config list`" + ` shows the values in use and
where each comes from; ` + "`kioku config set`" + ` and ` + "`unset`" + ` edit the config file, with ` + "`--folder`" + ` that of the workspace.
`)
	b.WriteString("\n## What people set\n\n" + tableHead)
	for _, key := range everyday {
		f, _ := FieldOf(key)
		b.WriteString(f.row())
	}
	group := ""
	for _, f := range Fields() {
		if slices.Contains(everyday, f.Key) {
			continue
		}
		if f.Group != group {
			group = f.Group
			fmt.Fprintf(&b, "\n## %s\n\n%s", group, tableHead)
		}
		b.WriteString(f.row())
	}
	return b.String()
}

// everyday are the twenty settings that most people set, which the documentation lists first.
var everyday = []string{
	"workspace", "agents", "timezone", "include", "exclude", "extraPaths", "sources", "offline", "listen", "tokenFile",
	"provider", "local.model", "model", "remote.baseUrl", "remote.apiKey",
	"llm.provider", "llm.model", "llm.apiKey", "derive.enabled", "history.journal",
}

const tableHead = "| setting | default | meaning |\n|---|---|---|\n"

// row returns the line of a setting in a table.
func (f Field) row() string {
	value, doc := f.Default, f.Doc
	if value != "" {
		value = "`" + value + "`"
	}
	if strings.Contains(f.Type, "|") {
		doc += " One of `" + strings.ReplaceAll(f.Type, " | ", "`, `") + "`."
	}
	if f.inFolder {
		doc = "*folder* " + doc
	}
	return fmt.Sprintf("| `%s` | %s | %s |\n", f.Key, value, doc)
}
