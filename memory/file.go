package memory

import "time"

// FileQuery asks for files of the index. The zero value asks for the first files of all.
type FileQuery struct {
	// Glob selects files by their path or that of a folder above them. "**" stands for any folders, also none, and {a,b} for
	// either; the rest is as in path.Match. A glob without "/" selects names in any folder. Empty means all.
	Glob string
	// Filter restricts the files; the zero value does not. Since and Until are compared with the date of the file.
	Filter Filter
	// After is the path behind which the list continues, empty for the start.
	After string
	// Limit is the maximum number of files, at most 10,000; 0 means 1,000.
	Limit int
	// Skipped includes the files that are not indexed, which have no fields.
	Skipped bool
}

// FileList is a part of the files of an index.
type FileList struct {
	// Files in the order of their paths; none if none is selected.
	Files []File
	// Total is the number of all files that the query selects.
	Total int
	// Next is the path to continue after, empty at the end.
	Next string
}

// File is a file of the index.
type File struct {
	// Path relative to the workspace, with slashes.
	Path string
	// Source of the file, one of the constants Source....
	Source string
	// Title of the file: of its front matter, else a heading, else its name; empty for a file that is only named for a day.
	Title string
	// Date (YYYY-MM-DD) of the file, empty if it has none.
	Date string
	// Tags of the front matter and the text, without #; none if it has none.
	Tags []string
	// Aliases of the front matter; none if it has none.
	Aliases []string
	// Chunks of the file in the index.
	Chunks int
	// Size in bytes.
	Size int64
	// ModTime is the modification time; zero if it is not known.
	ModTime time.Time
	// Skipped is why the file is not indexed, empty if it is.
	Skipped string
}

// Links are the links between a file and others.
type Links struct {
	// Path of the file.
	Path string
	// Out are the links of the file, in the order of its lines; none if it has none.
	Out []Link
	// In are the links of other files to the file, by path and line; none if there are none.
	In []Link
}

// Link is a link from one file to another.
type Link struct {
	// From is the path of the file that contains the link.
	From string
	// Line of the link, from 1.
	Line int
	// Text is the text that is shown.
	Text string
	// Target is what the link names: a path relative to the workspace, or a name.
	Target string
	// To is the path of the file that the target is now; empty if there is none.
	To string
	// Kind is "wiki" ([[Note]]), "embed" (![[Note]]) or "path" ([text](note.md)).
	Kind string
}
