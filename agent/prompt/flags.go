package prompt

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Flags of a memory whose text seems to give the model instructions. They are hints; only the frame makes text data. A flagged
// memory is never left out.
const (
	// FlagInstruction: the text contains a phrase such as "ignore previous instructions", in English, Japanese or Chinese.
	FlagInstruction = "instruction"
	// FlagRole: the text contains the marks of a speaker in a model's input.
	FlagRole = "role"
	// FlagHidden: the text contains invisible characters.
	FlagHidden = "hidden"
	// FlagLookalike: the text contains words that mix Latin with Cyrillic or Greek letters.
	FlagLookalike = "lookalike"
)

var (
	// instructing matches English, and each match contains one of instructingWords. instructingHan matches Japanese and
	// Chinese.
	instructing = regexp.MustCompile(`(?i)\b(ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}\b(previous|prior|above|earlier|preceding|all|any|your|system)\b[^.\n]{0,40}\b(instructions?|prompts?|rules?|messages?|directives?|guidelines?|context)\b` +
		`|\byou are now\b|\b(new|real|actual) (system )?instructions?\b|\b(reveal|print|show|repeat) (me )?(your|the) (system )?prompt\b|\bdo not (tell|inform) the user\b`)
	instructingWords = []string{"ignore", "disregard", "forget", "override", "bypass", "you are now", "instruction", "prompt", "do not"}
	instructingHan   = regexp.MustCompile(`(これまで|今まで|以前|以上|上記|前述|先ほど|すべて|全て|全部|システム)[^。\n]{0,10}(指示|命令|プロンプト|ルール|制約)[^。\n]{0,8}(無視|忘れ|従わ|破棄)|(指示|命令|プロンプト|ルール)[^。\n]{0,4}(無視|忘れ)(し|て|ろ)` +
		`|(忽略|无视|無視|忘记|忘掉|忘記|不要遵守|不要理会)[^。\n]{0,10}(之前|以上|先前|前面|上面|上述|所有|一切|全部|系统|系統)[^。\n]{0,8}(指令|指示|提示|规则|規則|要求|命令|对话)|你现在是|你現在是`)
	roleMark = regexp.MustCompile(`(?im)^\s*(system|assistant|human|user|developer|tool)\s*[::]|<\|[a-z_]+\|>|\[/?INST\]|<</?SYS>>|</?\s*(system|assistant|user|human|memory|recalled-memories|tool_result|function_results?)\b`)
)

// lookalikes are letters of other scripts that look like Latin ones.
var lookalikes = strings.NewReplacer(
	"а", "a", "в", "b", "с", "c", "ԁ", "d", "е", "e", "һ", "h", "і", "i", "ј", "j", "к", "k", "м", "m", "о", "o", "р", "p", "ѕ", "s", "т", "t", "у", "y", "х", "x",
	"А", "A", "В", "B", "С", "C", "Е", "E", "Н", "H", "І", "I", "Ј", "J", "К", "K", "М", "M", "О", "O", "Р", "P", "Ѕ", "S", "Т", "T", "У", "Y", "Х", "X",
	"α", "a", "ε", "e", "ι", "i", "κ", "k", "ν", "v", "ο", "o", "ρ", "p", "τ", "t", "υ", "u", "χ", "x",
	"Α", "A", "Β", "B", "Ε", "E", "Η", "H", "Ι", "I", "Κ", "K", "Μ", "M", "Ν", "N", "Ο", "O", "Ρ", "P", "Τ", "T", "Υ", "Y", "Χ", "X",
)

// suspicions returns the flags of a text in the order of the constants, nil if there are none.
func suspicions(text string) []string {
	var seen strings.Builder
	concealed := false
	var before rune
	for _, r := range text {
		switch {
		case !Hidden(r) || r == '\n' || r == '\t' || r == '\r':
			seen.WriteRune(r)
			before = r
		case r != joiner && r != nonJoiner || before < 0x80:
			concealed = true
		}
	}
	plain := norm.NFKC.String(seen.String())
	latin := lookalikes.Replace(plain)
	var flags []string
	for _, c := range []struct {
		flag string
		is   bool
	}{
		{FlagInstruction, instructs(latin)},
		{FlagRole, roleMark.MatchString(latin)},
		{FlagHidden, concealed},
		{FlagLookalike, latin != plain && mixed(plain)},
	} {
		if c.is {
			flags = append(flags, c.flag)
		}
	}
	return flags
}

// instructs reports whether a text gives instructions. It first looks for what all matches contain, because the expressions are
// slow.
func instructs(text string) bool {
	low := strings.ToLower(text)
	word := slices.ContainsFunc(instructingWords, func(w string) bool { return strings.Contains(low, w) })
	han := strings.ContainsFunc(text, func(r rune) bool { return r >= '\u3040' })
	return word && instructing.MatchString(text) || han && instructingHan.MatchString(text)
}

// mixed reports whether a word mixes Latin letters with those of a similar script.
func mixed(text string) bool {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		latin := strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(unicode.Latin, r) })
		other := strings.ContainsFunc(word, func(r rune) bool { return unicode.In(r, unicode.Cyrillic, unicode.Greek) })
		if latin && other {
			return true
		}
	}
	return false
}
