"""The client and the session for asyncio: the same calls, to be awaited."""
from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Concatenate, Coroutine, Optional, ParamSpec, TypeVar

from kioku_client.client import Kioku
from kioku_client.session import Answer, Ask, Question, Session, Settings

if TYPE_CHECKING:
    from typing_extensions import Unpack

P = ParamSpec("P")
R = TypeVar("R")

#: A coroutine that asks the agent's own model. It raises TooLong if the model refuses the question as too long.
AsyncAsk = Callable[[Question], Awaitable[Answer]]


def _awaited(method: Callable[Concatenate[Kioku, P], R]) -> Callable[Concatenate[AsyncKioku, P], Coroutine[Any, Any, R]]:
    """Returns a method of the client as one that is awaited. It runs in a thread."""

    async def call(client: AsyncKioku, /, *args: P.args, **fields: P.kwargs) -> R:
        return await asyncio.to_thread(method, client.sync_client, *args, **fields)

    call.__name__, call.__doc__ = method.__name__, method.__doc__
    return call


def _awaited_step(method: Callable[Concatenate[Session, P], R]) -> Callable[Concatenate[AsyncSession, P], Coroutine[Any, Any, R]]:
    """Returns a method of the session as one that is awaited, one at a time."""

    async def call(session: AsyncSession, /, *args: P.args, **fields: P.kwargs) -> R:
        async with session.lock:
            session.loop = asyncio.get_running_loop()
            return await asyncio.to_thread(method, session.sync_session, *args, **fields)

    call.__name__, call.__doc__ = method.__name__, method.__doc__
    return call


class AsyncKioku:
    """Kioku for asyncio. It has the same methods, which are awaited."""

    def __init__(self, client: Optional[Kioku] = None) -> None:
        """Makes an asynchronous client of one that exists, else of Kioku()."""
        #: The client whose calls are made.
        self.sync_client = client or Kioku()

    call = _awaited(Kioku.call)
    search = _awaited(Kioku.search)
    get = _awaited(Kioku.get)
    append = _awaited(Kioku.append)
    update = _awaited(Kioku.update)
    undo = _awaited(Kioku.undo)
    recall = _awaited(Kioku.recall)
    prompt = _awaited(Kioku.prompt)
    sync = _awaited(Kioku.sync)
    status = _awaited(Kioku.status)


class AsyncSession:
    """Session for asyncio. It has the same methods, which are awaited; they may be called at once."""

    def __init__(self, kioku: Kioku, session: str, *, ask: Optional[AsyncAsk] = None, **settings: Unpack[Settings]) -> None:
        """Makes a session, or continues one. ask is awaited in the loop of the caller; settings are those of Session."""
        #: The session whose steps are taken.
        self.sync_session = Session(kioku, session, ask=ask and self._asking(ask), **settings)
        #: Held while a step is taken.
        self.lock = asyncio.Lock()
        #: Loop of the caller of the step.
        self.loop: Optional[asyncio.AbstractEventLoop] = None

    before = _awaited_step(Session.before)
    after = _awaited_step(Session.after)
    run_tools = _awaited_step(Session.run_tools)
    flush = _awaited_step(Session.flush)
    end = _awaited_step(Session.end)

    def _asking(self, ask: AsyncAsk) -> Ask:
        """Returns a function for the thread of a step, that asks in the loop of its caller."""

        async def asking(question: Question) -> Answer:
            return await ask(question)

        def call(question: Question) -> Answer:
            assert self.loop is not None
            return asyncio.run_coroutine_threadsafe(asking(question), self.loop).result()

        return call
