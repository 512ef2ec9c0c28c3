// Package llm speaks to language models: Anthropic's Messages API, chat completions of OpenAI and of whoever speaks
// their format, and Ollama. [Echo] is a model of its own that needs no network. The package is a leaf: it knows nothing of
// memories, prompts or agents.
//
// [New] makes a model of settings. All of them stream, call tools, may be held to a JSON Schema and count tokens; failures
// are told apart by the kind of an [Error]. A request that failed is sent again, with the pauses that the server asks for,
// until a part of its answer has reached the caller. [Limit] bounds what is spent.
package llm
