package text

import (
	"path"
	"slices"
	"strings"
)

// markdownExtensions are those of Markdown files, in lower case.
var markdownExtensions = []string{".md", ".markdown", ".mdown", ".mdwn", ".mkd", ".mkdn", ".mkdown"}

// MarkdownExtension returns the extension of a Markdown file as its name has it, ".md" or ".MD"; "" for other names.
func MarkdownExtension(name string) string {
	ext := path.Ext(name)
	if slices.Contains(markdownExtensions, strings.ToLower(ext)) {
		return ext
	}
	return ""
}

// WithoutMarkdown returns a name without the extension of a Markdown file.
func WithoutMarkdown(name string) string { return strings.TrimSuffix(name, MarkdownExtension(name)) }
