"""What counts usage in a core: its files, what stands in their place, or nothing."""

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
    """What to run until the core ends, watching the hub already; None: nothing counts usage."""
    if stage.counted is not None:
        told = stage.counted
        return lambda: _said(hub, told())
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
    others = hub.observing.follow

    def heard(event: Event) -> None:
        follow.heard(event)
        others(event)

    hub.observing.follow = heard
    return follow.run


async def _said(hub: Hub, drafts: AsyncIterator[Draft]) -> None:
    async for draft in drafts:
        hub.catch_up()
        hub.recorder.record(draft)
