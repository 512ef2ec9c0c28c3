package config

import (
	"fmt"
	"strings"
)

// Markdown returns the documentation of all settings, docs/settings.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString(`# Settings

A setting comes from a flag (` + "`--set query.maxResults=10`" + `), else from its environment variable, else from the file of the
workspace (` + "`.kioku.yaml`, see [folders.md](folders.md)" + `), else from the config file (` + "`~/.config/kioku/config.yaml`, `--config`," + `
` + "`KIOKU_CONFIG`" + `), else it has its default. The file of a workspace may contain the settings marked *folder*. In a file a dot begins
a block: ` + "`query: {maxResults: 10}`" + `. A list is separated by commas in a flag or variable. ` + "`kioku config list`" + ` shows the values in
use and where each comes from; ` + "`kioku config set`" + ` and ` + "`unset`" + ` edit the config file, with ` + "`--folder`" + ` that of the workspace. This
page is made by ` + "`kioku config list --markdown`" + `.
`)
	group := ""
	for _, f := range Fields() {
		if f.Group != group {
			group = f.Group
			fmt.Fprintf(&b, "\n## %s\n\n| setting | default | variable | meaning |\n|---|---|---|---|\n", group)
		}
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
		fmt.Fprintf(&b, "| `%s` | %s | `%s` | %s |\n", f.Key, value, f.Env(), doc)
	}
	return b.String()
}
