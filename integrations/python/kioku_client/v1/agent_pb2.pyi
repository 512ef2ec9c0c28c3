from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from kioku_client.v1 import memory_pb2 as _memory_pb2
from kioku_client.v1 import _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import Any as _Any, ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AssemblePromptRequest(_message.Message):
    __slots__ = ["agent", "ask_time", "author", "blocks", "budget_tokens", "cache_friendly", "channel", "context", "group", "message", "mode", "model", "no_memory_tools", "no_recall", "session", "shared_agents"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    ASK_TIME_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    BUDGET_TOKENS_FIELD_NUMBER: _ClassVar[int]
    CACHE_FRIENDLY_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    NO_MEMORY_TOOLS_FIELD_NUMBER: _ClassVar[int]
    NO_RECALL_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    SHARED_AGENTS_FIELD_NUMBER: _ClassVar[int]
    agent: str
    ask_time: _timestamp_pb2.Timestamp
    author: _memory_pb2.Author
    blocks: _containers.Messages[PromptBlock]
    budget_tokens: int
    cache_friendly: bool
    channel: str
    context: _containers.Messages[_memory_pb2.ConversationTurn]
    group: bool
    message: str
    mode: str
    model: str
    no_memory_tools: bool
    no_recall: bool
    session: str
    shared_agents: _containers.Scalars[str]
    def __init__(self, agent: _Optional[str] = ..., message: _Optional[str] = ..., mode: _Optional[str] = ..., channel: _Optional[str] = ..., group: _Optional[bool] = ..., model: _Optional[str] = ..., shared_agents: _Optional[_Iterable[str]] = ..., blocks: _Optional[_Iterable[_Union[PromptBlock, _Mapping[str, _Any]]]] = ..., budget_tokens: _Optional[int] = ..., cache_friendly: _Optional[bool] = ..., no_memory_tools: _Optional[bool] = ..., no_recall: _Optional[bool] = ..., ask_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., session: _Optional[str] = ..., author: _Optional[_Union[_memory_pb2.Author, _Mapping[str, _Any]]] = ..., context: _Optional[_Iterable[_Union[_memory_pb2.ConversationTurn, _Mapping[str, _Any]]]] = ...) -> None: ...

class AssemblePromptResponse(_message.Message):
    __slots__ = ["cached_bytes", "cuts", "directives", "files", "group", "layers", "over_budget", "prompt", "recall", "skills", "skills_note", "tokens", "turn_block"]
    CACHED_BYTES_FIELD_NUMBER: _ClassVar[int]
    CUTS_FIELD_NUMBER: _ClassVar[int]
    DIRECTIVES_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    LAYERS_FIELD_NUMBER: _ClassVar[int]
    OVER_BUDGET_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    RECALL_FIELD_NUMBER: _ClassVar[int]
    SKILLS_FIELD_NUMBER: _ClassVar[int]
    SKILLS_NOTE_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    TURN_BLOCK_FIELD_NUMBER: _ClassVar[int]
    cached_bytes: int
    cuts: _containers.Messages[PromptCut]
    directives: _containers.Scalars[str]
    files: _containers.Messages[FileReport]
    group: bool
    layers: _containers.Messages[PromptLayer]
    over_budget: bool
    prompt: str
    recall: RecallReport
    skills: _containers.Messages[SkillReport]
    skills_note: str
    tokens: int
    turn_block: str
    def __init__(self, prompt: _Optional[str] = ..., cached_bytes: _Optional[int] = ..., layers: _Optional[_Iterable[_Union[PromptLayer, _Mapping[str, _Any]]]] = ..., tokens: _Optional[int] = ..., over_budget: _Optional[bool] = ..., files: _Optional[_Iterable[_Union[FileReport, _Mapping[str, _Any]]]] = ..., skills: _Optional[_Iterable[_Union[SkillReport, _Mapping[str, _Any]]]] = ..., skills_note: _Optional[str] = ..., cuts: _Optional[_Iterable[_Union[PromptCut, _Mapping[str, _Any]]]] = ..., recall: _Optional[_Union[RecallReport, _Mapping[str, _Any]]] = ..., group: _Optional[bool] = ..., turn_block: _Optional[str] = ..., directives: _Optional[_Iterable[str]] = ...) -> None: ...

class BeginCompactRequest(_message.Message):
    __slots__ = ["agent", "keep_recent_tokens", "messages", "session", "window_tokens"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    KEEP_RECENT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    WINDOW_TOKENS_FIELD_NUMBER: _ClassVar[int]
    agent: str
    keep_recent_tokens: int
    messages: _containers.Messages[ChatMessage]
    session: str
    window_tokens: int
    def __init__(self, agent: _Optional[str] = ..., messages: _Optional[_Iterable[_Union[ChatMessage, _Mapping[str, _Any]]]] = ..., session: _Optional[str] = ..., window_tokens: _Optional[int] = ..., keep_recent_tokens: _Optional[int] = ...) -> None: ...

class BeginCompactResponse(_message.Message):
    __slots__ = ["lease", "outcome", "reason", "step"]
    LEASE_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    lease: str
    outcome: str
    reason: str
    step: CompactStep
    def __init__(self, outcome: _Optional[str] = ..., reason: _Optional[str] = ..., lease: _Optional[str] = ..., step: _Optional[_Union[CompactStep, _Mapping[str, _Any]]] = ...) -> None: ...

class BeginFlushRequest(_message.Message):
    __slots__ = ["agent", "messages", "session", "too_long", "window_tokens"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    TOO_LONG_FIELD_NUMBER: _ClassVar[int]
    WINDOW_TOKENS_FIELD_NUMBER: _ClassVar[int]
    agent: str
    messages: _containers.Messages[ChatMessage]
    session: str
    too_long: bool
    window_tokens: int
    def __init__(self, agent: _Optional[str] = ..., session: _Optional[str] = ..., messages: _Optional[_Iterable[_Union[ChatMessage, _Mapping[str, _Any]]]] = ..., window_tokens: _Optional[int] = ..., too_long: _Optional[bool] = ...) -> None: ...

class BeginFlushResponse(_message.Message):
    __slots__ = ["lease", "messages", "outcome", "system_prompt", "tool", "uncovered_count", "user_prompt", "warnings"]
    LEASE_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_PROMPT_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    UNCOVERED_COUNT_FIELD_NUMBER: _ClassVar[int]
    USER_PROMPT_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    lease: str
    messages: _containers.Messages[ChatMessage]
    outcome: str
    system_prompt: str
    tool: Tool
    uncovered_count: int
    user_prompt: str
    warnings: _containers.Scalars[str]
    def __init__(self, lease: _Optional[str] = ..., system_prompt: _Optional[str] = ..., user_prompt: _Optional[str] = ..., outcome: _Optional[str] = ..., messages: _Optional[_Iterable[_Union[ChatMessage, _Mapping[str, _Any]]]] = ..., tool: _Optional[_Union[Tool, _Mapping[str, _Any]]] = ..., uncovered_count: _Optional[int] = ..., warnings: _Optional[_Iterable[str]] = ...) -> None: ...

class CallToolRequest(_message.Message):
    __slots__ = ["agent", "author", "channel", "group", "input", "name", "session", "source"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    agent: str
    author: _memory_pb2.Author
    channel: str
    group: bool
    input: str
    name: str
    session: str
    source: str
    def __init__(self, agent: _Optional[str] = ..., name: _Optional[str] = ..., input: _Optional[str] = ..., channel: _Optional[str] = ..., group: _Optional[bool] = ..., source: _Optional[str] = ..., author: _Optional[_Union[_memory_pb2.Author, _Mapping[str, _Any]]] = ..., session: _Optional[str] = ...) -> None: ...

class CallToolResponse(_message.Message):
    __slots__ = ["failed", "output"]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    failed: bool
    output: str
    def __init__(self, output: _Optional[str] = ..., failed: _Optional[bool] = ...) -> None: ...

class ChatMessage(_message.Message):
    __slots__ = ["author", "channel", "failed", "id", "image_count", "role", "text", "through_id", "tool_call_id", "tool_calls", "tool_name"]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    IMAGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    THROUGH_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    author: _memory_pb2.Author
    channel: str
    failed: bool
    id: str
    image_count: int
    role: str
    text: str
    through_id: str
    tool_call_id: str
    tool_calls: _containers.Messages[ToolCall]
    tool_name: str
    def __init__(self, id: _Optional[str] = ..., role: _Optional[str] = ..., text: _Optional[str] = ..., tool_calls: _Optional[_Iterable[_Union[ToolCall, _Mapping[str, _Any]]]] = ..., tool_call_id: _Optional[str] = ..., tool_name: _Optional[str] = ..., failed: _Optional[bool] = ..., image_count: _Optional[int] = ..., author: _Optional[_Union[_memory_pb2.Author, _Mapping[str, _Any]]] = ..., channel: _Optional[str] = ..., through_id: _Optional[str] = ...) -> None: ...

class CheckFlushRequest(_message.Message):
    __slots__ = ["agent", "forced", "heartbeat", "messages", "overflow", "projected_tokens", "session", "transcript_bytes", "window_tokens"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    FORCED_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    OVERFLOW_FIELD_NUMBER: _ClassVar[int]
    PROJECTED_TOKENS_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    TRANSCRIPT_BYTES_FIELD_NUMBER: _ClassVar[int]
    WINDOW_TOKENS_FIELD_NUMBER: _ClassVar[int]
    agent: str
    forced: bool
    heartbeat: bool
    messages: _containers.Messages[ChatMessage]
    overflow: bool
    projected_tokens: int
    session: str
    transcript_bytes: int
    window_tokens: int
    def __init__(self, agent: _Optional[str] = ..., session: _Optional[str] = ..., messages: _Optional[_Iterable[_Union[ChatMessage, _Mapping[str, _Any]]]] = ..., window_tokens: _Optional[int] = ..., projected_tokens: _Optional[int] = ..., transcript_bytes: _Optional[int] = ..., heartbeat: _Optional[bool] = ..., overflow: _Optional[bool] = ..., forced: _Optional[bool] = ...) -> None: ...

class CheckFlushResponse(_message.Message):
    __slots__ = ["compact", "compact_at_tokens", "flush", "flush_at_tokens", "next_try_time", "reason", "uncovered_count", "warnings"]
    COMPACT_AT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COMPACT_FIELD_NUMBER: _ClassVar[int]
    FLUSH_AT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    FLUSH_FIELD_NUMBER: _ClassVar[int]
    NEXT_TRY_TIME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    UNCOVERED_COUNT_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    compact: bool
    compact_at_tokens: int
    flush: bool
    flush_at_tokens: int
    next_try_time: _timestamp_pb2.Timestamp
    reason: str
    uncovered_count: int
    warnings: _containers.Scalars[str]
    def __init__(self, flush: _Optional[bool] = ..., compact: _Optional[bool] = ..., reason: _Optional[str] = ..., flush_at_tokens: _Optional[int] = ..., compact_at_tokens: _Optional[int] = ..., uncovered_count: _Optional[int] = ..., next_try_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., warnings: _Optional[_Iterable[str]] = ...) -> None: ...

class CommitCompactRequest(_message.Message):
    __slots__ = ["agent", "answer", "cut_off", "lease", "step_number", "too_long"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    CUT_OFF_FIELD_NUMBER: _ClassVar[int]
    LEASE_FIELD_NUMBER: _ClassVar[int]
    STEP_NUMBER_FIELD_NUMBER: _ClassVar[int]
    TOO_LONG_FIELD_NUMBER: _ClassVar[int]
    agent: str
    answer: str
    cut_off: bool
    lease: str
    step_number: int
    too_long: bool
    def __init__(self, agent: _Optional[str] = ..., lease: _Optional[str] = ..., answer: _Optional[str] = ..., cut_off: _Optional[bool] = ..., too_long: _Optional[bool] = ..., step_number: _Optional[int] = ...) -> None: ...

class CommitCompactResponse(_message.Message):
    __slots__ = ["compacted", "outcome", "step"]
    COMPACTED_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    compacted: CompactResponse
    outcome: str
    step: CompactStep
    def __init__(self, outcome: _Optional[str] = ..., step: _Optional[_Union[CompactStep, _Mapping[str, _Any]]] = ..., compacted: _Optional[_Union[CompactResponse, _Mapping[str, _Any]]] = ...) -> None: ...

class CommitFlushRequest(_message.Message):
    __slots__ = ["agent", "lease", "notes", "reply", "unfinished"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    LEASE_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    REPLY_FIELD_NUMBER: _ClassVar[int]
    UNFINISHED_FIELD_NUMBER: _ClassVar[int]
    agent: str
    lease: str
    notes: _containers.Messages[FlushNote]
    reply: str
    unfinished: bool
    def __init__(self, agent: _Optional[str] = ..., lease: _Optional[str] = ..., notes: _Optional[_Iterable[_Union[FlushNote, _Mapping[str, _Any]]]] = ..., reply: _Optional[str] = ..., unfinished: _Optional[bool] = ...) -> None: ...

class CommitFlushResponse(_message.Message):
    __slots__ = ["covered_count", "notes", "silent", "through_id", "uncovered_count", "warning"]
    COVERED_COUNT_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    SILENT_FIELD_NUMBER: _ClassVar[int]
    THROUGH_ID_FIELD_NUMBER: _ClassVar[int]
    UNCOVERED_COUNT_FIELD_NUMBER: _ClassVar[int]
    WARNING_FIELD_NUMBER: _ClassVar[int]
    covered_count: int
    notes: _containers.Messages[StoredNote]
    silent: bool
    through_id: str
    uncovered_count: int
    warning: str
    def __init__(self, silent: _Optional[bool] = ..., covered_count: _Optional[int] = ..., through_id: _Optional[str] = ..., notes: _Optional[_Iterable[_Union[StoredNote, _Mapping[str, _Any]]]] = ..., uncovered_count: _Optional[int] = ..., warning: _Optional[str] = ...) -> None: ...

class CompactRequest(_message.Message):
    __slots__ = ["agent", "keep_recent_tokens", "messages", "session", "window_tokens"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    KEEP_RECENT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    WINDOW_TOKENS_FIELD_NUMBER: _ClassVar[int]
    agent: str
    keep_recent_tokens: int
    messages: _containers.Messages[ChatMessage]
    session: str
    window_tokens: int
    def __init__(self, agent: _Optional[str] = ..., messages: _Optional[_Iterable[_Union[ChatMessage, _Mapping[str, _Any]]]] = ..., session: _Optional[str] = ..., window_tokens: _Optional[int] = ..., keep_recent_tokens: _Optional[int] = ...) -> None: ...

class CompactResponse(_message.Message):
    __slots__ = ["first_kept_id", "message", "outcome", "reason", "summary", "tokens_after", "tokens_before"]
    FIRST_KEPT_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    TOKENS_AFTER_FIELD_NUMBER: _ClassVar[int]
    TOKENS_BEFORE_FIELD_NUMBER: _ClassVar[int]
    first_kept_id: str
    message: ChatMessage
    outcome: str
    reason: str
    summary: str
    tokens_after: int
    tokens_before: int
    def __init__(self, summary: _Optional[str] = ..., first_kept_id: _Optional[str] = ..., message: _Optional[_Union[ChatMessage, _Mapping[str, _Any]]] = ..., tokens_before: _Optional[int] = ..., tokens_after: _Optional[int] = ..., outcome: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class CompactStep(_message.Message):
    __slots__ = ["max_tokens", "messages", "number", "system_prompt"]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_PROMPT_FIELD_NUMBER: _ClassVar[int]
    max_tokens: int
    messages: _containers.Messages[ChatMessage]
    number: int
    system_prompt: str
    def __init__(self, system_prompt: _Optional[str] = ..., messages: _Optional[_Iterable[_Union[ChatMessage, _Mapping[str, _Any]]]] = ..., max_tokens: _Optional[int] = ..., number: _Optional[int] = ...) -> None: ...

class EndSessionRequest(_message.Message):
    __slots__ = ["agent", "messages", "session"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    agent: str
    messages: _containers.Messages[ChatMessage]
    session: str
    def __init__(self, agent: _Optional[str] = ..., session: _Optional[str] = ..., messages: _Optional[_Iterable[_Union[ChatMessage, _Mapping[str, _Any]]]] = ...) -> None: ...

class EndSessionResponse(_message.Message):
    __slots__ = ["covered_count", "notes", "outcome", "reason", "uncovered_count", "warnings"]
    COVERED_COUNT_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    UNCOVERED_COUNT_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    covered_count: int
    notes: _containers.Messages[StoredNote]
    outcome: str
    reason: str
    uncovered_count: int
    warnings: _containers.Scalars[str]
    def __init__(self, outcome: _Optional[str] = ..., reason: _Optional[str] = ..., covered_count: _Optional[int] = ..., uncovered_count: _Optional[int] = ..., notes: _Optional[_Iterable[_Union[StoredNote, _Mapping[str, _Any]]]] = ..., warnings: _Optional[_Iterable[str]] = ...) -> None: ...

class FileReport(_message.Message):
    __slots__ = ["cut", "injected_chars", "name", "overriding", "path", "raw_chars", "reason"]
    CUT_FIELD_NUMBER: _ClassVar[int]
    INJECTED_CHARS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    OVERRIDING_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    RAW_CHARS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    cut: bool
    injected_chars: int
    name: str
    overriding: bool
    path: str
    raw_chars: int
    reason: str
    def __init__(self, name: _Optional[str] = ..., path: _Optional[str] = ..., overriding: _Optional[bool] = ..., raw_chars: _Optional[int] = ..., injected_chars: _Optional[int] = ..., cut: _Optional[bool] = ..., reason: _Optional[str] = ...) -> None: ...

class FlushNote(_message.Message):
    __slots__ = ["category", "text"]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    category: str
    text: str
    def __init__(self, text: _Optional[str] = ..., category: _Optional[str] = ...) -> None: ...

class FlushRequest(_message.Message):
    __slots__ = ["agent", "forced", "messages", "session"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    FORCED_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    agent: str
    forced: bool
    messages: _containers.Messages[ChatMessage]
    session: str
    def __init__(self, agent: _Optional[str] = ..., session: _Optional[str] = ..., messages: _Optional[_Iterable[_Union[ChatMessage, _Mapping[str, _Any]]]] = ..., forced: _Optional[bool] = ...) -> None: ...

class FlushResponse(_message.Message):
    __slots__ = ["covered_count", "next_try_time", "notes", "outcome", "reason", "reply", "uncovered_count", "warnings"]
    COVERED_COUNT_FIELD_NUMBER: _ClassVar[int]
    NEXT_TRY_TIME_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REPLY_FIELD_NUMBER: _ClassVar[int]
    UNCOVERED_COUNT_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    covered_count: int
    next_try_time: _timestamp_pb2.Timestamp
    notes: _containers.Messages[StoredNote]
    outcome: str
    reason: str
    reply: str
    uncovered_count: int
    warnings: _containers.Scalars[str]
    def __init__(self, outcome: _Optional[str] = ..., reason: _Optional[str] = ..., covered_count: _Optional[int] = ..., uncovered_count: _Optional[int] = ..., notes: _Optional[_Iterable[_Union[StoredNote, _Mapping[str, _Any]]]] = ..., reply: _Optional[str] = ..., next_try_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., warnings: _Optional[_Iterable[str]] = ...) -> None: ...

class ListToolsRequest(_message.Message):
    __slots__ = ["agent", "channel", "group"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    agent: str
    channel: str
    group: bool
    def __init__(self, agent: _Optional[str] = ..., channel: _Optional[str] = ..., group: _Optional[bool] = ...) -> None: ...

class ListToolsResponse(_message.Message):
    __slots__ = ["tools"]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    tools: _containers.Messages[Tool]
    def __init__(self, tools: _Optional[_Iterable[_Union[Tool, _Mapping[str, _Any]]]] = ...) -> None: ...

class ListTurnsRequest(_message.Message):
    __slots__ = ["agent", "page_size", "page_token", "session", "since", "until"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    agent: str
    page_size: int
    page_token: str
    session: str
    since: str
    until: str
    def __init__(self, agent: _Optional[str] = ..., session: _Optional[str] = ..., since: _Optional[str] = ..., until: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListTurnsResponse(_message.Message):
    __slots__ = ["kept", "messages_kept", "next_page_token", "sessions", "turns"]
    KEPT_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_KEPT_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    TURNS_FIELD_NUMBER: _ClassVar[int]
    kept: bool
    messages_kept: bool
    next_page_token: str
    sessions: _containers.Messages[TurnSession]
    turns: _containers.Messages[Turn]
    def __init__(self, turns: _Optional[_Iterable[_Union[Turn, _Mapping[str, _Any]]]] = ..., next_page_token: _Optional[str] = ..., sessions: _Optional[_Iterable[_Union[TurnSession, _Mapping[str, _Any]]]] = ..., kept: _Optional[bool] = ..., messages_kept: _Optional[bool] = ...) -> None: ...

class PromptBlock(_message.Message):
    __slots__ = ["changing", "name", "text"]
    CHANGING_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    changing: bool
    name: str
    text: str
    def __init__(self, name: _Optional[str] = ..., text: _Optional[str] = ..., changing: _Optional[bool] = ...) -> None: ...

class PromptCut(_message.Message):
    __slots__ = ["from_tokens", "part", "to_tokens"]
    FROM_TOKENS_FIELD_NUMBER: _ClassVar[int]
    PART_FIELD_NUMBER: _ClassVar[int]
    TO_TOKENS_FIELD_NUMBER: _ClassVar[int]
    from_tokens: int
    part: str
    to_tokens: int
    def __init__(self, part: _Optional[str] = ..., from_tokens: _Optional[int] = ..., to_tokens: _Optional[int] = ...) -> None: ...

class PromptLayer(_message.Message):
    __slots__ = ["chars", "name", "tokens"]
    CHARS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    chars: int
    name: str
    tokens: int
    def __init__(self, name: _Optional[str] = ..., chars: _Optional[int] = ..., tokens: _Optional[int] = ...) -> None: ...

class PruneEdit(_message.Message):
    __slots__ = ["added", "cleared", "message_id", "text", "tool_call_id"]
    ADDED_FIELD_NUMBER: _ClassVar[int]
    CLEARED_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    added: bool
    cleared: bool
    message_id: str
    text: str
    tool_call_id: str
    def __init__(self, message_id: _Optional[str] = ..., tool_call_id: _Optional[str] = ..., text: _Optional[str] = ..., cleared: _Optional[bool] = ..., added: _Optional[bool] = ...) -> None: ...

class PruneRequest(_message.Message):
    __slots__ = ["agent", "edits", "last_touch_time", "messages", "session", "window_tokens"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    EDITS_FIELD_NUMBER: _ClassVar[int]
    LAST_TOUCH_TIME_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    WINDOW_TOKENS_FIELD_NUMBER: _ClassVar[int]
    agent: str
    edits: _containers.Messages[PruneEdit]
    last_touch_time: _timestamp_pb2.Timestamp
    messages: _containers.Messages[ChatMessage]
    session: str
    window_tokens: int
    def __init__(self, agent: _Optional[str] = ..., messages: _Optional[_Iterable[_Union[ChatMessage, _Mapping[str, _Any]]]] = ..., window_tokens: _Optional[int] = ..., last_touch_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., edits: _Optional[_Iterable[_Union[PruneEdit, _Mapping[str, _Any]]]] = ..., session: _Optional[str] = ...) -> None: ...

class PruneResponse(_message.Message):
    __slots__ = ["chars_after", "chars_before", "edits", "last_touch_time", "reason"]
    CHARS_AFTER_FIELD_NUMBER: _ClassVar[int]
    CHARS_BEFORE_FIELD_NUMBER: _ClassVar[int]
    EDITS_FIELD_NUMBER: _ClassVar[int]
    LAST_TOUCH_TIME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    chars_after: int
    chars_before: int
    edits: _containers.Messages[PruneEdit]
    last_touch_time: _timestamp_pb2.Timestamp
    reason: str
    def __init__(self, edits: _Optional[_Iterable[_Union[PruneEdit, _Mapping[str, _Any]]]] = ..., last_touch_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., chars_before: _Optional[int] = ..., chars_after: _Optional[int] = ..., reason: _Optional[str] = ...) -> None: ...

class RecallReport(_message.Message):
    __slots__ = ["left_out", "query", "recalled", "searches", "skipped", "took"]
    LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    RECALLED_FIELD_NUMBER: _ClassVar[int]
    SEARCHES_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_FIELD_NUMBER: _ClassVar[int]
    TOOK_FIELD_NUMBER: _ClassVar[int]
    left_out: _containers.Messages[RecalledMemory]
    query: str
    recalled: _containers.Messages[RecalledMemory]
    searches: _containers.Messages[RecallSearch]
    skipped: str
    took: _duration_pb2.Duration
    def __init__(self, recalled: _Optional[_Iterable[_Union[RecalledMemory, _Mapping[str, _Any]]]] = ..., left_out: _Optional[_Iterable[_Union[RecalledMemory, _Mapping[str, _Any]]]] = ..., query: _Optional[str] = ..., skipped: _Optional[str] = ..., searches: _Optional[_Iterable[_Union[RecallSearch, _Mapping[str, _Any]]]] = ..., took: _Optional[_Union[_duration_pb2.Duration, _Mapping[str, _Any]]] = ...) -> None: ...

class RecallRequest(_message.Message):
    __slots__ = ["agent", "ask_time", "author", "channel", "context", "group", "message", "session", "shared_agents", "standing"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    ASK_TIME_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    SHARED_AGENTS_FIELD_NUMBER: _ClassVar[int]
    STANDING_FIELD_NUMBER: _ClassVar[int]
    agent: str
    ask_time: _timestamp_pb2.Timestamp
    author: _memory_pb2.Author
    channel: str
    context: _containers.Messages[_memory_pb2.ConversationTurn]
    group: bool
    message: str
    session: str
    shared_agents: _containers.Scalars[str]
    standing: bool
    def __init__(self, agent: _Optional[str] = ..., message: _Optional[str] = ..., channel: _Optional[str] = ..., group: _Optional[bool] = ..., shared_agents: _Optional[_Iterable[str]] = ..., ask_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., session: _Optional[str] = ..., author: _Optional[_Union[_memory_pb2.Author, _Mapping[str, _Any]]] = ..., context: _Optional[_Iterable[_Union[_memory_pb2.ConversationTurn, _Mapping[str, _Any]]]] = ..., standing: _Optional[bool] = ...) -> None: ...

class RecallResponse(_message.Message):
    __slots__ = ["block", "report"]
    BLOCK_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    block: str
    report: RecallReport
    def __init__(self, report: _Optional[_Union[RecallReport, _Mapping[str, _Any]]] = ..., block: _Optional[str] = ...) -> None: ...

class RecallSearch(_message.Message):
    __slots__ = ["agent", "degraded", "error", "hit_count", "mode", "took"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    HIT_COUNT_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    TOOK_FIELD_NUMBER: _ClassVar[int]
    agent: str
    degraded: _containers.Messages[_memory_pb2.Degradation]
    error: str
    hit_count: int
    mode: str
    took: _duration_pb2.Duration
    def __init__(self, agent: _Optional[str] = ..., hit_count: _Optional[int] = ..., mode: _Optional[str] = ..., degraded: _Optional[_Iterable[_Union[_memory_pb2.Degradation, _Mapping[str, _Any]]]] = ..., error: _Optional[str] = ..., took: _Optional[_Union[_duration_pb2.Duration, _Mapping[str, _Any]]] = ...) -> None: ...

class RecalledMemory(_message.Message):
    __slots__ = ["agent", "author", "channel", "date", "end_line", "flags", "more_authors", "path", "reason", "score", "shared", "start_line", "text", "text_score", "vector_score"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_FIELD_NUMBER: _ClassVar[int]
    DATE_FIELD_NUMBER: _ClassVar[int]
    END_LINE_FIELD_NUMBER: _ClassVar[int]
    FLAGS_FIELD_NUMBER: _ClassVar[int]
    MORE_AUTHORS_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    SHARED_FIELD_NUMBER: _ClassVar[int]
    START_LINE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TEXT_SCORE_FIELD_NUMBER: _ClassVar[int]
    VECTOR_SCORE_FIELD_NUMBER: _ClassVar[int]
    agent: str
    author: _memory_pb2.Author
    channel: str
    date: str
    end_line: int
    flags: _containers.Scalars[str]
    more_authors: _containers.Messages[_memory_pb2.Author]
    path: str
    reason: str
    score: float
    shared: bool
    start_line: int
    text: str
    text_score: float
    vector_score: float
    def __init__(self, agent: _Optional[str] = ..., shared: _Optional[bool] = ..., path: _Optional[str] = ..., start_line: _Optional[int] = ..., end_line: _Optional[int] = ..., score: _Optional[float] = ..., date: _Optional[str] = ..., text: _Optional[str] = ..., flags: _Optional[_Iterable[str]] = ..., reason: _Optional[str] = ..., vector_score: _Optional[float] = ..., text_score: _Optional[float] = ..., channel: _Optional[str] = ..., author: _Optional[_Union[_memory_pb2.Author, _Mapping[str, _Any]]] = ..., more_authors: _Optional[_Iterable[_Union[_memory_pb2.Author, _Mapping[str, _Any]]]] = ...) -> None: ...

class SkillReport(_message.Message):
    __slots__ = ["in_prompt", "loaded", "name", "path", "reason"]
    IN_PROMPT_FIELD_NUMBER: _ClassVar[int]
    LOADED_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    in_prompt: bool
    loaded: bool
    name: str
    path: str
    reason: str
    def __init__(self, name: _Optional[str] = ..., path: _Optional[str] = ..., loaded: _Optional[bool] = ..., in_prompt: _Optional[bool] = ..., reason: _Optional[str] = ...) -> None: ...

class StoredNote(_message.Message):
    __slots__ = ["deduplicated", "line", "path", "refused", "secrets"]
    DEDUPLICATED_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    SECRETS_FIELD_NUMBER: _ClassVar[int]
    deduplicated: bool
    line: int
    path: str
    refused: str
    secrets: _containers.Messages[_memory_pb2.ReplacedSecret]
    def __init__(self, path: _Optional[str] = ..., line: _Optional[int] = ..., deduplicated: _Optional[bool] = ..., refused: _Optional[str] = ..., secrets: _Optional[_Iterable[_Union[_memory_pb2.ReplacedSecret, _Mapping[str, _Any]]]] = ...) -> None: ...

class Tool(_message.Message):
    __slots__ = ["description", "input_schema", "name"]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    description: str
    input_schema: str
    name: str
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., input_schema: _Optional[str] = ...) -> None: ...

class ToolCall(_message.Message):
    __slots__ = ["id", "input", "name"]
    ID_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    id: str
    input: str
    name: str
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., input: _Optional[str] = ...) -> None: ...

class Turn(_message.Message):
    __slots__ = ["budget_tokens", "channel", "compaction", "cuts", "flush", "group", "id", "kind", "layers", "message", "mode", "model", "over_budget", "recall", "session", "time", "tokens"]
    BUDGET_TOKENS_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_FIELD_NUMBER: _ClassVar[int]
    COMPACTION_FIELD_NUMBER: _ClassVar[int]
    CUTS_FIELD_NUMBER: _ClassVar[int]
    FLUSH_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    LAYERS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    OVER_BUDGET_FIELD_NUMBER: _ClassVar[int]
    RECALL_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    budget_tokens: int
    channel: str
    compaction: TurnCompaction
    cuts: _containers.Messages[PromptCut]
    flush: TurnFlush
    group: bool
    id: str
    kind: str
    layers: _containers.Messages[PromptLayer]
    message: str
    mode: str
    model: str
    over_budget: bool
    recall: RecallReport
    session: str
    time: _timestamp_pb2.Timestamp
    tokens: int
    def __init__(self, id: _Optional[str] = ..., time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., kind: _Optional[str] = ..., session: _Optional[str] = ..., channel: _Optional[str] = ..., group: _Optional[bool] = ..., model: _Optional[str] = ..., mode: _Optional[str] = ..., message: _Optional[str] = ..., layers: _Optional[_Iterable[_Union[PromptLayer, _Mapping[str, _Any]]]] = ..., tokens: _Optional[int] = ..., budget_tokens: _Optional[int] = ..., over_budget: _Optional[bool] = ..., cuts: _Optional[_Iterable[_Union[PromptCut, _Mapping[str, _Any]]]] = ..., recall: _Optional[_Union[RecallReport, _Mapping[str, _Any]]] = ..., flush: _Optional[_Union[TurnFlush, _Mapping[str, _Any]]] = ..., compaction: _Optional[_Union[TurnCompaction, _Mapping[str, _Any]]] = ...) -> None: ...

class TurnCompaction(_message.Message):
    __slots__ = ["reason", "tokens_after", "tokens_before"]
    REASON_FIELD_NUMBER: _ClassVar[int]
    TOKENS_AFTER_FIELD_NUMBER: _ClassVar[int]
    TOKENS_BEFORE_FIELD_NUMBER: _ClassVar[int]
    reason: str
    tokens_after: int
    tokens_before: int
    def __init__(self, tokens_before: _Optional[int] = ..., tokens_after: _Optional[int] = ..., reason: _Optional[str] = ...) -> None: ...

class TurnFlush(_message.Message):
    __slots__ = ["covered_count", "notes", "outcome", "reason", "uncovered_count"]
    COVERED_COUNT_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    UNCOVERED_COUNT_FIELD_NUMBER: _ClassVar[int]
    covered_count: int
    notes: _containers.Messages[StoredNote]
    outcome: str
    reason: str
    uncovered_count: int
    def __init__(self, outcome: _Optional[str] = ..., reason: _Optional[str] = ..., covered_count: _Optional[int] = ..., uncovered_count: _Optional[int] = ..., notes: _Optional[_Iterable[_Union[StoredNote, _Mapping[str, _Any]]]] = ...) -> None: ...

class TurnSession(_message.Message):
    __slots__ = ["channel", "first_time", "last_time", "session", "turn_count"]
    CHANNEL_FIELD_NUMBER: _ClassVar[int]
    FIRST_TIME_FIELD_NUMBER: _ClassVar[int]
    LAST_TIME_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    TURN_COUNT_FIELD_NUMBER: _ClassVar[int]
    channel: str
    first_time: _timestamp_pb2.Timestamp
    last_time: _timestamp_pb2.Timestamp
    session: str
    turn_count: int
    def __init__(self, session: _Optional[str] = ..., turn_count: _Optional[int] = ..., first_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., last_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., channel: _Optional[str] = ...) -> None: ...

class UnknownMessages(_message.Message):
    __slots__ = ["ids"]
    IDS_FIELD_NUMBER: _ClassVar[int]
    ids: _containers.Scalars[str]
    def __init__(self, ids: _Optional[_Iterable[str]] = ...) -> None: ...
