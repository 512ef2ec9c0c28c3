package standing

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"kioku/search/analysis"
)

// phrases are runs of words by their first one.
type phrases map[string][][]string

// standingStarts begin a clause that tells how things are to be done, whenever they are: "Always format code", "Code: use tabs". Each
// line has the words of a language.
var standingStarts = phrasesOf(
	`always|never|please|do not|don't|avoid|use|prefer|prefers|answer|reply|respond|format|ensure|make sure|stick to|call me|address me|likes|dislikes|loves|hates|wants`,
	`immer|stets|nie|niemals|bitte|vermeide|verwende|benutze|nutze|bevorzuge|bevorzugt|antworte|schreib|schreibe|formatiere|nenn mich|nenne mich|mag`,
	`toujours|jamais|ne jamais|ne pas|s'il te plaît|s'il vous plaît|merci de|évite|évitez|éviter|utilise|utilisez|utiliser|préfère|réponds|répondez|répondre|écris|écrivez|appelle-moi|appelez-moi`,
	`siempre|nunca|jamás|por favor|no uses|no usar|evita|evitar|usa|usar|utiliza|utilizar|prefiere|responde|responder|escribe|llámame`,
	`sempre|mai|non usare|per favore|evitare|usare|utilizza|utilizzare|preferisce|rispondi|rispondere|scrivi|chiamami`,
	`não use|não usar|evite|utilize|prefere|prefira|responda|escreva|me chame|chame-me`,
	`altijd|nooit|alsjeblieft|graag|vermijd|gebruik|antwoord|schrijf|noem me|noem mij`,
	`alltid|aldrig|snälla|undvik|använd|föredrar|svara|skriv|kalla mig`,
	`всегда|никогда|пожалуйста|не используй|не используйте|избегай|избегайте|используй|используйте|предпочитает|отвечай|отвечайте|пиши|пишите|называй меня`,
)

// standingWords tell a preference or a need wherever they stand.
var standingWords = phrasesOf(
	`i like|i love|i prefer|i hate|i dislike|i want|i always|i never|i don't like|i do not like|i don't want|i do not want|i don't eat|i do not eat|i can't stand|i can't eat`,
	`user likes|user loves|user prefers|user hates|user dislikes|user wants|user always|user never|standing rule|standing instruction`,
	`vegetarian|vegan|allergic|allergy|allergies|intolerant|intolerance|gluten-free|halal|kosher`,
	`ich mag|ich liebe|ich hasse|ich bevorzuge|ich möchte|ich esse kein|ich esse keine|ich trinke kein|ich trinke keinen|vegetarier|vegetarierin|vegetarisch|veganer|veganerin|allergisch|allergie|unverträglichkeit`,
	`j'aime|j'adore|je préfère|je déteste|je n'aime pas|je veux|je ne mange pas|je ne bois pas|végétarien|végétarienne|végane|allergique|intolérant|intolérante`,
	`me gusta|me gustan|me encanta|me encantan|prefiero|quiero que|no como|no bebo|vegetariano|vegetariana|vegano|vegana|alérgico|alérgica|alergia`,
	`mi piace|mi piacciono|preferisco|voglio che|non mangio|non bevo|allergico|allergica|allergia|intollerante`,
	`gosto de|não gosto|prefiro|odeio|quero que|não como|não bebo|alérgico|alérgica`,
	`ik hou van|ik houd van|ik haat|ik heb liever|ik wil|ik eet geen|ik drink geen|vegetariër|veganist`,
	`jag gillar|jag älskar|jag hatar|jag föredrar|jag vill|jag tycker om|jag tycker inte om|jag äter inte|jag dricker inte|allergisk|allergi`,
	`я люблю|я не люблю|мне нравится|мне нравятся|мне не нравится|я предпочитаю|я ненавижу|я хочу чтобы|я не ем|я не пью|вегетарианец|вегетарианка|аллергия|непереносимость`,
)

