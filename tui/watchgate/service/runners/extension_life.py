"""One run of an extension's process: starts it, initialises it, listens, and ends it.

However it goes, nothing of the process is left when this returns or is cancelled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec

from watchgate.core.extensions.load import ExtensionSpec
from watchgate.core.extensions.manifest import PROTOCOL_VERSION
from watchgate.core.extensions.restarts import RestartPolicy
from watchgate.core.extensions.rpc import Answered
from watchgate.service.runners.extension_process import ExtensionProcess, spawn
from watchgate.service.runners.rpc_link import Loss, RpcLink
from watchgate.service.runners.spawn import SpawnError

STOPPED = Loss("crash", "the extension was stopped")


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of each step of a run, in seconds.

    `exit_word_s` is how long a process that hung up has to say its exit code.
    """

    initialize_s: float = 10.0
    shutdown_s: float = 0.5
    grace_s: float = 0.5
    exit_word_s: float = 0.25
    restarts: RestartPolicy = RestartPolicy()


class LoadRefused(Exception):
    """The extension does not speak this protocol; starting it again would not change that."""


class Life(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of one run; `up` is called once the extension is ready to be asked."""

    spec: ExtensionSpec
    timing: Timing
    asked: Callable[[str, Any], Any]
    on_line: Callable[[str], None]
    up: Callable[[RpcLink], None]
    stop: asyncio.Future[None]


async def live(life: Life) -> Loss:
    """Runs the process until it is lost or told to stop, and returns how it ended.

    Raises `LoadRefused`.
    """
    try:
        process = await spawn(life.spec, life.on_line)
    except SpawnError as fault:
        return Loss("spawn", str(fault))
    link = RpcLink(process.stdout_fd, process.stdin_fd, life.asked)
    loss = STOPPED
    try:
        early = await _initialize(life, process, link)
        if early is None:
            life.up(link)
            await _first({link.lost, process.exited, life.stop})
        if life.stop.done():
            await _goodbye(life, process, link)
        else:
            loss = early or await _loss(life, process, link)
    finally:
        link.close(loss)
        await process.end()
    return loss


async def _initialize(life: Life, process: ExtensionProcess, link: RpcLink) -> Loss | None:
    """Introduces ourselves; returns how it failed, or None. Raises `LoadRefused`."""
    try:
        _, answer = link.send("initialize", life.spec.initialize)
    except ValueError as fault:
        raise LoadRefused(f"{life.spec.id} cannot be told its configuration: {fault}") from None
    limit_s = life.timing.initialize_s
    await _first({answer, link.lost, process.exited, life.stop}, limit_s)
    link.drain()
    if answer.done():
        _check(answer.result(), life.spec.id)
        return None
    if link.lost.done() or process.exited.done():
        return await _loss(life, process, link)
    if life.stop.done():
        return STOPPED
    return Loss("timeout", f"no answer to initialize in {limit_s:g} s")


def _check(answered: Answered, id: str) -> None:
    if answered.error is not None:
        raise LoadRefused(f"{id} refused to initialise: {answered.error}; see its documentation")
    result = answered.result
    version = result.get("protocol_version") if isinstance(result, dict) else None
    if type(version) is not int or version != PROTOCOL_VERSION:
        raise LoadRefused(
            f"{id} speaks protocol version {version}, not {PROTOCOL_VERSION};"
            " install a version of it that does"
        )


async def _loss(life: Life, process: ExtensionProcess, link: RpcLink) -> Loss:
    """Returns how the link was lost, in the words that help the reader."""
    link.drain()
    await _first({process.exited}, life.timing.exit_word_s)
    loss = link.lost.result() if link.lost.done() else Loss("crash", "", closed=True)
    if process.exited.done() and loss.closed:
        await process.end()
        loss = Loss("crash", f"it {process.describe_end()}")
    return msgspec.structs.replace(loss, last_words=process.last_words)


async def _goodbye(life: Life, process: ExtensionProcess, link: RpcLink) -> None:
    """Asks it to shut down, and gives it a moment to leave by itself."""
    if not link.lost.done():
        _, answer = link.send("shutdown", None)
        await _first({answer, link.lost, process.exited}, life.timing.shutdown_s)
    link.close(STOPPED)
    process.close_stdin()
    await _first({process.exited}, life.timing.grace_s)


async def _first(futures: set[asyncio.Future[Any]], limit_s: float | None = None) -> None:
    """Waits until one of them is done, or the time is over; none of them is cancelled."""
    await asyncio.wait(futures, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
