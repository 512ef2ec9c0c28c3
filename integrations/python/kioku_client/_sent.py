"""Messages on their way to the service: those that it has already are named by their ids."""
from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Set, Tuple

from kioku_client._text import shortened_json, size
from kioku_client.errors import InvalidRequest, NotPossible
from kioku_client.records import ChatMessage, write

log = logging.getLogger("kioku_client")

# Maximum number of bytes of messages that are sent in one call. A request may have 4 MiB, and a flush keeps 4,032 KiB.
PART = 3 << 20
# Maximum number of bytes of the messages of a call, with those that are named by their ids.
_MAX_SESSION = 15 << 20

#: A call with messages: it returns the JSON of the answer.
Call = Callable[[Sequence[ChatMessage]], Dict[str, Any]]


class SentMessages:
    """Sends the messages of one session. What the last call had is not sent again, so that a long conversation costs what is new."""

    def __init__(self, tell: Callable[[Sequence[ChatMessage]], object]) -> None:
        """tell makes a call that changes nothing, after which the service has the messages."""
        self._tell = tell
        # Messages of the last call and their places in it, by id.
        self._last: Dict[str, Tuple[int, ChatMessage]] = {}
        # Ids of messages of which it was logged that they are shortened.
        self._shortened: Set[str] = set()

    def send(self, messages: Sequence[ChatMessage], call: Call) -> Dict[str, Any]:
        """Makes a call. If the service does not have a message any more, such as after its restart, all are sent."""
        whole = [m for part in self.parts(messages) for m in part]
        if _size(whole) > _MAX_SESSION:
            raise InvalidRequest("the conversation has %d bytes, and at most %d can be given at once: call flush, which takes any number, and "
                                 "then give the newer messages" % (_size(whole), _MAX_SESSION))
        named = self._named(whole)
        self._last = {}  # if the call fails, nobody knows what the service has
        try:
            out = self._made(call, named, whole)
        except NotPossible as e:
            if e.reason != "UNKNOWN_MESSAGES":
                raise
            out = self._made(call, whole, whole)
        self._last = {m.id: (i, m) for i, m in enumerate(whole)}
        return out

    def parts(self, messages: Iterable[ChatMessage]) -> List[List[ChatMessage]]:
        """Returns messages in parts that a request takes, oldest first. The results of tools stay with their calls; if these do not
        fit, their texts are shortened, which is logged once."""
        out: List[List[ChatMessage]] = []
        size = 0
        for group in _groups(messages):
            if _size(group) > PART:
                if group[0].id not in self._shortened:
                    log.warning("message %s: with its results it has %d bytes, of which at most %d are sent", group[0].id, _size(group), PART)
                self._shortened.add(group[0].id)
                group = _fitted(group)
            size += _size(group)
            if not out or size > PART:
                out.append([])
                size = _size(group)
            out[-1] += group
        return out

    def _made(self, call: Call, sent: List[ChatMessage], whole: List[ChatMessage]) -> Dict[str, Any]:
        """Makes a call with the messages as they are sent. Those that no request takes are told of part by part first."""
        if _size(sent) > PART:
            sent = []
            for part in self.parts(whole):
                self._tell([*sent, *part])
                sent = [ChatMessage(id=whole[0].id, through_id=part[-1].id)]
        return call(sent)

    def _named(self, messages: Sequence[ChatMessage]) -> List[ChatMessage]:
        """Returns messages with a range in the place of those that the last call had in this order."""
        out: List[ChatMessage] = []
        end = -2  # place in the last call of the message before, if that was named
        for message in messages:
            place, known = self._last.get(message.id, (-2, None))
            if known != message:
                out.append(message)
                end = -2
            elif end >= 0 and place == end + 1:
                out[-1].through_id, end = message.id, place
            else:
                out.append(ChatMessage(id=message.id))
                end = place
        return out


def _groups(messages: Iterable[ChatMessage]) -> Iterator[List[ChatMessage]]:
    """Yields each message with the results of its calls."""
    group: List[ChatMessage] = []
    for message in messages:
        if group and message.role != "tool":
            yield group
            group = []
        group.append(message)
    if group:
        yield group


def _fitted(group: List[ChatMessage]) -> List[ChatMessage]:
    """Returns messages with texts so short that all fit into a part."""
    most = PART // (len(group) + len(group[0].tool_calls)) - 1024
    out = []
    for message in group:
        calls = [c if size(c.input) <= most else replace(c, input={"left_out_bytes": size(c.input)}) for c in message.tool_calls]
        out.append(replace(message, text=shortened_json(message.text, most), tool_calls=calls))
    return out


def _size(messages: Iterable[ChatMessage]) -> int:
    return sum(size(write(m)) + 8 for m in messages)
