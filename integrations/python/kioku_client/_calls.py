"""The connection to a service, and calls over it."""
from __future__ import annotations

import json
import threading
from typing import Any, Callable, Dict, Iterator, Optional, Tuple, Type, TypeVar, cast

import grpc
from google.protobuf.message import Message

from kioku_client._target import grpc_target, is_local
from kioku_client.errors import InvalidRequest, from_grpc
from kioku_client.v1 import agent_pb2, memory_pb2

M = TypeVar("M", bound=Message)

# Calls that change something each time they are made. All others are repeated for about a second while the service is away, such as
# when it restarts: the same note, or the same commit, is stored once.
_ONCE = {"MemoryUpdate", "MemoryUndo", "CallTool"}
# Maximum number of bytes of a request.
_MAX_REQUEST = 4 << 20


def _retries() -> str:
    """Returns the service config of gRPC that repeats calls."""
    services = (memory_pb2.DESCRIPTOR, agent_pb2.DESCRIPTOR)
    names = [{"service": s.full_name, "method": m.name} for file in services for s in file.services_by_name.values()
             for m in s.methods if m.name not in _ONCE]
    policy = {"maxAttempts": 5, "initialBackoff": "0.1s", "maxBackoff": "1s", "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]}
    return json.dumps({"methodConfig": [{"name": names, "retryPolicy": policy}]})


_OPTIONS = (
    ("grpc.enable_http_proxy", 0),  # a proxy for the web has no business between an agent and its memory
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.max_receive_message_length", 16 << 20),
    ("grpc.service_config", _retries()),
)


class Calls:
    """Makes calls to a service, in any thread. It connects with the first call, so that the service may start later."""

    def __init__(self, target: str, agent: str, token: str, timeout: float, credentials: Optional[grpc.ChannelCredentials]) -> None:
        if token and credentials is None and not is_local(target):
            raise ValueError("the token would be readable on the way to %s: set KIOKU_CLIENT_CA, or pass credentials=grpc.ssl_channel_credentials()" % target)
        self.target, self._agent, self._timeout = target, agent, timeout
        self._metadata: Tuple[Tuple[str, str], ...] = (("authorization", "Bearer " + token),) if token else ()
        # The authority of a socket is its path otherwise, which servers refuse if it has odd characters.
        options = _OPTIONS + ((("grpc.default_authority", "localhost"),) if target.startswith("unix:") else ())
        address = grpc_target(target)
        if credentials is None:
            self._channel = grpc.insecure_channel(address, options=options)
        else:
            self._channel = grpc.secure_channel(address, credentials, options=options)
        self._methods: Dict[str, Callable[..., Any]] = {}
        self._lock = threading.Lock()

    def unary(self, path: str, request: Message, response: Type[M], timeout: Optional[float]) -> M:
        """Makes a call with one response."""
        _check_size(path, request)
        try:
            answer: M = self._method(self._channel.unary_unary, path, response)(self._for_agent(request), **self._terms(timeout))
            return answer
        except grpc.RpcError as e:
            raise from_grpc(cast(grpc.Call, e), path, self.target) from None

    def stream(self, path: str, request: Message, response: Type[M], timeout: Optional[float]) -> Iterator[M]:
        """Makes a call with a stream of responses, which has no limit of time unless one is given."""
        terms = self._terms(timeout)
        terms["timeout"] = timeout
        try:
            yield from self._method(self._channel.unary_stream, path, response)(self._for_agent(request), **terms)
        except grpc.RpcError as e:
            raise from_grpc(cast(grpc.Call, e), path, self.target) from None

    def close(self) -> None:
        """Ends the connection; running calls fail."""
        self._channel.close()

    def _for_agent(self, request: Message) -> Message:
        """Names the agent in a request that names none."""
        if self._agent and getattr(request, "agent", None) == "":
            setattr(request, "agent", self._agent)
        return request

    def _terms(self, timeout: Optional[float]) -> Dict[str, Any]:
        return {"timeout": self._timeout if timeout is None else timeout, "metadata": self._metadata}

    def _method(self, make: Callable[..., Any], path: str, response: Type[Message]) -> Callable[..., Any]:
        with self._lock:
            if path not in self._methods:
                self._methods[path] = make(path, request_serializer=_bytes, response_deserializer=response.FromString)
            return self._methods[path]


def _bytes(message: Message) -> bytes:
    return message.SerializeToString()


def _check_size(path: str, request: Message) -> None:
    """Refuses a request that no service takes, and which it would report as a limit that passes."""
    size = request.ByteSize()
    if size > _MAX_REQUEST - 1024:  # the name of the agent may be added
        error = InvalidRequest("%s: the request has %d bytes, and the service takes at most %d: divide its text or its messages into several calls"
                               % (path.rpartition("/")[2], size, _MAX_REQUEST))
        error.code = "INVALID_ARGUMENT"
        raise error
