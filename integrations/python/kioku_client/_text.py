"""Texts as the service takes them: Unicode, and not too long."""
from __future__ import annotations

import json
from typing import Any

# Maximum number of bytes of what memory is searched for, as the prompt and the recall of a turn take it.
MAX_QUESTION = 64 << 10


def clean(text: str) -> str:
    """Returns a text with U+FFFD in the place of lone surrogates, which no protocol carries; models write them when a character is cut."""
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def shortened(text: str, most: int) -> str:
    """Returns a clean text of at most so many bytes: of a longer one both ends, with a line between them that says how much is left out."""
    raw = clean(text).encode()
    if len(raw) <= most:
        return raw.decode()
    half = (most - 60) // 2
    return "%s\n[%d bytes are left out here]\n%s" % (raw[:half].decode(errors="ignore"), len(raw) - 2 * half, raw[-half:].decode(errors="ignore"))


def size(value: Any) -> int:
    """Returns how many bytes a value of JSON has in a request."""
    return len(clean(json.dumps(value, ensure_ascii=False)).encode())


def shortened_json(text: str, most: int) -> str:
    """Returns a text of at most so many bytes that has not many more as JSON, which writes some characters as six bytes."""
    short = shortened(text, most)
    return short if size(short) <= most + most // 4 else shortened(text, most // 6)
