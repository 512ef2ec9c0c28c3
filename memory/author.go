package memory

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Author is who said something.
type Author struct {
	// ID identifies the author in a channel, such as the number in a messenger; may be empty.
	ID string `json:"id,omitempty"`
	// Name of the author for people; may be empty.
	Name string `json:"name,omitempty"`
	// IsOwner reports that the author is the person whose memory it is.
	IsOwner bool `json:"isOwner,omitempty"`
}

// Lengths of what is shown and recorded of an author and a channel, in characters.
const (
	maxAuthorChars  = 60
	maxChannelChars = 120
)

// ownerTag follows the name of the owner. No name contains brackets, so no other name can end like it.
const ownerTag = " (owner)"

// unknownAuthor stands for an author without a name and an id.
const unknownAuthor = "unknown"

// Label returns the name of the author, else the id, else "unknown": one line without brackets and invisible characters, at most 60
// characters. The label of the owner ends with " (owner)", which no other label does.
func (a Author) Label() string {
	label := a.name()
	switch {
	case a.IsOwner && label == "":
		return "user" + ownerTag
	case a.IsOwner:
		return label + ownerTag
	case label == "":
		return unknownAuthor
	}
	return label
}

// name returns the name of the author, else the id; empty if neither says anything.
func (a Author) name() string {
	if name := plainName(a.Name); name != "" {
		return name
	}
	return plainName(a.ID)
}

// plainName returns a name as one line of at most 60 characters; see plainLine.
func plainName(s string) string { return plainLine(s, maxAuthorChars) }

// plainLine returns a text as one line of at most n characters, without brackets of any script and without invisible characters.
func plainLine(s string, n int) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(s, "") {
		switch {
		case unicode.IsSpace(r), unicode.In(r, unicode.Zl, unicode.Zp, unicode.Cc):
			b.WriteByte(' ')
		case unicode.In(r, unicode.Ps, unicode.Pe, unicode.Cf, unicode.Co, unicode.Cs), r == '<', r == '>', blank(r):
		default:
			b.WriteRune(r)
		}
	}
	return head(strings.Join(strings.Fields(b.String()), " "), n)
}

// blank reports whether a character looks like blank space and is a letter or a mark all the same.
func blank(r rune) bool {
	return r == '\u034f' || r == '\u115f' || r == '\u1160' || r == '\u3164' || r == '\uffa0' || r >= 0xE0000 && r <= 0xE0FFF
}

// head returns the first n characters of s.
func head(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:n]))
}

// Said says who has said something, and where. The zero value is the owner of the memory, in private.
type Said struct {
	// Author of the words; nil if it is not known. In private that is the owner, and in a group nobody knows who.
	Author *Author `json:"author,omitempty"`
	// Channel of the conversation, such as "terminal" or "discord:general"; may be empty.
	Channel string `json:"channel,omitempty"`
	// Group reports that more than one person is in the conversation.
	Group bool `json:"group,omitempty"`
}

// ByOwner reports whether the owner has said it. In a group that is so only if the author is known to be the owner.
func (s Said) ByOwner() bool {
	if s.Author == nil {
		return !s.Group
	}
	return s.Author.IsOwner
}

// lineEnds replaces whatever a reader may take for the end of a line.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// Shown returns a text as a model is shown it. In a group, and if anyone but the owner has said it, it begins with the name of its
// author, "[Ana] ", and its further lines are indented. So no text can pass for the words of somebody else. What the owner has said
// in private comes back as it is.
func (s Said) Shown(text string) string {
	label := s.Label()
	if label == "" {
		return text
	}
	return label + strings.ReplaceAll(lineEnds.Replace(text), "\n", "\n  ")
}

// Label returns what a text begins with that a model is shown, such as "[Ana] "; empty for what the owner has said in private.
func (s Said) Label() string {
	switch {
	case !s.Group && s.ByOwner():
		return ""
	case s.Author == nil:
		return "[" + unknownAuthor + "] "
	}
	return "[" + s.Author.Label() + "] "
}

// Origin returns what a note records of words that this is said of: nil if it is the owner in private.
func (s Said) Origin() *Origin {
	if !s.Group && s.ByOwner() {
		return nil
	}
	o := &Origin{Channel: s.Channel, Authors: []Author{{}}}
	if s.Author != nil {
		o.Authors[0] = *s.Author
	}
	return o
}

// Origin says whose words a note was made of, if not only those of the owner in private.
type Origin struct {
	// Channel of the conversation; empty if it is not known.
	Channel string `json:"channel,omitempty"`
	// Authors of the words; the zero Author stands for those who are not known.
	Authors []Author `json:"authors,omitempty"`
}

// maxAuthors is the maximum number of authors that a note records. The zero Author stands for further ones.
const maxAuthors = 4

// ByOwner reports whether only the owner has contributed. It is true of a nil origin.
func (o *Origin) ByOwner() bool {
	if o == nil {
		return true
	}
	for _, a := range o.Authors {
		if !a.IsOwner {
			return false
		}
	}
	return len(o.Authors) > 0
}

// Add adds an author, unless it is there. From the fifth on, a zero Author stands for the fourth and all that follow.
func (o *Origin) Add(a Author) {
	for i, have := range o.Authors {
		if have.ID == a.ID && have.IsOwner == a.IsOwner && (a.ID != "" || have.Name == a.Name) {
			if have.Name == "" {
				o.Authors[i].Name = a.Name
			}
			return
		}
	}
	if len(o.Authors) < maxAuthors {
		o.Authors = append(o.Authors, a)
		return
	}
	o.Authors[maxAuthors-1] = Author{}
}

// String returns the origin in words: "Ana (not the owner) in discord:general". It is empty for a nil origin.
func (o *Origin) String() string {
	if o == nil {
		return ""
	}
	var who []string
	for _, a := range o.Authors {
		switch name := a.name(); {
		case a.IsOwner && name == "":
			who = append(who, "the owner")
		case a.IsOwner:
			who = append(who, name+" (the owner)")
		case name == "":
			who = append(who, "people who are not known")
		default:
			who = append(who, name+" (not the owner)")
		}
	}
	if len(who) == 0 {
		who = []string{"people who are not known"}
	}
	text := strings.Join(who, ", ")
	if channel := plainLine(o.Channel, maxChannelChars); channel != "" {
		text += " in " + channel
	}
	return text
}

// LineOrigin is the origin of lines of a file, from the first to the last one.
type LineOrigin struct {
	// From and To are the lines.
	From, To int
	// Origin of the lines.
	Origin *Origin
}

// JoinOrigins returns the origins of all lines between two together, nil if there are none.
func JoinOrigins(lines []LineOrigin, from, to int) *Origin {
	var all *Origin
	for _, n := range lines {
		switch {
		case n.To < from || n.From > to:
		case all == nil:
			all = &Origin{Channel: n.Origin.Channel, Authors: slices.Clone(n.Origin.Authors)}
		default:
			if n.Origin.Channel != all.Channel {
				all.Channel = "" // several
			}
			for _, a := range n.Origin.Authors {
				all.Add(a)
			}
		}
	}
	return all
}
