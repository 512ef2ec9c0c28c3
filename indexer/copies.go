package indexer

import (
	"fmt"
	"os"
	"path"
	"strings"

	"kioku/internal/text"
)

// copyNames match the names, without extension, of copies that programs put beside a file if two versions of it are in conflict. The first
// group is the name of the file.
var copyNames = []*text.Regexp{
	text.NewRegexp(`^(.+)\.sync-conflict-\d{8}-\d{6}(?:-\w+)?$`),                                       // Syncthing
	text.NewRegexp(`(?i)^(.+)[._ -]conflict(?:ed)?[_ -](?:copy[_ -])?(?:[^\d]*[_ -])?\d{6,}[\d._-]*$`), // ownCloud
	text.NewRegexp(`(?i)^(.+)[_-]conflict-[^-]+-\d{4}-\d\d-\d\d$`),
	text.NewRegexp(`^(.+)\.Conflict\d*$`),                                                                                           // Resilio Sync
	text.NewRegexp(`^(.+?)_[^_]+(?:_[^_]+)?_[A-Z][a-z]{2}-\d\d-\d+-\d{4}_\w*Conflict$`),                                             // Synology Drive
	text.NewRegexp(`^(.+)_conf\(\d+\)$`),                                                                                            // Google Drive
	text.NewRegexp(`^(.+)-(?:DESKTOP-[A-Z0-9]{0,6}\d[A-Z0-9]{0,6}|LAPTOP-[A-Z0-9]{0,7}\d[A-Z0-9]{0,7}|WIN-[A-Z0-9]{11})(?:-\d+)?$`), // OneDrive
	text.NewRegexp(`^(.+)\.dup\d*$`),                                                                                                // Remotely Save
	text.NewRegexp(`^(.+)_(?:BACKUP|BASE|LOCAL|REMOTE)_\d{2,3}(?:\d{2,4})?$`),                                                       // git mergetool
	text.NewRegexp(`^(.+)~(?:HEAD|ours|theirs)$`),                                                                                   // git merge
}

// bracketed matches a name with something in brackets at its end, as Dropbox, Nextcloud, Obsidian Sync, Seafile and others name their
// copies, each in the language of its user.
var bracketed = text.NewRegexp(`^(.+?) ?[(（\[]([^()（）\[\]]+)[)）\]]$`)

var (
	conflictWord = text.NewRegexp(`(?i)confli[ck]?t|konflikt|конфл[иі]кт|冲突|衝突|競合|충돌|çakış`)
	// copyWord matches what the brackets of a copy have beside the word: a time, a number, or the word "copy".
	copyWord = text.NewRegexp(`(?i)\d{4}\D\d|\d{6}|cop(?:y|ie|ia)|cópia|kopi|kopya|коп[иі]|副本|コピー|사본|복사`)
	// plainConflict matches brackets that need nothing else.
	plainConflict = text.NewRegexp(`(?i)^\[conflict(?:ed)?\]$|(?:case|unicode encoding|white ?space|selective sync) conflict`)
)

// originalOf returns the name of the file of which one with this name is a copy that a program made of a conflict; "" if it is none.
func originalOf(name string) string {
	ext := text.MarkdownExtension(name)
	stem := strings.TrimSuffix(name, ext)
	for _, pattern := range copyNames {
		if m := pattern.FindStringSubmatch(stem); m != nil {
			return m[1] + ext
		}
	}
	m := bracketed.FindStringSubmatch(stem)
	if m == nil || !conflictWord.MatchString(m[2]) || !copyWord.MatchString(m[2]) && !plainConflict.MatchString(strings.TrimSpace(stem[len(m[1]):])) {
		return ""
	}
	return m[1] + ext
}

// copyReason says that a file in dir is a copy of another one that is there too; "" if it is none. The only copy of a note is a note.
func copyReason(dir *os.Root, name string) string {
	original := originalOf(name)
	for original != "" && originalOf(original) != "" { // a copy of a copy
		original = originalOf(original)
	}
	if original == "" {
		return ""
	}
	if info, err := dir.Lstat(original); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return fmt.Sprintf("a copy of %s that was made in a conflict; put what it has into that file and delete it", original)
}

// isBackup reports whether a folder contains the versions of notes that Logseq keeps.
func isBackup(rel string) bool {
	parent, name := path.Split(rel)
	return path.Base(parent) == "logseq" && (name == "bak" || name == "version-files")
}
