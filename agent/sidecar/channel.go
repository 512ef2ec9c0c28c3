package sidecar

// IsGroup reports whether a channel is taken to have more than one person in it, where nobody says. Those of one person
// are the empty one, "terminal", "cli", "web", "api", "telegram", "whatsapp", "signal", "imessage", "line", "wechat",
// "email", "sms", "voice", and every name with a word "dm", "direct" or "private" in it. "discord", "slack" and every other
// name count as a group, and so does each name with a word "group", "channel", "room" or "team", or with "#": what is
// private must not be shown to a crowd by mistake.
func IsGroup(channel string) bool { panic("contract") }
