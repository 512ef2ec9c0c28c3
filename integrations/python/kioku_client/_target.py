"""Where the service of Kioku is: the settings of the program kioku that a client needs too."""
from __future__ import annotations

import hashlib
import ipaddress
import os
import pathlib
import re
import tempfile
from typing import Optional
from urllib.parse import quote

import grpc

# Longest path of a unix socket in bytes.
_MAX_SOCKET = 107


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


def default_credentials(target: str) -> Optional[grpc.ChannelCredentials]:
    """Returns TLS with the authorities in the PEM file KIOKU_CLIENT_CA, and with the certificate in KIOKU_CLIENT_CERT and
    KIOKU_CLIENT_KEY; None for a socket of this machine, and if none of them is set."""
    ca, cert, key = (_pem("KIOKU_CLIENT_" + name) for name in ("CA", "CERT", "KEY"))
    if target.startswith("unix:") or not (ca or cert):
        return None
    return grpc.ssl_channel_credentials(ca, key, cert)


def _pem(variable: str) -> Optional[bytes]:
    """Returns the file that a variable of the environment names; None if it is not set."""
    path = os.environ.get(variable)
    if not path:
        return None
    try:
        return pathlib.Path(path).expanduser().read_bytes()
    except OSError as e:
        raise ValueError("%s: %s" % (variable, e)) from e


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


def grpc_target(target: str) -> str:
    """Returns a target as grpc takes it: a path may have any character, grpc reads a URL."""
    if not target.startswith("unix:"):
        if not re.fullmatch(r"(\[[^]]+\]|[^:/\[\]]+):[0-9]+", target):
            raise ValueError("target %r: write unix:/path/of/kioku.sock or host:port" % target)
        return target
    path = target[len("unix:"):]
    return "unix:" + quote(path[2:] if path.startswith("///") else path)


def is_local(target: str) -> bool:
    """Reports whether a target stays on this machine."""
    if target.startswith("unix:"):
        return True
    host = target.rpartition(":")[0].strip("[]")
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
