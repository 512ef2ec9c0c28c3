"""Memory for the Claude Agent SDK: hooks that recall and store, and the memory tools as an MCP server in the process.

    memory = KiokuMemory(Kioku())
    options = memory.add_to(ClaudeAgentOptions())
    async with ClaudeSDKClient(options) as client:
        ...
    await memory.end()
"""
from __future__ import annotations

import asyncio
import dataclasses
import json
import pathlib
from typing import Any, Dict, Iterator, List, Optional

from claude_agent_sdk import ClaudeAgentOptions, HookContext, HookMatcher, SdkMcpTool, create_sdk_mcp_server
from claude_agent_sdk.types import HookInput, HookJSONOutput

from kioku_client import ChatMessage, Kioku, KiokuError, MemoryTool, Session, ToolCall, memory_tools
from kioku_client.tools import APPEND

# What the names of the tools begin with.
_PREFIX = "mcp__kioku__"
# Signs of lines that nobody has said: those of sub-agents, of the program, and summaries of what was said.
_NOT_SAID = ("isSidechain", "isMeta", "isCompactSummary")


class KiokuMemory:
    """The memory of a client of Claude. Its model is that of the service (llm.provider), because a hook has no way to Claude."""

    def __init__(self, kioku: Kioku, *, channel: str = "terminal", group: Optional[bool] = None) -> None:
        self.kioku, self._channel, self._group = kioku, channel, group
        self._source = "agent"
        # The transcript of each session that was seen.
        self._transcripts: Dict[str, str] = {}

    def add_to(self, options: ClaudeAgentOptions) -> ClaudeAgentOptions:
        """Returns options with the hooks and the tools added, which are called mcp__kioku__memory_search and so on."""
        tools = memory_tools(self.kioku, channel=self._channel, group=self._group)
        server: Any = create_sdk_mcp_server("kioku", tools=[self._sdk_tool(tool) for tool in tools])
        server["alwaysLoad"] = True  # a tool that Claude would have to search for first is seldom used
        servers = options.mcp_servers if isinstance(options.mcp_servers, dict) else {}
        hooks = dict(options.hooks or {})
        hooks["UserPromptSubmit"] = [*hooks.get("UserPromptSubmit", []), HookMatcher(hooks=[self.user_prompt_submit])]
        hooks["PostToolUse"] = [*hooks.get("PostToolUse", []), HookMatcher(hooks=[self.post_tool_use])]
        hooks["PreCompact"] = [*hooks.get("PreCompact", []), HookMatcher(hooks=[self.pre_compact], timeout=600)]
        allowed = [*options.allowed_tools, *(_PREFIX + tool.name for tool in tools)]
        return dataclasses.replace(options, mcp_servers={**servers, "kioku": server}, hooks=hooks, allowed_tools=allowed)

    async def user_prompt_submit(self, given: HookInput, tool_use_id: Optional[str], context: HookContext) -> HookJSONOutput:
        """Adds what memory has about the message of the user."""
        self._seen(given)
        self._source = "agent"
        try:
            found = await asyncio.to_thread(self.kioku.recall, str(given.get("prompt", "")), channel=self._channel, group=self._group)
        except KiokuError as e:
            return {"systemMessage": "Kioku: %s" % e}
        if not found.block:
            return {}
        return {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": found.block}}

    async def post_tool_use(self, given: HookInput, tool_use_id: Optional[str], context: HookContext) -> HookJSONOutput:
        """Takes note that Claude has read the result of a tool: what it stores after that may come from there."""
        if given.get("tool_name") != _PREFIX + APPEND:
            self._source = "tool"
        return {}

    async def pre_compact(self, given: HookInput, tool_use_id: Optional[str], context: HookContext) -> HookJSONOutput:
        """Stores what is worth keeping of the messages that a summary is about to replace."""
        self._seen(given)
        try:
            await asyncio.to_thread(self._session(given["session_id"]).flush, self._read(given["session_id"]))
        except KiokuError as e:
            return {"systemMessage": "Kioku: %s" % e}
        return {}

    async def end(self) -> None:
        """Ends all conversations that were seen: what is not stored is stored, or kept on disk until the service has a model."""
        for name in list(self._transcripts):
            await asyncio.to_thread(self._session(name).end, self._read(name))
            del self._transcripts[name]

    def _seen(self, given: HookInput) -> None:
        self._transcripts[given["session_id"]] = given["transcript_path"]

    def _session(self, name: str) -> Session:
        return Session(self.kioku, "claude-agent-sdk:" + name, channel=self._channel, group=self._group)

    def _sdk_tool(self, tool: MemoryTool) -> SdkMcpTool[Any]:
        async def run(given: Dict[str, Any]) -> Dict[str, Any]:
            done = await asyncio.to_thread(tool, given, source=self._source)
            return {"content": [{"type": "text", "text": done.output}], "is_error": done.failed}

        return SdkMcpTool(name=tool.name, description=tool.description, input_schema=tool.input_schema, handler=run)

    def _read(self, name: str) -> List[ChatMessage]:
        return read_transcript(pathlib.Path(self._transcripts[name]))


def read_transcript(path: pathlib.Path) -> List[ChatMessage]:
    """Returns the conversation of a transcript of Claude Code. What sub-agents and the program itself say is left out."""
    out: List[ChatMessage] = []
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            entry = json.loads(line)
        except ValueError:
            continue  # the last line may be half written
        if entry.get("type") in ("user", "assistant") and not any(entry.get(sign) for sign in _NOT_SAID):
            for message in _messages(entry):
                if out and out[-1].role == message.role == "assistant":  # one answer has a line for each of its parts
                    out[-1].text = "\n".join(part for part in (out[-1].text, message.text) if part)
                    out[-1].tool_calls.extend(message.tool_calls)
                else:
                    out.append(message)
    return out


def _messages(entry: Dict[str, Any]) -> Iterator[ChatMessage]:
    """Yields the messages of a line: the results of tools first, each a message of its own."""
    content, role = entry["message"]["content"], entry["message"]["role"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for i, block in enumerate(b for b in blocks if b["type"] == "tool_result"):
        yield ChatMessage(id="%s-%d" % (entry["uuid"], i), role="tool", text=_text(block.get("content")), tool_call_id=block["tool_use_id"],
                          failed=bool(block.get("is_error")))
    calls = [ToolCall(id=b["id"], name=b["name"], input=json.dumps(b["input"], ensure_ascii=False)) for b in blocks if b["type"] == "tool_use"]
    text = "\n".join(b["text"] for b in blocks if b["type"] == "text")
    if text or calls:
        yield ChatMessage(id=entry["uuid"], role=role, text=text, tool_calls=calls)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or [])
