package text_test

import (
	"errors"
	"strings"
	"testing"

	"kioku/internal/text"
)

func TestFrontMatterReturnsTheMappingAndItsLength(t *testing.T) {
	for name, c := range map[string]struct{ in, body string }{
		"closed by ---":    {"---\na: b\n---\nbody\n", "body\n"},
		"closed by ...":    {"---\na: b\n...\nbody", "body"},
		"blanks on fences": {"--- \t\na: b\n---  \nbody", "body"},
		"nothing after it": {"---\na: b\n---", ""},
		"a list in it":     {"---\na: b\nc: [d, e]\n---\n\n---\n", "\n---\n"},
	} {
		t.Run(name, func(t *testing.T) {
			mapping, length, err := text.FrontMatter(c.in)
			if err != nil {
				t.Fatal(err)
			}
			if got := mapping.Content[0].Value + "=" + mapping.Content[1].Value; got != "a=b" || c.in[length:] != c.body {
				t.Errorf("%s, and then %q", got, c.in[length:])
			}
		})
	}
}

func TestFrontMatterRefuses(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"no text":        {"", "first line is not ---"},
		"plain text":     {"# Tea\n", "first line is not ---"},
		"second line":    {"\n---\na: b\n---\n", "first line is not ---"},
		"not closed":     {"---\na: b\n", "not closed"},
		"too large":      {"---\na: " + strings.Repeat("b", 20_000) + "\n---\n", "not closed by --- within 16384 bytes"},
		"no YAML":        {"---\na: [b\n---\n", "front matter: yaml"},
		"empty":          {"---\n---\n", "not a mapping"},
		"list":           {"---\n- a\n---\n", "not a mapping"},
		"alias":          {"---\na: &x b\nc: *x\n---\n", "anchors or aliases"},
		"key twice":      {"---\na: b\na: c\n---\n", "already defined"},
		"inner key too":  {"---\na: {b: c, b: d}\n---\n", "already defined"},
		"nested anchors": {"---\na: [{b: &x c}]\n---\n", "anchors or aliases"},
	} {
		t.Run(name, func(t *testing.T) {
			mapping, length, err := text.FrontMatter(c.in)
			if mapping != nil || length != 0 || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, %d, %v", mapping, length, err)
			}
			if missing := strings.HasPrefix(c.want, "first line"); errors.Is(err, text.ErrNoFrontMatter) != missing {
				t.Errorf("%v", err)
			}
		})
	}
}

func FuzzFrontMatter(f *testing.F) {
	f.Add("---\na: b\n---\nbody")
	f.Add("---\na: &x [*x]\n---\n")
	f.Add("---\n{a: b, ? c : d\n...\n")
	f.Fuzz(func(t *testing.T, s string) {
		mapping, length, err := text.FrontMatter(s)
		if (err == nil) != (mapping != nil) || (err == nil) != (length > 0) || length > len(s) {
			t.Errorf("%v, %d, %v", mapping, length, err)
		}
	})
}
