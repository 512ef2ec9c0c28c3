package rule

import (
	"path"
	"slices"
	"strings"

	"kioku/internal/text"
	"kioku/memory"
)

var (
	// foreignList are files whose check boxes are for whoever reads them.
	foreignList = text.NewRegexp(`(?i)^(?:readme|agents|bootstrap|heartbeat|identity|soul|tools|skill|claude|gemini|contributing|changelog|changes|history|releases?|releasing|maintainers?|governance|install(?:ation)?|usage|migrat(?:ion|ing)|upgrading|pull_request.*|issue_.*|(?:bug|feature|custom)[-_](?:report|request).*|code_of_conduct|security|license|.*template|(?:.*[-_])?checklist)(?:[-_.].*)?$`)
	// foreignFolder is a folder of what programs and forges read: .github, .claude, node_modules.
	foreignFolder = text.NewRegexp(`(?:^|/)(?:\.[^./][^/]*|node_modules|vendor)/`)
	// formHeading is a title above the boxes of a form.
	formHeading = text.NewRegexp(`(?i)^(?:types? of changes?|.*\b(?:pr|pull request|merge request|release|review(?:er)?|verification|validation|submission|contribut(?:or|ion)|author|issue|pre[- ]?\w+|quality|definition of done)\W+(?:\w+ )?check ?list.*|(?:pr|プルリクエスト|レビュー|リリース|提出前?|確認用).*(?:チェックリスト|確認事項)|(?:pr|提交|评审|评審|審查|发布|發布|自查|自检).*(?:清单|清單|检查项|檢查項))$`)
	// formBox is what somebody who fills in a form says: that something is done or holds, an answer to a question, a kind of change.
	formBox = text.NewRegexp(`(?i)^(?:I|I['’](?:ve|m)|my|this (?:pr|pull request|change|commit|issue|bug|feature)|if (?:you|i|this)|you (?:must|should)|(?:are|did|do|have|were) (?:you|there)|(?:is|does|has) (?:this|the|it)|there (?:is|are) no)\b` +
		`|\b(?:has|have) been \w+|\b(?:tests?|docs|documentation|code|coverage|ci|build|lint(?:er)?|changes?|commits?|changelog|readme)\b.*(?:\b(?:is|are|were|was) |/|\b)(?:added|updated|passing|passes|passed|pass|covered|green|correct|complete|clean|written|included|up[- ]to[- ]date)\b` +
		`|^(?:bug ?fix|(?:new )?feature|enhancement|breaking change|documentation(?: update)?|docs|refactor(?:ing)?|chore|style|tests?|performance|question|other|yes|no|not (?:relevant|applicable))(?:\s*[:(（].*)?$` +
		`|(?:しました|ました|した|ている|いない|でいる|できる|通る|ですか|ますか)(?:こと)?(?:を確認(?:した|しました|済み?))?[。？?]?$` +
		`|^(?:我|你|您)(?:已|确认|確認|同意|是否|有没有)|^(?:已经?|是否|请先|請先)|吗[？?]?$`)
	// intention is a sentence of an own list that begins like one of a form.
	intention = text.NewRegexp(`(?i)^I (?:have to|need|must|should|want|will|can|could|['’]ll)\b`)
)

// mayHaveLoops reports whether check boxes and the like in the file are the owner's: not those of forms, guides and transcripts of the
// agent.
func (d *Document) mayHaveLoops(e memory.Episode) bool {
	if memory.IsTranscript(d.file.Source) || d.longTerm || isDailyLog(d.file.Path) {
		return true
	}
	name := strings.TrimSuffix(path.Base(d.file.Path), path.Ext(d.file.Path))
	if foreignList.MatchString(name) || foreignFolder.MatchString(d.file.Path) || d.isForm() {
		return false
	}
	return e.Date != "" || d.file.Source == memory.SourceMemory
}

// isForm reports whether a file without a date is a form that others fill in, such as the template of an issue: its front matter says so,
// or half of its boxes read like it.
func (d *Document) isForm() bool {
	if d.formKnown {
		return d.form
	}
	d.formKnown = true
	if d.sectioned || d.file.Date != "" {
		return false
	}
	boxes, forms := 0, 0
	for _, p := range paragraphs(d.lines) {
		if p.task == 0 {
			continue
		}
		boxes++
		words := strings.TrimLeft(plain(p.text), "- ")
		below := slices.ContainsFunc(titlesOf(p.headings), func(title string) bool { return formHeading.MatchString(plain(title)) })
		if below || formBox.MatchString(words) && !intention.MatchString(words) {
			forms++
		}
	}
	d.form = d.asForm || forms > 0 && 2*forms >= boxes && (boxes > 1 || forms > 1)
	return d.form
}
