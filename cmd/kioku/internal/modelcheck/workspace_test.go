package modelcheck_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/cmd/kioku/internal/modelcheck"
	"kioku/internal/testkit"
)

// model check says whether the model knows the languages of this workspace.
func TestWorkspaceLanguages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{
		"en.md": "The quick brown fox jumps over the lazy dog, and then it sleeps because it was a long day for both of them.",
		"ja.md": "大阪のホテルを予約した。チェックインは午後三時。",
		"zh.md": "买了三箱苹果，放在地下室。明天还要去买梨。",
		"de.md": "Der Zug kam vierzig Minuten zu spät, und wir haben den Anschluss nicht mehr erreicht, weil die Bahn nicht wartete.",
		"ar.md": "اليوم ذهبت إلى السوق واشتريت الخبز والجبن",
	}
	paths := []string{"missing.md"}
	for name, text := range files {
		testkit.WriteFile(t, dir, name, text)
		paths = append(paths, name)
	}
	all, err := modelcheck.WorkspaceLanguages(dir, paths)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	sum := 0.
	for _, s := range all {
		got[s.Language] = true
		sum += s.Share
	}
	if diff := cmp.Diff(map[string]bool{"en": true, "ja": true, "zh": true, "de": true, "ar": true}, got); diff != "" || sum > 1.001 {
		t.Errorf("sum %g: %s", sum, diff)
	}
	unknown, untested := modelcheck.Unknown([]modelcheck.Share{{Language: "en"}, {Language: "ja"}, {Language: "ar"}},
		[]modelcheck.Language{{Language: "en", Known: true}, {Language: "ja"}})
	if diff := cmp.Diff([][]string{{"ja"}, {"ar"}}, [][]string{unknown, untested}); diff != "" {
		t.Error(diff)
	}
}
