package note

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"kioku/internal/text"
	"kioku/memory"
)

const (
	// groupsFolder contains a folder for each group whose notes are kept apart.
	groupsFolder = notesFolder + "/groups"
	// maxFolderBytes is the maximum length of the readable part of the name of such a folder.
	maxFolderBytes = 80
)

// dayFolder returns the folder of the daily file that a note goes to.
func dayFolder(n memory.Note) string {
	if n.Target == memory.TargetGroup {
		return path.Join(groupsFolder, channelFolder(n.Origin.Channel))
	}
	return notesFolder
}

// channelFolder returns the name of the folder of a channel: its letters and digits in lower case, with hyphens for everything else,
// and a fingerprint of the channel. So any channel has a name that is safe in any file system, and no two have the same.
func channelFolder(channel string) string {
	var b strings.Builder
	for _, r := range norm.NFC.String(strings.ToLower(strings.ToValidUTF8(channel, ""))) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r) {
			b.WriteRune(r)
		} else {
			b.WriteByte(' ')
		}
	}
	name := text.HeadBytes(strings.Join(strings.Fields(b.String()), "-"), maxFolderBytes)
	sum := sha256.Sum256([]byte(channel))
	return strings.TrimLeft(strings.TrimRight(name, "-")+"-"+hex.EncodeToString(sum[:6]), "-")
}
