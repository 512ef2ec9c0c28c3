package vectors

import (
	"crypto/sha256"
	"strings"

	"kioku/chunker"
)

// Hash is the SHA-256 of a text.
type Hash = [sha256.Size]byte

// Kind is what a text is embedded as.
type Kind string

// Kinds of vectors.
const (
	// Document is the text of a chunk with the names of its file.
	Document Kind = "document"
	// Window is a paragraph, an item or a row of a chunk.
	Window Kind = "window"
)

// Key is the key of a vector within a space.
type Key struct {
	// Kind of the text.
	Kind Kind
	// Hash of the text.
	Hash Hash
}

// Text is the text of a chunk that wants a vector.
type Text struct {
	// Hash is the key of the document.
	Hash Hash
	// Text is what is embedded as a document: the names of the file and the text of the chunk.
	Text string
	// Body is the text of the chunk, whose windows are embedded too.
	Body string
	// At is the place of the chunk in the backlog.
	At Place
}

// Place is a place in the backlog of an index, which lists newer files first. The zero value is its beginning.
type Place struct {
	// ModTime is the modification time of the file, File its id, and Chunk that of the chunk.
	ModTime, File, Chunk int64
}

// Span is a window of a chunk.
type Span struct {
	// From and To are its first and last line, counted from 0 in the chunk.
	From, To int
	// Hash is its key.
	Hash Hash
}

// Layout are the windows of a chunk, in their order.
type Layout []Span

// part is a text that is sent to a provider.
type part struct {
	key  Key
	text string
}

// partsOf returns the windows of a text and everything that is embedded of it, the document first.
func partsOf(t Text) (Layout, []part) {
	windows := chunker.Windows(t.Body)
	layout := make(Layout, len(windows))
	parts := make([]part, 1, len(windows)+1)
	parts[0] = part{Key{Document, t.Hash}, strings.TrimSpace(t.Text)}
	for i, w := range windows {
		text := w.Text
		if w.Above != "" {
			text = w.Above + "\n" + w.Text
		}
		layout[i] = Span{w.From, w.To, sha256.Sum256([]byte(text))}
		parts = append(parts, part{Key{Window, layout[i].Hash}, text})
	}
	return layout, parts
}

// LayoutOf returns the windows of the text of a chunk.
func LayoutOf(body string) Layout {
	layout, _ := partsOf(Text{Body: body})
	return layout
}

// Hashes returns the keys of the windows.
func (l Layout) Hashes() []Hash {
	hashes := make([]Hash, len(l))
	for i, s := range l {
		hashes[i] = s.Hash
	}
	return hashes
}
