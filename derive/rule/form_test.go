package rule_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/derive/rule"
	"kioku/derive/unit"
)

// Boxes of forms that others fill in are nothing that the owner has to do, wherever they were copied to.
func TestLoopsAreNotThoseOfForms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, path, data string
		want             []string
	}{
		{"template of an issue", "memory/report.md", "---\nname: Bug\nabout: Report a bug\nlabels: bug\n---\n- [ ] parser\n- [ ] printer\n", nil},
		{"template of a change", "memory/change.md", "## What kind is it?\n- [ ] Bug fix (nothing breaks)\n- [ ] New feature\n\n## Before you send it\n- [ ] My code follows the guide\n- [ ] I have added tests\n", nil},
		{"questions", "memory/ask.md", "- [ ] Are you on the newest version?\n- [ ] Did you read the manual?\n- [ ] Call us otherwise\n", nil},
		{"states", "memory/merge.md", "- [ ] Documentation has been updated\n- [ ] Tests are passing\n", nil},
		{"steps of a release", "memory/steps.md", "# Release checklist\n\n## Before\n- [ ] Set the version\n\n## After\n- [ ] Tell the list\n", nil},
		{"Japanese form", "memory/hinagata.md", "## 確認\n- [ ] テストを追加した\n- [ ] 既存の課題を検索しました\n- [ ] ビルドが通る\n", nil},
		{"Chinese form", "memory/moban.md", "- [ ] 我已阅读指南\n- [ ] 是否为最新版本？\n- [ ] 已搜索过相同的问题\n", nil},
		{"a skill", "memory/skills/review/SKILL.md", "- [ ] Names are short\n", nil},
		{"a folder of a forge", "memory/.gitlab/merge/default.md", "- [ ] Ask for a review\n", nil},
		{"own list", "memory/todo.md", "# Todo\n- [ ] Call the dentist\n- [ ] Write tests for the parser\n- [ ] I have to renew the passport\n- [x] Update the docs\n",
			[]string{"loop Call the dentist", "loop Write tests for the parser", "loop I have to renew the passport", "close Update the docs"}},
		{"own list with one state", "memory/todo.md", "- [ ] Call Ana\n- [ ] docs updated\n- [ ] Pay the rent\n", []string{"loop Call Ana", "loop docs updated", "loop Pay the rent"}},
		{"own Japanese list", "memory/yaru.md", "- [ ] 母に写真を送る\n- [ ] パスポートの更新\n", []string{"loop 母に写真を送る", "loop パスポートの更新"}},
		{"own Chinese list", "memory/daiban.md", "- [ ] 给苏岚买书\n- [ ] 订机票\n", []string{"loop 给苏岚买书", "loop 订机票"}},
		{"a dated note", "memory/2026-11-20.md", "## Pull request checklist\n- [ ] Tests are passing\n- [ ] I have asked Bo\n", []string{"loop Tests are passing", "loop I have asked Bo"}},
		{"what stays true", "MEMORY.md", "- [ ] Is this the newest version\n- [ ] Did you pay\n", []string{"loop Is this the newest version", "loop Did you pay"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, e := range drawn(t, newRules(t, rule.Options{}), note(c.path, c.data)) {
				for _, claim := range e.Claims {
					if claim.Kind != unit.ClaimFact {
						got = append(got, claim.Kind+" "+claim.LoopText)
					}
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("loops (-want +got):\n%s", diff)
			}
		})
	}
}
