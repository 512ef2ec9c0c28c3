package flush

// NoReply is what a model answers that has nothing to say to the user.
const NoReply = "NO_REPLY"

// Silent reports whether a reply is not for the user: it begins with NoReply, and then ends or goes on with what is no part
// of a word, or it ends with NoReply.
func Silent(reply string) bool { panic("contract") }
