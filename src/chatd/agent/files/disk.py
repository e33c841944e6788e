"""Work on the disk, in threads, so that a slow one does not stop the agent."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def on_disk(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """For what only looks. Given up when the request is; the thread ends by itself."""
    return await asyncio.to_thread(work, *args, **kwargs)


async def wholly(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """For what changes something: once begun it is finished, and its outcome is told, even past the deadline.

    "Given up" in answer to a change that was then made after all would be a lie.
    """
    future = asyncio.get_running_loop().run_in_executor(None, partial(work, *args, **kwargs))
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError:
            continue
    return future.result()


async def steadily(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """For one step of a change that can still be taken back: it is finished, and then the request may be given up."""
    result = await wholly(work, *args, **kwargs)
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
    return result
