"""Coroutines that are begun at once, and need no task as long as nothing but a `Later` is waited for.

A task costs a turn of the event loop when it begins and one for each answer that it waits for, and most calls of tools
wait for one answer alone. A coroutine that is run by `Eager` goes on in the very moment in which that answer is there.
Whatever else it waits for, and whatever goes wrong on the way, it meets inside a task: `in_task` sees to that, and in
coroutines that run in tasks of their own it does nothing.
"""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Coroutine, Generator
from typing import Any, Generic, TypeVar, cast

import anyio

T = TypeVar("T")

_current: contextvars.ContextVar["Eager | None"] = contextvars.ContextVar("eager", default=None)


def _without_task() -> "Eager | None":
    """The coroutine that runs at this moment, if it has no task."""
    eager = _current.get()
    return eager if eager is not None and eager.running and eager.task is None else None


def needs_task() -> bool:
    """Whether the coroutine that runs at this moment has no task, so that a `Later` is all it may wait for."""
    return _without_task() is not None


class _NeedsTask:
    """Is awaited to get a task."""

    def __await__(self) -> Generator[object, None, None]:
        if _without_task() is not None:
            yield self


async def in_task() -> None:
    """From here on the coroutine runs in a task; to be awaited before anything that cannot do without."""
    if _without_task() is not None:
        await _NeedsTask()


class Later(Generic[T]):
    """A value that one coroutine waits for, until whoever has it gives it, in the thread of the event loop.

    Args:
        shielded: Whether to wait for it through a cancellation.
    """

    __slots__ = ("_error", "_future", "_given", "_value", "shielded", "waiter")

    def __init__(self, *, shielded: bool = False) -> None:
        self.shielded = shielded
        self.waiter: Eager | None = None
        """Who waits for it without a task."""
        self._future: asyncio.Future[None] | None = None
        self._given = False
        self._value: T | None = None
        self._error: Exception | None = None

    @property
    def given(self) -> bool:
        """Whether it is there, or will never come."""
        return self._given

    def give(self, value: T) -> None:
        """Here it is; whoever waits goes on now."""
        if not self._given:
            self._given, self._value = True, value
            self._go_on()

    def fail(self, error: Exception) -> None:
        """It will not come; whoever waits is told in a task."""
        if not self._given:
            self._given, self._error = True, error
            self._go_on()

    def __await__(self) -> Generator[object, None, T]:
        if not self._given:
            if _without_task() is not None:
                yield self
            else:
                yield from self.wait()
        if self._error is not None:
            raise self._error
        return cast("T", self._value)

    def wait(self) -> Generator[object, None, None]:
        """Wait in a task."""
        if not self._given:
            self._future = asyncio.get_running_loop().create_future()
            yield from self._future

    def _go_on(self) -> None:
        waiter, self.waiter = self.waiter, None
        if waiter is not None:
            waiter.go_on(failed=self._error is not None)
        elif self._future is not None and not self._future.done():
            self._future.set_result(None)


