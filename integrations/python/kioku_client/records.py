"""What the service takes and answers, as far as programs need it. docs/http.md of Kioku documents every field of every operation."""
from __future__ import annotations

import dataclasses
import functools
import json
import re
import typing
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Callable, Dict, List, Mapping, Optional, TypeVar

T = TypeVar("T")


@dataclass
class Author:
    """Who said something."""

    id: str = ""
    name: str = ""
    is_owner: bool = False


@dataclass
class Origin:
    """Whose words a note is made of, and where they were said."""

    channel: str = ""
    authors: List[Author] = field(default_factory=list)


@dataclass
class Condition:
    """A condition on a field of the front matter of a note: op is "=", "!=", "in", "<", "<=", ">" or ">="."""

    field: str
    values: List[str]
    op: str = "="


@dataclass
class Block:
    """A part of a prompt that the caller adds. One that changes from turn to turn goes behind what is constant."""

    text: str
    name: str = ""
    changing: bool = False


@dataclass
class ToolCall:
    """A call of a tool by a model."""

    id: str = ""
    name: str = ""
    #: The object that the model gave. It may be given as its JSON.
    input: Any = None

    def __post_init__(self) -> None:
        if isinstance(self.input, str):
            try:
                self.input = json.loads(self.input or "{}")
            except ValueError:
                pass  # models also write what is no JSON
        if not isinstance(self.input, dict):
            self.input = {} if self.input is None else {"text": str(self.input)}


@dataclass
class ChatMessage:
    """A message of a conversation, as the agent sends it to its own model."""

    #: Id, unique in the session; one that is made of what the message says unless it is set.
    id: str = ""
    #: user, assistant or tool.
    role: str = ""
    text: str = ""
    #: Calls of an assistant.
    tool_calls: List[ToolCall] = field(default_factory=list)
    #: Which call of which tool a message of the role tool answers.
    tool_call_id: str = ""
    tool_name: str = ""
    failed: bool = False
    image_count: int = 0
    #: Author of a message of a user; None means the owner, or in a group somebody unknown.
    author: Optional[Author] = None
    channel: str = ""
    #: Id of the last of several messages that the service has; id is that of the first.
    through_id: str = ""


@dataclass
class Tool:
    """Definition of a tool, as the APIs of models take it."""

    name: str = ""
    description: str = ""
    #: JSON Schema of the input.
    input_schema: Dict[str, Any] = field(default_factory=dict)


@dataclass
class Degradation:
    """Something that an answer had to do without."""

    code: str = ""
    text: str = ""


@dataclass
class Hit:
    """A passage. Lines are 1-based and inclusive."""

    path: str = ""
    start_line: int = 0
    end_line: int = 0
    score: float = 0
    snippet: str = ""
    snippet_start_line: int = 0
    snippet_end_line: int = 0
    source: str = ""
    heading: str = ""
    date: str = ""
    vector_score: float = 0
    text_score: float = 0
    citation: str = ""
    origin: Optional[Origin] = None
    #: The hit is better than chance, and nothing to put into a prompt unasked.
    weak: bool = False
    #: How the score came about, if explain was asked for.
    trace: Optional[Dict[str, Any]] = None


@dataclass
class IndexStats:
    """How far the index has followed the files."""

    generation: int = 0
    file_count: int = 0
    chunk_count: int = 0
    pending_file_count: int = 0
    last_sync_time: str = ""


@dataclass
class SearchAnswer:
    """The outcome of a search. results are best first, degraded says what they lack."""

    results: List[Hit] = field(default_factory=list)
    degraded: List[Degradation] = field(default_factory=list)
    mode: str = ""
    provider: str = ""
    model: str = ""
    index: IndexStats = field(default_factory=IndexStats)
    took: str = ""


@dataclass
class Excerpt:
    """Lines of a note."""

    path: str = ""
    text: str = ""
    #: First line, and number of lines.
    from_: int = 0
    lines: int = 0
    total_line_count: int = 0
    truncated: bool = False
    #: Line at which the rest begins; 0 if there is none.
    next_line: int = 0


@dataclass
class StoredNote:
    """Where a note is, or why one of a flush was not stored."""

    path: str = ""
    start_line: int = 0
    #: The same text or key was there before, and nothing was written.
    deduplicated: bool = False
    #: Secrets in whose places references were written, each with its kind.
    secrets: List[Dict[str, str]] = field(default_factory=list)
    refused: str = ""


