"""The client of a Kioku service."""
from __future__ import annotations

import os
from datetime import datetime, timezone
from types import TracebackType
from typing import Iterable, Optional, Type

import grpc
from google.protobuf.timestamp_pb2 import Timestamp

from kioku_client._calls import Calls
from kioku_client._target import default_credentials, default_target, default_token
from kioku_client._text import MAX_QUESTION, clean, shortened
from kioku_client.v1 import agent_pb2, memory_pb2
from kioku_client.v1.services import AgentService, MemoryService


class Kioku:
    """A client of the service of Kioku, for one agent. Its methods may be called in any thread.

    It returns the messages of the protocol, which proto/kioku/v1 documents field by field. A call that fails raises a
    KiokuError, whose text says what to do.
    """

    def __init__(
        self,
        target: str = "",
        *,
        agent: str = "",
        token: str = "",
        timeout: float = 30,
        credentials: Optional[grpc.ChannelCredentials] = None,
    ) -> None:
        """Makes a client. It connects with the first call.

        target is unix:/path/of/kioku.sock or host:port. Without one it is KIOKU_CLIENT_TARGET, else KIOKU_SOCKET, else the
        socket in the state folder (KIOKU_STATE, XDG_STATE_HOME), as the program kioku has it. agent is the id of the agent;
        without one it is KIOKU_AGENT, else the only agent that the caller may reach. token is KIOKU_CLIENT_TOKEN if it is not
        given. timeout is the limit of a call in seconds. credentials are those of TLS; without them they are made of the PEM files
        that KIOKU_CLIENT_CA, KIOKU_CLIENT_CERT and KIOKU_CLIENT_KEY name, and without these a token is sent only on this machine.
        """
        self.target = target or default_target()
        self.agent = agent or os.environ.get("KIOKU_AGENT", "")
        self._calls = Calls(self.target, self.agent, token or default_token(), timeout, credentials or default_credentials(self.target))
        #: Every call of the memory service.
        self.memory = MemoryService(self._calls)
        #: Every call of the agent service.
        self.agents = AgentService(self._calls)

    def search(self, query: str, /, *, max_results: int = 0, min_score: Optional[float] = None, sources: Iterable[str] = (),
               path_prefix: str = "", since: str = "", until: str = "", max_per_file: int = 0, max_snippet_chars: int = 0, granularity: str = "",
               filter: Iterable[memory_pb2.Condition] = (), ask_time: Optional[datetime] = None,
               explain: bool = False) -> memory_pb2.MemorySearchResponse:
        """Searches memory by meaning and words, in any language. The results are best first; degraded says what they lack."""
        return self.memory.MemorySearch(memory_pb2.MemorySearchRequest(
            query=clean(query), max_results=max_results, min_score=min_score, sources=sources, path_prefix=path_prefix, since=since, until=until,
            max_per_file=max_per_file, max_snippet_chars=max_snippet_chars, granularity=granularity, filter=filter, ask_time=_timestamp(ask_time),
            explain=explain))

    def get(self, path: str, /, *, from_line: int = 0, line_count: int = 0) -> memory_pb2.MemoryGetResponse:
        """Returns lines of a note, by the path of a result: at most 120, from the first one, if it is not told otherwise."""
        return self.memory.MemoryGet(memory_pb2.MemoryGetRequest(path=path, from_line=from_line, line_count=line_count))

    def append(self, text: str, /, *, target: str = "daily", category: str = "", key: str = "", source: str = "agent", channel: str = "",
               author: Optional[memory_pb2.Author] = None, more_authors: Iterable[memory_pb2.Author] = (),
               keep_secrets: bool = False) -> memory_pb2.MemoryAppendResponse:
        """Adds a note to the file of today, or to MEMORY.md with target="long_term". The same text or key is stored once."""
        return self.memory.MemoryAppend(memory_pb2.MemoryAppendRequest(
            text=clean(text), target=target, category=category, idempotency_key=key, source=source, channel=channel, author=author,
            more_authors=more_authors, keep_secrets=keep_secrets))

    def update(self, old_text: str, new_text: str, /, *, path: str = "", reason: str = "", source: str = "agent",
               keep_secrets: bool = False) -> memory_pb2.MemoryUpdateResponse:
        """Replaces a text that occurs once in MEMORY.md, or in the note at path; an empty new text removes it. undo takes it back."""
        return self.memory.MemoryUpdate(memory_pb2.MemoryUpdateRequest(
            old_text=clean(old_text), new_text=clean(new_text), path=path, reason=clean(reason), source=source, keep_secrets=keep_secrets))

    def undo(self, revision: str = "", /) -> memory_pb2.MemoryUndoResponse:
        """Takes an update back, by the revision that it returned; the latest one without it."""
        return self.memory.MemoryUndo(memory_pb2.MemoryUndoRequest(revision=revision))

    def recall(self, message: str, /, *, session: str = "", channel: str = "", group: Optional[bool] = None,
               author: Optional[memory_pb2.Author] = None, shared_agents: Iterable[str] = (),
               ask_time: Optional[datetime] = None) -> agent_pb2.RecallResponse:
        """Returns what memory has about a message: block is for a prompt and empty if there is nothing, report says why.

        Of a message of more than 64 KiB both ends count.
        """
        return self.agents.Recall(agent_pb2.RecallRequest(
            message=shortened(message, MAX_QUESTION), session=session, channel=channel, group=group, author=author, shared_agents=shared_agents,
            ask_time=_timestamp(ask_time)))

    def prompt(self, message: str, /, *, session: str = "", channel: str = "", group: Optional[bool] = None,
               author: Optional[memory_pb2.Author] = None, model: str = "", mode: str = "", shared_agents: Iterable[str] = (),
               blocks: Iterable[agent_pb2.PromptBlock] = (), budget_tokens: int = 0, cache_friendly: Optional[bool] = None,
               no_memory_tools: bool = False, no_recall: bool = False, ask_time: Optional[datetime] = None) -> agent_pb2.AssemblePromptResponse:
        """Returns the system prompt of a turn with what memory has about the message, of which both ends count if it has more than 64 KiB."""
        return self.agents.AssemblePrompt(agent_pb2.AssemblePromptRequest(
            message=shortened(message, MAX_QUESTION), session=session, channel=channel, group=group, author=author, model=model, mode=mode,
            shared_agents=shared_agents, blocks=blocks, budget_tokens=budget_tokens, cache_friendly=cache_friendly,
            no_memory_tools=no_memory_tools, no_recall=no_recall, ask_time=_timestamp(ask_time)))

    def sync(self) -> memory_pb2.SyncResponse:
        """Waits until every change of the notes can be found, and returns the report."""
        last = memory_pb2.SyncResponse()
        for last in self.memory.Sync(memory_pb2.SyncRequest()):
            pass
        return last

    def status(self) -> memory_pb2.StatusResponse:
        """Returns the state of the index: its folder, its counts, what searches lack."""
        return self.memory.Status(memory_pb2.StatusRequest())

    def close(self) -> None:
        """Ends the connection; running calls fail."""
        self._calls.close()

    def __enter__(self) -> "Kioku":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self.close()


def _timestamp(time: Optional[datetime]) -> Optional[Timestamp]:
    """Returns a time as the protocol has it. One without a zone is that of this machine."""
    if time is None:
        return None
    out = Timestamp()
    out.FromDatetime(time.astimezone(timezone.utc))
    return out
