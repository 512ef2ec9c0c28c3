// Package llm speaks to language models: Anthropic's Messages API, chat completions of OpenAI and of whoever speaks
// their format, and Ollama. It is a leaf: it knows nothing of memories, prompts or agents.
package llm
