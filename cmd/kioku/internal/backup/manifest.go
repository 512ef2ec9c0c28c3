package backup

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"kioku"
	"kioku/chunker"
	"kioku/cmd/kioku/config"
	"kioku/internal/text"
	"kioku/note/forgotten"
)

const (
	// format and version of the manifests that this program writes. Version 1 listed the other entries with their checksums.
	format  = "kioku-backup"
	version = 2

	// embeddingsName and derivedName are the entries of the embeddings and of what is derived, and manifestName the last entry. Backups of
	// earlier versions have the index too, which is not read: it is made again from the notes.
	indexName      = "index.sqlite"
	embeddingsName = "embeddings.sqlite"
	derivedName    = "derived.sqlite"
	manifestName   = "manifest.json"
	// notesFolder and agentFolder contain the notes, and the files of the agent in the state folder.
	notesFolder = "notes/"
	agentFolder = "agent/"

	// maxManifest is the maximum size of a manifest in bytes, and maxEntries the maximum number of entries.
	maxManifest = 128 << 20
	maxEntries  = 500_000
)

// databaseNames are the entries of databases.
var databaseNames = []string{embeddingsName, derivedName}

// ErrUnsafe reports an archive that kioku did not write: it would write outside of its folder or other files than notes, has links or
// devices, or is much larger than a backup may be.
var ErrUnsafe = errors.New("it is no backup of kioku, and is not unpacked")

// Manifest describes a backup. It is the last entry of the archive.
type Manifest struct {
	// Format is "kioku-backup".
	Format string `json:"format"`
	// Version of the format.
	Version int `json:"version"`
	// Kioku is the version of the program that wrote the backup.
	Kioku string `json:"kioku"`
	// Agent is the id of the agent.
	Agent string `json:"agent"`
	// Workspace is its folder of notes.
	Workspace string `json:"workspace"`
	// Time is when it was written.
	Time time.Time `json:"time"`
	// LeftOut are the paths of indexed files that the backup does not contain, because they are outside of the workspace, or could
	// not be read.
	LeftOut []string `json:"leftOut,omitempty"`

	// entries are the others of the archive.
	entries []*tar.Header
}

// Notes returns the number of notes.
func (m *Manifest) Notes() int { return len(m.below(notesFolder)) }

// AgentFiles returns the number of files of sessions and flushes.
func (m *Manifest) AgentFiles() int { return len(m.below(agentFolder)) }

// Bytes returns the sum of all sizes.
func (m *Manifest) Bytes() (n int64) {
	for _, h := range m.entries {
		n += h.Size
	}
	return n
}

// below returns the entries of a folder.
func (m *Manifest) below(folder string) []*tar.Header {
	return slices.DeleteFunc(slices.Clone(m.entries), func(h *tar.Header) bool { return !strings.HasPrefix(h.Name, folder) })
}

// parseManifest reads a manifest and checks it.
func parseManifest(data []byte) (*Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil || m.Format != format || m.Version <= version && kioku.CheckAgent(m.Agent) != nil {
		return nil, fmt.Errorf("%w: its manifest cannot be read", ErrUnsafe)
	}
	if m.Version > version {
		return nil, fmt.Errorf("the backup has version %d and this program reads version %d; update kioku", m.Version, version)
	}
	return &m, nil
}

// checkName returns an error for the name of an entry that a backup does not have. Only what is indexed is a note, so that no archive
// brings programs, or settings of other programs, into a workspace.
func checkName(name string) error {
	note, isNote := strings.CutPrefix(name, notesFolder)
	known := name == indexName || slices.Contains(databaseNames, name) || strings.HasPrefix(name, agentFolder) || isNote && (note == config.FolderFile || note == forgotten.File || isNoteName(note))
	if !known || !utf8.ValidString(name) || !filepath.IsLocal(filepath.FromSlash(name)) || filepath.ToSlash(filepath.Clean(name)) != name ||
		strings.Contains(name, "\x00") || filepath.Separator != '/' && strings.ContainsRune(name, filepath.Separator) {
		return fmt.Errorf("%w: its entry %q has no place in a backup", ErrUnsafe, name)
	}
	return nil
}

// isNoteName reports whether a path names a Markdown file or a daily log that is not hidden and in no hidden folder.
func isNoteName(path string) bool {
	known := text.MarkdownExtension(path) != "" || chunker.KindOf(path) == chunker.DailyLog
	return known && !strings.HasPrefix(path, ".") && !strings.Contains(path, "/.")
}
