package modelhttp

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// TokenCount is what a server says of a request that is too long for its model, in the tokens of the model.
type TokenCount struct {
	// Limit is the number of tokens that the model takes; 0 if the server did not say.
	Limit int
	// Asked is the number of tokens of the request, without those of the answer if the server tells them apart; 0 if the
	// server did not say.
	Asked int
}

// overflowing matches how servers say that a request is too long: OpenAI and vLLM, Anthropic, OpenRouter, llama.cpp, LM Studio,
// Ollama, Gemini, Voyage, Mistral, xAI, text-embeddings-inference, Moonshot, DashScope and Zhipu.
var overflowing = regexp.MustCompile(`(?i)context_length_exceeded|exceed_context_size|prompt is too long|maximum (context|prompt|input) length|` +
	`(exceeds?|exceeded|overflows?|larger than|greater than|longer than)[^.]{0,60}(context (window|length|size)|token limit)|` +
	`context (window|length|size)[^.]{0,40}(exceeded|overflow)|context the overflows|input length and .?max_tokens.? exceed|` +
	`does not fit into[^.]{0,30}context window|too many tokens (in batch|overall)|input is too long|request_too_large|exceeds the maximum number of tokens|input token count[^.]{0,40}(exceeds|but)|` +
	`too large to process|must have less than [0-9]+ tokens|exceeds? (the )?maximum of [0-9]+ tokens|.max_new_tokens. must be <=|` +
	`range of input length should be|prompt exceeds max length|超长|超(过|出|限).{0,24}(上下文|长度|输入.{0,4}token)|(上下文|长度|输入.{0,4}token)[^。]{0,24}超(过|出|限)`)

// A number of tokens may have separators: 200,000.
const tokenNumber = `([0-9][0-9,_]*)`

// limits and askeds match the numbers of a TokenCount; the first that matches counts.
var (
	limits = compileAll(
		`maximum (?:context|prompt|input) length (?:is|of) (?:only )?`+tokenNumber,
		`context (?:length|window|size) of (?:only )?`+tokenNumber,
		`context (?:length|window|size) \(`+tokenNumber,
		tokenNumber+` maximum(?: context length)?\b`,
		`> `+tokenNumber,
		`maximum number of tokens(?: allowed)? \(?`+tokenNumber,
		`supports? (?:only )?up to `+tokenNumber,
		`token limit:? `+tokenNumber,
		`must have less than `+tokenNumber,
		`max is `+tokenNumber,
		`maximum of `+tokenNumber,
		`must be <= `+tokenNumber,
		`batch size: `+tokenNumber,
		`input length should be \[[0-9]+, ?`+tokenNumber,
		`最大[^0-9。]{0,16}`+tokenNumber,
		`(?:限制|上限)[^0-9。]{0,8}`+tokenNumber,
	)
	askeds = compileAll(
		`\(`+tokenNumber+` (?:in|of) (?:the messages|your prompt|text input)`,
		`has `+tokenNumber+` input tokens`,
		tokenNumber+` \+ [0-9,_]+ > `,
		tokenNumber+` tokens >`,
		`requested (?:about )?`+tokenNumber,
		`requested tokens \(`+tokenNumber,
		`resulted in `+tokenNumber,
		`(?:request|input) \(`+tokenNumber+` tokens\)`,
		`token count (?:is |\()`+tokenNumber,
		`contains `+tokenNumber,
		`given: `+tokenNumber,
		`max is [0-9,_]+ got `+tokenNumber,
		`(?:当前|实际|输入)[^0-9。]{0,16}`+tokenNumber,
	)
)

func compileAll(exprs ...string) []*regexp.Regexp {
	all := make([]*regexp.Regexp, len(exprs))
	for i, expr := range exprs {
		all[i] = regexp.MustCompile(`(?i)` + expr)
	}
	return all
}

// countTokens returns the numbers in a refusal. said is what the server said without the texts of the request, and body is its
// answer, in which llama.cpp has the numbers as fields.
func countTokens(said string, body []byte) TokenCount {
	count := TokenCount{Limit: firstNumber(limits, said), Asked: firstNumber(askeds, said)}
	var fields struct {
		Error struct {
			Prompt int `json:"n_prompt_tokens"`
			Window int `json:"n_ctx"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &fields) == nil && fields.Error.Window > 0 {
		count = TokenCount{Limit: fields.Error.Window, Asked: max(fields.Error.Prompt, 0)}
	}
	return count
}

// firstNumber returns the number that the first matching expression finds, 0 if there is none.
func firstNumber(exprs []*regexp.Regexp, said string) int {
	for _, expr := range exprs {
		if m := expr.FindStringSubmatch(said); m != nil {
			n, err := strconv.Atoi(strings.NewReplacer(",", "", "_", "").Replace(m[1]))
			if err == nil && n > 0 {
				return n
			}
		}
	}
	return 0
}
