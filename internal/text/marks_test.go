package text_test

import (
	"testing"

	"kioku/internal/text"
)

// Marks are removed at the ends of lines, and nothing else is.
func TestStrip(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"- a <!-- kioku from=user -->\n- b\n":                                                 "- a\n- b\n",
		"- a <!-- kioku:0123456789abcdef text=0123456789abcdef from=tool -->\r\n":             "- a\r\n",
		"<!-- kioku begins=0123456789abcdef -->\n- b\n  <!-- kioku text=0123456789abcdef -->": "\n- b\n",
		"x <!-- kioku from=flush channel=discord:general author=u1/Ana,owner:u2/Mia -->":      "x",
		"x <!-- kioku is good -->":             "x <!-- kioku is good -->",
		"`<!-- kioku from=user -->` is a mark": "`<!-- kioku from=user -->` is a mark",
		"":                                     "",
	} {
		if got := string(text.StripMarks([]byte(s))); got != want {
			t.Errorf("%q became %q, want %q", s, got, want)
		}
	}
}
