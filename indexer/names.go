package indexer

import (
	"cmp"
	"crypto/sha256"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"kioku/chunker"
	"kioku/internal/text"
	"kioku/memory"
)

// maxNames bounds File.Names and File.Folders in bytes, which count for each chunk of the file.
const maxNames = 1 << 10

// maxHeading bounds in bytes what is read of a heading.
const maxHeading = 4 << 10

// EmbeddedText returns the text of which a chunk gets its vector: the names of its file, if it has any, and its own text. The
// hash of this text is the key of the vector.
func EmbeddedText(names, text string) string {
	if names == "" {
		return text
	}
	return strings.ReplaceAll(names, "\n", ", ") + "\n\n" + text
}

// EmbeddedHash returns the hash of [EmbeddedText].
func EmbeddedHash(names, text string) Hash { return sha256.Sum256([]byte(EmbeddedText(names, text))) }

// describe fills in what a file is called.
func (f *File) describe(doc chunker.Document, found foundFile) {
	order := found.dayOrder()
	f.Meta, f.Tags, f.Links = doc.Meta, doc.Tags, doc.Links
	for i := range f.Links {
		f.Links[i].Target = linkPath(f.Path, f.Links[i])
	}
	f.Remark = cmp.Or(f.Remark, doc.Meta.Slip)
	f.Date = doc.Meta.Date
	if f.Date == "" {
		f.Date, _, _ = dayOfPath(f.Path, order)
	}
	name, heading := nameOf(f.Path, order), text.HeadBytes(plainWords(doc.Heading), maxNames)
	switch {
	case doc.Meta.Title != "":
		f.Title = doc.Meta.Title
	case heading != "" && !isOnlyDay(heading):
		f.Title = heading
	default:
		f.Title = name
	}
	if memory.IsTranscript(f.Source) || chunker.KindOf(f.Path) != chunker.Notes {
		return
	}
	f.Names = namesOf(f, name)
	if f.Names != "" {
		f.Folders = foldersOf(found.rel)
	}
}

// namesOf returns the lines of File.Names. A file that is only named for a day has none, unless its front matter gives it some.
func namesOf(f *File, name string) string {
	list := []string{name, f.Meta.Title}
	if name != "" {
		list = append(list, f.Title)
	}
	list = append(list, f.Meta.Aliases...)
	for _, tag := range f.Meta.Tags {
		list = append(list, "#"+tag)
	}
	return joinLines(list)
}

// foldersOf returns the lines of File.Folders: the words of the folders of a path, without the folder memory/ of a workspace.
func foldersOf(rel string) string {
	folders := strings.Split(path.Dir(rel), "/")
	if folders[0] == "memory" || folders[0] == "." {
		folders = folders[1:]
	}
	for i, folder := range folders {
		folders[i] = words(folder)
	}
	return joinLines(folders)
}

// joinLines joins names, each once whatever its case, up to maxNames.
func joinLines(names []string) string {
	var kept []string
	size := 0
	for _, name := range names {
		name = norm.NFC.String(text.OneLine(name))
		same := func(k string) bool { return strings.EqualFold(k, name) }
		if name == "" || size+len(name)+1 > maxNames || slices.ContainsFunc(kept, same) {
			continue
		}
		kept = append(kept, name)
		size += len(name) + 1
	}
	return strings.Join(kept, "\n")
}

// NameOf returns the words of the file name of a path, without its extension and its day: "git amend author" for
// git_amend-author.md. An index or readme has the name of its folder. NameOf returns "" for a name that is only a day, perhaps
// with a number.
func NameOf(p string) string { return nameOf(p, text.AnyOrder) }

// nameOf returns NameOf of a path if days such as 05-06-2026 have this order.
func nameOf(p string, order text.DayOrder) string {
	base := baseOf(p)
	switch strings.ToLower(strings.TrimLeft(base, "_")) {
	case "index", "readme":
		if folder := path.Base(path.Dir(p)); folder != "." && folder != "/" {
			p, base = folder, folder
		}
	}
	_, start, end := dayOfPath(p, order)
	if end == 0 {
		return words(base)
	}
	rest := words(base[:start] + " " + base[end:])
	if !strings.ContainsFunc(rest, unicode.IsLetter) {
		return ""
	}
	return strings.Trim(rest, "- ")
}

// baseOf returns the file name of a path without an extension, which has no digits.
func baseOf(p string) string {
	base := path.Base(p)
	if ext := path.Ext(base); !strings.ContainsAny(ext, " 0123456789") {
		return strings.TrimSuffix(base, ext)
	}
	return base
}

// Markup of headings that is not words: images, anchors, tags of HTML, emphasis; and links, of which the text stays.
var (
	otherMarkup = regexp.MustCompile("!\\[[^\\]]*\\]\\([^)]*\\)|\\{#[^}]*\\}$|</?(?:a|b|br|div|em|h1|i|img|p|picture|small|source|span|strong|sub|sup)(?:\\s[^>]*)?/?>|[*`]+")
	linkMarkup  = regexp.MustCompile(`\[\[(?:[^\]|]*\|)?([^\]|]*)\]\]|\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])`)
)

// plainWords returns the words of a heading without markup.
func plainWords(heading string) string {
	heading = otherMarkup.ReplaceAllString(text.HeadBytes(heading, maxHeading), "")
	return text.OneLine(linkMarkup.ReplaceAllString(heading, "$1$2"))
}

// isOnlyDay reports whether a heading is a day without any other word.
func isOnlyDay(heading string) bool {
	day, start, end := text.FindDay(heading)
	return day != "" && !strings.ContainsFunc(heading[:start]+heading[end:], unicode.IsLetter)
}

// words returns the words of a file name with spaces between them. Hyphens stay in a name that has spaces.
func words(name string) string {
	if !strings.Contains(strings.TrimSpace(name), " ") {
		name = strings.ReplaceAll(name, "-", " ")
	}
	return text.OneLine(norm.NFC.String(strings.ReplaceAll(name, "_", " ")))
}

// isTemplatePath reports whether a folder of a path is named for templates.
func isTemplatePath(p string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(p), "/"), func(folder string) bool {
		return slices.Contains([]string{"template", "templates"}, strings.ToLower(strings.Trim(folder, "_-. 0123456789")))
	})
}

// linkPath returns the target of a link as the index contains it: the words in the brackets for a name, else a path relative
// to the workspace. A path that begins with a slash keeps it.
func linkPath(from string, l chunker.Link) string {
	target := norm.NFC.String(l.Target)
	relative := strings.HasPrefix(target, "./") || strings.HasPrefix(target, "../")
	if l.Kind != chunker.PathLink && !relative || path.IsAbs(target) {
		return target
	}
	return path.Join(path.Dir(from), target)
}
