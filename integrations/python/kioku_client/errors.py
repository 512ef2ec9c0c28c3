"""What goes wrong with a call, and what to do about it."""
from __future__ import annotations

import re
import ssl
from typing import Any, Dict, Type


class KiokuError(Exception):
    """A call failed. Its text says what went wrong and, where something can be done, what to do."""

    #: Kind of the error, such as "NOT_FOUND".
    code: str = "UNKNOWN"
    #: Name of the error of the memory, such as "READ_ONLY" or "CONFLICT"; empty if it has none.
    reason: str = ""
    #: Fields of the request that are wrong, each with what is wrong with it.
    fields: Dict[str, str]
    #: Seconds after which another attempt can succeed; 0 if that is not known.
    retry_after: float = 0

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.fields = {}


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

# What to do, by code; the service says it for the others.
_ADVICE = {
    "UNAUTHENTICATED": "set KIOKU_CLIENT_TOKEN, or Kioku(token=...), to a token that the service knows",
    "DEADLINE_EXCEEDED": "give the call more time with timeout=..., or see kioku status",
}


def answered(answer: Any, status: int, path: str, target: str) -> KiokuError:
    """Returns the error that the service answered."""
    said = answer.get("error") if isinstance(answer, dict) else None
    if not isinstance(said, dict):
        return _error("UNAVAILABLE", "%s: %s answers %d, and no error of Kioku: is another service there?" % (path, target, status))
    code, hint = said.get("code", "UNKNOWN"), said.get("hint", "")
    if re.search(r"openapi\.json|the header", hint):
        hint = ""  # it is for those who write their requests themselves
    text = ": ".join(part for part in (path.partition("?")[0], said.get("message", ""), _ADVICE.get(code, hint)) if part)
    out = _error(code, text)
    out.reason, out.retry_after = said.get("reason", ""), said.get("retryAfterSeconds", 0)
    out.fields = {f["field"]: f["problem"] for f in said.get("fields") or ()}
    return out


def unreachable(error: Exception, path: str, target: str) -> KiokuError:
    """Returns the error of a call without an answer, and what to do."""
    if isinstance(error, TimeoutError):
        return _error("DEADLINE_EXCEEDED", "%s: %s did not answer in time: %s" % (path, target, _ADVICE["DEADLINE_EXCEEDED"]))
    if isinstance(error, ssl.SSLError):
        text = "the certificate of the service at %s is not trusted: set KIOKU_CLIENT_CA to the PEM file of its authorities" % target
        return _error("UNAVAILABLE", "%s: %s (%s)" % (path, text, error))
    text = "no Kioku answers at %s: run kioku serve --workspace DIR, or name another with KIOKU_CLIENT_TARGET" % target
    if not target.startswith("unix:") and not isinstance(error, ConnectionRefusedError):
        text += "; if the service has TLS, set KIOKU_CLIENT_CA to the PEM file of its authorities"
    return _error("UNAVAILABLE", "%s: %s (%s)" % (path, text, error))


def too_large(path: str, size: int, most: int) -> KiokuError:
    """Returns the error of a request that no service takes, and which it would report as a limit that passes."""
    return _error("INVALID_ARGUMENT", "%s: the request has %d bytes, and the service takes at most %d: divide its text or its messages into several calls"
                  % (path, size, most))


def _error(code: str, text: str) -> KiokuError:
    out = _KINDS.get(code, KiokuError)(text)
    out.code = code
    return out
