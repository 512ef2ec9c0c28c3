"""Memory for LangGraph: a hook before the model, the memory tools, and a store of items.

    memory = KiokuMemory(Kioku())
    agent = create_react_agent(model, tools=memory.tools(), pre_model_hook=memory.pre_model_hook)
    agent.invoke({"messages": [("user", "What does Mia drink?")]}, {"configurable": {"thread_id": "conversation-1"}})
    memory.end("conversation-1")
"""
from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import BaseTool, StructuredTool

from kioku_client import Answer, ChatMessage, Kioku, MemoryTool, Question, Session, ToolCall, Turn, memory_tools
from kioku_client.records import FlushOutcome
from kioku_client.session import Ask, Settings

if TYPE_CHECKING:
    from typing_extensions import Unpack

# Number of threads whose sessions are kept.
_MAX_SESSIONS = 256


class KiokuMemory:
    """The memory of a graph. Each thread of the graph is a session."""

    def __init__(self, kioku: Kioku, *, ask: Optional[Ask] = None, **settings: Unpack[Settings]) -> None:
        """Makes the memory. settings are those of kioku_client.Session; ask=ask_with(model) has the graph's own model store memories."""
        self.kioku, self._ask, self._settings = kioku, ask, settings
        # Sessions of the threads that ran last, the latest one last. Another one of a thread knows the same from the graph's messages.
        self._sessions: "OrderedDict[str, Session]" = OrderedDict()
        self._lock = threading.Lock()
        #: Hook of create_react_agent, or a node before the model: it sets llm_input_messages.
        self.pre_model_hook = RunnableLambda(self._before, afunc=self._before_async)

    def tools(self) -> List[BaseTool]:
        """Returns the memory tools."""
        tools = memory_tools(self.kioku, channel=self._settings.get("channel", ""), group=self._settings.get("group"))
        return [self._structured_tool(tool) for tool in tools]

    def end(self, thread_id: str) -> FlushOutcome:
        """Ends the conversation of a thread: what is not stored is stored."""
        done = self._session(thread_id).end()
        with self._lock:
            self._sessions.pop(thread_id, None)
        return done

    def _session(self, thread_id: str) -> Session:
        with self._lock:
            session = self._sessions.setdefault(thread_id, Session(self.kioku, thread_id, ask=self._ask, **self._settings))
            self._sessions.move_to_end(thread_id)
            if len(self._sessions) > _MAX_SESSIONS:
                self._sessions.popitem(last=False)
            return session

    def _structured_tool(self, tool: MemoryTool) -> BaseTool:
        def run(config: RunnableConfig, **given: Any) -> str:
            session = self._session(_thread(config))
            return tool(given, source=session.source, author=session.author).output

        return StructuredTool(name=tool.name, description=tool.description, args_schema=tool.input_schema, func=run)

    def _before(self, state: Dict[str, Any], config: RunnableConfig) -> Dict[str, Any]:
        given: List[AnyMessage] = [m for m in state["messages"] if not isinstance(m, SystemMessage)]
        session = self._session(_thread(config))
        return {"llm_input_messages": _sent(given, session.before([read(m) for m in given]))}

    async def _before_async(self, state: Dict[str, Any], config: RunnableConfig) -> Dict[str, Any]:
        return await asyncio.to_thread(self._before, state, config)


def _thread(config: RunnableConfig) -> str:
    """Returns the id of the thread, which names the conversation: two of the same name would be one."""
    thread = config.get("configurable", {}).get("thread_id")
    if not thread:
        raise ValueError('a conversation needs a name: call the graph with {"configurable": {"thread_id": ...}}')
    return str(thread)


def read(message: AnyMessage) -> ChatMessage:
    """Returns a message of LangChain as one of Kioku."""
    role = "assistant" if isinstance(message, AIMessage) else "tool" if isinstance(message, ToolMessage) else "user"
    out = ChatMessage(id=message.id or "", role=role, text=str(message.text))
    if isinstance(message, AIMessage):
        out.tool_calls.extend(ToolCall(id=c["id"] or "", name=c["name"], input=c["args"]) for c in message.tool_calls)
    if isinstance(message, ToolMessage):
        out.tool_call_id, out.tool_name, out.failed = message.tool_call_id, message.name or "", message.status == "error"
    return out


def ask_with(model: BaseChatModel) -> Ask:
    """Returns a function that asks a model of LangChain, for the ask of a session."""

    def ask(question: Question) -> Answer:
        tools = [{"name": t.name, "description": t.description, "input_schema": t.input_schema} for t in question.tools]
        asked = model.bind_tools(tools) if tools else model
        said = asked.invoke([SystemMessage(question.system), *[_write(m) for m in question.messages]])
        usage: Mapping[str, Any] = said.usage_metadata or {}
        return Answer(str(said.text), read(said).tool_calls, input_tokens=usage.get("input_tokens", 0), output_tokens=usage.get("output_tokens", 0))

    return ask


def _write(message: ChatMessage) -> AnyMessage:
    if message.role == "tool":
        return ToolMessage(message.text, tool_call_id=message.tool_call_id, name=message.tool_name)
    if message.role == "user":
        return HumanMessage(message.text)
    return AIMessage(message.text, tool_calls=[{"id": c.id, "name": c.name, "args": c.input} for c in message.tool_calls])


def _sent(given: Sequence[AnyMessage], turn: Turn) -> List[AnyMessage]:
    """Returns the messages of a turn: the summary first, old results shortened, and the newest question with what belongs to the turn."""
    out: List[AnyMessage] = [SystemMessage(turn.system)]
    if turn.summary is not None:
        out.append(HumanMessage(turn.summary.text))
    for i, message in enumerate(given[turn.keep:], turn.keep):
        if i in turn.shortened:
            message = message.model_copy(update={"content": turn.shortened[i]})
        elif i == turn.question and turn.turn_block:
            content = message.content
            parts = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
            message = message.model_copy(update={"content": [*parts, {"type": "text", "text": turn.turn_block}]})
        out.append(message)
    return out
