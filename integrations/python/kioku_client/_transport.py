"""Calls to the service: HTTP with JSON, over a unix socket or TCP."""
from __future__ import annotations

import hashlib
import http.client
import ipaddress
import json
import math
import os
import pathlib
import re
import socket
import ssl
import tempfile
import time
from typing import Any, Dict, Mapping, Optional, Tuple
from urllib.parse import urlencode

from kioku_client._text import clean
from kioku_client.errors import KiokuError, answered, too_large, unreachable
from kioku_client.records import write

# Longest path of a unix socket in bytes.
_MAX_SOCKET = 107
# Maximum number of bytes of a request.
_MAX_REQUEST = 4 << 20
# Calls that change something each time they are made. All others are repeated for about a second while the service is away, such as
# when it restarts: the same note, or the same commit, is stored once.
_ONCE = {"POST /v1/notes:update", "POST /v1/notes:undo", "POST /v1/tools:call"}
# Seconds before each repetition.
_WAITS = (0.1, 0.2, 0.4, 0.8)


class Transport:
    """Makes calls to a service, in any thread, each on a connection of its own, so that the service may start later or again."""

    def __init__(self, target: str, agent: str, token: str, timeout: float, credentials: Optional[ssl.SSLContext]) -> None:
        self.target, self._agent, self._timeout, self._tls = target, agent, timeout, credentials
        self._address = _parse(target)
        if token and credentials is None and not _is_local(target):
            raise ValueError("the token would be readable on the way to %s: set KIOKU_CLIENT_CA, or pass credentials=ssl.create_default_context()" % target)
        self._headers = {"Content-Type": "application/json", **({"Authorization": "Bearer " + token} if token else {})}

    def call(self, route: str, fields: Mapping[str, Any], timeout: Optional[float] = None) -> Dict[str, Any]:
        """Makes a call, such as "POST /v1/notes", and returns its answer; of a stream of answers the last one. The fields of a GET are
        its query. timeout is its limit in seconds in place of that of the client; math.inf is none."""
        method, path = route.split(" ")
        given = {"agent": self._agent or None, **fields}
        given = {name: write(value) for name, value in given.items() if value is not None}
        body = None
        if method == "GET":
            path += "?" + urlencode({name: json.dumps(v) if isinstance(v, bool) else v for name, v in given.items()}, doseq=True)
        else:
            body = clean(json.dumps(given, ensure_ascii=False)).encode()
            if len(body) > _MAX_REQUEST:
                raise too_large(path, len(body), _MAX_REQUEST)
        limit = self._timeout if timeout is None else timeout
        for wait in (*_WAITS, None):
            try:
                return self._exchange(method, path, body, None if math.isinf(limit) else limit)
            except (OSError, http.client.HTTPException) as e:
                error: KiokuError = unreachable(e, path, self.target)
                unsent = isinstance(e, (ConnectionRefusedError, FileNotFoundError))
            except KiokuError as e:
                error, unsent = e, False
            if wait is None or error.code != "UNAVAILABLE" or route in _ONCE and not unsent:
                raise error
            time.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _exchange(self, method: str, path: str, body: Optional[bytes], timeout: Optional[float]) -> Dict[str, Any]:
        """Sends a request and reads the answer."""
        connection = self._connection(timeout)
        try:
            connection.request(method, path, body, self._headers)
            response = connection.getresponse()
            text = response.read()
        finally:
            connection.close()
        answer = _last_value(text)
        if response.status != 200 or not isinstance(answer, dict) or "error" in answer:
            raise answered(answer, response.status, path, self.target)
        return answer

    def _connection(self, timeout: Optional[float]) -> http.client.HTTPConnection:
        host, port = self._address
        if not port:
            return _SocketConnection(host, timeout)
        if self._tls is not None:
            return http.client.HTTPSConnection(host, port, timeout=timeout, context=self._tls)
        return http.client.HTTPConnection(host, port, timeout=timeout)


class _SocketConnection(http.client.HTTPConnection):
    """A connection over a unix socket."""

    def __init__(self, path: str, timeout: Optional[float]) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _last_value(text: bytes) -> Any:
    """Returns the JSON value in the last line of a text; None if there is none."""
    try:
        return json.loads(text.rstrip().rpartition(b"\n")[2])
    except ValueError:
        return None


def default_target() -> str:
    """Returns KIOKU_CLIENT_TARGET, else the socket that KIOKU_SOCKET names, else the one of the state folder."""
    target = os.environ.get("KIOKU_CLIENT_TARGET")
    if target:
        return target
    return "unix:" + (os.environ.get("KIOKU_SOCKET") or _socket(_state()))


def default_token() -> str:
    """Returns KIOKU_CLIENT_TOKEN: a token, or env:NAME or file:PATH; empty if it is not set."""
    token = os.environ.get("KIOKU_CLIENT_TOKEN", "")
    kind, _, place = token.partition(":")
    if kind == "env":
        return os.environ.get(place, "")
    if kind == "file":
        return pathlib.Path(place).expanduser().read_text().strip()
    return token


def default_credentials(target: str) -> Optional[ssl.SSLContext]:
    """Returns TLS with the authorities in the PEM file KIOKU_CLIENT_CA, and with the certificate in KIOKU_CLIENT_CERT and
    KIOKU_CLIENT_KEY; None for a socket of this machine, and if none of them is set."""
    ca, cert, key = (_pem("KIOKU_CLIENT_" + name) for name in ("CA", "CERT", "KEY"))
    if target.startswith("unix:") or not (ca or cert):
        return None
    context = ssl.create_default_context(cafile=ca)
    if cert:
        context.load_cert_chain(cert, key)
    return context


def _pem(variable: str) -> Optional[str]:
    """Returns the path of the file that a variable of the environment names; None if it is not set."""
    path = os.environ.get(variable)
    if not path:
        return None
    path = os.path.expanduser(path)
    if not os.access(path, os.R_OK):
        raise ValueError("%s: %s cannot be read" % (variable, path))
    return path


def _state() -> str:
    """Returns the state folder of kioku."""
    named = os.environ.get("KIOKU_STATE")
    if named:
        return os.path.abspath(os.path.expanduser(named))
    base = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return os.path.join(base, "kioku")


def _socket(state: str) -> str:
    """Returns the socket of a state folder, or a short path instead if that is too long for a socket."""
    path = os.path.join(state, "kioku.sock")
    if len(os.fsencode(path)) <= _MAX_SOCKET:
        return path
    name = hashlib.sha256(os.fsencode(state)).hexdigest()[:16] + ".sock"
    return os.path.join(tempfile.gettempdir(), "kioku-%d" % os.geteuid(), name)


def _parse(target: str) -> Tuple[str, int]:
    """Returns the host and the port of a target, or the path of a socket and 0."""
    if target.startswith("unix:"):
        path = target[len("unix:"):]
        return (path[2:] if path.startswith("///") else path), 0
    if not re.fullmatch(r"(\[[^]]+\]|[^:/\[\]]+):[0-9]+", target):
        raise ValueError("target %r: write unix:/path/of/kioku.sock or host:port" % target)
    host, _, port = target.rpartition(":")
    return host.strip("[]"), int(port)


def _is_local(target: str) -> bool:
    """Reports whether a target stays on this machine."""
    if target.startswith("unix:"):
        return True
    host = target.rpartition(":")[0].strip("[]")
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
