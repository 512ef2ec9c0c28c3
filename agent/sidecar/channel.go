package sidecar

import (
	"slices"
	"strings"
	"unicode"
)

var (
	// personal are the channels of one person.
	personal = []string{"", "terminal", "cli", "web", "api", "telegram", "whatsapp", "signal", "imessage", "line", "wechat", "email", "sms", "voice"}
	// privateWords tell that a conversation has one person in it, and crowdWords that it has more.
	privateWords = []string{"dm", "direct", "private"}
	crowdWords   = []string{"group", "groups", "supergroup", "channel", "channels", "room", "rooms", "team", "teams"}
)

// IsGroup reports whether a channel is taken to have more than one person in it, where nobody says. Those of one person
// are the empty one, "terminal", "cli", "web", "api", "telegram", "whatsapp", "signal", "imessage", "line", "wechat",
// "email", "sms", "voice", and every name with a word "dm", "direct" or "private" in it. "discord", "slack" and every other
// name count as a group, and so does each name with a word "group", "channel", "room" or "team", or with "#": what is
// private must not be shown to a crowd by mistake. Case does not matter.
func IsGroup(channel string) bool {
	name := strings.ToLower(strings.TrimSpace(channel))
	if slices.Contains(personal, name) {
		return false
	}
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	has := func(list []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
	}
	return strings.Contains(name, "#") || has(crowdWords) || !has(privateWords)
}
