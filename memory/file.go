package memory

import "time"

// FileQuery asks for files of the index. The zero value asks for the first files of all.
type FileQuery struct {
	// Glob selects files by their path or that of a folder above them. "**" stands for any folders, also none, and {a,b} for
	// either; the rest is as in path.Match. A glob without "/" selects names in any folder. Empty means all.
	Glob string `json:"glob,omitempty"`
	// Filter restricts the files; the zero value does not. Since and Until are compared with the date of the file.
	Filter
	// After is the path behind which the list continues, empty for the start.
	After string `json:"page_token,omitempty"`
	// Limit is the maximum number of files, at most 10,000; 0 means 1,000.
	Limit int `json:"page_size,omitempty"`
	// Skipped includes the files that are not indexed, which have no fields.
	Skipped bool `json:"include_skipped,omitempty"`
}

// FileList is a part of the files of an index.
type FileList struct {
	// Files in the order of their paths; none if none is selected.
	Files []File `json:"files"`
	// Total is the number of all files that the query selects.
	Total int `json:"total"`
	// Next is the path to continue after, empty at the end.
	Next string `json:"next_page_token,omitempty"`
}

// File is a file of the index.
type File struct {
	// Path relative to the workspace, with slashes.
	Path string `json:"path"`
	// Source of the file, one of the constants Source....
	Source string `json:"source"`
	// Title of the file: of its front matter, else a heading, else its name; empty for a file that is only named for a day.
	Title string `json:"title"`
	// Date (YYYY-MM-DD) of the file, empty if it has none.
	Date string `json:"date"`
	// Tags of the front matter and the text, without #; none if it has none.
	Tags []string `json:"tags,omitempty"`
	// Aliases of the front matter; none if it has none.
	Aliases []string `json:"aliases,omitempty"`
	// Chunks of the file in the index.
	Chunks int `json:"chunks"`
	// Size in bytes.
	Size int64 `json:"size_bytes"`
	// ModTime is the modification time; zero if it is not known.
	ModTime time.Time `json:"modification_time,omitzero"`
	// Skipped is why the file is not indexed, empty if it is.
	Skipped string `json:"skipped"`
}

// Links are the links between a file and others.
type Links struct {
	// Path of the file.
	Path string `json:"path"`
	// Out are the links of the file, in the order of its lines; none if it has none.
	Out []Link `json:"outgoing"`
	// In are the links of other files to the file, by path and line; none if there are none.
	In []Link `json:"incoming"`
}

// Link is a link from one file to another.
type Link struct {
	// From is the path of the file that contains the link.
	From string `json:"from"`
	// Line of the link, from 1.
	Line int `json:"line"`
	// Text is the text that is shown.
	Text string `json:"text"`
	// Target is what the link names: a path relative to the workspace, or a name.
	Target string `json:"target"`
	// To is the path of the file that the target is now; empty if there is none.
	To string `json:"to"`
	// Kind is "wiki" ([[Note]]), "embed" (![[Note]]) or "path" ([text](note.md)).
	Kind string `json:"kind"`
}
