package text

import "unicode/utf8"

// EstimateTokens returns about how many tokens text has in the vocabulary of a language model, for places where no exact
// count is needed. Four ASCII characters count as one token, two other characters below U+2E80 as one, and each character
// from there on, which are CJK, Hangul and emoji, as one. Compared with the vocabularies o200k (GPT-4o and later) and cl100k
// (GPT-4) on prose:
//
//	script                         estimate/o200k   estimate/cl100k
//	English                        1.2              1.2
//	French, German, Vietnamese     1.1 to 1.3       0.6 to 1.1
//	Polish                         0.8              0.7
//	Cyrillic                       1.6              1.0
//	Greek, Arabic, Hebrew, Thai    1.1 to 1.3       0.5 to 0.7
//	Devanagari                     1.9              0.5
//	Chinese, Japanese              1.2 to 1.3       0.8 to 1.0
//	Hangul                         1.6              0.9
func EstimateTokens(text string) int {
	quarters := 0
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			quarters++
		case r < 0x2E80:
			quarters += 2
		default:
			quarters += 4
		}
	}
	return (quarters + 3) / 4
}
