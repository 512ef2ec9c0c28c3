// Package llm is the client of language models: Anthropic's Messages API, OpenAI's chat completions and the servers that are
// compatible with them, and Ollama. Package llm/echo is a model that needs no network. llm is a leaf: it does not know
// memories, prompts or agents.
//
// [New] returns the model that settings describe. All models stream, call tools, can be held to a JSON Schema and count
// tokens; the kind of an [Error] tells failures apart. A failed request is sent again, after the pause that the server asks
// for, until a part of its answer has reached the caller. [Limit] bounds what is spent.
package llm
