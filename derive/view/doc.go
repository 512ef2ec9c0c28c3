// Package view renders what is derived as Markdown for people, and writes it into a folder of the workspace.
//
// Views are never a source: their front matter says "kioku: derived", so that nothing is derived from them or from copies of them.
// The front matter also has a checksum of the path and the text. A view whose checksum is right is as Kioku wrote it and may be
// replaced or removed; any other file is somebody's own and is left alone.
package view
