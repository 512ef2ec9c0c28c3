package web

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"kioku/chunker"
)

// heading is an entry of the outline of a note.
type heading struct {
	// Line of the note.
	Line int
	// Level from 1 to 6.
	Level int
	// Title without marks.
	Title string
}

// lineRange is a range of lines of a note, from 1 and inclusive; the zero value is no line.
type lineRange struct{ First, Last int }

// overlaps reports whether two ranges have a line in common.
func (r lineRange) overlaps(o lineRange) bool {
	return r.First > 0 && o.First > 0 && r.First <= o.Last && o.First <= r.Last
}

// rendered is a note, or a part of it, as HTML.
type rendered struct {
	// HTML is sanitised. Each block has the id "L" and its first line, and data-line "first-last".
	HTML template.HTML
	// Outline of the headings, in the order of their lines.
	Outline []heading
}

// markdown turns CommonMark, with tables, task lists, footnotes, bare URLs and wiki links, into HTML that is not sanitised.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.GFM, extension.Footnote),
	goldmark.WithParserOptions(parser.WithInlineParsers(util.Prioritized(wikiLinkParser{}, 150))),
	goldmark.WithRendererOptions(html.WithUnsafe(), renderer.WithNodeRenderers(util.Prioritized(codeRenderer{}, 100))),
)

// renderMarkdown renders lines of a note, of which the first has the number first. Blocks with lines in hit are marked. links tells
// where the links of the note lead to. Each entry is rendered by itself, so that it leaves nothing open. It returns an error for a text
// that nests too deep or would take too long.
func renderMarkdown(src string, first int, hit lineRange, links resolver) (rendered, error) {
	if err := checkMarks(src); err != nil {
		return rendered{}, err
	}
	var out rendered
	var docs []ast.Node
	entries := entriesOf(src)
	for _, entry := range entries {
		source := []byte(entry)
		doc := markdown.Parser().Parse(text.NewReader(source))
		m := blockMarker{source: source, starts: lineStarts(source), first: first, hit: hit}
		if err := ast.Walk(doc, m.mark); err != nil {
			return rendered{}, err
		}
		docs, out.Outline, first = append(docs, doc), append(out.Outline, m.outline...), first+strings.Count(entry, "\n")
	}
	links.headings = out.Outline
	for i, doc := range docs {
		var b bytes.Buffer
		if err := markdown.Renderer().Render(&b, []byte(entries[i]), doc); err != nil {
			return rendered{}, fmt.Errorf("render Markdown: %w", err)
		}
		safe, err := sanitize(b.String(), links)
		if err != nil {
			return rendered{}, err
		}
		out.HTML += safe
	}
	return out, nil
}

// maxMarks is the maximum number of characters of a paragraph that begin or end inline marks. The parser takes quadratic time for
// some of them.
const maxMarks = 4000

// tooDeep matches the start of a line with which more quotations and lists begin than blocks may be deep.
var tooDeep = regexp.MustCompile(fmt.Sprintf(`(?m)^(?:[ \t]*(?:>|[-+*]|\d{1,9}[.)])){%d}`, maxNesting+1))

// checkMarks returns why a text would take too long to render, nil if it would not.
func checkMarks(src string) error {
	if tooDeep.MatchString(src) {
		return fmt.Errorf("a line nests lists or quotations more than %d deep", maxNesting)
	}
	for paragraph := range strings.SplitSeq(src, "\n\n") {
		marks := 0
		for _, c := range []byte(paragraph) {
			if strings.IndexByte("[]()*_`<>!~", c) >= 0 {
				marks++
			}
		}
		if marks > maxMarks {
			return errors.New("a paragraph has too many marks to render")
		}
	}
	return nil
}

// entriesOf cuts a text before each entry.
func entriesOf(src string) []string {
	var entries []string
	start, end := 0, 0
	for _, line := range chunker.Lines(src, "", true) {
		if line.IsEntry() && end > start {
			entries, start = append(entries, src[start:end]), end
		}
		end += len(line.Text)
	}
	return append(entries, src[start:])
}

