package search

import (
	"slices"
	"strings"
	"unicode"

	"kioku/chunker"
	"kioku/internal/text"
	"kioku/memory"
	"kioku/search/analysis"
)

// clauses cuts a message into what is searched for one by one: its questions, then its last sentence, at most maxClauses of them, and
// last the whole message. A greeting, thanks and an order to the assistant are no clauses. A message of one sentence is one clause.
func clauses(message string) []string {
	var questions, others []string
	for _, l := range chunker.Lines(message, "", true) {
		if l.Fence != "" || l.Block > 0 {
			continue
		}
		for _, s := range sentences(l.Text) {
			switch {
			case isQuestion(s):
				questions = append(questions, s)
			case !isSmallTalk(s):
				others = append(others, s)
			}
		}
	}
	list := questions
	if len(others) > 0 {
		list = append(list, others[len(others)-1])
	}
	list = append(list[:min(len(list), maxClauses)], strings.TrimSpace(message))
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(s string) bool {
		repeated := seen[s]
		seen[s] = true
		return repeated
	})
}

// sentences cuts a line after the ends of its sentences and after colons.
func sentences(line string) []string {
	var out []string
	for _, s := range text.Sentences(line, len(line)+1) {
		for part := range strings.SplitAfterSeq(s, ": ") {
			if part = withoutGreeting(strings.TrimSpace(part)); part != "" {
				out = append(out, part)
			}
		}
	}
	return out
}

// withoutGreeting returns a sentence without the small talk before its first comma.
func withoutGreeting(s string) string {
	if at := strings.IndexAny(s, ",，、"); at > 0 && isSmallTalk(s[:at]) {
		return strings.TrimLeft(s[at:], ",，、 ")
	}
	return s
}

// isQuestion reports whether a sentence ends or begins as questions do.
func isQuestion(s string) bool {
	said := strings.TrimRight(s, " \"'”’»)]」』）.。!！")
	for _, end := range []string{"?", "？", "؟", "か", "吗", "嗎", "呢"} {
		if strings.HasSuffix(said, end) {
			return true
		}
	}
	first, _, _ := strings.Cut(strings.TrimLeft(said, "¿\"'“„«(「"), " ")
	return questionWords[strings.ToLower(first)]
}

// isSmallTalk reports whether a sentence has no word that says something about a subject: all are stop words, or serve greetings, thanks
// and orders to an assistant.
func isSmallTalk(s string) bool {
	a := analysis.NewAnalyzer()
	defer a.Release()
	a.Add(s)
	language := queryLanguage(s, nil)
	for _, t := range a.Tokens {
		w := analysis.Unaccented(a.Lower[t.Start:t.End])
		if t.Kind == analysis.Gram {
			continue
		}
		if t.IsLeaf() && !smallTalk[w] && !analysis.IsStopWord(a.Lower[t.Start:t.End], t.Kind, language) {
			return false
		}
	}
	said := strings.Join(strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }), "")
	return !strings.ContainsFunc(said, isCJK) || slices.ContainsFunc(smallTalkPhrases, func(p string) bool { return strings.HasPrefix(said, p) && len(said) <= 3*len(p) })
}

func isCJK(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// questionWords begin questions, as their writers may leave out the mark.
var questionWords = analysis.WordSet(`
what which who whom whose when where why how
wer was welche welcher welches wann wo warum wieso wie
qui que quel quelle quels quelles quand où pourquoi comment
qué cuál quién cuándo dónde cómo cuánto cuánta
che quale quali chi quando dove perché come quanto
qual quem onde quanto quantos
wat welke waar wanneer waarom hoe
vad vilken vilket vem när varför hur
что какой какая какие кто где когда почему как сколько
`)

// smallTalk are words, without accents, of greetings, thanks and orders to an assistant.
var smallTalk = analysis.WordSet(`
thanks thank hello hi hey good morning afternoon evening night day great perfect nice cool awesome wonderful fine ok okay sure welcome sorry
please answer reply respond explain briefly brief short shortly quick quickly concise sentence sentences word words line lines question questions
worked works work well lot much again help helped helpful bye cheers
danke hallo guten gute morgen abend tag bitte antworte kurz satz frage super prima
merci bonjour bonsoir salut repondez reponds bref phrase question parfait
gracias hola buenos buenas dias tardes noches favor responde breve frase pregunta perfecto
grazie ciao buongiorno buonasera rispondi breve frase domanda perfetto
obrigado obrigada ola bom boa tarde noite responda breve frase pergunta
dank bedankt hoi goedemorgen goedenavond antwoord kort zin vraag
tack hej god morgon kvall svara kort mening fraga
спасибо привет добрыи доброе утро день вечер пожалуиста ответь ответьте кратко вопрос здравствуите
`)

// smallTalkPhrases are greetings, thanks and orders in scripts without spaces, with which a sentence begins that says little else.
var smallTalkPhrases = []string{"ありがとう", "こんにちは", "おはよう", "こんばんは", "お願いします", "よろしく", "谢谢", "謝謝", "你好", "您好", "早上好", "晚上好", "请简短", "請簡短", "감사합니다", "안녕하세요", "고마워"}

// mergeAnswers merges the hits of the clauses of a message by confidence and keeps the order within each: what is weak comes last, at most
// maxWeak of it. A passage that an earlier one shows by half is left out.
func mergeAnswers(states []*searchState, n int) []memory.Hit {
	var confident, weak [][]memory.Hit
	for _, r := range states {
		hits := r.answer().Hits
		at := slices.IndexFunc(hits, func(h memory.Hit) bool { return h.Weak })
		if at < 0 {
			at = len(hits)
		}
		confident, weak = append(confident, hits[:at]), append(weak, hits[at:])
	}
	merged := mergeHits(nil, confident, n)
	return mergeHits(merged, weak, min(n, len(merged)+maxWeak))
}

// mergeHits appends hits of lists until there are n, always the first one of a list that has the greatest score.
func mergeHits(merged []memory.Hit, lists [][]memory.Hit, n int) []memory.Hit {
	for len(merged) < n {
		best := -1
		for i, l := range lists {
			if len(l) > 0 && (best < 0 || l[0].Score > lists[best][0].Score) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		h := lists[best][0]
		lists[best] = lists[best][1:]
		if !slices.ContainsFunc(merged, func(m memory.Hit) bool { return shown(m).covers(shown(h)) }) {
			merged = append(merged, h)
		}
	}
	return merged
}

// shown returns what a hit shows.
func shown(h memory.Hit) excerpt { return excerpt{h.Path, h.Snippet, h.StartLine, h.EndLine} }
