"""A model behind the chat completions of OpenAI, or of a server that is compatible, for a loop of one's own.

    chat = OpenAIChat(OpenAI(), "gpt-5")
    session = Session(kioku, "conversation-1", ask=chat.ask)
    turn = session.before(messages)
    answer = chat.ask(Question(turn.system, turn.messages, [tool.definition for tool in tools]))
"""
from __future__ import annotations

import json
from typing import Any, Dict

from kioku_client import Answer, ChatMessage, Question, TooLong, ToolCall


class OpenAIChat:
    """A model that is asked by chat completions."""

    def __init__(self, client: Any, model: str) -> None:
        """Makes a model of a client, openai.OpenAI, and the name of the model."""
        self._client, self._model = client, model

    def ask(self, question: Question) -> Answer:
        """Asks the model. It raises TooLong if the question does not fit into its window."""
        fields: Dict[str, Any] = {"model": self._model, "messages": [{"role": "system", "content": question.system}, *map(write, question.messages)]}
        if question.tools:
            fields["tools"] = [{"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.input_schema}}
                               for t in question.tools]
        if question.max_tokens:
            fields["max_completion_tokens"] = question.max_tokens
        try:
            done = self._client.chat.completions.create(**fields)
        except Exception as e:
            if getattr(e, "code", None) == "context_length_exceeded":
                raise TooLong(str(e)) from e
            raise
        said = done.choices[0]
        calls = [ToolCall(id=c.id, name=c.function.name, input=c.function.arguments) for c in said.message.tool_calls or ()]
        usage = done.usage
        return Answer(said.message.content or "", calls, said.finish_reason == "length", usage.prompt_tokens if usage else 0, usage.completion_tokens if usage else 0)


def write(message: ChatMessage) -> Dict[str, Any]:
    """Returns a message as chat completions take it."""
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.text}
    out: Dict[str, Any] = {"role": message.role, "content": message.text}
    if message.tool_calls:
        out["tool_calls"] = [{"id": c.id, "type": "function", "function": {"name": c.name, "arguments": json.dumps(c.input, ensure_ascii=False)}} for c in message.tool_calls]
    return out
