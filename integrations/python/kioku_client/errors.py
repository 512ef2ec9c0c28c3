"""What goes wrong with a call, and what to do about it."""
from __future__ import annotations

from typing import Any, Dict, Tuple, Type

import grpc

from kioku_client.v1 import agent_pb2, status_pb2


class KiokuError(Exception):
    """A call failed. Its text says what went wrong and, where something can be done, what to do."""

    #: Name of the code of gRPC, such as "NOT_FOUND".
    code: str = "UNKNOWN"
    #: Name of the error of the memory, such as "READ_ONLY" or "CONFLICT"; empty if it has none.
    reason: str = ""
    #: Details of the reason, such as the ids of messages that the service does not know.
    metadata: Dict[str, str]
    #: Ids of messages that the service does not have, and that are to be sent whole.
    unknown_ids: Tuple[str, ...] = ()
    #: Fields of the request that are wrong, each with what is wrong with it.
    fields: Dict[str, str]
    #: Seconds after which another attempt can succeed; 0 if that is not known.
    retry_after: float = 0

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.metadata, self.fields = {}, {}


class InvalidRequest(KiokuError):
    """A field of the request is wrong; the call cannot succeed as it is."""


class NotFound(KiokuError):
    """There is no such agent, file, lease or revision."""


class Denied(KiokuError):
    """The token is missing or wrong, or it does not reach what was asked for."""


class Conflict(KiokuError):
    """Something else was stored meanwhile: a key with another text, a lease that has ended, a text that is there no more."""


class NotPossible(KiokuError):
    """The settings do not allow the call: the memory is read-only, flushes are disabled, there is no language model."""


class Busy(KiokuError):
    """A limit is reached. retry_after says when to try again, if that is known."""


class Unreachable(KiokuError):
    """No service answers, or it did not answer in time."""


_KINDS: Dict[str, Type[KiokuError]] = {
    "INVALID_ARGUMENT": InvalidRequest, "OUT_OF_RANGE": InvalidRequest, "NOT_FOUND": NotFound,
    "PERMISSION_DENIED": Denied, "UNAUTHENTICATED": Denied, "ALREADY_EXISTS": Conflict, "ABORTED": Conflict,
    "FAILED_PRECONDITION": NotPossible, "RESOURCE_EXHAUSTED": Busy, "UNAVAILABLE": Unreachable, "DEADLINE_EXCEEDED": Unreachable,
}

# What to do, by code; the messages of the service say it for the others.
_ADVICE = {
    "UNIMPLEMENTED": "the kioku at {target} is older than this client: update it",
    "UNAUTHENTICATED": "set KIOKU_CLIENT_TOKEN, or Client(token=...), to a token that the service knows",
    "DEADLINE_EXCEEDED": "give the call more time with timeout=..., or see kioku status",
}


def from_grpc(error: grpc.Call, path: str, target: str) -> KiokuError:
    """Returns the error of a call to a method at a target."""
    code, message = error.code().name, error.details() or ""
    method = path.rpartition("/")[2]
    status = _status(error)
    if code == "UNAVAILABLE" and not status.details:
        text = "%s: %s (%s)" % (method, _unreachable(target, message), message)
    else:
        text = ": ".join(part for part in (method, message, _ADVICE.get(code, "").format(target=target)) if part)
    out = _KINDS.get(code, KiokuError)(text)
    out.code = code
    _add_details(out, status)
    return out


def _unreachable(target: str, message: str) -> str:
    """Returns why nothing at a target answers, and what to do, by the message of gRPC."""
    if "andshake failed" in message:
        return "the certificate of the service at %s is not trusted: set KIOKU_CLIENT_CA to the PEM file of its authorities" % target
    text = "no Kioku answers at %s: run kioku serve --workspace DIR, or name another with KIOKU_CLIENT_TARGET" % target
    if not target.startswith("unix:") and "refused" not in message:
        text += "; if the service has TLS, set KIOKU_CLIENT_CA to the PEM file of its authorities"
    return text


def _status(error: grpc.Call) -> status_pb2.Status:
    """Returns the status with the details that the service sent; an empty one if it sent none."""
    trailers: Tuple[Any, ...] = tuple(error.trailing_metadata() or ())
    for key, value in trailers:
        if key == "grpc-status-details-bin":
            return status_pb2.Status.FromString(value)
    return status_pb2.Status()


def _add_details(error: KiokuError, status: status_pb2.Status) -> None:
    for detail in status.details:
        kind = detail.type_url.rpartition("/")[2]
        if kind == "google.rpc.ErrorInfo":
            info = status_pb2.ErrorInfo.FromString(detail.value)
            error.reason, error.metadata = info.reason, dict(info.metadata)
        elif kind == "google.rpc.RetryInfo":
            delay = status_pb2.RetryInfo.FromString(detail.value).retry_delay
            error.retry_after = delay.seconds + delay.nanos / 1e9
        elif kind == "google.rpc.BadRequest":
            bad = status_pb2.BadRequest.FromString(detail.value)
            error.fields = {v.field: v.description for v in bad.field_violations}
        elif kind == "kioku.v1.UnknownMessages":
            error.unknown_ids = tuple(agent_pb2.UnknownMessages.FromString(detail.value).ids)
