"""Keeps the processes of extensions running, and asks them about events.

A task of its own (`serve`) starts the process, and starts it again when it was lost and
somebody asks; callers only wait for it, so that the short limit of one call never ends a start
that others wait for too. An error in an answer, a lost process and a limit that has passed are
three things, and only the second starts anything again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

import anyio
import msgspec
from anyio.abc import TaskGroup

from watchgate.core.base.clock import Clock
from watchgate.core.dispatch.extensions.extension_frames import ExtensionFrameError
from watchgate.core.dispatch.extensions.extension_hooks import HookParams, hook_params, read_verdict
from watchgate.core.dispatch.extensions.extension_memory import ExtensionMemory
from watchgate.core.dispatch.extensions.extension_spec import ExtensionSpec
from watchgate.core.dispatch.extensions.restarts import Restarts
from watchgate.core.model.events import Event
from watchgate.core.model.verdicts import Defer, Failed, Health, Report, Run, Verdict
from watchgate.service.runners.extension_run import (
    STOPPED,
    ExtensionRun,
    ExtensionTiming,
    LoadRefused,
    run_extension,
)
from watchgate.service.runners.rpc_link import Crowded, LinkLost, Loss, RpcLink

_TRIES = 2


def _ignore(_extension_id: str, _line: str) -> None:
    pass


class ExtensionDeps(msgspec.Struct, frozen=True, kw_only=True):
    """The dependencies of extensions: time, and the receiver of their standard error.

    `pause` waits before a restart; `said` gets an extension's id and one line, which may hold
    anything.
    """

    clock: Clock
    pause: Callable[[float], Awaitable[None]] = anyio.sleep
    on_line: Callable[[str, str], None] = _ignore
    timing: ExtensionTiming = ExtensionTiming()


class _PendingCall(msgspec.Struct):
    """One call on its way.

    It has until `until_s` of the loop's clock; `sent_s` is when it was first sent, `last_words`
    what the process wrote that was lost under it.
    """

    until_s: float
    sent_s: float | None = None
    last_words: str = ""


class ExtensionRunner:
    """The process of one extension over all its restarts; made where its event loop runs."""

    def __init__(self, spec: ExtensionSpec, around: ExtensionDeps) -> None:
        self.spec = spec
        self._around = around
        self._memory = ExtensionMemory(spec.permissions)
        self._restarts = Restarts(around.timing.restarts)
        self._link: RpcLink | None = None
        self._loss = Loss("spawn", "the extension was not started yet")
        self._refused = False
        self._starting = True
        self._was_up = False
        self._late = False
        self._up_s = 0.0
        self._loop = asyncio.get_running_loop()
        self._stop: asyncio.Future[None] = self._loop.create_future()
        self._pausing = anyio.CancelScope()
        self._wanted = anyio.Event()
        self._changed = anyio.Event()
        self._over = anyio.Event()

    @property
    def health(self) -> Health:
        """Returns its present health."""
        if self._refused:
            return "failed_initialize"
        if self._link is not None:
            return "degraded" if self._late else "running"
        if self._stop.done():
            return "loaded"
        if self._starting:
            return "restarting" if self._restarts.total else "loaded"
        if self._restarts.left(self._now_s()) <= 0:
            return "failed"
        return "degraded" if self._was_up else "failed_initialize"

    @property
    def restarts(self) -> int:
        """Returns the number of restarts of its process."""
        return self._restarts.total

    async def serve(self) -> None:
        """Keeps the process until `stop`; cancelling kills it."""
        try:
            await self._live()
            while not self._refused and await self._again():
                await self._live()
        finally:
            if not self._stop.done():
                self._stop.set_result(None)
            if not self._refused:
                self._loss = STOPPED
            self._wake()
            self._over.set()

    async def stop(self) -> None:
        """Ends the process, and waits for its end; from now on nothing starts it again."""
        self.stop_soon()
        await self._over.wait()

    def stop_soon(self) -> None:
        """Begins to end the process."""
        if not self._stop.done():
            self._stop.set_result(None)
        self._wanted.set()
        self._pausing.cancel()

    async def run(self, event: Event, limit_s: float) -> Report:
        """Asks it about an event; raises nothing but cancellation.

        The one limit counts from now, whatever the call has to wait for.
        """
        params = hook_params(event)
        if params is None:
            return Report(verdict=Defer(f"extensions have no hook for {event.kind}"))
        asked_s = self._now_s()
        call = _PendingCall(until_s=self._loop.time() + limit_s)
        try:
            verdict = await self._ask(params, call)
        except TimeoutError:
            self._late = True
            where = "" if call.sent_s is not None else f": {self._loss.detail}"
            verdict = Failed("timeout", f"no answer in {limit_s:g} s{where}")
        sent_s = self._now_s() if call.sent_s is None else call.sent_s
        run = Run(
            queue_ms=round((sent_s - asked_s) * 1000, 3),
            health=self.health,
            restarts=self._restarts.total,
            stderr=call.last_words,
        )
        return Report(verdict=verdict, run=run)

    async def _ask(self, params: HookParams, call: _PendingCall) -> Verdict:
        """Asks once, and once more when the process was lost meanwhile; raises `TimeoutError`."""
        for _ in range(_TRIES):
            try:
                link = self._link
                if link is None or link.lost.done():
                    link = await self._ready(call.until_s)
                if call.sent_s is None:
                    call.sent_s = self._now_s()
                answered = await link.ask("hook.handle", params, call.until_s)
            except LinkLost as lost:
                loss = lost.loss
                continue
            except Crowded as full:
                return Failed("crowded", str(full))
            except ExtensionFrameError as fault:
                return Failed("oversized", f"the event is {fault}; it was not sent")
            except (UnicodeEncodeError, RecursionError) as fault:
                return Failed("protocol", f"the event cannot be written as JSON: {fault}")
            self._late = False
            if answered.error is not None:
                return Failed("protocol", f"{self.spec.id} answered with {answered.error}")
            return read_verdict(answered.result, self.spec.id)
        call.last_words = loss.last_words
        return Failed(loss.cause, loss.detail)

    async def _ready(self, until_s: float) -> RpcLink:
        """Returns the link, as soon as there is one.

        Raises `LinkLost` when there will be none, and `TimeoutError`.
        """
        with anyio.fail_after(until_s - self._loop.time()):
            while True:
                link = self._link
                if link is not None and not link.lost.done():
                    return link
                if self._refused or self._stop.done():
                    raise LinkLost(self._loss)
                if link is None and not self._starting:
                    rest_s = self._restarts.rest_s(self._now_s())
                    if rest_s > 0:
                        raise LinkLost(_given_up(self._loss, rest_s))
                    self._wanted.set()
                await self._changed.wait()

    async def _again(self) -> bool:
        """Waits until somebody wants the process back and it may be started; False: never more."""
        pause_s = None
        while pause_s is None:
            await self._wanted.wait()
            self._wanted = anyio.Event()
            if self._stop.done():
                return False
            pause_s = self._restarts.take(self._now_s())
            self._starting = pause_s is not None
            self._wake()
        with anyio.CancelScope() as self._pausing:
            await self._around.pause(pause_s)
        return not self._stop.done()

    async def _live(self) -> None:
        if self._stop.done():
            return
        life = ExtensionRun(
            spec=self.spec,
            timing=self._around.timing,
            asked=self._memory.answer,
            on_line=lambda line: self._around.on_line(self.spec.id, line),
            up=self._up,
            stop=self._stop,
        )
        try:
            self._loss = await run_extension(life)
        except LoadRefused as refusal:
            self._refused = True
            self._loss = Loss("protocol", str(refusal))
        finally:
            if self._link is not None:
                self._restarts.ran(self._now_s() - self._up_s)
            self._link = None
            self._starting = False
            self._wake()

    def _up(self, link: RpcLink) -> None:
        self._link = link
        self._up_s = self._now_s()
        self._starting = False
        self._was_up = True
        self._late = False
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    def _now_s(self) -> float:
        return self._around.clock.now().mono_s


def _given_up(loss: Loss, rest_s: float) -> Loss:
    """Returns the loss with the note that nothing is started for now, for whoever mends it."""
    left = f"it failed too often and is started again in {rest_s:.0f} s, or with the core"
    return msgspec.structs.replace(loss, detail=f"{loss.detail}; {left}")


class Extensions:
    """The extension processes of one core."""

    def __init__(self, around: ExtensionDeps) -> None:
        self._around = around
        self._by_handler: dict[str, ExtensionRunner] = {}
        self._running: dict[str, ExtensionRunner] = {}

    def start(self, specs: Iterable[ExtensionSpec], tasks: TaskGroup) -> None:
        """Starts the processes of those that are enabled; a call waits until its own is ready."""
        for spec in specs:
            if not spec.enabled:
                continue
            extension = self._running[spec.id] = ExtensionRunner(spec, self._around)
            for handler in spec.handlers:
                self._by_handler[handler.id] = extension
            tasks.start_soon(extension.serve)

    def runner(self, handler_id: str) -> ExtensionRunner:
        """Returns the extension of a handler; `KeyError` for one that no enabled extension has."""
        return self._by_handler[handler_id]

    def runners(self) -> dict[str, ExtensionRunner]:
        """Returns the extension of each handler of the enabled ones, by the handler's id."""
        return dict(self._by_handler)

    def health(self) -> dict[str, Health]:
        """Returns the present health of each extension, by its id."""
        return {id: extension.health for id, extension in self._running.items()}

    async def stop(self) -> None:
        """Ends all of them at the same time."""
        for extension in self._running.values():
            extension.stop_soon()
        for extension in self._running.values():
            await extension.stop()
