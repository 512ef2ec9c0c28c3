"""Memory for the OpenAI Agents SDK: a session that stores what matters, what to send to the model, and the memory tools.

    session = KiokuSession(Kioku(), "conversation-1")
    agent = Agent(name="Assistant", tools=session.tools())
    config = RunConfig(call_model_input_filter=session.call_model_input_filter)
    await Runner.run(agent, "What does Mia drink?", session=session, run_config=config)
    await session.end()
"""
from __future__ import annotations

import asyncio
import json
import logging
from typing import TYPE_CHECKING, Any, List, Optional, Tuple, cast

from agents import FunctionTool, SQLiteSession, TResponseInputItem
from agents.memory import SessionABC
from agents.run import CallModelData, ModelInputData

from kioku_client import AsyncSession, ChatMessage, Kioku, KiokuError, MemoryTool, ToolCall, Turn, memory_tools
from kioku_client._messages import identify
from kioku_client.aio import AsyncAsk
from kioku_client.records import FlushOutcome
from kioku_client.session import Settings

if TYPE_CHECKING:
    from typing_extensions import Unpack

log = logging.getLogger("kioku_client")


class KiokuSession(SessionABC):
    """A session whose old messages become a summary after what matters of them is stored in memory.

    The items themselves are in another session, in memory unless one is given, such as SQLiteSession(id, "chat.db").
    """

    def __init__(self, kioku: Kioku, session_id: str, *, history: Optional[SessionABC] = None, ask: Optional[AsyncAsk] = None,
                 **settings: Unpack[Settings]) -> None:
        """Makes a session, or continues one. settings are those of kioku_client.AsyncSession."""
        self.session_id, self._kioku, self._ask, self._settings = session_id, kioku, ask, settings
        self._history = history or SQLiteSession(session_id)
        self._memory = AsyncSession(kioku, session_id, ask=ask, **settings)
        self._summary: Optional[Tuple[ChatMessage, str]] = None

    def tools(self) -> List[FunctionTool]:
        """Returns the memory tools for the agent of this conversation."""
        tools = memory_tools(self._kioku, channel=self._settings.get("channel", ""), group=self._settings.get("group"))
        return [self._function_tool(tool) for tool in tools]

    async def call_model_input_filter(self, data: CallModelData[Any]) -> ModelInputData:
        """Returns what to send to the model: the prompt of Kioku after the agent's own, with memories, and a summary of old items."""
        given = data.model_data
        messages, starts = read(given.input)
        turn = await self._memory.before(messages)
        if turn.summary is not None:
            self._summary = turn.summary, identify(messages)[turn.keep].id
        instructions = "\n\n".join(part for part in (given.instructions, turn.system) if part)
        return ModelInputData(input=_sent(given.input, starts, turn), instructions=instructions)

    async def get_items(self, limit: Optional[int] = None) -> List[TResponseInputItem]:
        """Returns the items, or the latest ones."""
        return await self._history.get_items(limit)

    async def add_items(self, items: List[TResponseInputItem]) -> None:
        """Adds items, and drops those of which there is a summary."""
        await self._history.add_items(items)
        if self._summary is None:
            return
        summary, first = self._summary
        have = await self._history.get_items()
        messages, starts = read(have)
        ids = [m.id for m in identify(messages)]
        if first in ids[1:]:
            await self._history.clear_session()
            kept = cast(TResponseInputItem, {"role": "user", "content": summary.text, "id": summary.id})
            await self._history.add_items([kept, *have[starts[ids.index(first)]:]])
        self._summary = None

    async def pop_item(self) -> Optional[TResponseInputItem]:
        """Removes the latest item and returns it."""
        return await self._history.pop_item()

    async def clear_session(self) -> None:
        """Ends the conversation, so that what is not stored is, and removes all items. What goes wrong with the first is logged."""
        try:
            done = await self.end()
            if done.outcome == "failed":
                log.warning("session %s: %s", self.session_id, done.reason)
        except KiokuError as e:
            log.warning("session %s: %s", self.session_id, e)
        self._summary = None
        self._memory = AsyncSession(self._kioku, self.session_id, ask=self._ask, **self._settings)
        await self._history.clear_session()

    async def end(self) -> FlushOutcome:
        """Ends the conversation: what is not stored is stored."""
        return await self._memory.end(read(await self._history.get_items())[0])

    def _function_tool(self, tool: MemoryTool) -> FunctionTool:
        async def run(_: Any, given: str) -> str:
            session = self._memory.sync_session
            return (await asyncio.to_thread(tool, given, source=session.source, author=session.author)).output

        return FunctionTool(name=tool.name, description=tool.description, params_json_schema=tool.input_schema, on_invoke_tool=run,
                            strict_json_schema=False)


def read(items: List[TResponseInputItem]) -> Tuple[List[ChatMessage], List[int]]:
    """Returns items as messages, and the index of the first item of each. Calls in a row are one message, with what stands before
    them of the same answer."""
    messages: List[ChatMessage] = []
    starts: List[int] = []
    answer: Optional[ChatMessage] = None
    for i, item in enumerate(cast(List[Any], items)):
        kind, role = item.get("type", "message"), item.get("role")
        if kind == "function_call_output":
            output = item["output"]
            text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
            message = ChatMessage(role="tool", tool_call_id=item["call_id"], text=text)
        elif role in ("user", "system", "developer"):
            summary = str(item.get("id", "")) if str(item.get("id", "")).startswith("summary-") else ""
            message = ChatMessage(role="user", text=_text(item.get("content")), id=summary)
        else:
            if answer is None:
                answer = ChatMessage(role="assistant")
                messages.append(answer)
                starts.append(i)
            if kind == "function_call":
                answer.tool_calls.append(ToolCall(id=item["call_id"], name=item["name"], input=item["arguments"]))
            answer.text += _text(item.get("content")) if role == "assistant" else ""
            continue
        answer = None
        messages.append(message)
        starts.append(i)
    names = {call.id: call.name for m in messages for call in m.tool_calls}
    for message in messages:
        message.tool_name = names.get(message.tool_call_id, "")
    return messages, starts


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or [])


def _sent(items: List[TResponseInputItem], starts: List[int], turn: Turn) -> List[TResponseInputItem]:
    """Returns the items of a turn: the summary first, old results shortened, and the newest question with what belongs to the turn."""
    texts = {starts[i]: text for i, text in turn.shortened.items()}
    question = starts[turn.question] if turn.question >= 0 else -1
    out: List[Any] = [{"role": "user", "content": turn.summary.text}] if turn.summary is not None else []
    for i, item in enumerate(cast(List[Any], items)):
        if i < starts[turn.keep]:
            continue
        if i in texts:
            item = {**item, "output": texts[i]}
        elif str(item.get("id", "")).startswith("summary-"):
            item = {"role": "user", "content": item["content"]}
        elif i == question and turn.turn_block:
            content = item["content"]
            parts = [{"type": "input_text", "text": content}] if isinstance(content, str) else list(content)
            item = {**item, "content": [*parts, {"type": "input_text", "text": turn.turn_block}]}
        out.append(item)
    return cast(List[TResponseInputItem], out)
