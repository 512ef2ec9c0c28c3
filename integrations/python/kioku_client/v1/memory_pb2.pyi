from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from kioku_client.v1 import unit_pb2 as _unit_pb2
from kioku_client.v1 import _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import Any as _Any, ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ActivityDay(_message.Message):
    __slots__ = ["changed_count", "chunk_count", "date", "note_count", "recalled_count", "turn_count", "used_count"]
    CHANGED_COUNT_FIELD_NUMBER: _ClassVar[int]
    CHUNK_COUNT_FIELD_NUMBER: _ClassVar[int]
    DATE_FIELD_NUMBER: _ClassVar[int]
    NOTE_COUNT_FIELD_NUMBER: _ClassVar[int]
    RECALLED_COUNT_FIELD_NUMBER: _ClassVar[int]
    TURN_COUNT_FIELD_NUMBER: _ClassVar[int]
    USED_COUNT_FIELD_NUMBER: _ClassVar[int]
    changed_count: int
    chunk_count: int
    date: str
    note_count: int
    recalled_count: int
    turn_count: int
    used_count: int
    def __init__(self, date: _Optional[str] = ..., note_count: _Optional[int] = ..., chunk_count: _Optional[int] = ..., changed_count: _Optional[int] = ..., recalled_count: _Optional[int] = ..., turn_count: _Optional[int] = ..., used_count: _Optional[int] = ...) -> None: ...

class ActivityRequest(_message.Message):
    __slots__ = ["agent", "since", "until"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    agent: str
    since: str
    until: str
    def __init__(self, agent: _Optional[str] = ..., since: _Optional[str] = ..., until: _Optional[str] = ...) -> None: ...

class ActivityResponse(_message.Message):
    __slots__ = ["days", "today", "turns_kept", "undated_note_count"]
    DAYS_FIELD_NUMBER: _ClassVar[int]
    TODAY_FIELD_NUMBER: _ClassVar[int]
    TURNS_KEPT_FIELD_NUMBER: _ClassVar[int]
    UNDATED_NOTE_COUNT_FIELD_NUMBER: _ClassVar[int]
    days: _containers.Messages[ActivityDay]
    today: str
    turns_kept: bool
    undated_note_count: int
    def __init__(self, days: _Optional[_Iterable[_Union[ActivityDay, _Mapping[str, _Any]]]] = ..., undated_note_count: _Optional[int] = ..., today: _Optional[str] = ..., turns_kept: _Optional[bool] = ...) -> None: ...

class Agent(_message.Message):
    __slots__ = ["id", "index", "workspace"]
    ID_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_FIELD_NUMBER: _ClassVar[int]
    id: str
    index: IndexState
    workspace: str
    def __init__(self, id: _Optional[str] = ..., workspace: _Optional[str] = ..., index: _Optional[_Union[IndexState, _Mapping[str, _Any]]] = ...) -> None: ...

class Author(_message.Message):
    __slots__ = ["id", "is_owner", "name"]
    ID_FIELD_NUMBER: _ClassVar[int]
    IS_OWNER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    id: str
    is_owner: bool
    name: str
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., is_owner: _Optional[bool] = ...) -> None: ...

class Backfill(_message.Message):
    __slots__ = ["chunks_per_second", "embedded_count", "left", "running", "total_count"]
    CHUNKS_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    EMBEDDED_COUNT_FIELD_NUMBER: _ClassVar[int]
    LEFT_FIELD_NUMBER: _ClassVar[int]
    RUNNING_FIELD_NUMBER: _ClassVar[int]
    TOTAL_COUNT_FIELD_NUMBER: _ClassVar[int]
    chunks_per_second: float
    embedded_count: int
    left: _duration_pb2.Duration
    running: bool
    total_count: int
    def __init__(self, running: _Optional[bool] = ..., embedded_count: _Optional[int] = ..., total_count: _Optional[int] = ..., chunks_per_second: _Optional[float] = ..., left: _Optional[_Union[_duration_pb2.Duration, _Mapping[str, _Any]]] = ...) -> None: ...

class Chunk(_message.Message):
    __slots__ = ["date", "embedded", "end_line", "heading", "language", "start_line", "token_count"]
    DATE_FIELD_NUMBER: _ClassVar[int]
    EMBEDDED_FIELD_NUMBER: _ClassVar[int]
    END_LINE_FIELD_NUMBER: _ClassVar[int]
    HEADING_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    START_LINE_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    date: str
    embedded: bool
    end_line: int
    heading: str
    language: str
    start_line: int
    token_count: int
    def __init__(self, start_line: _Optional[int] = ..., end_line: _Optional[int] = ..., heading: _Optional[str] = ..., date: _Optional[str] = ..., language: _Optional[str] = ..., token_count: _Optional[int] = ..., embedded: _Optional[bool] = ...) -> None: ...

class Condition(_message.Message):
    __slots__ = ["field", "op", "values"]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    OP_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    field: str
    op: str
    values: _containers.Scalars[str]
    def __init__(self, field: _Optional[str] = ..., op: _Optional[str] = ..., values: _Optional[_Iterable[str]] = ...) -> None: ...

