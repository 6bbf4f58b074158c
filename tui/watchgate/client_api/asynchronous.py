"""The gate for async programs, on asyncio or trio."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Self

import anyio
from anyio.abc import SocketStream, UNIXSocketStream

from watchgate.client_api import core_dialog
from watchgate.client_api.calls import Call
from watchgate.client_api.core_dialog import DEADLINE_S, Answer, CallQuestion, CoreDialog, Denied
from watchgate.core.model.events import Kind, ToolClass
from watchgate.link.control_lines import NoCore
from watchgate.link.receiving import receive
from watchgate.service.wire.framing import MAX_PAYLOAD_BYTES

_GONE = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)


class AsyncGate(CoreDialog):
    """As `Gate`, for any number of tasks; a task that is cancelled withdraws what it asked."""

    async def __aenter__(self) -> Self:
        await self.report("session.start", text="startup")
        return self

    async def __aexit__(self, *_fault: object) -> None:
        # Also on the way out of a cancelled task; it takes no longer than a report may.
        with anyio.CancelScope(shield=True):
            await self.report("session.end")

    async def report(self, kind: Kind, **fields: Any) -> bool:
        """Has something recorded; whether the core took it. As `Gate.report`."""
        line = self._speaker.report(kind, fields)
        if len(line) > MAX_PAYLOAD_BYTES:
            return False
        try:
            with anyio.fail_after(core_dialog.REPORT_BUDGET_S):
                async with await self._connected() as stream:
                    await stream.send(line)
                    await stream.send_eof()
                    await receive(stream, 1)
        except anyio.EndOfStream:
            return True
        except (NoCore, OSError, *_GONE):
            pass
        return False

    async def ask(
        self,
        tool: str,
        input: Mapping[str, Any],  # noqa: A002 - the field's own word
        *,
        tool_class: ToolClass = "other",
        call_id: str | None = None,
        deadline_s: float = DEADLINE_S,
    ) -> Answer:
        """Asks whether a call may run. As `Gate.ask`.

        Args:
            tool: The name of the tool, of 1 to 512 characters.
            input: Its arguments, as JSON.
            tool_class: The kind of tool, which decides what rules apply.
            call_id: A name for the call; a new one is made where there is none.
            deadline_s: Seconds to wait for an answer, above 0.
        """
        return await self._ask(self._speaker.asked(tool, input, tool_class, call_id, deadline_s))

    @asynccontextmanager
    async def tool_call(
        self,
        tool: str,
        input: Mapping[str, Any],  # noqa: A002 - the field's own word
        *,
        tool_class: ToolClass = "other",
        call_id: str | None = None,
        deadline_s: float = DEADLINE_S,
    ) -> AsyncIterator[Call]:
        """Asks, runs the block when the call may run, and reports how it ended; raises `Denied`.

        Args:
            tool: The name of the tool, of 1 to 512 characters.
            input: Its arguments, as JSON.
            tool_class: The kind of tool, which decides what rules apply.
            call_id: A name for the call; a new one is made where there is none.
            deadline_s: Seconds to wait for an answer, above 0.
        """
        asked = self._speaker.asked(tool, input, tool_class, call_id, deadline_s)
        answer = await self._ask(asked)
        if not answer.may_run:
            raise Denied(answer)
        call, began_s = Call(asked, answer), self._now_s()
        try:
            yield call
        except BaseException as fault:
            with anyio.CancelScope(shield=True):
                await self.report(**call.ended(fault, self._now_s() - began_s))
            raise
        await self.report(**call.ended(None, self._now_s() - began_s))

    async def _ask(self, asked: CallQuestion) -> Answer:
        line = self._speaker.question(asked)
        if (refused := core_dialog.too_large(asked, line)) is not None:
            return refused
        if self._speaker.switched_off():
            await self.report(**core_dialog.off_notice(asked))
            return core_dialog.off_answer(asked)
        until_s = self._now_s() + asked.deadline_s
        try:
            async with await self._connected() as stream:
                with anyio.fail_after(asked.deadline_s):
                    await stream.send(line)
                reply = await self._line(stream, until_s)
                return core_dialog.read(reply, asked.call_id, asked.input)
        except (NoCore, OSError, *_GONE) as fault:
            return core_dialog.unanswered(asked, fault)

    async def _connected(self) -> SocketStream:
        path = self._speaker.socket
        with core_dialog.socket_to(path) as connection:
            # At once or not at all: anyio tries without end where the core's backlog is full.
            connection.setblocking(False)
            connection.connect(path)
            return await UNIXSocketStream.from_socket(connection)

    async def _line(self, stream: SocketStream, until_s: float) -> bytes:
        data = b""
        while b"\n" not in data:
            # Time asleep counts, which the loop's own limits do not know.
            left_s = until_s - self._now_s()
            if left_s <= 0:
                raise TimeoutError
            with anyio.move_on_after(min(left_s, core_dialog.LOOK_S)):
                data += await receive(stream, core_dialog.CHUNK_BYTES)
            if len(data) > core_dialog.ANSWER_LIMIT_BYTES:
                raise ConnectionResetError
        return data.partition(b"\n")[0]
