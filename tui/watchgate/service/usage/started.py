"""Starts the counting of usage in a core: from its files, from a stand-in, or not at all."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from watchgate.core.clock import Clock
from watchgate.core.config import Config
from watchgate.core.events import Event
from watchgate.core.records import Draft
from watchgate.link.paths import Paths
from watchgate.service.hub import Hub
from watchgate.service.prices.prices import prices_of
from watchgate.service.prices.updates import keep_new
from watchgate.service.stage import Stage
from watchgate.service.usage.cache import FOLDER
from watchgate.service.usage.counting import Counting
from watchgate.service.usage.follow import UsageFollow


def following(
    hub: Hub, clock: Clock, stage: Stage, config: Config, paths: Paths
) -> Callable[[], Coroutine[Any, Any, None]] | None:
    """Subscribes to the hub; returns what to run until the core ends, None to count nothing.

    Args:
        hub: The core's hub.
        clock: Source of UTC time.
        stage: The environment, which may hold a stand-in for the files.
        config: The configuration.
        paths: Watchgate's own paths.
    """
    if stage.counted is not None:
        stand_in = stage.counted
        return lambda: _record_all(hub, stand_in())
    if stage.proc is None and not stage.places:
        return None
    counting = Counting(
        stage.places if config.costs.transcripts else (),
        lambda: prices_of(config, paths, clock.now().wall_us),
        cache=paths.state_dir / FOLDER,
    )
    fetch = (lambda now_us: keep_new(paths, now_us)) if config.costs.update_prices else None
    follow = UsageFollow(hub, clock, counting, journal=paths.journal, fetch=fetch)
    hub.recorder.watchers.add(follow)
    others = hub.observed.on_session_event

    def on_event(event: Event) -> None:
        follow.on_event(event)
        others(event)

    hub.observed.on_session_event = on_event
    return follow.run


async def _record_all(hub: Hub, drafts: AsyncIterator[Draft]) -> None:
    async for draft in drafts:
        hub.catch_up()
        hub.recorder.record(draft)
