package rule

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"kioku/derive/vocab"
	"kioku/internal/text"
)

var (
	inBrackets = text.NewRegexp(`^(.*?)\s*[(（]([^()（）]*)[)）]\s*$`)
	alsoCalled = text.NewRegexp(`^(?i:aka|a\.k\.a\.|also known as|alias|called|goes by|通称|愛称|あだ名|又名|别名|昵称|旧姓)[:：]?\s*`)
	// hanCalled are forms of address with a surname or a part of the given name: 小王, 阿伟, 王经理.
	hanCalled = text.NewRegexp(`^(?:[小老阿大]([\p{Han}]{1,2})|([\p{Han}])(?:先生|女士|老师|经理|医生|律师|教授|总|小姐|师傅|阿姨|同学|哥|姐|叔|姨|總|師傅|姐姐|哥哥))$`)
)

// splitAliases returns a name without what stands behind it in brackets, and the aliases there: "Dario Conti (Dario, DC)". What is in
// brackets is an alias if it is a part of the name, its initials, the name in another script, or said to be one. Where the whole name
// stands in the brackets, what stands before them is the alias: 田中さん（田中太郎）.
func splitAliases(name string) (string, []string) {
	var aliases []string
	if m := inBrackets.FindStringSubmatch(name); m != nil && m[1] != "" {
		name = cleanName(m[1])
		for _, a := range strings.FieldsFunc(m[2], func(r rune) bool { return strings.ContainsRune(",、，/;；", r) }) {
			a = strings.TrimSpace(a)
			said := alsoCalled.MatchString(a)
			a = cleanName(alsoCalled.ReplaceAllString(a, ""))
			switch {
			case a == "":
			case !said && isPersonName(a) && shortens(name, a):
				name, aliases = a, append(aliases, name)
			case said || isAliasOf(a, name):
				aliases = append(aliases, a)
			}
		}
	}
	if latin, other := splitScripts(name); isMixedName(name) {
		return latin, append([]string{other}, aliases...)
	}
	return name, aliases
}

// isAliasOf reports whether a text is certainly another form of a name.
func isAliasOf(alias, name string) bool {
	if shortens(alias, name) {
		return true
	}
	words := strings.Fields(vocab.Norm(name))
	var initials strings.Builder
	for _, w := range words {
		r, _ := utf8.DecodeRuneInString(w)
		initials.WriteRune(r)
	}
	if len(words) > 1 && vocab.Norm(alias) == initials.String() {
		return true
	}
	return isPersonName(alias) && isPersonName(name) && hanName.MatchString(alias) != hanName.MatchString(name)
}

// shortens reports whether a text is a part of a name by which people are called: a word of it, a surname, a given name, 小王 of 王伟.
func shortens(alias, name string) bool {
	short, whole := vocab.Norm(alias), vocab.Norm(name)
	if short == whole {
		return false
	}
	words := strings.FieldsFunc(whole, func(r rune) bool { return r == ' ' || r == '・' })
	for _, w := range words {
		if len(words) > 1 && w == short {
			return true
		}
	}
	if !hanName.MatchString(name) || strings.ContainsFunc(whole, func(r rune) bool { return !unicode.Is(unicode.Han, r) && r != ' ' }) {
		return false
	}
	whole = strings.ReplaceAll(whole, " ", "")
	if n := utf8.RuneCountInString(short); n >= 2 && n < utf8.RuneCountInString(whole) && (strings.HasPrefix(whole, short) || strings.HasSuffix(whole, short)) {
		return true
	}
	m := hanCalled.FindStringSubmatch(short)
	return m != nil && (m[1] != "" && (strings.HasPrefix(whole, m[1]) || strings.HasSuffix(whole, m[1])) || m[2] != "" && strings.HasPrefix(whole, m[2]))
}
