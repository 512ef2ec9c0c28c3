// Package llm is the client of language models: Anthropic's Messages API, OpenAI's chat completions and the servers that are
// compatible with them, Gemini's generateContent, and Ollama. Package llm/echo is a model that needs no network. llm is a leaf: it does not know
// memories, prompts or agents.
//
// [New] returns the model that settings describe. All models stream, call tools, can be held to a JSON Schema and count
// tokens; the kind of an [Error] tells failures apart. A failed request is sent again, after the pause that the server asks
// for, until a part of its answer has reached the caller; Request.Patience bounds for how long. [Limit] bounds what is spent.
//
// The window of a model is what the settings say, or else what the server says of the model as it runs (vLLM, SGLang, OpenRouter,
// llama.cpp, LM Studio, Ollama), or else what is known of its name. A request that is refused as too long makes it smaller: to
// the number in the refusal, or for an hour to four fifths of the request. Window and RequestTokens count alike: if the usage of
// answers shows that the server counts more, the window shrinks by that factor.
package llm
