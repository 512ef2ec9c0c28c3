package web

import (
	"fmt"
	"html/template"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// policy keeps what notes may contain: text, its structure, and links to this page and the web. Images, forms, styles, scripts and
// frames are not among it. Lists, tables and paragraphs keep the lines that renderMarkdown gives them.
var policy = newPolicy()

func newPolicy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("h1", "h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "div", "span", "blockquote", "pre", "code", "ul", "ol", "li", "dl",
		"dt", "dd", "table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "em", "strong", "b", "i", "u", "s", "del", "ins", "mark",
		"small", "sub", "sup", "kbd", "samp", "var", "abbr", "cite", "q", "dfn", "ruby", "rt", "rp", "bdi", "details", "summary", "figure", "figcaption")
	p.AllowAttrs("id").Matching(regexp.MustCompile(`^(L\d{1,9}|fn(ref\d*)?:\d{1,9})$`)).Globally()
	p.AllowAttrs("data-line").Matching(regexp.MustCompile(`^\d{1,9}-\d{1,9}$`)).Globally()
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^(hit|image|missing|scroll|outside)$`)).Globally()
	p.AllowAttrs("dir").Matching(regexp.MustCompile(`^(auto|ltr|rtl)$`)).Globally()
	p.AllowAttrs("lang").Matching(regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$`)).Globally()
	p.AllowAttrs("tabindex").Matching(regexp.MustCompile(`^0$`)).OnElements("pre", "div")
	p.AllowAttrs("title").Globally()
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("colspan", "rowspan").Matching(bluemonday.Integer).OnElements("td", "th")
	p.AllowAttrs("align").Matching(regexp.MustCompile(`^(left|right|center)$`)).OnElements("td", "th")
	p.AllowAttrs("open").Matching(regexp.MustCompile(`^$`)).OnElements("details")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.AllowRelativeURLs(true)
	p.RequireParseableURLs(true)
	p.RequireNoReferrerOnFullyQualifiedLinks(true)
	p.RequireNoFollowOnLinks(false)
	return p
}

// sanitize returns HTML that a page may contain, whatever a note has in it: closed elements of the policy only, links to notes lead to
// the reader, and an image is a mark with its description.
func sanitize(src string, links resolver) (template.HTML, error) {
	nodes, err := html.ParseFragment(strings.NewReader(src), &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div})
	if err != nil {
		return "", fmt.Errorf("read HTML: %w", err)
	}
	root := &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div}
	for _, n := range nodes {
		root.AppendChild(n)
	}
	var out strings.Builder
	rewrite(root, links)
	for n := root.FirstChild; n != nil; n = n.NextSibling {
		if err := html.Render(&out, n); err != nil {
			return "", fmt.Errorf("write HTML: %w", err)
		}
	}
	return template.HTML(policy.Sanitize(out.String())), nil
}

// rewrite changes the links, images, boxes and wide elements of a tree.
func rewrite(n *html.Node, links resolver) {
	for child := n.FirstChild; child != nil; {
		next := child.NextSibling
		rewrite(child, links)
		child = next
	}
	if n.Type != html.ElementNode {
		return
	}
	switch n.DataAtom {
	case atom.A:
		links.rewriteLink(n)
	case atom.Img:
		describeImage(n)
	case atom.Input:
		box := "☐ "
		if slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "checked" }) {
			box = "☑ "
		}
		*n = html.Node{Type: html.TextNode, Data: box, Parent: n.Parent, PrevSibling: n.PrevSibling, NextSibling: n.NextSibling}
	case atom.Pre:
		setAttr(n, "tabindex", "0") // so that the keyboard can scroll it
	case atom.Table:
		wrapTable(n)
	}
}

// describeImage replaces an image, which is never loaded, by its description and its address.
func describeImage(n *html.Node) {
	alt, src := attr(n, "alt"), attr(n, "src")
	name := alt
	if name == "" {
		name = path.Base(src)
	}
	if strings.HasPrefix(src, "data:") || name == "." || name == "/" {
		name, src = alt, ""
	}
	label := &html.Node{Type: html.TextNode, Data: strings.TrimSpace("image: " + name)}
	n.FirstChild, n.LastChild = nil, nil
	n.Data, n.DataAtom, n.Attr = "span", atom.Span, []html.Attribute{{Key: "class", Val: "image"}}
	if u, err := url.Parse(src); err == nil && (u.Scheme == "https" || u.Scheme == "http") && !inLink(n) {
		n.Data, n.DataAtom = "a", atom.A
		n.Attr = append(n.Attr, html.Attribute{Key: "href", Val: src}, html.Attribute{Key: "title", Val: "not loaded; on " + u.Host})
	}
	n.AppendChild(label)
}

