package analysis

import (
	"strings"
	"sync"
	"unicode"
)

// IsStopWord reports whether a query term says nothing about its subject in any of the languages that the query may be in,
// English if none is given. w is a word before stemming, in lower case, or a bigram; identifiers are never stop words.
// Cyrillic words are Russian whatever the language.
func IsStopWord(w string, k Kind, languages ...Language) bool {
	switch {
	case k == Gram:
		return stopGrams[w] || strings.ContainsAny(w, askingGlyphs)
	case k == Whole, k == Compound:
		return false
	case isCyrillic(w):
		return stopWordsOf(Russian)[Unaccented(w)]
	}
	for _, l := range languages {
		if !stopWordsOf(l)[Unaccented(w)] {
			return false
		}
	}
	return len(languages) > 0 || stopWords[w]
}

// stopWordsOf returns the stop words of a language.
func stopWordsOf(l Language) map[string]bool {
	if words, ok := stopWordSets()[l]; ok {
		return words
	}
	return stopWords
}

// stopWordSets contains the stop words of each language but English.
var stopWordSets = sync.OnceValue(func() map[Language]map[string]bool {
	sets := make(map[Language]map[string]bool)
	for l, words := range functionWords {
		sets[l] = WordSet(words)
	}
	return sets
})

// stopWords are English words from which questions and sentences are built; single letters remain of apostrophes.
var stopWords = WordSet(`
a an the this that these those some any each every both either neither such same own
i me my mine myself you your yours yourself he him his himself she her hers herself it its itself
we us our ours ourselves they them their theirs themselves one ones someone something anyone anything
am is are was were be been being do does did doing done have has had having
can could will would shall should may might must ought cannot
s t d ll m re ve don doesn didn isn aren wasn weren hasn haven hadn couldn wouldn shouldn mustn
what which who whom whose when where why how whether
and or but nor so yet if then than because as while until unless though although
of at by for with about against between into through during before after above below
to from up down in out on off over under again further once upon onto within without toward towards
here there now just also too very only even still ever already
not no yes all most more much many few other another
get got gets go goes went going come came let make made
tell told please know mentioned mention said say says
`)

// stopGrams are bigrams of Japanese and Chinese function words and of the phrases that questions end with.
var stopGrams = WordSet(`
です ます でし まし すか した して する しま しょ ょう うか たか のか るか んか いか ない なか なの
ある あり りま いる いま せん ませ って った いて いた てい とい いう うの うに
とは には では ので のは のが のを のに から まで より など だけ たち にお おけ ける おい いて につ つい
こと もの よう れる れた られ され さら でき きる きま
どこ こに こで いつ つで だれ れが なに なん なぜ どの どれ どち ちら どう どん いく くつ くら らい
教え えて てく くだ ださ さい
什么 什麼 甚麼 怎么 怎麼 怎样 怎樣 为什 為什 为何 為何 如何 哪里 哪裡 哪裏 哪些 哪个 哪個 哪儿 哪兒
时候 時候 多少 几个 幾個 是否 是什 是谁 是誰 是哪 有哪 请问 請問
`)

// askingGlyphs turn every bigram that contains them into a question word or a particle.
const askingGlyphs = "何誰谁吗嗎呢哪什么麼啥"

// Characters that mostly serve grammar in Japanese and in Chinese.
const (
	japaneseParticles = "のをはがにへも"
	chineseParticles  = "的了是在與与和於于為为被及也就都而之其此所以有對对從从由將将把让讓但或曾个個"
)

// Particles returns the characters that mostly serve grammar in the language of a text: Japanese if the text has kana,
// Chinese otherwise.
func Particles(text string) string {
	if strings.ContainsFunc(text, isKana) {
		return japaneseParticles
	}
	return chineseParticles
}

func isKana(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana) }

// WordSet returns the set of the words in a text that are separated by white space.
func WordSet(words string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}
