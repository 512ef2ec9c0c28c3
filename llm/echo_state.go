package llm

import (
	"regexp"
	"strings"
	"unicode"
)

// What a sentence must have to be worth keeping: somebody speaks of themselves, or something is named.
var (
	// speaking has a speaker, and naming says what something is, has, likes or where it lives.
	speaking = regexp.MustCompile(`(?i)\b(?:i|my|mine|we|our|ours|call me)\b|我|咱|私|僕|俺|わたし|ぼく|うち(?:の|は|で)`)
	naming   = regexp.MustCompile(`(?i)\b(?:is|isn['\x{2019}]t|are|aren['\x{2019}]t|was|were|called|named|has|have|had|lives?|lived|likes?|liked|loves?|loved|hates?|prefers?|preferred|wants?|needs?|uses?|used|owns?|works?|worked|moves?|moved|` +
		`speaks?|costs?|means|belongs?|starts|ends|begins|meets|runs|born|married|allergic|decided|agreed)\b|` +
		`叫|是|住|喜欢|喜歡|爱|愛|讨厌|討厭|在|有|养了|養了|搬到|属于|` +
		`です|でした|ます|ました|ません|だった|である|好き|嫌い|住んで|という`)
	// asking is a question without its mark.
	asking = regexp.MustCompile(`(?i)^(?:is|are|am|was|were|do|does|did|can|could|would|should|has|have|had|(?:is|are|do|does|did|can|could|would|should|was|were|have|has)n['\x{2019}]?t)\b` +
		`|^(?:will|shall|may|might)\s+(?:i|you|we|he|she|it|they|there|this|that|these|those|the|a|an|my|your|our|his|her|their)\b` +
		`|^(?:what|who|whom|whose|which|when|where|why|how)(?:['\x{2019}](?:s|re))?\b` +
		`|什么|什麼|怎么|怎麼|为何|几点|幾點|多少|哪|谁|誰|是不是|能不能|可不可以|有没有|[吗嗎呢么][。!！.]*$` +
		`|(?:か|かな|かしら|どう|なに|何|どこ|いつ|なぜ)[。!！.]*$`)
	// telling begins as a question does and is none, as "When I was ten, ..." is.
	telling = regexp.MustCompile(`(?i)^(?:what|when|where|why|how)\s+(?:i|we|my|our)\b`)
	// commanding begins or ends what somebody is told to do.
	commanding = regexp.MustCompile(`(?i)^(?:please|tell|show|give|explain|write|make|list|find|search|look|go|do|don['\x{2019}]?t|let|let['\x{2019}]?s|help|stop|wait|continue|keep|try|run|open|close|fix|add|remove|delete|change|create|build|` +
		`describe|summari[sz]e|translate|compare|read|say|answer|repeat|check|send|print|use|set|get|put|take|turn|move|forget|think|imagine|ignore|play|draw|count|call)\b` +
		`|^(?:i|we)(?:['\x{2019}]d| would)? (?:want|need|like|love) (?:you\b|to (?:know|see|hear|ask|talk)\b)|^i (?:wonder|have (?:a|another|one more) question)\b` +
		`|^(?:请|請|帮|幫|告诉|告訴|给我|給我|讲|講|说说|說說|继续|繼續|搜索|查找|不要|别|來|来|再|看看|让我|讓我|我想知道|我想问)` +
		`|(?:ください|下さい|教えて|くれ|なさい|ましょう|お願いします|頼む|して|見せて)[ね。!！.]*$`)
	// pleasing is what one says to be polite, all of a sentence or what it begins with.
	pleasing = regexp.MustCompile(`(?i)^(?:ok|okay|k|yes|yeah|yep|no|nope|sure|right|thanks|thank you|thx|hi|hello|hey|great|nice|cool|fine|good|well|oh|wow|sorry|bye|goodbye|lol|haha|hm+|please note|by the way|btw|` +
		`好的|好|谢谢你?|謝謝你?|嗯|你好|您好|是的|对|對|行|没事|哈哈|再见|早上好|晚上好|` +
		`はい|いいえ|うん|ええ|了解|こんにちは|こんばんは|おはよう(?:ございます)?|ありがとう(?:ございます)?|すみません|では|じゃあ)(?:[\s,，、.!！。~]+|$)`)
	// empty is a sentence of a speaker that tells nothing about them.
	empty = regexp.MustCompile(`(?i)^i(?:['\x{2019}]m| am| do| did|['\x{2019}]ll)?(?: not|n['\x{2019}]t| don['\x{2019}]?t| can['\x{2019}]?t)? (?:see|understand|understood|know(?: that)?|agree|got it|get it|(?:think|guess|hope|believe) so|sure|sorry|back|ready|done|fine|good|ok|okay|here|try|look|bet|mean it)[.!]*$` +
		`|^我(?:也)?(?:不)?(?:知道|明白|懂|同意|觉得是|在|好|很好)了?[。!！]*$|(?:わかりました|分かりました|了解です|了解しました|なるほど|ありがとう(?:ございます|ございました)?|よろしく|そうですね|大丈夫です|いいですね)[。!！]*$`)
	// referring begins with what an earlier sentence has named, and addressed with the model.
	referring = regexp.MustCompile(`(?i)^(?:it|he|she|they|this|that|these|those|its|his|her|their|there)(?:['\x{2019}]\w+)?\b|^(?:它|他|她|牠|这|這|那|其)|^(?:それ|これ|あれ|その|この|あの|そこ|ここ|そう|彼)`)
	addressed = regexp.MustCompile(`(?i)^you\b|^[你您]|^あなた`)
)

// leastWords and leastHan are how long a sentence must be, in words or in characters of scripts without spaces.
const (
	leastWords = 3
	leastHan   = 4
)

// isQuestion reports whether a sentence asks.
func isQuestion(s string) bool {
	return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "\uff1f") || asking.MatchString(s) && !telling.MatchString(s)
}

// declares reports whether a sentence states something, and whether that stands alone: it is about the speaker or a thing
// that it names. One that does not stand alone goes on with what was said before it, and means nothing without that.
func declares(s string) (states, alone bool) {
	s = strings.TrimLeft(s, " \t-*•>")
	for rest := s; ; s = rest {
		if rest = strings.TrimSpace(s[len(pleasing.FindString(s)):]); rest == s {
			break
		}
	}
	if short(s) || isQuestion(s) || commanding.MatchString(s) && !strings.HasPrefix(strings.ToLower(s), "call me ") || empty.MatchString(s) {
		return false, false
	}
	switch {
	case speaking.MatchString(s):
		return true, true
	case referring.MatchString(s):
		return true, false
	}
	names := naming.MatchString(s) && !addressed.MatchString(s)
	return names, names
}

// short reports whether a sentence has too little in it to say anything.
func short(s string) bool {
	han := 0
	for _, r := range s {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) {
			han++
		}
	}
	return han < leastHan && len(strings.Fields(s)) < leastWords
}
