from google.protobuf import timestamp_pb2 as _timestamp_pb2
from kioku_client.v1 import _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import Any as _Any, ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class EntityRef(_message.Message):
    __slots__ = ["name", "qualifier", "type"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    QUALIFIER_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    name: str
    qualifier: str
    type: str
    def __init__(self, type: _Optional[str] = ..., name: _Optional[str] = ..., qualifier: _Optional[str] = ...) -> None: ...

class Evidence(_message.Message):
    __slots__ = ["citation", "confidence", "end_line", "maker", "path", "quote", "said_time", "speaker", "start_line"]
    CITATION_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    END_LINE_FIELD_NUMBER: _ClassVar[int]
    MAKER_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    QUOTE_FIELD_NUMBER: _ClassVar[int]
    SAID_TIME_FIELD_NUMBER: _ClassVar[int]
    SPEAKER_FIELD_NUMBER: _ClassVar[int]
    START_LINE_FIELD_NUMBER: _ClassVar[int]
    citation: str
    confidence: float
    end_line: int
    maker: str
    path: str
    quote: str
    said_time: _timestamp_pb2.Timestamp
    speaker: str
    start_line: int
    def __init__(self, path: _Optional[str] = ..., start_line: _Optional[int] = ..., end_line: _Optional[int] = ..., quote: _Optional[str] = ..., speaker: _Optional[str] = ..., maker: _Optional[str] = ..., confidence: _Optional[float] = ..., said_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., citation: _Optional[str] = ...) -> None: ...

class Fact(_message.Message):
    __slots__ = ["conflicts", "object", "object_entity", "predicate", "subject", "superseded_by", "valid_from", "valid_to"]
    CONFLICTS_FIELD_NUMBER: _ClassVar[int]
    OBJECT_ENTITY_FIELD_NUMBER: _ClassVar[int]
    OBJECT_FIELD_NUMBER: _ClassVar[int]
    PREDICATE_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_BY_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_FIELD_NUMBER: _ClassVar[int]
    VALID_TO_FIELD_NUMBER: _ClassVar[int]
    conflicts: _containers.Scalars[str]
    object: str
    object_entity: EntityRef
    predicate: str
    subject: EntityRef
    superseded_by: str
    valid_from: str
    valid_to: str
    def __init__(self, subject: _Optional[_Union[EntityRef, _Mapping[str, _Any]]] = ..., predicate: _Optional[str] = ..., object: _Optional[str] = ..., object_entity: _Optional[_Union[EntityRef, _Mapping[str, _Any]]] = ..., valid_from: _Optional[str] = ..., valid_to: _Optional[str] = ..., superseded_by: _Optional[str] = ..., conflicts: _Optional[_Iterable[str]] = ...) -> None: ...

class KeyEvent(_message.Message):
    __slots__ = ["citation", "why"]
    CITATION_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    citation: str
    why: str
    def __init__(self, citation: _Optional[str] = ..., why: _Optional[str] = ...) -> None: ...

class Loop(_message.Message):
    __slots__ = ["closed_time", "due", "expire_time", "opened_time", "status", "text"]
    CLOSED_TIME_FIELD_NUMBER: _ClassVar[int]
    DUE_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    OPENED_TIME_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    closed_time: _timestamp_pb2.Timestamp
    due: str
    expire_time: _timestamp_pb2.Timestamp
    opened_time: _timestamp_pb2.Timestamp
    status: str
    text: str
    def __init__(self, status: _Optional[str] = ..., text: _Optional[str] = ..., due: _Optional[str] = ..., opened_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., expire_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., closed_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ...) -> None: ...

class Summary(_message.Message):
    __slots__ = ["events", "from_day", "key", "relationship", "scope", "stale", "text", "to_day"]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    FROM_DAY_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    RELATIONSHIP_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    STALE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TO_DAY_FIELD_NUMBER: _ClassVar[int]
    events: _containers.Messages[KeyEvent]
    from_day: str
    key: str
    relationship: str
    scope: str
    stale: bool
    text: str
    to_day: str
    def __init__(self, scope: _Optional[str] = ..., key: _Optional[str] = ..., from_day: _Optional[str] = ..., to_day: _Optional[str] = ..., text: _Optional[str] = ..., events: _Optional[_Iterable[_Union[KeyEvent, _Mapping[str, _Any]]]] = ..., relationship: _Optional[str] = ..., stale: _Optional[bool] = ...) -> None: ...

class Unit(_message.Message):
    __slots__ = ["changed_time", "confidence", "evidence", "fact", "id", "kind", "loop", "occurred_time", "pinned", "recorded_time", "salience", "sensitivity", "source", "state", "summary", "text", "trust", "version"]
    CHANGED_TIME_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    FACT_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    LOOP_FIELD_NUMBER: _ClassVar[int]
    OCCURRED_TIME_FIELD_NUMBER: _ClassVar[int]
    PINNED_FIELD_NUMBER: _ClassVar[int]
    RECORDED_TIME_FIELD_NUMBER: _ClassVar[int]
    SALIENCE_FIELD_NUMBER: _ClassVar[int]
    SENSITIVITY_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TRUST_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    changed_time: _timestamp_pb2.Timestamp
    confidence: float
    evidence: _containers.Messages[Evidence]
    fact: Fact
    id: str
    kind: str
    loop: Loop
    occurred_time: _timestamp_pb2.Timestamp
    pinned: bool
    recorded_time: _timestamp_pb2.Timestamp
    salience: float
    sensitivity: str
    source: str
    state: str
    summary: Summary
    text: str
    trust: str
    version: int
    def __init__(self, id: _Optional[str] = ..., kind: _Optional[str] = ..., state: _Optional[str] = ..., text: _Optional[str] = ..., occurred_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., recorded_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., changed_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., source: _Optional[str] = ..., trust: _Optional[str] = ..., confidence: _Optional[float] = ..., salience: _Optional[float] = ..., sensitivity: _Optional[str] = ..., pinned: _Optional[bool] = ..., version: _Optional[int] = ..., fact: _Optional[_Union[Fact, _Mapping[str, _Any]]] = ..., loop: _Optional[_Union[Loop, _Mapping[str, _Any]]] = ..., summary: _Optional[_Union[Summary, _Mapping[str, _Any]]] = ..., evidence: _Optional[_Iterable[_Union[Evidence, _Mapping[str, _Any]]]] = ...) -> None: ...
