"""Hook commands as runners: the protocol writes input and reads answers, the pool runs them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from watchgate.core.dispatch.hooks.hook_exchange import HookExit, HookInput, HookProtocol
from watchgate.core.model.events import Event
from watchgate.core.model.verdicts import Failed, Report, Run
from watchgate.service.runners.child import SHOWN_CHARS, ChildEnd, head_and_tail
from watchgate.service.runners.child_pool import ChildPool, ChildRun
from watchgate.service.runners.spawn import ChildSpec


class CommandRunner:
    """Runs one hook command for one event after another; `run` raises nothing but cancellation.

    `env` is its whole environment but for the protocol's own variables. It runs in the session's
    folder, or in `cwd`, which may be relative to that.
    """

    def __init__(
        self,
        argv: tuple[str, ...],
        protocol: HookProtocol,
        *,
        handler_id: str,
        pool: ChildPool,
        env: Mapping[str, str],
        cwd: str | None = None,
    ) -> None:
        """Takes a command line and what it needs to run.

        Args:
            argv: Program and arguments; `~/` in the first is the home.
            protocol: Writes the event for the command, and reads its answer.
            handler_id: The handler's id, which the protocol names.
            pool: Runs the child.
            env: The whole environment but for the protocol's variables.
            cwd: The folder to run in; None: the session's.
        """
        self._argv = (*map(_expanded, argv[:1]), *argv[1:])
        self._protocol = protocol
        self._id = handler_id
        self._pool = pool
        self._env = dict(env)
        self._cwd = _expanded(cwd or "")

    async def run(self, event: Event, limit_s: float) -> Report:
        """Returns the command's verdict, within so many seconds, queueing included."""
        try:
            asked = self._protocol.exchange(event, self._id)
        except ValueError as error:
            return Report(verdict=Failed("protocol", f"cannot be told this event: {error}"))
        spec = self._spec(asked, event)
        ran = await self._pool.run(spec, limit_s)
        report = self._report(ran, event, limit_s)
        return msgspec.structs.replace(report, run=_run(spec, ran))

    def _spec(self, asked: HookInput, event: Event) -> ChildSpec:
        return ChildSpec(
            argv=(*self._argv, *asked.argv),
            cwd=str(Path(event.cwd, self._cwd)) if self._cwd else event.cwd,
            env={**self._env, **asked.env},
            stdin=asked.stdin,
            captures_output=self._protocol.reads_output,
            stdout_cap_bytes=self._protocol.stdout_cap_bytes,
            stderr_cap_bytes=self._protocol.stderr_cap_bytes,
            exit_grace_s=self._protocol.exit_grace_s,
        )

    def _report(self, ran: ChildRun, event: Event, limit_s: float) -> Report:
        end = ran.end
        if end is None:
            detail = f"{self._pool.limit} hooks run already, and none ended in {_s(limit_s)} s"
            return Report(verdict=Failed("crowded", detail))
        if end.why == "spawn":
            return Report(verdict=Failed("spawn", end.detail))
        if end.why != "exited":
            detail = end.detail or f"no answer in {_s(limit_s)} s"
            return Report(verdict=Failed("timeout", detail))
        return self._protocol.report(_ended(end), event)


def _ended(end: ChildEnd) -> HookExit:
    return HookExit(
        exit_code=end.exit_code,
        signal=end.signal,
        stdout=end.stdout,
        stderr=end.stderr,
        stdout_size=end.stdout_size,
        stderr_size=end.stderr_size,
    )


def _run(spec: ChildSpec, ran: ChildRun) -> Run:
    end = ran.end
    if end is None:
        return Run(queue_ms=ran.queue_ms)
    return Run(
        queue_ms=ran.queue_ms,
        exit_code=end.exit_code,
        signal=end.signal,
        stdin_bytes=end.stdin_bytes,
        stdout=head_and_tail(end.stdout, end.stdout_size, SHOWN_CHARS),
        stderr=head_and_tail(end.stderr, end.stderr_size, SHOWN_CHARS),
        env=tuple(sorted(spec.env)),
    )


def _expanded(path: str) -> str:
    # Only then: `./guard.sh` must keep its slash, which says that it lies in the session's folder.
    return str(Path(path).expanduser()) if path.startswith("~/") else path


def _s(limit_s: float) -> str:
    return f"{round(limit_s, 2):g}"