// inLink reports whether a node is within a link.
func inLink(n *html.Node) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if p.DataAtom == atom.A {
			return true
		}
	}
	return false
}

// wrapTable puts a table into an element that scrolls, so that a wide one does not widen the page.
func wrapTable(n *html.Node) {
	if n.Parent == nil || attr(n.Parent, "class") == "scroll" {
		return
	}
	frame := &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div,
		Attr: []html.Attribute{{Key: "class", Val: "scroll"}, {Key: "tabindex", Val: "0"}}}
	n.Parent.InsertBefore(frame, n)
	n.Parent.RemoveChild(n)
	frame.AppendChild(n)
}

// resolver tells where the links of a note lead to.
type resolver struct {
	// agent that links name; empty if they need not.
	agent string
	// folder of the note; empty for the workspace.
	folder string
	// targets are the notes that links mean, by what they say; an empty one does not exist.
	targets map[string]string
	// headings of the note.
	headings []heading
}

// resolver returns the resolver of a note.
func (n *note) resolver() resolver {
	r := resolver{agent: n.Agent, folder: path.Dir(n.Path), targets: map[string]string{}}
	if n.Links != nil {
		for _, l := range n.Links.Out {
			r.targets[l.Target] = l.To
		}
	}
	return r
}

// rewriteLink lets a link to a note lead to the reader. A link to a note that does not exist becomes text.
func (r resolver) rewriteLink(n *html.Node) {
	href := attr(n, "href")
	target, wiki := strings.CutPrefix(href, wikiScheme)
	u, err := url.Parse(href)
	switch {
	case wiki:
		if decoded, err := url.PathUnescape(target); err == nil {
			target = decoded
		}
		r.leadTo(n, target, "")
	case err != nil, u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto":
		n.Data, n.DataAtom, n.Attr = "span", atom.Span, nil
	case u.Scheme != "" || u.Host != "":
		n.Attr = append(n.Attr, html.Attribute{Key: "class", Val: "outside"})
	case u.Path == "" && u.Fragment != "":
		r.leadWithin(n, u.Fragment)
	case u.Path != "":
		r.leadTo(n, path.Join(r.folder, u.Path), u.Fragment)
	}
}

// leadTo lets a link lead to the note that a target means, and to a heading in it.
func (r resolver) leadTo(n *html.Node, target, fragment string) {
	name, sub, _ := strings.Cut(target, "#")
	if fragment == "" {
		fragment = sub
	}
	if name == "" {
		r.leadWithin(n, fragment)
		return
	}
	to, known := r.targets[name]
	if !known {
		to, known = r.targets[target]
	}
	if known && to == "" {
		n.Data, n.DataAtom = "span", atom.Span
		n.Attr = []html.Attribute{{Key: "class", Val: "missing"}, {Key: "title", Val: "no such note: " + name}}
		return
	}
	if to == "" {
		to = name
	}
	n.Attr = []html.Attribute{{Key: "href", Val: link("/note", "agent", r.agent, "path", to, "heading", fragment)}}
}

// leadWithin lets a link lead to a heading of the same note.
func (r resolver) leadWithin(n *html.Node, fragment string) {
	if strings.HasPrefix(fragment, "fn") {
		return // a footnote
	}
	if line := headingLine(r.headings, fragment); line > 0 {
		setAttr(n, "href", "#L"+strconv.Itoa(line))
	}
}

// headingLine returns the line of the heading that a link names by its words or by the anchor that most programs make of them; 0 if there
// is none.
func headingLine(headings []heading, name string) int {
	for _, h := range headings {
		if name != "" && anchor(h.Title) == anchor(name) {
			return h.Line
		}
	}
	return 0
}

// notAnchor is what anchors leave out.
var notAnchor = regexp.MustCompile(`[^\p{L}\p{M}\p{N}_\- ]`)

// anchor returns the anchor that most programs make of a heading: lower case, without punctuation, with "-" for spaces.
func anchor(title string) string {
	return strings.ReplaceAll(strings.TrimSpace(notAnchor.ReplaceAllString(strings.ToLower(title), "")), " ", "-")
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func setAttr(n *html.Node, key, value string) {
	n.Attr = append(slices.DeleteFunc(n.Attr, func(a html.Attribute) bool { return a.Key == key }), html.Attribute{Key: key, Val: value})
}
