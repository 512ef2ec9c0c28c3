package chunker_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"kioku/chunker"
)

// A tag `#a/b` in text counts as tag.
func TestSplitReadsTagsInTheText(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, text string
		want       []string
	}{
		{"at the start and after blank space", "#one two #three\t#four", []string{"one", "three", "four"}},
		{"nested", "about #a/b and #a/c/", []string{"a/b", "a/c"}},
		{"any script", "#日本語 #Überblick #заметка\u3000#旅行、#no", []string{"日本語", "Überblick", "заметка", "旅行"}},
		{"with a number", "#2026goal #v2 #123 #12/34", []string{"2026goal", "v2"}},
		{"once whatever the case", "#Tea #tea #TEA", []string{"Tea"}},
		{"in a quote, a list and a heading", "> #quote\n- #item\n## About #heading\n", []string{"quote", "item", "heading"}},
		{"a heading without a space is a tag", "#tag\n", []string{"tag"}},
		{"punctuation ends it", "#tag. #other, (#no) #dash-ed_x!", []string{"tag", "other", "dash-ed_x"}},
		{"not in a word, a URL or a link", "a#b https://x.org/#frag [x](#anchor) [y](note.md#part) &#39;", nil},
		{"not in code", "`#code` ``a ` #code`` <!-- -->\n```\n#fence\n```\n~~~\n#fence\n~~~\n#yes", []string{"yes"}},
		{"not in indented code", "Text:\n\n    #code\n\n    - #code\n\n\t#code\n#yes\n    #also\n\n- a\n\n    #list\n\nend\n\n    #code2\n", []string{"yes", "also", "list"}},
		{"backticks that close nothing", "`` #yes ` and #more", []string{"yes", "more"}},
		{"escaped", `\#no #yes`, []string{"yes"}},
		{"not alone", "# \n#\n## #\n#-\n#/\n", nil},
	}
	c := newChunker(t, chunker.Options{})
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, c.Split(chunker.Notes, []byte(tc.text)).Tags); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSplitJoinsTheTagsOfFrontMatterAndText(t *testing.T) {
	t.Parallel()
	c := newChunker(t, chunker.Options{})
	doc := c.Split(chunker.Notes, []byte("\uFEFF---\r\ntags: [Tea, work/a]\r\n---\r\n#tea and #home\r\n"))
	if diff := cmp.Diff([]string{"Tea", "work/a", "home"}, doc.Tags); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Tea", "work/a"}, doc.Meta.Tags); diff != "" {
		t.Errorf("front matter (-want +got):\n%s", diff)
	}
}

// `[[wikilinks]]`, `[[a|b]]`, `![[embeds]]`, Markdown links: their target is a link.
func TestSplitReadsLinks(t *testing.T) {
	t.Parallel()
	wiki := func(line int, text, target string) chunker.Link {
		return chunker.Link{Line: line, Text: text, Target: target, Kind: chunker.WikiLink}
	}
	path := func(line int, text, target string) chunker.Link {
		return chunker.Link{Line: line, Text: text, Target: target, Kind: chunker.PathLink}
	}
	embed := chunker.Link{Line: 1, Text: "Plan", Target: "Plan", Kind: chunker.EmbedLink}
	cases := []struct {
		name, text string
		want       []chunker.Link
	}{
		{"wikilinks", "see [[Fushimi Inari]] and\n[[folder/Note.md]]", []chunker.Link{wiki(1, "Fushimi Inari", "Fushimi Inari"), wiki(2, "folder/Note.md", "folder/Note.md")}},
		{"with another text", "[[Note|the note]] [[ Note | the note ]]", []chunker.Link{wiki(1, "the note", "Note"), wiki(1, "the note", "Note")}},
		{"in a table", "| a | b |\n|---|---|\n| [[Note\\|shown]] | x |", []chunker.Link{wiki(3, "shown", "Note")}},
		{"with a heading", "[[Note#Access]] [[Note#^block|here]] [[#Access]]", []chunker.Link{wiki(1, "Note#Access", "Note"), wiki(1, "here", "Note")}},
		{"embeds", "![[Plan]] ![[plan.png]]", []chunker.Link{embed}},
		{"any script", "[[伏見稲荷|神社]] [京都](京都.md)", []chunker.Link{wiki(1, "神社", "伏見稲荷"), path(1, "京都", "京都.md")}},
		{"Markdown", "[a](b.md) [c d](../e%20f.md#part) [g](<h i.md>) [j](k.md 'title') [l](/m/n.md?x=1)", []chunker.Link{
			path(1, "a", "b.md"), path(1, "c d", "../e f.md"), path(1, "g", "h i.md"), path(1, "j", "k.md"), path(1, "l", "/m/n.md")}},
		{"parentheses", "[a](b_(c).md) [d](e.md", []chunker.Link{path(1, "a", "b_(c).md")}},
		{"around an image", "[![alt](x.png)](b.md)", []chunker.Link{path(1, "![alt](x.png)", "b.md")}},
		{"by reference", "[Text][Ref  a] [ref A][] [ref a]\n\n[ref a]: notes/a.md \"title\"\n[b]: <c d.md>", []chunker.Link{
			path(1, "Text", "notes/a.md"), path(1, "ref A", "notes/a.md"), path(1, "ref a", "notes/a.md")}},
		{"not images, places in the note and other sites", "![a](b.md) [c](#d) [e](https://f.org/g.md) [h](mailto:i@j) [k](//l.org) [m]() [n](x.png) [o](p.html)", nil},
		{"not in code", "`[[a]]` ``[b](c.md)``\n```\n[[d]]\n```\n", nil},
		{"escaped", `\[[a]] \[d](e.md) [b\](c.md)`, nil},
		{"unclosed", "[[a [b](c.md) ]] [[d]", []chunker.Link{path(1, "b", "c.md")}},
		{"two lines", "[[a\nb]]", nil},
	}
	c := newChunker(t, chunker.Options{})
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, c.Split(chunker.Notes, []byte(tc.text)).Links); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSplitCountsTheLinesOfLinksFromTheStartOfTheFile(t *testing.T) {
	t.Parallel()
	c := newChunker(t, chunker.Options{})
	doc := c.Split(chunker.Notes, []byte("---\r\ntitle: x\r\n---\r\n\r\n[[a]]\r\n"))
	if len(doc.Links) != 1 || doc.Links[0].Line != 5 {
		t.Errorf("links %+v, want one on line 5", doc.Links)
	}
}

