"""Memory for the Claude Agent SDK: hooks that recall and store, and the memory tools as an MCP server in the process.

    memory = KiokuMemory(Kioku())
    options = memory.add_to(ClaudeAgentOptions())
    async with ClaudeSDKClient(options) as client:
        ...
    await memory.end()
"""
from __future__ import annotations

import asyncio
import collections
import dataclasses
import json
import logging
import pathlib
from typing import Any, Deque, Dict, List, Optional

from claude_agent_sdk import ClaudeAgentOptions, HookContext, HookMatcher, SdkMcpTool, create_sdk_mcp_server
from claude_agent_sdk.types import HookInput, HookJSONOutput

from kioku_client import ChatMessage, Kioku, KiokuError, MemoryTool, Session, clean, memory_tools
from kioku_client.tools import APPEND

# What the names of the tools begin with.
_PREFIX = "mcp__kioku__"
# Signs of lines that nobody has said: those of sub-agents, of the program, summaries of what was said, and errors.
_NOT_SAID = ("isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage")
# What texts begin with that Claude Code writes under the name of the user: of its commands, of tasks in the background, of interruptions.
_INSERTED = (
    "<command-name>", "<command-message>", "<command-args>", "<local-command-", "<bash-input>", "<bash-stdout>", "<bash-stderr>",
    "<system-reminder>", "<task-notification>", "<user-memory-input>", "[Request interrupted by user",
)
# Maximum number of bytes of a line that is read.
_MAX_LINE = 1 << 20

log = logging.getLogger("kioku_client")


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
        session = self._session(given["session_id"])
        try:
            found = await asyncio.to_thread(self.kioku.recall, str(given.get("prompt", "")), session=session.name, channel=self._channel, group=self._group)
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
        """Ends all conversations that were seen: what is not stored is stored, or kept on disk until the service has a model.

        One that the service does not take is logged, and ended by the next call.
        """
        for name in list(self._transcripts):
            try:
                done = await asyncio.to_thread(self._session(name).end, self._read(name))
            except KiokuError as e:
                log.warning("session %s: %s", name, e)
                continue
            if done.outcome == "failed":
                log.warning("session %s: %s", name, done.reason)
                continue
            del self._transcripts[name]

    def _seen(self, given: HookInput) -> None:
        self._transcripts[given["session_id"]] = given["transcript_path"]

    def _session(self, name: str) -> Session:
        """Returns the session of a conversation, by the name that it has for the hooks of kioku too."""
        return Session(self.kioku, "claude-code-" + name, channel=self._channel, group=self._group)

    def _sdk_tool(self, tool: MemoryTool) -> SdkMcpTool[Any]:
        async def run(given: Dict[str, Any]) -> Dict[str, Any]:
            done = await asyncio.to_thread(tool, given, source=self._source)
            return {"content": [{"type": "text", "text": done.output}], "is_error": done.failed}

        return SdkMcpTool(name=tool.name, description=tool.description, input_schema=tool.input_schema, handler=run)

    def _read(self, name: str) -> List[ChatMessage]:
        return read_transcript(pathlib.Path(self._transcripts[name]))


def read_transcript(path: pathlib.Path) -> List[ChatMessage]:
    """Returns what a person wrote in a transcript of Claude Code and was answered, the latest 20,000 messages.

    It leaves out the same as the program kioku, so that the ids of a session are the same for both: tools, what sub-agents and Claude
    Code itself write, and lines that are half written or not understood. A file that is not there yet has no messages.
    """
    out: Deque[ChatMessage] = collections.deque(maxlen=20_000)
    try:
        with open(path, encoding="utf-8", errors="replace", newline="\n") as lines:
            for line in lines:
                message = _message(line)
                if message is not None and not (out and (out[-1].role, out[-1].text) == (message.role, message.text)):
                    out.append(message)
    except OSError as e:
        log.warning("the transcript is not read: %s", e)
    return list(out)


def _message(line: str) -> Optional[ChatMessage]:
    """Returns what somebody said on a line; None if nobody did, or if the line is not understood."""
    try:
        entry: Any = json.loads(line) if len(line.encode()) <= _MAX_LINE else None
    except (ValueError, RecursionError):
        return None  # the last line may be half written
    said = entry.get("message") if isinstance(entry, dict) else None
    if not isinstance(said, dict) or entry.get("type") not in ("user", "assistant") or entry["type"] != said.get("role"):
        return None
    text = clean(_text(said.get("content")))
    if not isinstance(entry.get("uuid"), str) or not text.strip() or _is_inserted(text) or any(entry.get(sign) for sign in _NOT_SAID):
        return None
    return ChatMessage(id=entry["uuid"], role=entry["type"], text=text)


def _text(content: Any) -> str:
    """Returns the text of a content, which is a text or a list of blocks."""
    if isinstance(content, str):
        return content
    texts = [b.get("text") for b in content if isinstance(b, dict) and b.get("type") == "text"] if isinstance(content, list) else []
    return "\n\n".join(t for t in texts if isinstance(t, str) and not _is_inserted(t))


def _is_inserted(text: str) -> bool:
    """Reports whether Claude Code wrote a text into the conversation."""
    return text.strip().startswith(_INSERTED)
