package llm

// EstimateTokens guesses how many tokens a text has, where no tokenizer is at hand: one for four characters of ASCII and one
// for any other.
func EstimateTokens(text string) int {
	ascii, others := 0, 0
	for _, r := range text {
		if r < 0x80 {
			ascii++
		} else {
			others++
		}
	}
	return (ascii+3)/4 + others
}