func TestSplitReturnsTheHeadingOfTheFile(t *testing.T) {
	t.Parallel()
	c := newChunker(t, chunker.Options{})
	for text, want := range map[string]string{
		"# Tea\n\n# Coffee\n":             "Tea",
		"\n\nTea\n===\n":                  "Tea",
		"Some words.\n\n# Tea\n\n## A":    "Tea",
		"Some words.\n\n# Tea\n# Coffee":  "",
		"## Tea\n":                        "",
		"```\n# no\n```\n# Tea #\n":       "Tea",
		"---\ntitle: x\n---\n# Tea\n# B":  "Tea",
		"no heading\n":                    "",
		"":                                "",
		"![badge](x.svg)\n# Tea\n## More": "Tea",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			if got := c.Split(chunker.Notes, []byte(text)).Heading; got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// Hazard-like texts of many brackets, backticks and signs take linear time.
func TestSplitReadsHostileLinksInLinearTime(t *testing.T) {
	t.Parallel()
	runs := map[string]func(n int) string{}
	for _, part := range []string{"[", "[[", "]", "![[", "[a](", "](", "[a](b(c(", "[a](<", "[a](b \"", "#", "#a ", "`", "`#", "\\", "[[a|", "[a][", "[[a]]", "[a](b.md)", "[x]: y\n[x]", "]]"} {
		runs[part] = func(n int) string { return strings.Repeat(part, n/len(part)) }
	}
	runs["backticks of all lengths"] = func(n int) string {
		var b strings.Builder
		for i := 1; b.Len() < n; i++ {
			b.WriteString(strings.Repeat("`", i%300+1) + " #a")
		}
		return b.String()
	}
	runs["nested"] = func(n int) string { return strings.Repeat("[", n/2) + strings.Repeat("]", n/2) + "\n[a]: b" }
	for name, text := range runs {
		t.Run(name, func(t *testing.T) {
			chunker.ReadInline(chunker.Lines(text(textSize(1<<20)), "", true))
		})
	}
}

// FuzzReadInline looks for panics, and for tags and links that are not in the text.
func FuzzReadInline(f *testing.F) {
	for _, text := range []string{"#a/b [[c|d]] ![[e]] [f](g.md) `#h`", "[a][b]\n[b]: c\n", "[[a\\|b]] \\[", "[", "](", "``` #a", "[[[a]](b)", "#日本/語"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = chunker.Normalize([]byte(text))
		lines := chunker.Lines(text, "", true)
		tags, links := chunker.ReadInline(lines)
		for _, tag := range tags {
			if tag == "" || !strings.Contains(text, tag) || strings.ContainsAny(tag, " #\n[]`") {
				t.Errorf("tag %q", tag)
			}
		}
		for _, l := range links {
			switch {
			case l.Line < 1 || l.Line > len(lines) || l.Target == "" || !utf8.ValidString(l.Target+l.Text) || strings.Contains(l.Text, "\n"):
				t.Errorf("link %+v", l)
			case l.Kind == chunker.WikiLink && !strings.Contains(lines[l.Line-1].Text, l.Target):
				t.Errorf("line %q has no %q", lines[l.Line-1].Text, l.Target)
			}
		}
		if again := fmt.Sprint(chunker.ReadInline(lines)); again != fmt.Sprint(tags, links) {
			t.Errorf("another outcome: %s", again)
		}
	})
}
