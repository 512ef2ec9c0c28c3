package web

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// wikiScheme begins the destination of a wiki link until the resolver has found its note.
const wikiScheme = "kioku-wiki:"

// wikiLinkParser reads [[note]], [[note#heading]], [[note|text]] and ![[note]] as links to wikiScheme and the note.
type wikiLinkParser struct{}

// Trigger returns the characters with which a wiki link may begin.
func (wikiLinkParser) Trigger() []byte { return []byte{'[', '!'} }

// Parse returns the link at the start of the line, nil if there is none.
func (wikiLinkParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, segment := block.PeekLine()
	src := string(line)
	opening := len(src) - len(strings.TrimPrefix(strings.TrimPrefix(src, "!"), "[["))
	if opening < 2 {
		return nil
	}
	// Targets are short; a bound keeps a line of many [[ linear.
	end := strings.Index(src[opening:min(len(src), opening+1024)], "]]")
	inner := ""
	if end > 0 {
		inner = src[opening : opening+end]
	}
	target, shown, named := strings.Cut(inner, "|")
	if target = strings.TrimSpace(target); target == "" || strings.ContainsAny(inner, "\n[]") {
		return nil
	}
	if !named || strings.TrimSpace(shown) == "" {
		shown = target
	}
	link := ast.NewLink()
	link.Destination = []byte(wikiScheme + target)
	at := segment.Start + opening + strings.LastIndex(inner, shown)
	link.AppendChild(link, ast.NewTextSegment(text.NewSegment(at, at+len(shown))))
	block.Advance(opening + end + 2)
	return link
}
