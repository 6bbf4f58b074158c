"""The values of a replay for a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from watchgate.ui.replay.player import Player


class ReplayView(msgspec.Struct, frozen=True, kw_only=True):
    """The position of a replay: `played` of `count` records, `film_s` of `end_s` seconds.

    `now_us` is the recorded time (UTC µs), `skipped_s` the idle seconds left out just now.
    `gate_told` says whether it is recorded how the gate stood.
    """

    played: int
    count: int
    film_s: float
    end_s: float
    now_us: int
    speed: float = 1.0
    paused: bool = False
    over: bool = False
    skipped_s: float = 0.0
    gate_told: bool = True


def view_of(player: Player) -> ReplayView:
    """The replay as it stands now."""
    return ReplayView(
        played=player.played,
        count=player.count,
        film_s=player.film_s,
        end_s=player.film.end_s,
        now_us=player.now_us,
        speed=player.speed,
        paused=player.paused,
        over=player.over,
        skipped_s=player.skipped_s,
        gate_told=player.film.gate_told,
    )
