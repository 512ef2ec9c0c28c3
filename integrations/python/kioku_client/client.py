"""The client of a Kioku service."""
from __future__ import annotations

import math
import os
import ssl
from datetime import datetime
from typing import Any, Dict, Iterable, Mapping, Optional
from urllib.parse import quote

from kioku_client._text import MAX_QUESTION, shortened
from kioku_client._transport import Transport, default_credentials, default_target, default_token
from kioku_client.records import (Author, Block, Condition, Excerpt, Origin, Prompt, Recalled, SearchAnswer, Status, StoredNote, SyncReport, Updated,
                                  read)


class Kioku:
    """A client of the service of Kioku, for one agent. Its methods may be called in any thread.

    It returns the records of kioku_client.records. A call that fails raises a KiokuError, whose text says what to do.
    """

    def __init__(
        self,
        target: str = "",
        *,
        agent: str = "",
        token: str = "",
        timeout: float = 30,
        credentials: Optional[ssl.SSLContext] = None,
    ) -> None:
        """Makes a client. Each call connects.

        target is unix:/path/of/kioku.sock or host:port. Without one it is KIOKU_CLIENT_TARGET, else KIOKU_SOCKET, else the
        socket in the state folder (KIOKU_STATE, XDG_STATE_HOME), as the program kioku has it. agent is the id of the agent;
        without one it is KIOKU_AGENT, else the only agent that the caller may reach. token is KIOKU_CLIENT_TOKEN if it is not
        given. timeout is the limit of a call in seconds. credentials are those of TLS; without them they are made of the PEM files
        that KIOKU_CLIENT_CA, KIOKU_CLIENT_CERT and KIOKU_CLIENT_KEY name, and without these a token is sent only on this machine.
        """
        self.target = target or default_target()
        self.agent = agent or os.environ.get("KIOKU_AGENT", "")
        self._transport = Transport(self.target, self.agent, token or default_token(), timeout, credentials or default_credentials(self.target))

    def call(self, route: str, fields: Mapping[str, Any] = {}, timeout: Optional[float] = None) -> Dict[str, Any]:
        """Makes any call of the HTTP API, such as call("GET /v1/turns", {"page_size": 5}), and returns the JSON of its answer."""
        return self._transport.call(route, fields, timeout)

    def search(self, query: str, /, *, max_results: int = 0, min_score: Optional[float] = None, sources: Iterable[str] = (),
               path_prefix: str = "", since: str = "", until: str = "", max_per_file: int = 0, max_snippet_chars: int = 0, granularity: str = "",
               filter: Iterable[Condition] = (), ask_time: Optional[datetime] = None, explain: bool = False) -> SearchAnswer:
        """Searches memory by meaning and words, in any language. The results are best first; degraded says what they lack."""
        return read(SearchAnswer, self.call("POST /v1/search", {
            "query": query, "max_results": max_results, "min_score": min_score, "sources": list(sources), "path_prefix": path_prefix, "since": since,
            "until": until, "max_per_file": max_per_file, "max_snippet_chars": max_snippet_chars, "granularity": granularity, "filter": list(filter),
            "ask_time": ask_time, "explain": explain}))

    def get(self, path: str, /, *, from_line: int = 0, line_count: int = 0) -> Excerpt:
        """Returns lines of a note, by the path of a result: at most 120, from the first one, if it is not told otherwise."""
        return read(Excerpt, self.call("GET /v1/notes/" + quote(path, safe=""), {"from": from_line, "lines": line_count}))

    def append(self, text: str, /, *, target: str = "daily", category: str = "", key: str = "", source: str = "agent",
               origin: Optional[Origin] = None, session: str = "", keep_secrets: bool = False) -> StoredNote:
        """Adds a note to the file of today, or to MEMORY.md with target="long_term". The same text or key is stored once."""
        return read(StoredNote, self.call("POST /v1/notes", {
            "text": text, "target": target, "category": category, "idempotency_key": key, "source": source, "origin": origin, "session": session,
            "keep_secrets": keep_secrets}))

    def update(self, old_text: str, new_text: str, /, *, path: str = "", reason: str = "", source: str = "agent", keep_secrets: bool = False) -> Updated:
        """Replaces a text that occurs once in MEMORY.md, or in the note at path; an empty new text removes it. undo takes it back."""
        return read(Updated, self.call("POST /v1/notes:update", {
            "old_text": old_text, "new_text": new_text, "path": path, "reason": reason, "source": source, "keep_secrets": keep_secrets}))

    def undo(self, revision: str = "", /) -> Updated:
        """Takes an update back, by the revision that it returned; the latest one without it."""
        return read(Updated, self.call("POST /v1/notes:undo", {"revision": revision}))

    def recall(self, message: str, /, *, session: str = "", channel: str = "", group: Optional[bool] = None, author: Optional[Author] = None,
               shared_agents: Iterable[str] = (), ask_time: Optional[datetime] = None) -> Recalled:
        """Returns what memory has about a message: block is for a prompt and empty if there is nothing, report says why.

        Of a message of more than 64 KiB both ends count.
        """
        return read(Recalled, self.call("POST /v1/recall", {
            "message": shortened(message, MAX_QUESTION), "session": session, "channel": channel, "group": group, "author": author,
            "shared_agents": list(shared_agents), "ask_time": ask_time}))

    def prompt(self, message: str, /, *, session: str = "", channel: str = "", group: Optional[bool] = None, author: Optional[Author] = None,
               model: str = "", mode: str = "", shared_agents: Iterable[str] = (), blocks: Iterable[Block] = (), budget_tokens: int = 0,
               cache_friendly: Optional[bool] = None, no_memory_tools: bool = False, no_recall: bool = False,
               ask_time: Optional[datetime] = None) -> Prompt:
        """Returns the system prompt of a turn with what memory has about the message, of which both ends count if it has more than 64 KiB."""
        return read(Prompt, self.call("POST /v1/prompt", {
            "message": shortened(message, MAX_QUESTION), "session": session, "channel": channel, "group": group, "author": author, "model": model,
            "mode": mode, "shared_agents": list(shared_agents), "blocks": list(blocks), "budget_tokens": budget_tokens, "cache_friendly": cache_friendly,
            "no_memory_tools": no_memory_tools, "no_recall": no_recall, "ask_time": ask_time}))

    def sync(self) -> SyncReport:
        """Waits until every change of the notes can be found, and returns the report."""
        return read(SyncReport, self.call("POST /v1/sync", timeout=math.inf).get("report", {}))

    def status(self) -> Status:
        """Returns the state of the index: its folder, its counts, what searches lack."""
        return read(Status, self.call("GET /v1/status"))
