package flush

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// NoReply is what a model answers that has nothing to say to the user.
const NoReply = "NO_REPLY"

// Silent reports whether a reply is not for the user: it begins with NoReply, and then ends or continues what is no part
// of a word, or it ends with NoReply as a word of its own. White space before it, and white space and punctuation at the
// end, make no difference. Letters of every script are parts of words: "NO_REPLYです" is for the user.
func Silent(reply string) bool {
	if after, begins := strings.CutPrefix(strings.TrimLeftFunc(reply, unicode.IsSpace), NoReply); begins {
		next, _ := utf8.DecodeRuneInString(after)
		if after == "" || !inWord(next) {
			return true
		}
	}
	before, ends := strings.CutSuffix(strings.TrimRightFunc(reply, notInWord), NoReply)
	if !ends {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(before)
	return before == "" || !inWord(last)
}

// inWord reports whether r is a part of words, in any script.
func inWord(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.Pc)
}

func notInWord(r rune) bool { return !inWord(r) }
