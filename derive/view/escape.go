package view

import (
	"cmp"
	"regexp"
	"strings"
	"unicode"

	"kioku/derive/vocab"
	"kioku/internal/text"
)

// special are the characters that mean something in Markdown.
const special = "\\`*_[]<>#|&~$"

// escape returns a text as one line of Markdown that shows it as it is.
func escape(s string) string {
	s = text.OneLine(text.Clean(s))
	if !strings.ContainsAny(s, special) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune(special, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// maxNameBytes bounds the name of a file, without what makes it unique and its ending.
const maxNameBytes = 120

// device matches a name that Windows does not allow for files, with any ending.
var device = regexp.MustCompile(`(?i)^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt).)\s*(?:\.|$)`)

// fileName returns a name for a file, without its ending, that all systems and links in Markdown allow and that shows a name as well as it can. It is empty
// if nothing of the name can be in one.
func fileName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(`<>:"/\|?*#[]^`, r):
			return '-'
		case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, text.OneLine(text.Clean(name)))
	name = strings.Trim(text.HeadBytes(name, maxNameBytes), " .-~")
	return device.ReplaceAllString(name, "_$0")
}

// fileNames returns the names of the files of things by their UIDs. Names that some system takes for the same one, and those of
// which nothing is left, have the beginning of the UID at their end.
func fileNames(names map[string]string) map[string]string {
	same := map[string][]string{}
	files := map[string]string{}
	for uid, name := range names {
		files[uid] = fileName(name)
		key := cmp.Or(vocab.Norm(files[uid]), strings.ToLower(files[uid]))
		same[key] = append(same[key], uid)
	}
	for _, uids := range same {
		for _, uid := range uids {
			if len(uids) > 1 || files[uid] == "" {
				files[uid] = strings.TrimLeft(files[uid]+"-"+uid[:min(len(uid), 8)], "-")
			}
		}
	}
	return files
}
