"""The gate for programs that wait where they stand."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

from watchgate.client_api import core_dialog
from watchgate.client_api.calls import Call
from watchgate.client_api.core_dialog import DEADLINE_S, Answer, CallQuestion, CoreDialog, Denied
from watchgate.core.model.events import Kind, ToolClass
from watchgate.link.control_lines import NoCore
from watchgate.service.wire.framing import MAX_PAYLOAD_BYTES


class Gate(CoreDialog):
    """The way to the core for one session of a program; may be used by several threads.

    As a context manager it reports where the session begins and ends. `places` and `clock` are
    those of this user and machine where they are not given.
    """

    def __enter__(self) -> Self:
        self.report("session.start", text="startup")
        return self

    def __exit__(self, *_fault: object) -> None:
        self.report("session.end")

    def report(self, kind: Kind, **fields: Any) -> bool:
        """Has something recorded; whether the core took it. Never waits long, never fails.

        `fields` are those of `watchgate schema ingest`: `text`, `tool`, `input`, `usage`, ...
        Raises `ValueError` or `TypeError` for what could never be recorded.
        """
        line = self._speaker.report(kind, fields)
        if len(line) > MAX_PAYLOAD_BYTES:
            return False
        until_s = self._now_s() + core_dialog.REPORT_BUDGET_S
        try:
            with self._connected(until_s) as stream:
                stream.sendall(line)
                stream.shutdown(socket.SHUT_WR)
                # It closes when it has read all, so what is said next comes after this.
                stream.settimeout(max(0.001, until_s - self._now_s()))
                return not stream.recv(1)
        except (NoCore, OSError):
            return False

    def ask(
        self,
        tool: str,
        input: Mapping[str, Any],  # noqa: A002 - the field's own word
        *,
        tool_class: ToolClass = "other",
        call_id: str | None = None,
        deadline_s: float = DEADLINE_S,
    ) -> Answer:
        """Asks whether a call may run; waits for policy and operator, at most `deadline_s`.

        Denies when nobody answers, whatever the cause. Raises only for arguments that nobody could
        be asked about. A wait that is broken off, by an exception, withdraws the request.

        Args:
            tool: The name of the tool, of 1 to 512 characters.
            input: Its arguments, as JSON.
            tool_class: The kind of tool, which decides what rules apply.
            call_id: A name for the call; a new one is made where there is none.
            deadline_s: Seconds to wait for an answer, above 0.
        """
        return self._ask(self._speaker.asked(tool, input, tool_class, call_id, deadline_s))

    @contextmanager
    def tool_call(
        self,
        tool: str,
        input: Mapping[str, Any],  # noqa: A002 - the field's own word
        *,
        tool_class: ToolClass = "other",
        call_id: str | None = None,
        deadline_s: float = DEADLINE_S,
    ) -> Iterator[Call]:
        """Asks, runs the block when the call may run, and reports how it ended; raises `Denied`.

        Args:
            tool: The name of the tool, of 1 to 512 characters.
            input: Its arguments, as JSON.
            tool_class: The kind of tool, which decides what rules apply.
            call_id: A name for the call; a new one is made where there is none.
            deadline_s: Seconds to wait for an answer, above 0.
        """
        asked = self._speaker.asked(tool, input, tool_class, call_id, deadline_s)
        answer = self._ask(asked)
        if not answer.may_run:
            raise Denied(answer)
        call, began_s = Call(asked, answer), self._now_s()
        try:
            yield call
        except BaseException as fault:
            self.report(**call.ended(fault, self._now_s() - began_s))
            raise
        self.report(**call.ended(None, self._now_s() - began_s))

    def _ask(self, asked: CallQuestion) -> Answer:
        line = self._speaker.question(asked)
        if (refused := core_dialog.too_large(asked, line)) is not None:
            return refused
        if self._speaker.switched_off():
            self.report(**core_dialog.off_notice(asked))
            return core_dialog.off_answer(asked)
        until_s = self._now_s() + asked.deadline_s
        try:
            with self._connected(until_s) as stream:
                self._send(stream, line, until_s)
                reply = self._line(stream, until_s)
                return core_dialog.read(reply, asked.call_id, asked.input)
        except (NoCore, OSError) as fault:
            return core_dialog.unanswered(asked, fault)

    def _connected(self, until_s: float) -> socket.socket:
        path, step_s = self._speaker.socket, self._step_s(until_s)
        with core_dialog.socket_to(path) as stream:
            stream.settimeout(step_s)
            stream.connect(path)
        return stream

    def _send(self, stream: socket.socket, line: bytes, until_s: float) -> None:
        left = memoryview(line)
        while left:
            stream.settimeout(self._step_s(until_s))
            try:
                left = left[stream.send(left) :]
            except TimeoutError:
                continue

    def _line(self, stream: socket.socket, until_s: float) -> bytes:
        data = b""
        while b"\n" not in data:
            stream.settimeout(self._step_s(until_s))
            try:
                chunk = stream.recv(core_dialog.CHUNK_BYTES)
            except TimeoutError:
                continue
            if not chunk or len(data) > core_dialog.ANSWER_LIMIT_BYTES:
                raise ConnectionResetError
            data += chunk
        return data.partition(b"\n")[0]

    def _step_s(self, until_s: float) -> float:
        left_s = until_s - self._now_s()
        if left_s <= 0:
            raise TimeoutError
        return min(left_s, core_dialog.LOOK_S)
