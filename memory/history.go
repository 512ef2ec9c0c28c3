package memory

import "time"

// Moment names a version of a folder, by a time or by a revision. The zero value is the last version.
type Moment struct {
	// Time means the last version that was made by then; zero if Revision is set.
	Time time.Time
	// Revision is the hash of a commit, or another name that git has for it.
	Revision string
}

// MarshalText returns the time or the revision.
func (m Moment) MarshalText() ([]byte, error) {
	if m.Time.IsZero() {
		return []byte(m.Revision), nil
	}
	return m.Time.MarshalText()
}

// UnmarshalText reads a time (RFC 3339), or else a revision.
func (m *Moment) UnmarshalText(text []byte) error {
	*m = Moment{}
	if m.Time.UnmarshalText(text) != nil {
		m.Time, m.Revision = time.Time{}, string(text)
	}
	return nil
}

// Histories of a folder.
const (
	// HistoryGit is the repository of git that the folder is in.
	HistoryGit = "git"
	// HistoryJournal is the repository that Kioku keeps in the state folder if the setting history.journal is on.
	HistoryJournal = "journal"
)

// FolderVersion is one state of a folder in its history.
type FolderVersion struct {
	// ID is the hash of a commit.
	ID string `json:"id,omitempty"`
	// Time at which the version was made: of a commit, when it was committed.
	Time time.Time `json:"time,omitzero"`
	// Author of the commit; empty for the journal.
	Author string `json:"author,omitempty"`
	// Subject is the first line of the message of the commit; empty for the journal.
	Subject string `json:"subject,omitempty"`
	// History is HistoryGit or HistoryJournal; empty for the folder as it is now.
	History string `json:"history,omitempty"`
}

// Short returns the id of a version for people: the first digits of the hash of a commit.
func (v FolderVersion) Short() string {
	const digits = 10
	return v.ID[:min(len(v.ID), digits)]
}

// What a version has done to a file.
const (
	// FileAdded: the file is new.
	FileAdded = "added"
	// FileChanged: the file has another text.
	FileChanged = "changed"
	// FileRemoved: the file is gone.
	FileRemoved = "removed"
	// FileRenamed: the file had another path before, and may have another text.
	FileRenamed = "renamed"
)

// FileChange is what a version has done to one file.
type FileChange struct {
	// FolderVersion that has changed the file.
	FolderVersion
	// Path of the file from then on; of a removed file, until then.
	Path string `json:"path"`
	// OldPath is the path before a rename; empty for other changes.
	OldPath string `json:"old_path,omitempty"`
	// Change is one of the constants FileAdded, FileChanged, FileRemoved and FileRenamed.
	Change string `json:"change"`
}

// LogQuery asks for changes of files.
type LogQuery struct {
	// Path of a file, whose renames are followed, or of a folder; empty means all files.
	Path string `json:"path,omitempty"`
	// Since and Until bound the times of the changes, inclusive; zero means no bound.
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
	// Limit is the maximum number of changes, at most 10,000; 0 means 100.
	Limit int `json:"limit,omitempty"`
}

// PastFile is a file as it was.
type PastFile struct {
	// Path that the file had then.
	Path string `json:"path"`
	// Version that the text is of.
	Version FolderVersion `json:"version"`
	// Text without Kioku's marks.
	Text string `json:"text"`
	// Truncated reports that the text is longer than an answer may be, and was cut.
	Truncated bool `json:"truncated,omitempty"`
}

// DiffQuery asks what two versions differ in.
type DiffQuery struct {
	// Path of a file or folder; empty means all files.
	Path string
	// From is the version before; the zero value is the last version.
	From Moment
	// To is the version after; nil means the folder as it is now.
	To *Moment
	// MaxSensitivity is the ceiling of the lines that are shown, if derivation is on; nil means Private.
	MaxSensitivity *Sensitivity
}

// Diff is what two versions of a folder differ in.
type Diff struct {
	// From and To are the versions; To has no id if it is the folder as it is now.
	From FolderVersion `json:"from"`
	To   FolderVersion `json:"to"`
	// Files that differ, by path; none if the versions are equal.
	Files []FileDiff `json:"files"`
	// More is the number of further files that differ.
	More int `json:"more,omitempty"`
}

// FileDiff is what two versions of a file differ in.
type FileDiff struct {
	// Path of the file, in the version after if it is in both.
	Path string `json:"path"`
	// Change is FileAdded, FileChanged or FileRemoved.
	Change string `json:"change"`
	// Added and Removed are numbers of lines.
	Added   int `json:"added"`
	Removed int `json:"removed"`
	// Text is the difference in the unified format, without the names of the files.
	Text string `json:"text"`
}

// PastAnswer is the answer of a search of a folder as it was.
type PastAnswer struct {
	Answer
	// Version that was searched.
	Version FolderVersion `json:"version"`
}

// UndoWrites says which notes and updates of an agent are taken back. A Session or Since is required.
type UndoWrites struct {
	// Session is the name of the conversation that they come from; empty means all.
	Session string `json:"session,omitempty"`
	// Since and Until bound the times at which they were written, inclusive; zero means no bound.
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
	// Sources are who has written them, constants NoteFrom...; none means agent, tool and flush.
	Sources []string `json:"sources,omitempty"`
	// DryRun only tells what would be taken back.
	DryRun bool `json:"dry_run,omitempty"`
}

// Kinds of a write.
const (
	// WroteNote: a note was appended.
	WroteNote = "note"
	// WroteUpdate: a text was updated.
	WroteUpdate = "update"
)

// Outcomes of a write that was to be taken back.
const (
	// WriteUndone: it was taken back, or would be.
	WriteUndone = "undone"
	// WriteEdited: it was changed since, and stays.
	WriteEdited = "edited"
	// WriteGone: it is not in the file any more.
	WriteGone = "gone"
)

// Write is a note or an update of an agent.
type Write struct {
	// Path of the file.
	Path string `json:"path"`
	// Line is its first line, from 1, as the file was before anything was taken back; 0 if it is gone.
	Line int `json:"line,omitempty"`
	// Time at which it was written.
	Time time.Time `json:"time"`
	// Source is who has written it, one of the constants NoteFrom....
	Source string `json:"source"`
	// Session is the name of the conversation; empty if it is not known.
	Session string `json:"session,omitempty"`
	// Kind is WroteNote or WroteUpdate.
	Kind string `json:"kind"`
	// Text is its beginning, without marks.
	Text string `json:"text"`
	// Outcome is one of the constants WriteUndone, WriteEdited and WriteGone.
	Outcome string `json:"outcome"`
}

// UndoneWrites says what was taken back.
type UndoneWrites struct {
	// Writes that were selected, the latest first.
	Writes []Write `json:"writes"`
	// Revisions of the files that were changed; Undo of one brings back what was removed.
	Revisions []string `json:"revisions"`
}

// Purged says what was removed of a history.
type Purged struct {
	// Versions is the number of versions of files that were removed from the journal.
	Versions int `json:"versions"`
	// Indexes is the number of indexes of the past that were removed.
	Indexes int `json:"indexes"`
	// Copies is the number of changes of notes that were removed, and that cannot be taken back any more.
	Copies int `json:"copies"`
}
