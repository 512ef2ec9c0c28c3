package render_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/cmd/kioku/internal/render"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, before, after, want string }{
		{"equal", "a\nb\n", "a\nb\n", ""},
		{"new file", "", "a\nb\n", "+a|+b"},
		{"changed line", "a\nb\nc\nd\ne\nf\n", "a\nb\nc\nD\ne\nf\n", " a| b| c|-d|+D| e| f"},
		{"two places", "a\nb\nc\n", "x\na\nb\ny\nc\n", "+x| a| b|+y| c"},
		{"appended", "a\n", "a\nb\n", " a|+b"},
		{"removed", "a\na\nb\n", "a\nb\n", " a|-a| b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, strings.Join(render.Diff([]byte(c.before), []byte(c.after)), "|")); diff != "" {
				t.Error(diff)
			}
		})
	}
}