// lineStarts returns the offsets at which the lines of a text begin.
func lineStarts(source []byte) []int {
	starts := []int{0}
	for i, c := range source {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// maxNesting bounds the depth of blocks in blocks; a text beyond it is shown as it is.
const maxNesting = 100

// blockMarker gives the blocks of a note their lines, and collects its outline.
type blockMarker struct {
	source  []byte
	starts  []int
	first   int
	hit     lineRange
	depth   int
	outline []heading
}

// mark is called for each node of a document.
func (m *blockMarker) mark(n ast.Node, entering bool) (ast.WalkStatus, error) {
	if n.Type() == ast.TypeInline {
		return ast.WalkSkipChildren, nil
	}
	if !entering {
		m.depth--
		return ast.WalkContinue, nil
	}
	if m.depth++; m.depth > maxNesting {
		return ast.WalkStop, fmt.Errorf("blocks are nested more than %d deep", maxNesting)
	}
	if at := m.lines(n); at.First > 0 {
		n.SetAttributeString("id", []byte("L"+strconv.Itoa(at.First)))
		n.SetAttributeString("data-line", fmt.Appendf(nil, "%d-%d", at.First, at.Last))
		n.SetAttributeString("dir", []byte("auto"))
		if at.overlaps(m.hit) {
			n.SetAttributeString("class", []byte("hit"))
		}
		if h, ok := n.(*ast.Heading); ok {
			m.outline = append(m.outline, heading{Line: at.First, Level: h.Level, Title: textOf(h, m.source)})
		}
	}
	return ast.WalkContinue, nil
}

// lines returns the lines of a block that becomes an element of its own, none for a block of blocks.
func (m *blockMarker) lines(n ast.Node) lineRange {
	switch n := n.(type) {
	case *ast.ListItem:
		if n.FirstChild() != nil && n.FirstChild().Kind() == ast.KindTextBlock {
			return m.ofSegments(n.FirstChild().Lines())
		}
	case *east.TableRow, *east.TableHeader:
		if n.FirstChild() != nil {
			return m.ofSegments(n.FirstChild().Lines())
		}
	case *ast.FencedCodeBlock:
		at := m.ofSegments(n.Lines())
		if at.First > m.first {
			at.First-- // the line of the fence
		}
		return at
	case *ast.Paragraph, *ast.Heading, *ast.CodeBlock:
		return m.ofSegments(n.Lines())
	}
	return lineRange{}
}

// ofSegments returns the lines of segments of the source.
func (m *blockMarker) ofSegments(s *text.Segments) lineRange {
	if s == nil || s.Len() == 0 {
		return lineRange{}
	}
	return lineRange{m.lineOf(s.At(0).Start), m.lineOf(max(s.At(0).Start, s.At(s.Len()-1).Stop-1))}
}

// lineOf returns the number of the line with an offset.
func (m *blockMarker) lineOf(offset int) int {
	i, found := slices.BinarySearch(m.starts, offset)
	if found {
		i++
	}
	return m.first + i - 1
}

// textOf returns the text of a node without marks.
func textOf(n ast.Node, source []byte) string {
	var b strings.Builder
	// The walk cannot fail: the function returns no error.
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			switch n := n.(type) {
			case *ast.Text:
				b.Write(n.Segment.Value(source))
			case *ast.String:
				b.Write(n.Value)
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// codeRenderer renders blocks of code with their attributes, which the renderer of goldmark leaves out.
type codeRenderer struct{}

// RegisterFuncs registers the renderer for both kinds of code blocks.
func (codeRenderer) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindCodeBlock, renderCode)
	r.Register(ast.KindFencedCodeBlock, renderCode)
}

// renderCode renders a block of code. Its element can be focused, so that a long line can be scrolled with the keyboard.
func renderCode(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		_, err := w.WriteString("</code></pre>\n")
		return ast.WalkContinue, err
	}
	_, _ = w.WriteString("<pre") // the writer keeps its error
	html.RenderAttributes(w, n, html.GlobalAttributeFilter)
	_, _ = w.WriteString("><code>")
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		_, _ = w.Write(util.EscapeHTML(line.Value(source)))
	}
	return ast.WalkContinue, nil
}
