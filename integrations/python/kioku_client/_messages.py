"""Messages and their ids."""
from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Dict, List, Sequence

from kioku_client._text import clean
from kioku_client.records import ChatMessage


def identify(messages: Sequence[ChatMessage]) -> List[ChatMessage]:
    """Returns messages with ids. One without an id gets a hash of what it says and how often that was said before, so that it
    has the same id in the next process too, also if older messages are gone."""
    taken = {m.id for m in messages if m.id}
    count: Dict[str, int] = {}
    out = []
    for message in messages:
        if not message.id:
            id = said = _hash(message)
            while id in taken:
                count[said] = count.get(said, 1) + 1
                id = "%s-%d" % (said, count[said])
            taken.add(id)
            message = replace(message, id=id)
        out.append(message)
    return out


def newest_question(messages: Sequence[ChatMessage]) -> ChatMessage:
    """Returns the newest message of the user; an empty one if there is none."""
    return next((m for m in reversed(messages) if m.role == "user"), ChatMessage())


def _hash(message: ChatMessage) -> str:
    parts = [message.role, message.text, message.tool_call_id]
    for call in message.tool_calls:
        parts += [call.id, call.name, json.dumps(call.input, ensure_ascii=False)]
    return "m-" + hashlib.sha256(clean("\0".join(parts)).encode()).hexdigest()[:20]
