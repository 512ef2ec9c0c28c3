package search

import (
	"slices"
	"strings"
	"unicode/utf8"

	"kioku/search/analysis"
)

// asksForMore reports whether the rest of a query, without its days, asks for anything but what was noted or happened on them.
func asksForMore(text string) bool {
	a := analysis.NewAnalyzer()
	defer a.Release()
	a.Add(askingPhrases.Replace(text))
	language := queryLanguage(text, nil)
	return slices.ContainsFunc(a.Tokens, func(t analysis.Token) bool {
		own := a.Lower[t.Start:t.End]
		if t.Kind == analysis.Gram && utf8.RuneCountInString(own) == 1 {
			return !strings.Contains(askingRest, own)
		}
		return !analysis.IsStopWord(own, t.Kind) && !analysis.IsStopWord(own, t.Kind, language) && !askingWords[analysis.Unaccented(own)]
	})
}

// askingWords, without accents, only ask in a question for days: what was noted or happened on them, or that it be shown or summed up. In a
// question without days they are words like others.
var askingWords = analysis.WordSet(`
happen happens happened happening occur occurs occurred event events
change changes changed changing update updates updated
write writes wrote written writing note notes noted record records recorded log logs logged jot jotted
article articles post posts posted entry entries diary journal
work works worked working learn learns learned learnt new
summary summaries summarise summarises summarised summarize summarizes summarized recap overview digest
show list find search see look give
gemacht getan passiert geschehen geschrieben notiert notizen fait passe ecrit note notes hice hizo paso escribi notas ho fatto successo scritto
fiz aconteceu escrevi anotei gedaan gebeurd geschreven gjorde hande hant skrev делал делала сделал было случилось писал
`)

// askingPhrases removes what only asks for days in Japanese and Chinese. Of phrases with the same beginning the longest comes
// first. What is removed becomes a line break, so that the characters around it do not become a bigram.
var askingPhrases = phraseRemover(`
書いていた 書いてた 書いてある 書いた 書きました 書き込んだ 書き留めた 書いて 書く 記した 記録した 記録 記事 投稿 日記 日誌 メモした メモ ノート 議事
何をしていました 何をしました 何をしていた 何をした 何をやった 何があった 何がありました しました していた やっていた やりました やった やる
こと 出来事 起こりました 起こった 起きました 起きた あったこと ありました あった 学んだ 学びました 働いた 仕事をした 作業した 作業
要約して 要約 まとめて まとめ 総括 振り返り 振り返って ふりかえり 概要 一覧 見せて 教えて 知りたい ください 全部 すべて 全て 私 僕 俺 我々
写过 写過 写了 寫過 寫了 寫 写 记过 記過 记了 記了 记录 記錄 记下 記下 日记 日記 日志 日誌 笔记 筆記 文章 帖子 博客 部落格
做过 做過 做了 做 干了 干过 幹了 发生过 發生過 发生了 發生了 发生 發生 事情 的事 学到 學到 学了 學了 工作 忙
总结一下 總結一下 总结 總結 小结 小結 概括 回顾 回顧 概述 摘要 列出 看看 给我看 給我看 告诉我 告訴我 所有 全部 内容 內容 关于 關於
什么 什麼 甚麼 哪些 有没有 有沒有 我们 我們 你们 你們 咱们 我 你
`)

// askingRest are single characters that may be left beside a day or a phrase and ask for nothing.
const askingRest = "のをはがにへもでとやたかねよさしてだな的了过過在是有和都呢吗嗎啊吧请請事些里裡中内內何谁誰"

// phraseRemover returns a replacer of the phrases in a text that are separated by white space.
func phraseRemover(phrases string) *strings.Replacer {
	list := strings.Fields(phrases)
	slices.SortStableFunc(list, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, p := range list {
		pairs = append(pairs, p, "\n")
	}
	return strings.NewReplacer(pairs...)
}
