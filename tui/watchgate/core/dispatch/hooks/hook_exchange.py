"""The exchange with a hook command, and the protocol that rules it.

A protocol is a row of data: how an event is sent to the command, what each exit code means, how its
stdout is read, and how much of its output counts. Running the command is a runner's work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal

import msgspec

from watchgate.core.dispatch.hooks.hook_texts import MIB, output_text
from watchgate.core.dispatch.presets import ProtocolName
from watchgate.core.model.events import Event
from watchgate.core.model.verdicts import Allow, Block, Defer, Failed, Inject, Report, Verdict

ExitMeans = Literal["parse", "answer", "pass", "proceed", "block", "inject", "warn", "fail"]
ExitMap = Mapping[int | Literal["other"], ExitMeans]
NEVER_EXITED: Final = "it ended without an exit code"


class HookInput(msgspec.Struct, frozen=True):
    """The input of one run of a hook command.

    `stdin` None means that it gets no input at all, `env` are variables besides those that the
    runner allows, `argv` goes after the command's own arguments.
    """

    stdin: bytes | None
    env: dict[str, str]
    argv: tuple[str, ...] = ()


class HookExit(msgspec.Struct, frozen=True):
    """The end of one run of a hook command.

    `exit_code` None means that `signal` ended it. `stdout` and `stderr` are the head and the tail
    of what it wrote, cut at the protocol's caps; the sizes count all of it, in bytes.
    """

    exit_code: int | None
    signal: str
    stdout: bytes
    stderr: bytes
    stdout_size: int
    stderr_size: int


class HookProtocol(msgspec.Struct, frozen=True, kw_only=True):
    """The hook protocol of one system: the input of its commands, and the meaning of their output.

    `ask` builds the input of a command and `read` reads its stdout. `events` are the canonical
    kinds that the system has an event for, with its own names. `exits` says what an exit code
    means, and `exits_at` replaces it for single kinds:

    - `parse`: stdout is the answer, and an empty one no opinion
    - `answer`: the same, but without an answer the run has failed
    - `pass`: no opinion, whatever it wrote
    - `proceed`: the event goes on, whatever the command did
    - `block`: the exit itself denies; stderr is the reason, or `reason_in` finds one in stdout
    - `inject`: stderr is for the model and denies nothing
    - `warn`: no opinion, with stderr in the trace
    - `fail`: no verdict, so that the failure policy decides

    `silent_block` is the reason of a block without words (`{code}`, `{event}`); None: without words
    it blocks nothing and counts as failed. Without a timeout of its own a handler gets `timeout_s`.
    `reads_output` False: its outputs go nowhere and no end of it is a failure, so it can gate
    nothing. `exit_grace_s` is how long a command may go on after it closed its outputs; None: its
    limit.
    """

    name: ProtocolName
    ask: Callable[[Event, str], HookInput]
    read: Callable[[str, Event], Report]
    events: Mapping[str, str]
    exits: ExitMap
    exits_at: Mapping[str, ExitMap] = {}
    silent_block: str | None = None
    reason_in: Callable[[str], str] | None = None
    stdout_cap_bytes: int = MIB
    stderr_cap_bytes: int = MIB
    reads_output: bool = True
    timeout_s: float = 30.0
    timeout_floor_s: float = 0.0
    exit_grace_s: float | None = None

    def exchange(self, event: Event, handler_id: str) -> HookInput:
        """Builds the input of the command for this event.

        Raises `ValueError` when JSON cannot carry the event: half a surrogate pair, too deep.
        """
        try:
            return self.ask(event, handler_id)
        except RecursionError as error:
            raise ValueError("the event is nested too deeply to be written as JSON") from error

    def report(self, ended: HookExit, event: Event) -> Report:
        """Reads the report of a run; whatever the command wrote, this never raises."""
        if ended.exit_code is None:
            killed = f"killed by {ended.signal}" if ended.signal else NEVER_EXITED
            return Report(verdict=Failed("crash", killed) if self.reads_output else Allow(killed))
        match self.means(ended.exit_code, event.kind):
            case "parse":
                return self._answer(ended, event)
            case "answer":
                return self._answer(ended, event) if ended.stdout.strip() else _failed(ended)
            case "pass":
                return Report(verdict=Defer())
            case "proceed":
                code = ended.exit_code
                return Report(verdict=Allow(f"exited with {code}" if code else ""))
            case "warn":
                return Report(verdict=Defer(_warning(ended, event)))
            case "fail":
                return _failed(ended)
            case "block" | "inject" as means:
                return Report(verdict=self._by_exit(means, ended, event))

    def means(self, exit_code: int, kind: str) -> ExitMeans:
        """Returns the meaning of this exit code for an event of this kind."""
        exits = self.exits_at.get(kind, self.exits)
        return exits.get(exit_code) or exits["other"]

    def limit_s(self, named: float | None) -> float:
        """Returns the seconds a run may take: the handler's own limit, else the default."""
        return max(self.timeout_floor_s, self.timeout_s if named is None else named)

    def _answer(self, ended: HookExit, event: Event) -> Report:
        if ended.stdout_size > min(len(ended.stdout), self.stdout_cap_bytes):
            return Report(
                verdict=Failed(
                    "oversized",
                    f"its stdout of {ended.stdout_size} bytes exceeded the size limit of"
                    f" {self.stdout_cap_bytes}; an answer that is cut cannot be trusted",
                )
            )
        try:
            stdout = ended.stdout.decode()
        except UnicodeDecodeError:
            return Report(verdict=Failed("parse", "its stdout is not UTF-8 text"))
        try:
            report = self.read(stdout, event)
        except RecursionError:
            return Report(verdict=Failed("parse", "its stdout is nested too deeply"))
        if self.means(ended.exit_code or 0, event.kind) == "answer" and _undecided(report.verdict):
            return _failed(ended)
        return report

    def _by_exit(self, means: Literal["block", "inject"], ended: HookExit, event: Event) -> Verdict:
        stdout = ended.stdout.decode(errors="backslashreplace")
        words = self.reason_in(stdout) if self.reason_in else ""
        words = words or output_text(ended.stderr)
        if means == "inject" and words:
            return Inject(words)
        if not words and self.silent_block is not None:
            name = self.events.get(event.kind, event.kind)
            words = self.silent_block.format(code=ended.exit_code, event=name)
        if not words:
            return Failed("exit", f"exited with {ended.exit_code} and wrote no reason to stderr")
        return Block(words)


def _undecided(verdict: Verdict) -> bool:
    return isinstance(verdict, Defer) or (
        isinstance(verdict, Failed) and verdict.cause in ("parse", "protocol")
    )


def _failed(ended: HookExit) -> Report:
    words = output_text(ended.stderr)
    detail = f": {words}" if words else ""
    return Report(verdict=Failed("exit", f"exited with {ended.exit_code}{detail}"))


def _warning(ended: HookExit, event: Event) -> str:
    words = output_text(ended.stderr) or "no words on stderr"
    return f"warning: exited with {ended.exit_code}, which blocks nothing at {event.kind}: {words}"
