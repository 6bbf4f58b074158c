"""The control client: what a console or a script holds to talk to one core."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

import anyio
import msgspec
from anyio.abc import ByteStream, SocketStream

from watchgate.core.base import decoding
from watchgate.core.model.standing_grant import GrantRule, Width
from watchgate.core.policy.rules.profiles import Profile
from watchgate.link.control_lines import (
    ControlAnswer,
    CoreLost,
    LineReader,
    NoCore,
    RequestRefused,
    request_line,
)
from watchgate.link.protocol import (
    Action,
    Hello,
    Push,
    Refusal,
    Request,
    Scope,
    Snapshot,
    Verb,
    What,
)
from watchgate.link.receiving import receive
from watchgate.link.socket_door import check_door, why_not

GREETING_TIMEOUT_S = 5.0
MAX_PUSHES = 20_000
WHY_WITHIN_S = 1.0
CLOSED = "it closed the connection"
_RECEIVE_BYTES = 256 * 1024


class RequestFields(TypedDict, total=False):
    """The fields of a `Request` besides its id and verb."""

    request: str | None
    digest: str | None
    decision: Literal["allow", "deny", "handback", "answer"] | None
    reason: str | None
    scope: Scope
    stop: bool
    input: dict[str, Any] | None
    as_: str | None
    shown_ms: int | None
    confirmed: bool
    answers: tuple[tuple[str, ...], ...]
    rules: tuple[GrantRule, ...]
    width: Width | None
    grant: str | None
    action: Action
    agent: str | None
    session: str | None
    from_seq: int | None
    observer: bool
    to_seq: int | None
    what: What
    before: int | None
    seconds: int | None
    profile: Profile | None
    filter: str | None
    limit: int
    pin: str | None
    current: str | None
    code: str | None
    challenge: bool
    signature: str | None
    key: str | None
    key_file: str | None
    token: str | None
    name: str | None
    risk: Literal["medium", "high"]


class ControlClient:
    """One connection to a core over any stream of bytes; made by `connect` or `ssh.connect`.

    Calls may run at the same time. Pushes wait until `batch` takes them: once `max_pushes` are
    waiting the client stops reading, so an attached client that calls must keep taking batches.
    `explain` tells why the stream ended, where the core itself did not; empty when it cannot.
    """

    def __init__(
        self,
        stream: ByteStream,
        hello: Hello,
        reader: LineReader,
        *,
        max_pushes: int = MAX_PUSHES,
        explain: Callable[[], Awaitable[str]] | None = None,
    ) -> None:
        """Talks over a stream whose greeting was read.

        Args:
            stream: The connection.
            hello: The greeting of the core.
            reader: What reads lines, with the bytes that came behind the greeting.
            max_pushes: How many unread pushes are kept before reading waits.
            explain: Says why a lost connection was lost, where it can be known.
        """
        self.hello = hello
        self._explain = explain
        self._stream = stream
        self._reader = reader
        self._sending = anyio.Lock()
        self._asked = 0
        self._waiting: dict[int, _Question] = {}
        self._pushes: deque[Push] = deque()
        self._max_pushes = max_pushes
        self._arrived = anyio.Event()
        self._drained = anyio.Event()
        self._goodbye: str | None = None
        self._lost: str | None = None
        self._over = anyio.Event()

    async def call(self, verb: Verb, **fields: Unpack[RequestFields]) -> ControlAnswer:
        """The core's answer to one request, a typed refusal included.

        Raises `CoreLost` when the connection ends first; whether the core acted is then unknown.
        """
        if self._lost is not None:
            raise self._gone()
        self._asked += 1
        number = self._asked
        question = self._waiting[number] = _Question()
        try:
            async with self._sending:
                await self._stream.send(request_line(Request(id=number, verb=verb, **fields)))
            await question.settled.wait()
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError) as error:
            # A pipe whose reader has died may fail with an error of the operating system, and
            # sooner than whoever reads knows why.
            with anyio.move_on_after(WHY_WITHIN_S):
                await self._over.wait()
            raise self._gone() from error
        finally:
            del self._waiting[number]
        if question.answer is None:
            raise self._gone()
        return question.answer

    async def attach(self, from_seq: int | None = None, *, observer: bool = False) -> Snapshot:
        """The present state; from now on every record after it arrives by `batch`.

        An `observer` does not count as a console, behind which somebody could decide.
        Raises `RequestRefused` when the core will not, `CoreLost` when it is gone.
        """
        answer = await self.call("attach", from_seq=from_seq, observer=observer)
        if isinstance(answer, Refusal):
            raise RequestRefused(answer)
        try:
            return decoding.convert(answer.ok.get("snapshot"), Snapshot)
        except msgspec.ValidationError as error:
            raise CoreLost(f"its snapshot cannot be read ({error})") from error

    async def batch(self) -> list[Push]:
        """Every push that has arrived since the last batch, at least one.

        Raises `CoreLost` once the connection has ended and all that came before was taken.
        """
        while not self._pushes:
            if self._lost is not None:
                raise self._gone()
            self._arrived = anyio.Event()
            await self._arrived.wait()
        taken = list(self._pushes)
        self._pushes.clear()
        self._drained.set()
        return taken

    async def read(self) -> None:
        """Dispatches what the core sends until the connection ends; `connect` runs this."""
        reason = "this side closed the connection"
        try:
            chunk = b""
            while True:
                self._dispatch(self._reader.feed(chunk))
                if len(self._pushes) >= self._max_pushes:
                    self._drained = anyio.Event()
                    await self._drained.wait()
                chunk = await receive(self._stream, _RECEIVE_BYTES)
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            reason = self._goodbye or await self._why_closed()
        except CoreLost as lost:
            reason = lost.reason
        finally:
            self._lost = reason
            self._over.set()
            self._arrived.set()
            for question in self._waiting.values():
                question.settled.set()

    async def _why_closed(self) -> str:
        return (await self._explain() if self._explain is not None else "") or CLOSED

    def _gone(self) -> CoreLost:
        return CoreLost(self._lost or self._goodbye or CLOSED)

    def _dispatch(self, lines: list[ControlAnswer | Push]) -> None:
        for line in lines:
            if isinstance(line, Push):
                self._pushes.append(line)
                self._goodbye = line.closed or self._goodbye
            elif (question := self._waiting.get(line.id)) is not None:
                question.answer = line
                question.settled.set()
        if self._pushes:
            self._arrived.set()


@asynccontextmanager
async def connect(
    path: Path, *, timeout_s: float = GREETING_TIMEOUT_S, max_pushes: int = MAX_PUSHES
) -> AsyncIterator[ControlClient]:
    """A client of the core that listens at `path`, for as long as the block runs.

    Raises `NoCore` when nobody listens, the socket is not ours, or no greeting comes in time.
    """
    reader = LineReader()
    stream, hello = await _open(path, reader, timeout_s)
    client = ControlClient(stream, hello, reader, max_pushes=max_pushes)
    async with stream, talking(client):
        yield client


@asynccontextmanager
async def talking(client: ControlClient) -> AsyncIterator[ControlClient]:
    """Reads for a client for as long as the block runs; its stream is the caller's to close."""
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.read)
            yield client
            tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        # The reader raises nothing, so whatever there is came from the caller's own block.
        raise group.exceptions[0] from None


async def _open(path: Path, reader: LineReader, timeout_s: float) -> tuple[SocketStream, Hello]:
    check_door(path)
    try:
        with anyio.fail_after(timeout_s):
            stream = await anyio.connect_unix(path)
            try:
                return stream, await greeting(stream, reader)
            except BaseException:
                await anyio.aclose_forcefully(stream)
                raise
    except TimeoutError as error:
        raise NoCore(path, f"it did not greet within {timeout_s:g} s, it may hang") from error
    except OSError as error:
        raise NoCore(path, why_not(error)) from error
    except (anyio.EndOfStream, anyio.BrokenResourceError) as error:
        raise NoCore(path, CLOSED) from error
    except CoreLost as lost:
        raise NoCore(path, lost.reason) from lost


async def greeting(stream: ByteStream, reader: LineReader) -> Hello:
    """The core's first line; raises `CoreLost` where it is another, `EndOfStream` at the end."""
    hello = None
    while hello is None:
        hello = reader.hello(await receive(stream, _RECEIVE_BYTES))
    return hello


class _Question:
    __slots__ = ("answer", "settled")

    def __init__(self) -> None:
        self.answer: ControlAnswer | None = None
        self.settled = anyio.Event()
