package standing_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/agent/standing"
)

// Headings, templates and placeholders say nothing.
func TestSays(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": false, "# Memory\n": false, "# Memory\n\n## Facts\n---\n": false, "(nothing yet)": false, "- None yet.": false, "_(What do they care about?)_": false,
		"---\ntitle: x\n---\n# User\n": false, "<!-- fill in -->": false, "- **Name:**\n- **Pronouns:** _(optional)_\n- Notes:": false, "TODO": false, "* ...": false,
		"- **Name:** Rin": true, "I am vegetarian.": true, "- Never (ever) call before ten": true, "茶": true, "# Memory\n- x": true, "> Nothing is free.": true,
	} {
		if standing.Says(text) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}

// A note from a tool is from its bullet to its mark, or what follows a heading.
func TestFromTool(t *testing.T) {
	t.Parallel()
	for file, want := range map[string][]int{
		"- a <!-- kioku from=user -->\n- b\n": nil,
		"- a\n- b\n  - c\n\n  d <!-- kioku:0123456789abcdef text=0123456789abcdef from=tool -->\n- e\n": {2, 3, 4, 5},
		"## Facts\nwords\nmore <!-- kioku from=tool -->\r\n":                                            {2, 3},
		"- a\n  ```\n  code\n  ```\n  <!-- kioku from=tool author=u/A -->":                              {1, 2, 3, 4, 5},
	} {
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(standing.FromTool(file)))); diff != "" {
			t.Errorf("%q: %s", file, diff)
		}
	}
}
