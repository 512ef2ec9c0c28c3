package agenthook

import "regexp"

// forgets matches messages by which people have something forgotten or corrected, in the languages that most write in.
var forgets = regexp.MustCompile(`(?i)\b(?:forget (?:that|this|it|what|about|everything)|don'?t remember (?:that|this)|(?:that|this|it)(?:'s| is) (?:wrong|not true|no longer true|outdated)|you remember (?:it )?wrong)\b|` +
	`\bvergiss (?:das|dass|es|was)\b|\bdas (?:stimmt nicht|ist falsch)\b|\boublie (?:ça|cela|que|ce)\b|\bc'est faux\b|\bolvida (?:eso|esto|que|lo)\b|\beso (?:no es cierto|está mal)\b|` +
	`忘れて(?:ください|下さい|ほしい|$|[。、!！])|(?:それ|これ)は(?:違|間違)|もう違います|忘掉|忘记(?:这|那|我)|把.{1,20}忘了|(?:这|那)(?:不对|是错的)|잊어\s?(?:줘|주세요)|그건? (?:틀렸|아니)`)

// ForgetHint follows a message that has something forgotten or corrected. It states facts, because agents take orders in a hook for an
// injection.
const ForgetHint = "What the user wants to be forgotten or corrected may stand in several notes. The tool memory_update with places: [] finds what says " +
	"old_text in all of them, and with the places that are meant forgets it, or writes new_text in its place."

// AsksToForget reports whether somebody has something forgotten or corrected.
func AsksToForget(message string) bool { return forgets.MatchString(message) }
