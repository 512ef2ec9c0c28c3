package note

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"kioku/memory"
)

// Parts of the origin in a marker.
const (
	channelMark = " channel="
	authorMark  = " author="
	// ownerMark precedes the id of an owner, and unknownMark stands for an author who is not known.
	ownerMark   = "owner:"
	unknownMark = "?"
	// maxMarkChars is the maximum number of characters of a channel, an id or a name in a marker.
	maxMarkChars = 120
)

// originMark returns what a marker says of an origin: " channel=discord:general author=u1/Ana,owner:u2/Mia"; empty for none.
func originMark(o *memory.Origin) string {
	if o == nil {
		return ""
	}
	mark := ""
	if channel := escapeMark(o.Channel, ""); channel != "" {
		mark = channelMark + channel
	}
	var authors []string
	for _, a := range o.Authors {
		authors = append(authors, authorText(a))
	}
	if len(authors) == 0 {
		authors = []string{unknownMark}
	}
	return mark + authorMark + strings.Join(authors, ",")
}

// authorText returns an author as a marker has it: "id/name", "id" or "/name".
func authorText(a memory.Author) string {
	text := escapeMark(a.ID, ",/:")
	if name := escapeMark(a.Name, ",/:"); name != "" {
		text += "/" + name
	}
	switch {
	case a.IsOwner:
		return ownerMark + text
	case text == "":
		return unknownMark
	}
	return text
}

// escapeMark returns a value as it stands in a marker: without the characters of others, blank space, invisible characters and
// whatever could end an HTML comment, which are written as %20.
func escapeMark(s, others string) string {
	var b strings.Builder
	n, before := 0, rune(0)
	for _, r := range strings.ToValidUTF8(s, "") {
		if n++; n > maxMarkChars {
			break
		}
		safe := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r) || strings.ContainsRune("._~:/@+#&-", r)
		if !safe || strings.ContainsRune(others, r) || r == '-' && before == '-' {
			for _, c := range utf8.AppendRune(nil, r) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		} else {
			b.WriteRune(r)
		}
		before = r
	}
	return b.String()
}

// unescapeMark is the inverse of escapeMark. What somebody has edited so that it cannot be read comes back as it is.
func unescapeMark(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return strings.ToValidUTF8(plain, "")
	}
	return s
}

// originOf returns the origin in a marker, nil if it names none.
func originOf(marker string) *memory.Origin {
	o := memory.Origin{Channel: unescapeMark(markValue(marker, channelMark))}
	if list := markValue(marker, authorMark); list != "" {
		for text := range strings.SplitSeq(list, ",") {
			o.Add(readAuthor(text))
		}
	}
	if o.Channel == "" && len(o.Authors) == 0 {
		return nil
	}
	return &o
}

// readAuthor is the inverse of authorText.
func readAuthor(text string) memory.Author {
	if text == unknownMark {
		return memory.Author{}
	}
	text, owner := strings.CutPrefix(text, ownerMark)
	id, name, _ := strings.Cut(text, "/")
	return memory.Author{ID: unescapeMark(id), Name: unescapeMark(name), IsOwner: owner}
}

// markValue returns the value behind a key of a marker, empty if the marker lacks it.
func markValue(marker, key string) string {
	_, after, _ := strings.Cut(marker, key)
	value, _, _ := strings.Cut(after, " ")
	return value
}
