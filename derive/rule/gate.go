package rule

import (
	"strings"

	"kioku/internal/text"
)

// gate is a regular expression that can match only texts with one of some words, in lower case. Looking for the words first costs a
// tenth of a match, and few texts have one.
type gate struct {
	words []string
	form  *text.Regexp
}

// opens reports whether a text in lower case has one of the words.
func (g *gate) opens(lower string) bool { return containsAny(lower, g.words...) }

// matches reports whether the expression matches a text, given in lower case too.
func (g *gate) matches(text, lower string) bool { return g.opens(lower) && g.form.MatchString(text) }

// stating are words of which each sentence has one that the patterns of facts match.
var stating = gate{words: strings.Fields(`
	live living living resid based moved relocat work started job like love enjoy fond hate stand prefer avoid values interested use own
	responsible charge leads maintain goes called addressed zone birthday born due deadline status version met member
	engineer designer manager developer teacher doctor nurse lawyer director lead ceo cto cfo founder architect analyst scientist professor
	consultant editor accountant researcher intern journalist photographer translator my user's
	住 暮ら 引っ 引越 移住 転居 働 勤 転職 入社 好 嫌 苦手 いい 良い 使 愛用 担当 誕生 生年 タイムゾーン 名前 氏名 締 期限
	居 搬 迁 工作 上班 任职 就职 供职 喜欢 讨厌 爱 偏 倾向 在用 负责 生日 时区 名 叫 截止`)}

// mayState reports whether a sentence may state a fact: cheap, and never false for one that does.
func mayState(text string, curated bool) bool {
	return curated && strings.ContainsAny(text, ":：") || stating.opens(strings.ToLower(text))
}
