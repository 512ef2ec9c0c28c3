"""The client for asyncio: the same calls, to be awaited."""
from __future__ import annotations

import asyncio
from typing import Awaitable, Callable, Concatenate, ParamSpec, TypeVar

from kioku_client.client import Kioku

P = ParamSpec("P")
R = TypeVar("R")


def _awaited(method: Callable[Concatenate[Kioku, P], R]) -> Callable[Concatenate[AsyncKioku, P], Awaitable[R]]:
    """Returns a method of the client as one that is awaited. It runs in a thread, in which gRPC waits without the interpreter."""

    async def call(client: AsyncKioku, /, *args: P.args, **fields: P.kwargs) -> R:
        return await asyncio.to_thread(method, client.sync_client, *args, **fields)

    call.__name__, call.__doc__ = method.__name__, method.__doc__
    return call


class AsyncKioku:
    """Kioku for asyncio. It has the same methods, which are awaited."""

    def __init__(self, client: Kioku) -> None:
        """Makes an asynchronous client of one that exists, or that is made for it: AsyncKioku(Kioku())."""
        #: The client whose calls are made.
        self.sync_client = client

    search = _awaited(Kioku.search)
    get = _awaited(Kioku.get)
    append = _awaited(Kioku.append)
    recall = _awaited(Kioku.recall)
    prompt = _awaited(Kioku.prompt)
    sync = _awaited(Kioku.sync)
    status = _awaited(Kioku.status)
    close = _awaited(Kioku.close)