class ConversationTurn(_message.Message):
    __slots__ = ["speaker", "text"]
    SPEAKER_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    speaker: str
    text: str
    def __init__(self, speaker: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class Degradation(_message.Message):
    __slots__ = ["code", "text"]
    CODE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    code: str
    text: str
    def __init__(self, code: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class Egress(_message.Message):
    __slots__ = ["host", "last_time", "local", "purpose", "refused_count", "request_count", "sent_bytes"]
    HOST_FIELD_NUMBER: _ClassVar[int]
    LAST_TIME_FIELD_NUMBER: _ClassVar[int]
    LOCAL_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    REFUSED_COUNT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_COUNT_FIELD_NUMBER: _ClassVar[int]
    SENT_BYTES_FIELD_NUMBER: _ClassVar[int]
    host: str
    last_time: _timestamp_pb2.Timestamp
    local: bool
    purpose: str
    refused_count: int
    request_count: int
    sent_bytes: int
    def __init__(self, host: _Optional[str] = ..., purpose: _Optional[str] = ..., local: _Optional[bool] = ..., request_count: _Optional[int] = ..., refused_count: _Optional[int] = ..., sent_bytes: _Optional[int] = ..., last_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ...) -> None: ...

class EstimateEmbeddingRequest(_message.Message):
    __slots__ = ["agent"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    agent: str
    def __init__(self, agent: _Optional[str] = ...) -> None: ...

class EstimateEmbeddingResponse(_message.Message):
    __slots__ = ["chunk_count", "model", "provider", "request_count", "text_count", "token_count", "took", "window_count"]
    CHUNK_COUNT_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    REQUEST_COUNT_FIELD_NUMBER: _ClassVar[int]
    TEXT_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOOK_FIELD_NUMBER: _ClassVar[int]
    WINDOW_COUNT_FIELD_NUMBER: _ClassVar[int]
    chunk_count: int
    model: str
    provider: str
    request_count: int
    text_count: int
    token_count: int
    took: _duration_pb2.Duration
    window_count: int
    def __init__(self, provider: _Optional[str] = ..., model: _Optional[str] = ..., chunk_count: _Optional[int] = ..., window_count: _Optional[int] = ..., text_count: _Optional[int] = ..., token_count: _Optional[int] = ..., request_count: _Optional[int] = ..., took: _Optional[_Union[_duration_pb2.Duration, _Mapping[str, _Any]]] = ...) -> None: ...

class Event(_message.Message):
    __slots__ = ["chunk_count", "event_time", "generation", "kind", "path", "text"]
    CHUNK_COUNT_FIELD_NUMBER: _ClassVar[int]
    EVENT_TIME_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    chunk_count: int
    event_time: _timestamp_pb2.Timestamp
    generation: int
    kind: str
    path: str
    text: str
    def __init__(self, kind: _Optional[str] = ..., path: _Optional[str] = ..., text: _Optional[str] = ..., chunk_count: _Optional[int] = ..., generation: _Optional[int] = ..., event_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ...) -> None: ...

class ExplainRequest(_message.Message):
    __slots__ = ["line", "path", "search"]
    LINE_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    SEARCH_FIELD_NUMBER: _ClassVar[int]
    line: int
    path: str
    search: MemorySearchRequest
    def __init__(self, search: _Optional[_Union[MemorySearchRequest, _Mapping[str, _Any]]] = ..., path: _Optional[str] = ..., line: _Optional[int] = ...) -> None: ...

class ExplainResponse(_message.Message):
    __slots__ = ["answer", "links", "outcome", "passage", "terms", "text"]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    LINKS_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    PASSAGE_FIELD_NUMBER: _ClassVar[int]
    TERMS_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    answer: MemorySearchResponse
    links: Links
    outcome: str
    passage: SearchResult
    terms: _containers.Scalars[str]
    text: str
    def __init__(self, answer: _Optional[_Union[MemorySearchResponse, _Mapping[str, _Any]]] = ..., outcome: _Optional[str] = ..., text: _Optional[str] = ..., passage: _Optional[_Union[SearchResult, _Mapping[str, _Any]]] = ..., terms: _Optional[_Iterable[str]] = ..., links: _Optional[_Union[Links, _Mapping[str, _Any]]] = ...) -> None: ...

class File(_message.Message):
    __slots__ = ["aliases", "chunk_count", "date", "modification_time", "path", "size_bytes", "skipped", "source", "tags", "title"]
    ALIASES_FIELD_NUMBER: _ClassVar[int]
    CHUNK_COUNT_FIELD_NUMBER: _ClassVar[int]
    DATE_FIELD_NUMBER: _ClassVar[int]
    MODIFICATION_TIME_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    aliases: _containers.Scalars[str]
    chunk_count: int
    date: str
    modification_time: _timestamp_pb2.Timestamp
    path: str
    size_bytes: int
    skipped: str
    source: str
    tags: _containers.Scalars[str]
    title: str
    def __init__(self, path: _Optional[str] = ..., source: _Optional[str] = ..., title: _Optional[str] = ..., date: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ..., aliases: _Optional[_Iterable[str]] = ..., chunk_count: _Optional[int] = ..., size_bytes: _Optional[int] = ..., modification_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., skipped: _Optional[str] = ...) -> None: ...

class FoundUnit(_message.Message):
    __slots__ = ["names", "score", "unit"]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    names: _containers.Scalars[str]
    score: float
    unit: _unit_pb2.Unit
    def __init__(self, unit: _Optional[_Union[_unit_pb2.Unit, _Mapping[str, _Any]]] = ..., score: _Optional[float] = ..., names: _Optional[_Iterable[str]] = ...) -> None: ...

class IndexCheck(_message.Message):
    __slots__ = ["found", "page_count", "table_count", "text_count", "time", "vector_count", "word_count"]
    FOUND_FIELD_NUMBER: _ClassVar[int]
    PAGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    TABLE_COUNT_FIELD_NUMBER: _ClassVar[int]
    TEXT_COUNT_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    VECTOR_COUNT_FIELD_NUMBER: _ClassVar[int]
    WORD_COUNT_FIELD_NUMBER: _ClassVar[int]
    found: _containers.Scalars[str]
    page_count: int
    table_count: int
    text_count: int
    time: _timestamp_pb2.Timestamp
    vector_count: int
    word_count: int
    def __init__(self, page_count: _Optional[int] = ..., table_count: _Optional[int] = ..., text_count: _Optional[int] = ..., word_count: _Optional[int] = ..., vector_count: _Optional[int] = ..., found: _Optional[_Iterable[str]] = ..., time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ...) -> None: ...

class IndexState(_message.Message):
    __slots__ = ["chunk_count", "file_count", "generation", "last_sync_time", "pending_file_count"]
    CHUNK_COUNT_FIELD_NUMBER: _ClassVar[int]
    FILE_COUNT_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    LAST_SYNC_TIME_FIELD_NUMBER: _ClassVar[int]
    PENDING_FILE_COUNT_FIELD_NUMBER: _ClassVar[int]
    chunk_count: int
    file_count: int
    generation: int
    last_sync_time: _timestamp_pb2.Timestamp
    pending_file_count: int
    def __init__(self, generation: _Optional[int] = ..., file_count: _Optional[int] = ..., chunk_count: _Optional[int] = ..., pending_file_count: _Optional[int] = ..., last_sync_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ...) -> None: ...

class Link(_message.Message):
    __slots__ = ["from_path", "kind", "line", "target", "text", "to_path"]
    FROM_PATH_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TO_PATH_FIELD_NUMBER: _ClassVar[int]
    from_path: str
    kind: str
    line: int
    target: str
    text: str
    to_path: str
    def __init__(self, from_path: _Optional[str] = ..., line: _Optional[int] = ..., text: _Optional[str] = ..., target: _Optional[str] = ..., to_path: _Optional[str] = ..., kind: _Optional[str] = ...) -> None: ...

class Links(_message.Message):
    __slots__ = ["incoming", "outgoing", "path", "truncated"]
    INCOMING_FIELD_NUMBER: _ClassVar[int]
    OUTGOING_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    incoming: _containers.Messages[Link]
    outgoing: _containers.Messages[Link]
    path: str
    truncated: bool
    def __init__(self, path: _Optional[str] = ..., outgoing: _Optional[_Iterable[_Union[Link, _Mapping[str, _Any]]]] = ..., incoming: _Optional[_Iterable[_Union[Link, _Mapping[str, _Any]]]] = ..., truncated: _Optional[bool] = ...) -> None: ...

class ListAgentsRequest(_message.Message):
    __slots__: list[str] = []
    def __init__(self) -> None: ...

class ListAgentsResponse(_message.Message):
    __slots__ = ["agents"]
    AGENTS_FIELD_NUMBER: _ClassVar[int]
    agents: _containers.Messages[Agent]
    def __init__(self, agents: _Optional[_Iterable[_Union[Agent, _Mapping[str, _Any]]]] = ...) -> None: ...

class ListChunksRequest(_message.Message):
    __slots__ = ["agent", "path"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    agent: str
    path: str
    def __init__(self, agent: _Optional[str] = ..., path: _Optional[str] = ...) -> None: ...

class ListChunksResponse(_message.Message):
    __slots__ = ["chunks", "path", "skipped", "truncated"]
    CHUNKS_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    chunks: _containers.Messages[Chunk]
    path: str
    skipped: str
    truncated: bool
    def __init__(self, path: _Optional[str] = ..., chunks: _Optional[_Iterable[_Union[Chunk, _Mapping[str, _Any]]]] = ..., skipped: _Optional[str] = ..., truncated: _Optional[bool] = ...) -> None: ...

class ListFilesRequest(_message.Message):
    __slots__ = ["agent", "filter", "glob", "include_skipped", "page_size", "page_token", "since", "sources", "until"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    GLOB_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_SKIPPED_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    agent: str
    filter: _containers.Messages[Condition]
    glob: str
    include_skipped: bool
    page_size: int
    page_token: str
    since: str
    sources: _containers.Scalars[str]
    until: str
    def __init__(self, agent: _Optional[str] = ..., glob: _Optional[str] = ..., sources: _Optional[_Iterable[str]] = ..., since: _Optional[str] = ..., until: _Optional[str] = ..., filter: _Optional[_Iterable[_Union[Condition, _Mapping[str, _Any]]]] = ..., include_skipped: _Optional[bool] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListFilesResponse(_message.Message):
    __slots__ = ["files", "index", "next_page_token", "total_count"]
    FILES_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TOTAL_COUNT_FIELD_NUMBER: _ClassVar[int]
    files: _containers.Messages[File]
    index: IndexState
    next_page_token: str
    total_count: int
    def __init__(self, files: _Optional[_Iterable[_Union[File, _Mapping[str, _Any]]]] = ..., next_page_token: _Optional[str] = ..., total_count: _Optional[int] = ..., index: _Optional[_Union[IndexState, _Mapping[str, _Any]]] = ...) -> None: ...

class ListLinksRequest(_message.Message):
    __slots__ = ["agent", "path"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    agent: str
    path: str
    def __init__(self, agent: _Optional[str] = ..., path: _Optional[str] = ...) -> None: ...

class ListLinksResponse(_message.Message):
    __slots__ = ["links"]
    LINKS_FIELD_NUMBER: _ClassVar[int]
    links: Links
    def __init__(self, links: _Optional[_Union[Links, _Mapping[str, _Any]]] = ...) -> None: ...

class ListRevisionsRequest(_message.Message):
    __slots__ = ["agent"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    agent: str
    def __init__(self, agent: _Optional[str] = ...) -> None: ...

class ListRevisionsResponse(_message.Message):
    __slots__ = ["revisions"]
    REVISIONS_FIELD_NUMBER: _ClassVar[int]
    revisions: _containers.Messages[Revision]
    def __init__(self, revisions: _Optional[_Iterable[_Union[Revision, _Mapping[str, _Any]]]] = ...) -> None: ...

class MapCluster(_message.Message):
    __slots__ = ["size", "terms", "x", "y"]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    TERMS_FIELD_NUMBER: _ClassVar[int]
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    size: int
    terms: _containers.Scalars[str]
    x: float
    y: float
    def __init__(self, terms: _Optional[_Iterable[str]] = ..., x: _Optional[float] = ..., y: _Optional[float] = ..., size: _Optional[int] = ...) -> None: ...

class MapFile(_message.Message):
    __slots__ = ["modification_time", "path", "tags", "title"]
    MODIFICATION_TIME_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    modification_time: _timestamp_pb2.Timestamp
    path: str
    tags: _containers.Scalars[str]
    title: str
    def __init__(self, path: _Optional[str] = ..., title: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ..., modification_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ...) -> None: ...

class MapPoints(_message.Message):
    __slots__ = ["cluster", "date", "end_line", "file", "heading", "start_line", "x", "y"]
    CLUSTER_FIELD_NUMBER: _ClassVar[int]
    DATE_FIELD_NUMBER: _ClassVar[int]
    END_LINE_FIELD_NUMBER: _ClassVar[int]
    FILE_FIELD_NUMBER: _ClassVar[int]
    HEADING_FIELD_NUMBER: _ClassVar[int]
    START_LINE_FIELD_NUMBER: _ClassVar[int]
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    cluster: _containers.Scalars[int]
    date: _containers.Scalars[int]
    end_line: _containers.Scalars[int]
    file: _containers.Scalars[int]
    heading: _containers.Scalars[int]
    start_line: _containers.Scalars[int]
    x: _containers.Scalars[float]
    y: _containers.Scalars[float]
    def __init__(self, x: _Optional[_Iterable[float]] = ..., y: _Optional[_Iterable[float]] = ..., file: _Optional[_Iterable[int]] = ..., start_line: _Optional[_Iterable[int]] = ..., end_line: _Optional[_Iterable[int]] = ..., heading: _Optional[_Iterable[int]] = ..., date: _Optional[_Iterable[int]] = ..., cluster: _Optional[_Iterable[int]] = ...) -> None: ...

class MemoryAppendRequest(_message.Message):
    __slots__ = ["agent", "author", "category", "channel", "idempotency_key", "keep_secrets", "more_authors", "session", "source", "target", "text"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    KEEP_SECRETS_FIELD_NUMBER: _ClassVar[int]
    MORE_AUTHORS_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    agent: str
    author: Author
    category: str
    channel: str
    idempotency_key: str
    keep_secrets: bool
    more_authors: _containers.Messages[Author]
    session: str
    source: str
    target: str
    text: str
    def __init__(self, agent: _Optional[str] = ..., text: _Optional[str] = ..., target: _Optional[str] = ..., category: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., source: _Optional[str] = ..., channel: _Optional[str] = ..., author: _Optional[_Union[Author, _Mapping[str, _Any]]] = ..., keep_secrets: _Optional[bool] = ..., more_authors: _Optional[_Iterable[_Union[Author, _Mapping[str, _Any]]]] = ..., session: _Optional[str] = ...) -> None: ...

class MemoryAppendResponse(_message.Message):
    __slots__ = ["outcome", "path", "secrets", "similar", "start_line"]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    SECRETS_FIELD_NUMBER: _ClassVar[int]
    SIMILAR_FIELD_NUMBER: _ClassVar[int]
    START_LINE_FIELD_NUMBER: _ClassVar[int]
    outcome: str
    path: str
    secrets: _containers.Messages[ReplacedSecret]
    similar: SimilarNote
    start_line: int
    def __init__(self, path: _Optional[str] = ..., start_line: _Optional[int] = ..., outcome: _Optional[str] = ..., secrets: _Optional[_Iterable[_Union[ReplacedSecret, _Mapping[str, _Any]]]] = ..., similar: _Optional[_Union[SimilarNote, _Mapping[str, _Any]]] = ...) -> None: ...

class MemoryGetRequest(_message.Message):
    __slots__ = ["agent", "from_line", "line_count", "path"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    FROM_LINE_FIELD_NUMBER: _ClassVar[int]
    LINE_COUNT_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    agent: str
    from_line: int
    line_count: int
    path: str
    def __init__(self, agent: _Optional[str] = ..., path: _Optional[str] = ..., from_line: _Optional[int] = ..., line_count: _Optional[int] = ...) -> None: ...

class MemoryGetResponse(_message.Message):
    __slots__ = ["from_line", "line_count", "next_line", "path", "text", "total_line_count", "truncated"]
    FROM_LINE_FIELD_NUMBER: _ClassVar[int]
    LINE_COUNT_FIELD_NUMBER: _ClassVar[int]
    NEXT_LINE_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TOTAL_LINE_COUNT_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    from_line: int
    line_count: int
    next_line: int
    path: str
    text: str
    total_line_count: int
    truncated: bool
    def __init__(self, path: _Optional[str] = ..., text: _Optional[str] = ..., from_line: _Optional[int] = ..., line_count: _Optional[int] = ..., total_line_count: _Optional[int] = ..., truncated: _Optional[bool] = ..., next_line: _Optional[int] = ...) -> None: ...

class MemoryMapRequest(_message.Message):
    __slots__ = ["agent", "known_version", "max_points"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    KNOWN_VERSION_FIELD_NUMBER: _ClassVar[int]
    MAX_POINTS_FIELD_NUMBER: _ClassVar[int]
    agent: str
    known_version: str
    max_points: int
    def __init__(self, agent: _Optional[str] = ..., max_points: _Optional[int] = ..., known_version: _Optional[str] = ...) -> None: ...

class MemoryMapResponse(_message.Message):
    __slots__ = ["basis", "clusters", "computing", "dates", "error", "files", "headings", "made_time", "phase", "points", "progress", "took", "total_chunk_count", "version"]
    BASIS_FIELD_NUMBER: _ClassVar[int]
    CLUSTERS_FIELD_NUMBER: _ClassVar[int]
    COMPUTING_FIELD_NUMBER: _ClassVar[int]
    DATES_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    HEADINGS_FIELD_NUMBER: _ClassVar[int]
    MADE_TIME_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    POINTS_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    TOOK_FIELD_NUMBER: _ClassVar[int]
    TOTAL_CHUNK_COUNT_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    basis: str
    clusters: _containers.Messages[MapCluster]
    computing: bool
    dates: _containers.Scalars[str]
    error: str
    files: _containers.Messages[MapFile]
    headings: _containers.Scalars[str]
    made_time: _timestamp_pb2.Timestamp
    phase: str
    points: MapPoints
    progress: float
    took: _duration_pb2.Duration
    total_chunk_count: int
    version: str
    def __init__(self, version: _Optional[str] = ..., computing: _Optional[bool] = ..., phase: _Optional[str] = ..., progress: _Optional[float] = ..., points: _Optional[_Union[MapPoints, _Mapping[str, _Any]]] = ..., files: _Optional[_Iterable[_Union[MapFile, _Mapping[str, _Any]]]] = ..., headings: _Optional[_Iterable[str]] = ..., dates: _Optional[_Iterable[str]] = ..., clusters: _Optional[_Iterable[_Union[MapCluster, _Mapping[str, _Any]]]] = ..., total_chunk_count: _Optional[int] = ..., basis: _Optional[str] = ..., made_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., took: _Optional[_Union[_duration_pb2.Duration, _Mapping[str, _Any]]] = ..., error: _Optional[str] = ...) -> None: ...

class MemorySearchRequest(_message.Message):
    __slots__ = ["agent", "as_of_time", "ask_time", "clauses", "context", "explain", "filter", "granularity", "include_superseded", "kinds", "max_per_file", "max_results", "max_sensitivity", "max_snippet_chars", "min_score", "path_prefix", "queries", "query", "since", "sources", "until"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    ASK_TIME_FIELD_NUMBER: _ClassVar[int]
    AS_OF_TIME_FIELD_NUMBER: _ClassVar[int]
    CLAUSES_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    EXPLAIN_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    GRANULARITY_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_SUPERSEDED_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    MAX_PER_FILE_FIELD_NUMBER: _ClassVar[int]
    MAX_RESULTS_FIELD_NUMBER: _ClassVar[int]
    MAX_SENSITIVITY_FIELD_NUMBER: _ClassVar[int]
    MAX_SNIPPET_CHARS_FIELD_NUMBER: _ClassVar[int]
    MIN_SCORE_FIELD_NUMBER: _ClassVar[int]
    PATH_PREFIX_FIELD_NUMBER: _ClassVar[int]
    QUERIES_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    agent: str
    as_of_time: _timestamp_pb2.Timestamp
    ask_time: _timestamp_pb2.Timestamp
    clauses: bool
    context: _containers.Messages[ConversationTurn]
    explain: bool
    filter: _containers.Messages[Condition]
    granularity: str
    include_superseded: bool
    kinds: _containers.Scalars[str]
    max_per_file: int
    max_results: int
    max_sensitivity: str
    max_snippet_chars: int
    min_score: float
    path_prefix: str
    queries: _containers.Scalars[str]
    query: str
    since: str
    sources: _containers.Scalars[str]
    until: str
    def __init__(self, agent: _Optional[str] = ..., query: _Optional[str] = ..., max_results: _Optional[int] = ..., min_score: _Optional[float] = ..., sources: _Optional[_Iterable[str]] = ..., path_prefix: _Optional[str] = ..., since: _Optional[str] = ..., until: _Optional[str] = ..., explain: _Optional[bool] = ..., ask_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., granularity: _Optional[str] = ..., max_snippet_chars: _Optional[int] = ..., max_per_file: _Optional[int] = ..., filter: _Optional[_Iterable[_Union[Condition, _Mapping[str, _Any]]]] = ..., context: _Optional[_Iterable[_Union[ConversationTurn, _Mapping[str, _Any]]]] = ..., queries: _Optional[_Iterable[str]] = ..., kinds: _Optional[_Iterable[str]] = ..., as_of_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., include_superseded: _Optional[bool] = ..., max_sensitivity: _Optional[str] = ..., clauses: _Optional[bool] = ...) -> None: ...

class MemorySearchResponse(_message.Message):
    __slots__ = ["abstained", "degraded", "index", "mode", "model", "provider", "results", "took", "units", "withheld_count"]
    ABSTAINED_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    TOOK_FIELD_NUMBER: _ClassVar[int]
    UNITS_FIELD_NUMBER: _ClassVar[int]
    WITHHELD_COUNT_FIELD_NUMBER: _ClassVar[int]
    abstained: str
    degraded: _containers.Messages[Degradation]
    index: IndexState
    mode: str
    model: str
    provider: str
    results: _containers.Messages[SearchResult]
    took: _duration_pb2.Duration
    units: _containers.Messages[FoundUnit]
    withheld_count: int
    def __init__(self, results: _Optional[_Iterable[_Union[SearchResult, _Mapping[str, _Any]]]] = ..., provider: _Optional[str] = ..., model: _Optional[str] = ..., mode: _Optional[str] = ..., degraded: _Optional[_Iterable[_Union[Degradation, _Mapping[str, _Any]]]] = ..., index: _Optional[_Union[IndexState, _Mapping[str, _Any]]] = ..., took: _Optional[_Union[_duration_pb2.Duration, _Mapping[str, _Any]]] = ..., units: _Optional[_Iterable[_Union[FoundUnit, _Mapping[str, _Any]]]] = ..., abstained: _Optional[str] = ..., withheld_count: _Optional[int] = ...) -> None: ...

class MemoryUndoRequest(_message.Message):
    __slots__ = ["agent", "revision"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    agent: str
    revision: str
    def __init__(self, agent: _Optional[str] = ..., revision: _Optional[str] = ...) -> None: ...

class MemoryUndoResponse(_message.Message):
    __slots__ = ["path", "revision", "start_line"]
    PATH_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    START_LINE_FIELD_NUMBER: _ClassVar[int]
    path: str
    revision: str
    start_line: int
    def __init__(self, path: _Optional[str] = ..., start_line: _Optional[int] = ..., revision: _Optional[str] = ...) -> None: ...

class MemoryUpdateRequest(_message.Message):
    __slots__ = ["agent", "keep_secrets", "new_text", "old_text", "path", "reason", "source"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    KEEP_SECRETS_FIELD_NUMBER: _ClassVar[int]
    NEW_TEXT_FIELD_NUMBER: _ClassVar[int]
    OLD_TEXT_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    agent: str
    keep_secrets: bool
    new_text: str
    old_text: str
    path: str
    reason: str
    source: str
    def __init__(self, agent: _Optional[str] = ..., path: _Optional[str] = ..., old_text: _Optional[str] = ..., new_text: _Optional[str] = ..., reason: _Optional[str] = ..., source: _Optional[str] = ..., keep_secrets: _Optional[bool] = ...) -> None: ...

class MemoryUpdateResponse(_message.Message):
    __slots__ = ["path", "revision", "secrets", "start_line"]
    PATH_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    SECRETS_FIELD_NUMBER: _ClassVar[int]
    START_LINE_FIELD_NUMBER: _ClassVar[int]
    path: str
    revision: str
    secrets: _containers.Messages[ReplacedSecret]
    start_line: int
    def __init__(self, path: _Optional[str] = ..., start_line: _Optional[int] = ..., revision: _Optional[str] = ..., secrets: _Optional[_Iterable[_Union[ReplacedSecret, _Mapping[str, _Any]]]] = ...) -> None: ...

class Progress(_message.Message):
    __slots__ = ["chunk_count", "done_file_count", "embed_total_count", "embedded_count", "path", "phase", "skipped_count", "total_file_count"]
    CHUNK_COUNT_FIELD_NUMBER: _ClassVar[int]
    DONE_FILE_COUNT_FIELD_NUMBER: _ClassVar[int]
    EMBEDDED_COUNT_FIELD_NUMBER: _ClassVar[int]
    EMBED_TOTAL_COUNT_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FILE_COUNT_FIELD_NUMBER: _ClassVar[int]
    chunk_count: int
    done_file_count: int
    embed_total_count: int
    embedded_count: int
    path: str
    phase: str
    skipped_count: int
    total_file_count: int
    def __init__(self, phase: _Optional[str] = ..., done_file_count: _Optional[int] = ..., total_file_count: _Optional[int] = ..., chunk_count: _Optional[int] = ..., embedded_count: _Optional[int] = ..., embed_total_count: _Optional[int] = ..., skipped_count: _Optional[int] = ..., path: _Optional[str] = ...) -> None: ...

class Provider(_message.Message):
    __slots__ = ["active_model", "active_provider", "dims", "error", "healthy", "model", "provider", "reason", "retry_time"]
    ACTIVE_MODEL_FIELD_NUMBER: _ClassVar[int]
    ACTIVE_PROVIDER_FIELD_NUMBER: _ClassVar[int]
    DIMS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    HEALTHY_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    RETRY_TIME_FIELD_NUMBER: _ClassVar[int]
    active_model: str
    active_provider: str
    dims: int
    error: str
    healthy: bool
    model: str
    provider: str
    reason: str
    retry_time: _timestamp_pb2.Timestamp
    def __init__(self, provider: _Optional[str] = ..., model: _Optional[str] = ..., dims: _Optional[int] = ..., healthy: _Optional[bool] = ..., error: _Optional[str] = ..., retry_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., reason: _Optional[str] = ..., active_provider: _Optional[str] = ..., active_model: _Optional[str] = ...) -> None: ...

class RebuildRequest(_message.Message):
    __slots__ = ["agent"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    agent: str
    def __init__(self, agent: _Optional[str] = ...) -> None: ...

class RebuildResponse(_message.Message):
    __slots__ = ["progress", "report"]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    progress: Progress
    report: SyncReport
    def __init__(self, progress: _Optional[_Union[Progress, _Mapping[str, _Any]]] = ..., report: _Optional[_Union[SyncReport, _Mapping[str, _Any]]] = ...) -> None: ...

class ReplacedSecret(_message.Message):
    __slots__ = ["kind", "reference"]
    KIND_FIELD_NUMBER: _ClassVar[int]
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    kind: str
    reference: str
    def __init__(self, kind: _Optional[str] = ..., reference: _Optional[str] = ...) -> None: ...

class Revision(_message.Message):
    __slots__ = ["line", "new_text", "old_text", "path", "reason", "revision", "source", "undoes", "undone", "update_time"]
    LINE_FIELD_NUMBER: _ClassVar[int]
    NEW_TEXT_FIELD_NUMBER: _ClassVar[int]
    OLD_TEXT_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    UNDOES_FIELD_NUMBER: _ClassVar[int]
    UNDONE_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    line: int
    new_text: str
    old_text: str
    path: str
    reason: str
    revision: str
    source: str
    undoes: str
    undone: bool
    update_time: _timestamp_pb2.Timestamp
    def __init__(self, revision: _Optional[str] = ..., update_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., path: _Optional[str] = ..., line: _Optional[int] = ..., old_text: _Optional[str] = ..., new_text: _Optional[str] = ..., reason: _Optional[str] = ..., source: _Optional[str] = ..., undoes: _Optional[str] = ..., undone: _Optional[bool] = ...) -> None: ...

class ScoreParts(_message.Message):
    __slots__ = ["date", "meaning", "name", "words"]
    DATE_FIELD_NUMBER: _ClassVar[int]
    MEANING_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    WORDS_FIELD_NUMBER: _ClassVar[int]
    date: float
    meaning: float
    name: float
    words: float
    def __init__(self, words: _Optional[float] = ..., meaning: _Optional[float] = ..., date: _Optional[float] = ..., name: _Optional[float] = ...) -> None: ...

class SearchResult(_message.Message):
    __slots__ = ["author", "channel", "citation", "date", "end_line", "heading", "more_authors", "path", "score", "snippet", "snippet_end_line", "snippet_start_line", "source", "start_line", "text_score", "trace", "vector_score", "weak"]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_FIELD_NUMBER: _ClassVar[int]
    CITATION_FIELD_NUMBER: _ClassVar[int]
    DATE_FIELD_NUMBER: _ClassVar[int]
    END_LINE_FIELD_NUMBER: _ClassVar[int]
    HEADING_FIELD_NUMBER: _ClassVar[int]
    MORE_AUTHORS_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    SNIPPET_END_LINE_FIELD_NUMBER: _ClassVar[int]
    SNIPPET_FIELD_NUMBER: _ClassVar[int]
    SNIPPET_START_LINE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    START_LINE_FIELD_NUMBER: _ClassVar[int]
    TEXT_SCORE_FIELD_NUMBER: _ClassVar[int]
    TRACE_FIELD_NUMBER: _ClassVar[int]
    VECTOR_SCORE_FIELD_NUMBER: _ClassVar[int]
    WEAK_FIELD_NUMBER: _ClassVar[int]
    author: Author
    channel: str
    citation: str
    date: str
    end_line: int
    heading: str
    more_authors: _containers.Messages[Author]
    path: str
    score: float
    snippet: str
    snippet_end_line: int
    snippet_start_line: int
    source: str
    start_line: int
    text_score: float
    trace: Trace
    vector_score: float
    weak: bool
    def __init__(self, path: _Optional[str] = ..., start_line: _Optional[int] = ..., end_line: _Optional[int] = ..., score: _Optional[float] = ..., snippet: _Optional[str] = ..., snippet_start_line: _Optional[int] = ..., snippet_end_line: _Optional[int] = ..., source: _Optional[str] = ..., vector_score: _Optional[float] = ..., text_score: _Optional[float] = ..., citation: _Optional[str] = ..., heading: _Optional[str] = ..., date: _Optional[str] = ..., trace: _Optional[_Union[Trace, _Mapping[str, _Any]]] = ..., weak: _Optional[bool] = ..., channel: _Optional[str] = ..., author: _Optional[_Union[Author, _Mapping[str, _Any]]] = ..., more_authors: _Optional[_Iterable[_Union[Author, _Mapping[str, _Any]]]] = ...) -> None: ...

class SimilarNote(_message.Message):
    __slots__ = ["line", "path", "text"]
    LINE_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    line: int
    path: str
    text: str
    def __init__(self, path: _Optional[str] = ..., line: _Optional[int] = ..., text: _Optional[str] = ...) -> None: ...

class SkippedFile(_message.Message):
    __slots__ = ["indexed", "path", "reason"]
    INDEXED_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    indexed: bool
    path: str
    reason: str
    def __init__(self, path: _Optional[str] = ..., reason: _Optional[str] = ..., indexed: _Optional[bool] = ...) -> None: ...

class SlowCall(_message.Message):
    __slots__ = ["code", "method", "request_id", "start_time", "took"]
    CODE_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    TOOK_FIELD_NUMBER: _ClassVar[int]
    code: str
    method: str
    request_id: str
    start_time: _timestamp_pb2.Timestamp
    took: _duration_pb2.Duration
    def __init__(self, method: _Optional[str] = ..., code: _Optional[str] = ..., took: _Optional[_Union[_duration_pb2.Duration, _Mapping[str, _Any]]] = ..., start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., request_id: _Optional[str] = ...) -> None: ...

class StatusRequest(_message.Message):
    __slots__ = ["agent"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    agent: str
    def __init__(self, agent: _Optional[str] = ...) -> None: ...

class StatusResponse(_message.Message):
    __slots__ = ["agent", "backfill", "cached_embedding_count", "check", "database", "database_bytes", "degraded", "egress", "embedded_chunk_count", "index", "memory_budget_bytes", "memory_resident_bytes", "offline", "provider", "reranker", "reranker_error", "resident_bytes", "skipped", "slow_calls", "syncing", "transcripts", "unavailable", "unindexed_file_count", "unindexed_more", "version", "wal_bytes", "watch_mode", "watch_note", "workspace"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    BACKFILL_FIELD_NUMBER: _ClassVar[int]
    CACHED_EMBEDDING_COUNT_FIELD_NUMBER: _ClassVar[int]
    CHECK_FIELD_NUMBER: _ClassVar[int]
    DATABASE_BYTES_FIELD_NUMBER: _ClassVar[int]
    DATABASE_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    EGRESS_FIELD_NUMBER: _ClassVar[int]
    EMBEDDED_CHUNK_COUNT_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    MEMORY_BUDGET_BYTES_FIELD_NUMBER: _ClassVar[int]
    MEMORY_RESIDENT_BYTES_FIELD_NUMBER: _ClassVar[int]
    OFFLINE_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    RERANKER_ERROR_FIELD_NUMBER: _ClassVar[int]
    RERANKER_FIELD_NUMBER: _ClassVar[int]
    RESIDENT_BYTES_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_FIELD_NUMBER: _ClassVar[int]
    SLOW_CALLS_FIELD_NUMBER: _ClassVar[int]
    SYNCING_FIELD_NUMBER: _ClassVar[int]
    TRANSCRIPTS_FIELD_NUMBER: _ClassVar[int]
    UNAVAILABLE_FIELD_NUMBER: _ClassVar[int]
    UNINDEXED_FILE_COUNT_FIELD_NUMBER: _ClassVar[int]
    UNINDEXED_MORE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    WAL_BYTES_FIELD_NUMBER: _ClassVar[int]
    WATCH_MODE_FIELD_NUMBER: _ClassVar[int]
    WATCH_NOTE_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_FIELD_NUMBER: _ClassVar[int]
    agent: str
    backfill: Backfill
    cached_embedding_count: int
    check: IndexCheck
    database: str
    database_bytes: int
    degraded: _containers.Messages[Degradation]
    egress: _containers.Messages[Egress]
    embedded_chunk_count: int
    index: IndexState
    memory_budget_bytes: int
    memory_resident_bytes: int
    offline: bool
    provider: Provider
    reranker: str
    reranker_error: str
    resident_bytes: int
    skipped: _containers.Messages[SkippedFile]
    slow_calls: _containers.Messages[SlowCall]
    syncing: bool
    transcripts: _containers.Messages[TranscriptFolder]
    unavailable: _containers.Scalars[str]
    unindexed_file_count: int
    unindexed_more: bool
    version: str
    wal_bytes: int
    watch_mode: str
    watch_note: str
    workspace: str
    def __init__(self, agent: _Optional[str] = ..., workspace: _Optional[str] = ..., database: _Optional[str] = ..., index: _Optional[_Union[IndexState, _Mapping[str, _Any]]] = ..., skipped: _Optional[_Iterable[_Union[SkippedFile, _Mapping[str, _Any]]]] = ..., watch_mode: _Optional[str] = ..., watch_note: _Optional[str] = ..., provider: _Optional[_Union[Provider, _Mapping[str, _Any]]] = ..., database_bytes: _Optional[int] = ..., wal_bytes: _Optional[int] = ..., embedded_chunk_count: _Optional[int] = ..., cached_embedding_count: _Optional[int] = ..., degraded: _Optional[_Iterable[_Union[Degradation, _Mapping[str, _Any]]]] = ..., unavailable: _Optional[_Iterable[str]] = ..., version: _Optional[str] = ..., syncing: _Optional[bool] = ..., resident_bytes: _Optional[int] = ..., memory_budget_bytes: _Optional[int] = ..., memory_resident_bytes: _Optional[int] = ..., check: _Optional[_Union[IndexCheck, _Mapping[str, _Any]]] = ..., unindexed_file_count: _Optional[int] = ..., unindexed_more: _Optional[bool] = ..., offline: _Optional[bool] = ..., egress: _Optional[_Iterable[_Union[Egress, _Mapping[str, _Any]]]] = ..., backfill: _Optional[_Union[Backfill, _Mapping[str, _Any]]] = ..., reranker: _Optional[str] = ..., reranker_error: _Optional[str] = ..., slow_calls: _Optional[_Iterable[_Union[SlowCall, _Mapping[str, _Any]]]] = ..., transcripts: _Optional[_Iterable[_Union[TranscriptFolder, _Mapping[str, _Any]]]] = ...) -> None: ...

class SyncReport(_message.Message):
    __slots__ = ["chunk_count", "degraded", "embedded_count", "file_count", "generation", "index", "known_count", "removed_file_count", "skipped_count", "stale_reason", "took", "unembedded_count"]
    CHUNK_COUNT_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    EMBEDDED_COUNT_FIELD_NUMBER: _ClassVar[int]
    FILE_COUNT_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    KNOWN_COUNT_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FILE_COUNT_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_COUNT_FIELD_NUMBER: _ClassVar[int]
    STALE_REASON_FIELD_NUMBER: _ClassVar[int]
    TOOK_FIELD_NUMBER: _ClassVar[int]
    UNEMBEDDED_COUNT_FIELD_NUMBER: _ClassVar[int]
    chunk_count: int
    degraded: _containers.Messages[Degradation]
    embedded_count: int
    file_count: int
    generation: int
    index: IndexState
    known_count: int
    removed_file_count: int
    skipped_count: int
    stale_reason: str
    took: _duration_pb2.Duration
    unembedded_count: int
    def __init__(self, file_count: _Optional[int] = ..., chunk_count: _Optional[int] = ..., removed_file_count: _Optional[int] = ..., skipped_count: _Optional[int] = ..., embedded_count: _Optional[int] = ..., known_count: _Optional[int] = ..., unembedded_count: _Optional[int] = ..., generation: _Optional[int] = ..., took: _Optional[_Union[_duration_pb2.Duration, _Mapping[str, _Any]]] = ..., degraded: _Optional[_Iterable[_Union[Degradation, _Mapping[str, _Any]]]] = ..., stale_reason: _Optional[str] = ..., index: _Optional[_Union[IndexState, _Mapping[str, _Any]]] = ...) -> None: ...

class SyncRequest(_message.Message):
    __slots__ = ["agent", "no_rebuild", "prune", "verify"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    NO_REBUILD_FIELD_NUMBER: _ClassVar[int]
    PRUNE_FIELD_NUMBER: _ClassVar[int]
    VERIFY_FIELD_NUMBER: _ClassVar[int]
    agent: str
    no_rebuild: bool
    prune: bool
    verify: bool
    def __init__(self, agent: _Optional[str] = ..., verify: _Optional[bool] = ..., prune: _Optional[bool] = ..., no_rebuild: _Optional[bool] = ...) -> None: ...

class SyncResponse(_message.Message):
    __slots__ = ["progress", "report"]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    progress: Progress
    report: SyncReport
    def __init__(self, progress: _Optional[_Union[Progress, _Mapping[str, _Any]]] = ..., report: _Optional[_Union[SyncReport, _Mapping[str, _Any]]] = ...) -> None: ...

class TermShare(_message.Message):
    __slots__ = ["count", "idf", "share", "term"]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    IDF_FIELD_NUMBER: _ClassVar[int]
    SHARE_FIELD_NUMBER: _ClassVar[int]
    TERM_FIELD_NUMBER: _ClassVar[int]
    count: int
    idf: float
    share: float
    term: str
    def __init__(self, term: _Optional[str] = ..., idf: _Optional[float] = ..., count: _Optional[int] = ..., share: _Optional[float] = ...) -> None: ...

class Trace(_message.Message):
    __slots__ = ["age_days", "best_part_share", "chunk_share", "cosine", "cosine_deviation", "cosine_mean", "date_bonus", "date_confidence", "decay", "merged", "missing", "mmr_score", "mmr_similarity", "name_bonus", "name_confidence", "pair_share", "rank", "rerank_rank", "rerank_score", "score_parts", "similarity", "terms", "text_rank", "text_score", "text_weight", "unembedded", "vector_rank", "vector_score", "vector_weight", "window_cosine", "window_end_line", "window_mean", "window_start_line"]
    AGE_DAYS_FIELD_NUMBER: _ClassVar[int]
    BEST_PART_SHARE_FIELD_NUMBER: _ClassVar[int]
    CHUNK_SHARE_FIELD_NUMBER: _ClassVar[int]
    COSINE_DEVIATION_FIELD_NUMBER: _ClassVar[int]
    COSINE_FIELD_NUMBER: _ClassVar[int]
    COSINE_MEAN_FIELD_NUMBER: _ClassVar[int]
    DATE_BONUS_FIELD_NUMBER: _ClassVar[int]
    DATE_CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    DECAY_FIELD_NUMBER: _ClassVar[int]
    MERGED_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    MMR_SCORE_FIELD_NUMBER: _ClassVar[int]
    MMR_SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    NAME_BONUS_FIELD_NUMBER: _ClassVar[int]
    NAME_CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    PAIR_SHARE_FIELD_NUMBER: _ClassVar[int]
    RANK_FIELD_NUMBER: _ClassVar[int]
    RERANK_RANK_FIELD_NUMBER: _ClassVar[int]
    RERANK_SCORE_FIELD_NUMBER: _ClassVar[int]
    SCORE_PARTS_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    TERMS_FIELD_NUMBER: _ClassVar[int]
    TEXT_RANK_FIELD_NUMBER: _ClassVar[int]
    TEXT_SCORE_FIELD_NUMBER: _ClassVar[int]
    TEXT_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    UNEMBEDDED_FIELD_NUMBER: _ClassVar[int]
    VECTOR_RANK_FIELD_NUMBER: _ClassVar[int]
    VECTOR_SCORE_FIELD_NUMBER: _ClassVar[int]
    VECTOR_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    WINDOW_COSINE_FIELD_NUMBER: _ClassVar[int]
    WINDOW_END_LINE_FIELD_NUMBER: _ClassVar[int]
    WINDOW_MEAN_FIELD_NUMBER: _ClassVar[int]
    WINDOW_START_LINE_FIELD_NUMBER: _ClassVar[int]
    age_days: float
    best_part_share: float
    chunk_share: float
    cosine: float
    cosine_deviation: float
    cosine_mean: float
    date_bonus: float
    date_confidence: float
    decay: float
    merged: float
    missing: _containers.Scalars[str]
    mmr_score: float
    mmr_similarity: float
    name_bonus: float
    name_confidence: float
    pair_share: float
    rank: int
    rerank_rank: int
    rerank_score: float
    score_parts: ScoreParts
    similarity: float
    terms: _containers.Messages[TermShare]
    text_rank: int
    text_score: float
    text_weight: float
    unembedded: bool
    vector_rank: int
    vector_score: float
    vector_weight: float
    window_cosine: float
    window_end_line: int
    window_mean: float
    window_start_line: int
    def __init__(self, rank: _Optional[int] = ..., vector_rank: _Optional[int] = ..., text_rank: _Optional[int] = ..., vector_score: _Optional[float] = ..., text_score: _Optional[float] = ..., vector_weight: _Optional[float] = ..., text_weight: _Optional[float] = ..., merged: _Optional[float] = ..., decay: _Optional[float] = ..., age_days: _Optional[float] = ..., mmr_similarity: _Optional[float] = ..., mmr_score: _Optional[float] = ..., terms: _Optional[_Iterable[_Union[TermShare, _Mapping[str, _Any]]]] = ..., date_bonus: _Optional[float] = ..., pair_share: _Optional[float] = ..., best_part_share: _Optional[float] = ..., chunk_share: _Optional[float] = ..., missing: _Optional[_Iterable[str]] = ..., date_confidence: _Optional[float] = ..., name_bonus: _Optional[float] = ..., name_confidence: _Optional[float] = ..., cosine: _Optional[float] = ..., window_cosine: _Optional[float] = ..., window_start_line: _Optional[int] = ..., window_end_line: _Optional[int] = ..., window_mean: _Optional[float] = ..., similarity: _Optional[float] = ..., cosine_mean: _Optional[float] = ..., cosine_deviation: _Optional[float] = ..., rerank_rank: _Optional[int] = ..., rerank_score: _Optional[float] = ..., score_parts: _Optional[_Union[ScoreParts, _Mapping[str, _Any]]] = ..., unembedded: _Optional[bool] = ...) -> None: ...

class TranscriptFolder(_message.Message):
    __slots__ = ["folder", "source"]
    FOLDER_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    folder: str
    source: str
    def __init__(self, source: _Optional[str] = ..., folder: _Optional[str] = ...) -> None: ...

class WatchEventsRequest(_message.Message):
    __slots__ = ["agent"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    agent: str
    def __init__(self, agent: _Optional[str] = ...) -> None: ...

class WatchEventsResponse(_message.Message):
    __slots__ = ["event"]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    event: Event
    def __init__(self, event: _Optional[_Union[Event, _Mapping[str, _Any]]] = ...) -> None: ...
