// Package member asks the members of a council. [Members] answers a [Question] by a language model, by an external command or
// through a [Desk] at which members elsewhere fetch their turns; what comes back is checked to the letter.
//
// A model writes an opinion and nothing else: what no contract allows is an [Abstention] and never a vote. The text of a task,
// attachments, comments, other opinions and memories are data in a prompt, between marks that no text can close.
package member
