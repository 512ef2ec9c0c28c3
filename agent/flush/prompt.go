package flush

import "time"

// SystemPrompt is put behind the system prompt of a flush, and UserPrompt is its last message, for the day of now.
func SystemPrompt() string { panic("contract") }

// UserPrompt is the last message of a flush, for the day of now.
func UserPrompt(now time.Time) string { panic("contract") }
