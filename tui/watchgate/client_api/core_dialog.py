"""The words of a program to the core: who speaks, in which words, and where the core is.

Each line has the form of `watchgate schema ingest`. Everything here is the same for threads and
for async code; only the waiting differs.

- Reads the core's answer so that nothing but its own words can let a call run.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from watchgate.core.base import decoding
from watchgate.core.base.clock import Clock
from watchgate.core.base.decoding import JSON_FAULTS
from watchgate.core.model.events import Kind, ToolClass
from watchgate.link.control_lines import NoCore
from watchgate.link.paths import Paths, paths
from watchgate.link.socket_door import check_own_door, why_not
from watchgate.service.system import off_switch
from watchgate.service.system.system_clock import SystemClock
from watchgate.service.wire.framing import MAX_PAYLOAD_BYTES

Decision = Literal["allow", "deny", "handback"]

STOP = "This is not a refusal by a person. Do not try another way; stop and report."


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a call that was asked about.

    `handback` is no opinion: no rule and no person objects, and you go on by your own rules.
    `input` is what may run: an operator may have edited it. `reason` says why not, in words for a
    person or a model; `context` is a text for a model. `answered` is false where nobody answered
    and this side denied by itself.
    """

    decision: Decision
    input: dict[str, Any]
    reason: str = ""
    context: str = ""
    answered: bool = True

    @property
    def may_run(self) -> bool:
        """Returns whether the call may run: it was allowed, or is none of the gate's."""
        return self.decision != "deny"


class Denied(Exception):
    """A call that must not run; `str()` is the reason, fit for a person or a model."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.reason)
        self.answer = answer


class _Reply(msgspec.Struct, frozen=True):
    id: str
    decision: Decision
    reason: str = ""
    input: dict[str, Any] | None = None
    context: str = ""


_decoder = decoding.decoder(_Reply)


def closed(args: dict[str, Any], why: str) -> Answer:
    """The denial that is said here, because nobody answered; `why` names cause and mend."""
    return Answer(decision="deny", input=args, reason=f"{why} {STOP}", answered=False)


def read(line: bytes, asked: str, args: dict[str, Any]) -> Answer:
    """The answer in a line of the core to what was `asked`; a denial where it is no such line."""
    try:
        reply = _decoder.decode(line)
    except JSON_FAULTS:
        return closed(args, "The core gave an answer of another form. Is it of this version?")
    if reply.id != asked:
        return closed(args, "The core answered something else. Is it of this version?")
    if reply.input is not None and reply.decision != "allow":
        return closed(args, "The core gave an answer of another form. Is it of this version?")
    return Answer(
        decision=reply.decision,
        input=args if reply.input is None else reply.input,
        reason=reply.reason,
        context=reply.context,
    )


REPORT_BUDGET_S = 0.15
"""The longest time that a report may hold up its program, as an agent's observer."""

DEADLINE_S = 300.0
LOOK_S = 1.0
"""Time between looks at the clock: time asleep counts, which a socket's limit does not know."""

ANSWER_LIMIT_BYTES = 8 << 20
CHUNK_BYTES = 64 * 1024

CANNOT = "The core could not be asked: {}. Start it with `watchgate serve`."
SILENT = "Nobody answered in {:g} s."
GONE = "The core went away before it answered. Start it again with `watchgate serve`."

_encode = msgspec.json.Encoder().encode


class CallQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A call as it is asked about."""

    tool: str
    input: dict[str, Any]
    tool_class: ToolClass
    call_id: str
    deadline_s: float


class Speaker:
    """The program that speaks: its name, its session and its folder."""

    def __init__(
        self, agent: str, session: str | None, cwd: str | None, places: Paths | None, clock: Clock
    ) -> None:
        """Speaks for a program; raises `ValueError` for a name that is none.

        Args:
            agent: The name of the program, of 1 to 512 characters.
            session: The name of the session; a new one is made where there is none.
            cwd: Its folder; the current one where there is none.
            places: The places of sockets and files; this user's where there are none.
            clock: The clock that deadlines are read on.
        """
        if not 0 < len(agent) <= 512:
            raise ValueError("agent is the name of your program, of 1 to 512 characters")
        self.agent = agent
        self.session = session or f"{os.getpid()}-{secrets.token_hex(6)}"
        self.cwd = str(Path.cwd()) if cwd is None else cwd
        self.clock = clock
        self._paths = paths(os.environ) if places is None else places

    @property
    def socket(self) -> str:
        """The core's socket; raises `NoCore` unless it and its directory are ours alone."""
        ingest = self._paths.ingest_socket
        check_own_door(ingest)
        return str(ingest)

    def switched_off(self) -> bool:
        """Returns whether the gate is switched off, as `watchgate off` does."""
        return off_switch.read_switch(self._paths.off, self.clock.now()) is not None

    def asked(
        self,
        tool: str,
        args: Mapping[str, Any],
        tool_class: ToolClass,
        call_id: str | None,
        deadline_s: float,
    ) -> CallQuestion:
        """Builds the question; raises `ValueError` or `TypeError` where nobody can be asked.

        Args:
            tool: The name of the tool, of 1 to 512 characters.
            args: Its arguments, as JSON.
            tool_class: The kind of tool.
            call_id: A name for the call; a new one is made where there is none.
            deadline_s: Seconds to wait for an answer, above 0.
        """
        if tool_class not in get_args(ToolClass):
            raise ValueError(f"tool_class is one of {', '.join(get_args(ToolClass))}")
        if not 0 < len(tool) <= 512:
            raise ValueError("tool is the name of a tool, of 1 to 512 characters")
        if not 0 < deadline_s < float("inf"):
            raise ValueError("deadline_s is a number of seconds above 0")
        return CallQuestion(
            tool=tool,
            input=_as_json(args),
            tool_class=tool_class,
            call_id=call_id or f"{self.agent[:64]}-{secrets.token_hex(8)}",
            deadline_s=deadline_s,
        )

    def question(self, asked: CallQuestion) -> bytes:
        """The line that asks."""
        return self._line(
            kind="tool.pre",
            tool=asked.tool,
            tool_class=asked.tool_class,
            input=asked.input,
            call_id=asked.call_id,
            id=asked.call_id,
            ask=True,
            proxy=True,
            edits=True,
            deadline_s=asked.deadline_s,
        )

    def report(self, kind: Kind, fields: Mapping[str, Any]) -> bytes:
        """The line that reports; raises `ValueError` for a kind that no record has."""
        if kind not in get_args(Kind):
            raise ValueError(f"kind is one of {', '.join(get_args(Kind))}, not {kind!r}")
        return self._line(**{**fields, "kind": kind})

    def _line(self, **fields: Any) -> bytes:
        who = {"watchgate": 1, "agent": self.agent, "session": self.session, "cwd": self.cwd}
        return _encode({**who, **fields}) + b"\n"


def _as_json(args: Mapping[str, Any]) -> dict[str, Any]:
    """The input as the core will read it, so that nothing else is judged than what runs.

    Bytes, dates and sets are refused: as texts and lists they would be other values.
    """
    if not isinstance(args, Mapping):
        raise TypeError('input is a mapping of names to values, such as {"query": "weather"}')
    try:
        line = json.dumps(dict(args), allow_nan=False, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("input is nested too deep to be judged") from None
    plain: dict[str, Any] = msgspec.json.decode(line)
    return plain


class CoreDialog:
    """The way to the core for one session of a program, which both gates are."""

    def __init__(
        self,
        agent: str,
        session: str | None = None,
        *,
        cwd: str | None = None,
        places: Paths | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Opens nothing yet: each question finds the core anew.

        Args:
            agent: The name of the program, of 1 to 512 characters.
            session: The name of the session; a new one is made where there is none.
            cwd: Its folder; the current one where there is none.
            places: The places of sockets and files; this user's where there are none.
            clock: The clock that deadlines are read on; the system's where there is none.
        """
        self._speaker = Speaker(agent, session, cwd, places, clock or SystemClock())

    @property
    def session(self) -> str:
        """The name of the session, as the console and `watchgate search` know it."""
        return self._speaker.session

    def _now_s(self) -> float:
        return self._speaker.clock.now().mono_s


def too_large(asked: CallQuestion, line: bytes) -> Answer | None:
    """The denial of what is too large to be judged."""
    if len(line) <= MAX_PAYLOAD_BYTES:
        return None
    return closed(asked.input, "No call over 4 MiB is judged. Have it done in smaller calls.")


def off_notice(asked: CallQuestion) -> dict[str, Any]:
    """Returns the record of a call that ran while the gate was switched off."""
    return {"kind": "notice", "text": f"{asked.tool} was not asked about: the gate is off"}


def off_answer(asked: CallQuestion) -> Answer:
    """Returns the answer while the gate is switched off, on purpose and for a time."""
    return Answer(decision="handback", input=asked.input, reason="the gate is switched off")


def unanswered(asked: CallQuestion, fault: Exception) -> Answer:
    """The denial where this fault kept the core from answering."""
    if isinstance(fault, NoCore):
        return closed(asked.input, CANNOT.format(fault.why))
    return closed(
        asked.input, SILENT.format(asked.deadline_s) if isinstance(fault, TimeoutError) else GONE
    )


@contextmanager
def socket_to(path: str) -> Iterator[socket.socket]:
    """Opens a socket to connect to this path; closes it, and raises `NoCore`, where that fails."""
    stream = socket.socket(socket.AF_UNIX)
    try:
        yield stream
    except BaseException as fault:
        stream.close()
        if isinstance(fault, OSError):
            raise NoCore(Path(path), why_not(fault)) from fault
        raise
