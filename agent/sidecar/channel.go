package sidecar

import (
	"slices"
	"strings"
	"unicode"
)

var (
	// personal are the channels of one person. Programs among them stay so whatever follows; messengers do not, because a
	// number or name behind them may be a group's.
	personal = append([]string{"", "telegram", "whatsapp", "signal", "imessage", "line", "wechat", "email", "sms", "voice"}, programs...)
	programs = []string{"terminal", "cli", "web", "api"}
	// direct are the segments that say that a conversation has one person in it, and crowdWords the words for more.
	direct     = []string{"dm", "direct"}
	crowdWords = []string{"group", "groups", "supergroup", "channel", "channels", "room", "rooms", "team", "teams", "guild", "server", "all", "everyone",
		"everybody", "people", "public", "shared", "multi", "mpim", "mpdm", "and", "list", "lobby", "lounge", "forum", "broadcast", "thread"}
)

// IsGroup reports whether a channel is taken to have more than one person in it, if nobody says. Case does not matter.
// Those of one person are:
//
//   - the empty one, "terminal", "cli", "web", "api", "telegram", "whatsapp", "signal", "imessage", "line", "wechat", "email",
//     "sms" and "voice", as the whole name;
//   - "terminal", "cli", "web" and "api" before a ":" or "/", such as "terminal:2";
//   - each name that has, cut at ":" and "/", "dm" or "direct" as one of its segments, such as "discord:dm:7".
//
// A name with a word such as "group", "channel", "room", "team", "all", "everyone" or "people" in any segment is a group all
// the same, and so is one with "#", "@", "," or "&". Every other name is a group, "discord", "private" and "slack-dm-7"
// among them: what is private must not be shown to a crowd by mistake.
func IsGroup(channel string) bool {
	name := strings.ToLower(strings.TrimSpace(channel))
	if slices.Contains(personal, name) {
		return false
	}
	segments := strings.FieldsFunc(name, func(r rune) bool { return r == ':' || r == '/' })
	one := slices.ContainsFunc(segments, func(s string) bool { return slices.Contains(direct, s) }) ||
		len(segments) > 0 && slices.Contains(programs, segments[0])
	return !one || crowded(name)
}

// crowded reports whether a name in lower case speaks of more than one person.
func crowded(name string) bool {
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return strings.ContainsAny(name, "#@,&") || slices.ContainsFunc(words, func(w string) bool { return slices.Contains(crowdWords, w) })
}