// standingHeadings are words of headings under which each item is an instruction or a preference.
var standingHeadings = phrasesOf(
	`preference|preferences|instruction|instructions|rule|rules|guideline|guidelines|likes|dislikes|wants`,
	`vorlieben|präferenzen|anweisungen|regeln`, `préférences|consignes|règles`, `preferencias|instrucciones|reglas`,
	`preferenze|istruzioni|regole`, `preferências|instruções|regras`, `voorkeuren|instructies|regels`,
	`preferenser|instruktioner|regler|önskemål`, `предпочтения|инструкции|правила`,
)

// standingParts are what standing lines contain in Japanese and Chinese, and standingFirst what they begin a clause with in Chinese.
var (
	standingParts = strings.Fields(`いつも 必ず 常に 絶対に 決して てください て下さい でください で下さい てほしい て欲しい でほしい ないこと すること。 を使うこと 使わない を避け は避け が好き は好き 好む 嫌い 苦手
		アレルギー ベジタリアン 菜食 ヴィーガン ビーガン 总是 總是 务必 務必 永远不要 永遠不要 绝不 絕不 不要 一律 始终 始終 喜欢 喜歡 偏好 讨厌 討厭 过敏 過敏 素食 吃素`)
	standingFirst       = regexp.MustCompile(`(?:^|[，。：、；,:;\s])(?:请|請|别|別|避免)`)
	standingHeadingPart = strings.Fields(`好み 指示 ルール 方針 偏好 喜好 指令 规则 規則`)
)

// phrasesOf returns the phrases of lists, which | separates.
func phrasesOf(lists ...string) phrases {
	p := phrases{}
	for _, list := range lists {
		for phrase := range strings.SplitSeq(list, "|") {
			words := strings.Fields(phrase)
			p[words[0]] = append(p[words[0]], words)
		}
	}
	return p
}

// begin reports whether words begin with a phrase.
func (p phrases) begin(words []word) bool {
	return slices.ContainsFunc(p[words[0].text], func(phrase []string) bool {
		if len(phrase) > len(words) {
			return false
		}
		for i, text := range phrase {
			if words[i].text != text {
				return false
			}
		}
		return true
	})
}

// isStanding reports whether a sentence or an item of a list is an instruction or a preference that holds until it is taken back, in
// the nine languages that texts are analysed in, Japanese or Chinese: "Always format code", "I am vegetarian".
func isStanding(s string) bool {
	line := plainLine(s)
	for words := wordsIn(line); len(words) > 0; words = words[1:] {
		if words[0].first && standingStarts.begin(words) || standingWords.begin(words) {
			return true
		}
	}
	return hasWide(line) && (containsPart(line, standingParts) || standingFirst.MatchString(line))
}

// isStandingHeading reports whether what a heading stands above are standing instructions and preferences.
func isStandingHeading(title string) bool {
	line := plainLine(title)
	for words := wordsIn(line); len(words) > 0; words = words[1:] {
		if standingHeadings.begin(words) {
			return true
		}
	}
	return hasWide(line) && containsPart(line, standingHeadingPart)
}

// plainLine returns a line in lower case, without the marks of Markdown before it and within it.
func plainLine(s string) string {
	s = markupAway.Replace(strings.ToLower(analysis.Normalize(s)))
	return strings.TrimLeft(s, " \t#+-0123456789.)")
}

var markupAway = strings.NewReplacer("*", "", "`", "", "’", "'")

// word is a run of letters, digits, hyphens and apostrophes.
type word struct {
	text string
	// first says that it begins a line or a clause.
	first bool
}

// wordsIn returns the words of a line.
func wordsIn(line string) (words []word) {
	first, from := true, -1
	for i, r := range line + " " {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), from >= 0 && (r == '\'' || r == '-'):
			if from < 0 {
				from = i
			}
			continue
		case from >= 0:
			words, first, from = append(words, word{line[from:i], first}), false, -1
		}
		if strings.ContainsRune(".!?;:,(–—", r) {
			first = true
		}
	}
	return words
}

// hasWide reports whether a line has a character of Japanese or Chinese.
func hasWide(line string) bool {
	return strings.ContainsFunc(line, func(r rune) bool { return r >= '\u3040' })
}

func containsPart(line string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(line, part) })
}
