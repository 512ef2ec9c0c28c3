"""Messages on their way to the service: those that it has already are named by their ids."""
from __future__ import annotations

from typing import Callable, Dict, List, Optional, Protocol, Sequence, Tuple, TypeVar

from google.protobuf.internal.containers import RepeatedCompositeFieldContainer

from kioku_client.errors import NotPossible
from kioku_client.v1.agent_pb2 import ChatMessage

R = TypeVar("R")


class _Request(Protocol):
    @property
    def messages(self) -> RepeatedCompositeFieldContainer[ChatMessage]: ...


Q = TypeVar("Q", bound=_Request)


class Wire:
    """Sends the messages of one session. What the last call had is not sent again, so that a long conversation costs what is new."""

    def __init__(self) -> None:
        # Messages of the last call and their places in it, by id.
        self._last: Dict[str, Tuple[int, ChatMessage]] = {}

    def call(self, method: Callable[[Q, Optional[float]], R], request: Q, timeout: Optional[float] = None) -> R:
        """Makes a call. If the service does not have a message any more, such as after its restart, all are sent."""
        whole = list(request.messages)
        short = self._named(whole)
        self._last = {}  # if the call fails, nobody knows what the service has
        try:
            if len(short) < len(whole):
                _replace(request, short)
            out = method(request, timeout)
        except NotPossible as e:
            if not e.unknown_ids:
                raise
            _replace(request, whole)
            out = method(request, timeout)
        self._last = {m.id: (i, m) for i, m in enumerate(whole)}
        return out

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


def _replace(request: _Request, messages: Sequence[ChatMessage]) -> None:
    del request.messages[:]
    request.messages.extend(messages)
