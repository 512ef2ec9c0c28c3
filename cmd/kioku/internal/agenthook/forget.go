package agenthook

import "regexp"

// forgets matches messages by which people have something forgotten or corrected, in the languages that most write in.
var forgets = regexp.MustCompile(`(?i)(?:^|[.!?,;:\n]\s*|\b(?:please|now|just|and|kindly) )(?:forget (?:that|this|it|what|everything|the|my|our|his|her|their)|don'?t remember (?:that|this))\b|` +
	`\b(?:that|this|it)(?:'s| is) (?:wrong|not true|no longer true|outdated)\b|\byou(?:'re| are) wrong\b|\byou remember (?:it )?wrong\b|` +
	`(?:^|[.!?,;:\n]\s*|\bbitte )vergiss (?:das|dass|es|was|die|den|mein|meine|unser|unsere)\b|\bdas (?:stimmt nicht|ist falsch)\b|\boublie (?:ça|cela|que|ce)\b|\bc'est faux\b|\bolvida (?:eso|esto|que|lo)\b|\beso (?:no es cierto|está mal)\b|` +
	`忘れて(?:ください|下さい|ほしい|$|[。、!！])|(?:それ|これ)は(?:違|間違)|もう違います|忘掉|忘记(?:这|那|我)|把.{1,20}忘了|(?:这|那)(?:不对|是错的)|잊어\s?(?:줘|주세요)|그건? (?:틀렸|아니)`)

// remembers matches what looks like the former, and means the contrary.
var remembers = regexp.MustCompile(`(?i)\b(?:don'?t|never|not|nicht|no te|ne) (?:ever )?(?:forget|vergessen|olvides|oublie)|\bforget about\b|忘れないで|不要忘|别忘|別忘|잊지`)

// ForgetHint follows a message that has something forgotten or corrected. It states facts, because agents take orders in a hook for an
// injection.
const ForgetHint = "What the user wants to be forgotten or corrected may stand in several notes. The tool memory_update with places: [] finds what says " +
	"old_text in all of them, and with the places that are meant forgets it, or writes new_text in its place."

// AsksToForget reports whether somebody has something forgotten or corrected.
func AsksToForget(message string) bool {
	return forgets.MatchString(message) && !remembers.MatchString(message)
}