@dataclass
class Updated:
    """What an update has changed. undo takes it back by its revision."""

    path: str = ""
    start_line: int = 0
    revision: str = ""
    secrets: List[Dict[str, str]] = field(default_factory=list)


@dataclass
class Memory:
    """A memory that was found for a message; reason says why it was left out."""

    agent: str = ""
    shared: bool = False
    path: str = ""
    start_line: int = 0
    end_line: int = 0
    score: float = 0
    date: str = ""
    text: str = ""
    kind: str = ""
    origin: Optional[Origin] = None
    reason: str = ""


@dataclass
class RecallReport:
    """What was searched for a message, what was found, and what was left out."""

    recalled: List[Memory] = field(default_factory=list)
    left_out: List[Memory] = field(default_factory=list)
    query: str = ""
    skipped: str = ""
    searches: List[Dict[str, Any]] = field(default_factory=list)
    took: str = ""


@dataclass
class Recalled:
    """What memory has about a message: block is for a prompt and empty if there is nothing, report says why."""

    block: str = ""
    report: RecallReport = field(default_factory=RecallReport)


@dataclass
class Prompt:
    """The system prompt of a turn, and what changes from turn to turn."""

    prompt: str = ""
    turn_block: str = ""
    cached_bytes: int = 0
    tokens: int = 0
    over_budget: bool = False
    group: bool = False
    layers: List[Dict[str, Any]] = field(default_factory=list)
    recall: RecallReport = field(default_factory=RecallReport)
    directives: List[str] = field(default_factory=list)


@dataclass
class SyncReport:
    """What a sync did."""

    files: int = 0
    chunks: int = 0
    removed: int = 0
    skipped: int = 0
    index: IndexStats = field(default_factory=IndexStats)
    degraded: List[Degradation] = field(default_factory=list)


@dataclass
class Status:
    """The state of the index."""

    agent: str = ""
    workspace: str = ""
    index: IndexStats = field(default_factory=IndexStats)
    #: What computes vectors: provider, model and dims.
    space: Dict[str, Any] = field(default_factory=dict)
    degraded: List[Degradation] = field(default_factory=list)
    version: str = ""


@dataclass
class FlushOutcome:
    """What came of a flush, or of the end of a conversation."""

    #: done, skipped, kept or failed.
    outcome: str = ""
    reason: str = ""
    covered_count: int = 0
    uncovered_count: int = 0
    notes: List[StoredNote] = field(default_factory=list)
    warnings: List[str] = field(default_factory=list)


@dataclass
class Compacted:
    """A summary in place of old messages."""

    outcome: str = ""
    reason: str = ""
    message: ChatMessage = field(default_factory=ChatMessage)
    first_kept_id: str = ""


def read(kind: Callable[..., T], value: Mapping[str, Any]) -> T:
    """Returns an object of JSON as a record, whose names are in snake_case. Members that it does not have are left out."""
    types = _types_of(kind)
    given = {_name(name): v for name, v in value.items()}
    return kind(**{name: _value(types[name], v) for name, v in given.items() if name in types and v is not None})


@functools.lru_cache(None)
def _types_of(kind: Any) -> Dict[str, Any]:
    """Returns the types of the fields of a record."""
    return typing.get_type_hints(kind)


def _name(name: str) -> str:
    """Returns the name of a member in a record: startLine is start_line."""
    return "from_" if name == "from" else re.sub("[A-Z]", lambda m: "_" + m.group().lower(), name)


def _value(kind: Any, value: Any) -> Any:
    """Returns a value of JSON as one of a type: a record, records, or what it is."""
    record: Any = next((k for k in (kind, *typing.get_args(kind)) if dataclasses.is_dataclass(k)), None)
    if record is None:
        return value
    return [read(record, v) for v in value] if isinstance(value, list) else read(record, value)


def write(value: Any) -> Any:
    """Returns a value as JSON has it: of a record the fields that are set, and a time without a zone as one of this machine."""
    if isinstance(value, (list, tuple)):
        return [write(v) for v in value]
    if isinstance(value, datetime):
        return value.astimezone().isoformat()
    if not dataclasses.is_dataclass(value):
        return value
    given = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    return {"isOwner" if name == "is_owner" else name: write(v) for name, v in given.items() if v or name == "input"}