class Eager:
    """A coroutine under way.

    Args:
        coroutine: The coroutine; it deals with its errors.
        ended: Is told when it has ended.
    """

    __slots__ = (
        "_context",
        "_coroutine",
        "_end",
        "_ended",
        "_loop",
        "_rest",
        "_scope",
        "_waits",
        "cancelled",
        "running",
        "task",
    )

    def __init__(self, coroutine: Coroutine[Any, Any, None], ended: Callable[["Eager"], None]) -> None:
        self.running = False
        """Whether it is at work at this moment, without a task."""
        self.cancelled = False
        """Whether it was cut off."""
        self.task: asyncio.Task[None] | None = None
        """Its task, once it needs one."""
        self._coroutine = coroutine
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self._context = contextvars.copy_context()
        self._context.run(_current.set, self)
        self._scope: anyio.CancelScope | None = None
        self._rest: _Rest | None = None
        self._waits: object = None
        self._end: asyncio.Event | None = None

    def go_on(self, *, failed: bool = False) -> None:
        """Begin, or go on with what was waited for."""
        if failed:
            self._get_task()
            return
        self.running = True
        try:
            waits = self._context.run(self._coroutine.send, None)
        except StopIteration:
            self._finish()
            return
        except Exception as error:
            self._finish()
            self._loop.call_exception_handler({"message": "A coroutine failed", "exception": error})
            return
        except BaseException:
            self._finish()
            raise
        finally:
            self.running = False
        self._waits = waits
        if not isinstance(waits, Later):
            self._get_task()
        else:
            waits.waiter = self

    def cancel(self) -> None:
        """Cut it off, unless it waits for what must not be cut off."""
        if self.task is None:
            waits = self._waits
            if self.running or (isinstance(waits, Later) and waits.shielded):
                return
            self._get_task()
        self.cancelled = True
        if self._scope is not None:
            self._scope.cancel()
        elif self._rest is not None:
            self._rest.interrupted = True

    def interrupt(self) -> None:
        """Have what is waited for raise that it was cancelled."""
        if self.task is None:
            self._get_task()
        assert self.task is not None
        assert self._rest is not None
        if self._rest.begun:
            self.task.cancel()
        else:
            self._rest.interrupted = True

    async def ends(self) -> None:
        """Wait for its end."""
        if self._end is None:
            self._end = asyncio.Event()
        await self._end.wait()

    def _get_task(self) -> None:
        waits, self._waits = self._waits, None
        if isinstance(waits, Later):
            waits.waiter = None
        self._rest = _Rest(self._coroutine, waits)
        self.task = self._loop.create_task(self._in_task(self._rest), context=self._context)

    async def _in_task(self, rest: Awaitable[None]) -> None:
        try:
            with anyio.CancelScope() as self._scope:
                if self.cancelled:
                    self._scope.cancel()
                await rest
        finally:
            self._finish()

    def _finish(self) -> None:
        self._ended(self)
        if self._end is not None:
            self._end.set()


class _Rest:
    """What is left of a coroutine that was begun without a task.

    Args:
        coroutine: The coroutine.
        waits: What it waits for.
    """

    def __init__(self, coroutine: Coroutine[Any, Any, None], waits: object) -> None:
        self._coroutine = coroutine
        self._waits = waits
        self.begun = False
        self.interrupted = False
        """Whether it is to be told that what it waits for was cancelled."""

    def __await__(self) -> Generator[Any, Any, None]:
        self.begun = True
        try:
            if self.interrupted:
                raise asyncio.CancelledError
            if isinstance(self._waits, Later):
                yield from self._waits.wait()
            elif not isinstance(self._waits, _NeedsTask):
                yield self._waits
        except BaseException as error:
            yield from self._thrown(error)
        else:
            yield from self._coroutine.__await__()

    def _thrown(self, error: BaseException) -> Generator[Any, Any, None]:
        """Go on with an error."""
        try:
            waits = self._coroutine.throw(error)
        except StopIteration:
            return
        try:
            yield waits
        except BaseException as another:
            yield from self._thrown(another)
        else:
            yield from self._coroutine.__await__()


class Patience:
    """Bounds the time of what is done meanwhile, as `asyncio.timeout` does, also without a task.

    Args:
        seconds: The time.
    """

    __slots__ = ("_eager", "_expired", "_handle", "_seconds", "_timeout")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._eager = _without_task()
        self._timeout = asyncio.timeout(seconds) if self._eager is None else None
        self._handle: asyncio.TimerHandle | None = None
        self._expired = False

    async def __aenter__(self) -> "Patience":
        if self._timeout is not None:
            await self._timeout.__aenter__()
        else:
            self._handle = asyncio.get_running_loop().call_later(self._seconds, self._expire)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if self._timeout is not None:
            await self._timeout.__aexit__(kind, error, trace)
            return
        assert self._handle is not None
        self._handle.cancel()
        if self._expired:
            assert self._eager is not None
            if self._eager.task is not None and self._eager.task.cancelling():
                self._eager.task.uncancel()
            if kind is not None and issubclass(kind, asyncio.CancelledError):
                raise TimeoutError from error

    def put_off(self, seconds: float) -> None:
        """Give more time, or less."""
        loop = asyncio.get_running_loop()
        if self._timeout is not None:
            due = self._timeout.when()
            if due is not None and not self._timeout.expired():
                self._timeout.reschedule(due + seconds)
        elif self._handle is not None and not self._expired:
            due = self._handle.when() + seconds
            self._handle.cancel()
            self._handle = loop.call_at(due, self._expire)

    def _expire(self) -> None:
        assert self._eager is not None
        self._expired = True
        self._eager.interrupt()
