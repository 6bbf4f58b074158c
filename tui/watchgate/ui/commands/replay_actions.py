"""The actions of a replay's keys, and of the one that starts it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from watchgate.core.base.amounts import count
from watchgate.ui.replay.replay_source import MINUTE_S, Player

if TYPE_CHECKING:
    from watchgate.ui.commands.console import Console

Action = Callable[["Console"], None]


def play(console: Console) -> None:
    """Fetch the session of the call under the cursor, and play it."""
    from watchgate.ui.replay.replay_source import RECORDS_MAX, NotFetched, fetch

    top, bridge = console.pages.top, console.bridge
    chosen = top.playable
    if chosen is None:
        return

    async def playing() -> None:
        message = "fetching the session"
        console.say(message)
        try:
            records = await fetch(
                bridge.call, *chosen, lambda many: console.say(f"{message}: {count(many)} records")
            )
        except NotFetched as fault:
            console.say(f"not played: {fault}")
            return
        if console.pages.top is not top or console.bridge is not bridge:
            return  # the operator went on to something else
        console.stage.play(records)
        if len(records) == RECORDS_MAX:
            console.say(
                f"its newest {count(RECORDS_MAX)} records; `watchgate replay` plays all of them"
            )

    console.start(playing)


def _moved(move: Callable[[Player], None]) -> Action:
    """An action that moves the player and shows where it stands then."""

    def do(console: Console) -> None:
        recording = console.stage.recording
        if recording is not None:
            move(recording.player)
            recording.moved()
            console.wake()

    return do


ACTIONS: dict[str, Action] = {
    "pause": _moved(Player.pause),
    "step_back": _moved(lambda player: player.step(-1)),
    "step_on": _moved(lambda player: player.step(+1)),
    "call_back": _moved(lambda player: player.step_call(-1)),
    "call_on": _moved(lambda player: player.step_call(+1)),
    "request_back": _moved(lambda player: player.step_request(-1)),
    "request_on": _moved(lambda player: player.step_request(+1)),
    "minute_back": _moved(lambda player: player.seek(-MINUTE_S)),
    "minute_on": _moved(lambda player: player.seek(MINUTE_S)),
    "film_start": _moved(Player.to_start),
    "film_end": _moved(Player.to_end),
    "slower": _moved(Player.slower),
    "faster": _moved(Player.faster),
}
