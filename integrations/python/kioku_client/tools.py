"""The memory tools of an agent, as the service defines and runs them."""
from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from kioku_client.client import Kioku
from kioku_client.errors import KiokuError
from kioku_client.records import Author, ChatMessage, Tool, ToolCall, read

# Tool whose result the model has not read from anywhere.
APPEND = "memory_append"


@dataclass(frozen=True)
class ToolResult:
    """What a tool returned, for the model: also what is wrong, if it failed."""

    #: JSON, or a sentence if the tool failed.
    output: str
    #: The tool failed.
    failed: bool


@dataclass(frozen=True)
class MemoryTool:
    """A memory tool: its definition as the APIs of models take it, and a call."""

    name: str
    description: str
    #: JSON Schema of the input.
    input_schema: Dict[str, Any]
    #: The client that runs the tool.
    kioku: Kioku = field(repr=False)
    #: Channel of the conversation, and whether it is a group; a group has fewer tools.
    channel: str = ""
    group: Optional[bool] = None

    @property
    def definition(self) -> Tool:
        """The definition for a Question."""
        return Tool(name=self.name, description=self.description, input_schema=self.input_schema)

    def __call__(self, given: Union[str, Mapping[str, Any]] = "", *, source: str = "agent", author: Optional[Author] = None) -> ToolResult:
        """Runs the tool with what the model gave, and never raises an error of the service: the model is told of it.

        source is "tool" once the model has read the result of another tool in the turn, as Session.source says. author is who wrote
        the message that the model answers.
        """
        fields = {"name": self.name, "input": _parsed(given), "channel": self.channel, "group": self.group, "source": source, "author": author}
        try:
            done = self.kioku.call("POST /v1/tools:call", fields)
        except KiokuError as e:
            return ToolResult(str(e), True)
        return ToolResult(done["output"], done.get("failed", False))


def _parsed(given: Union[str, Mapping[str, Any]]) -> Any:
    """Returns what a model gave as JSON; the text itself if it is none, which the service refuses with a hint for the model."""
    try:
        return json.loads(given or "{}") if isinstance(given, str) else given
    except ValueError:
        return given


def run_tool(tools: Sequence[MemoryTool], call: ToolCall, *, source: str = "agent", author: Optional[Author] = None) -> ChatMessage:
    """Runs a call of a model, and returns the message with its result, which comes after the message with the call."""
    tool = next((t for t in tools if t.name == call.name), None)
    done = tool(call.input, source=source, author=author) if tool is not None else ToolResult("there is no tool %s" % call.name, True)
    return ChatMessage(role="tool", text=done.output, failed=done.failed, tool_call_id=call.id, tool_name=call.name)


def memory_tools(kioku: Kioku, *, channel: str = "", group: Optional[bool] = None) -> List[MemoryTool]:
    """Returns the memory tools for a conversation. Several people take part if group is true; None means that the channel decides."""
    listed = kioku.call("GET /v1/tools", {"channel": channel, "group": group})
    tools = [read(Tool, t) for t in listed["tools"]]
    return [MemoryTool(t.name, t.description, t.input_schema, kioku, channel, group) for t in tools]
