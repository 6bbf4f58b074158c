"""The lines of each part of the Costs screen: sessions first, what is below goes first."""

from __future__ import annotations

import msgspec

from watchgate.ui.shape import Shape

BESIDE_FROM = 100
"""From so many columns the days stand beside the models."""
LOWER_TALL, LOWER_SHORT = 14, 6
WENT_LINES, MODELS_LEAST = 6, 3
LIMITS_TALL, LIMITS_SHORT = 3, 1
CHART_LINES = 14
TWO_GAPS_FROM, NO_GAPS_TO = 36, 24
KEPT_TABLE = 8
"""Lines that the table of sessions has at least: its head, its sum and six sessions."""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """The lines that it would take to show all of each part."""

    limits: int
    table: int
    models: int
    agents: int


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """The lines of each part with the empty ones below it; 0: it is left out."""

    totals: int
    limits: int
    table: int
    lower: int
    models: int
    days: int
    agents: int


def layout(shape: Shape, wanted: Wanted) -> Layout:
    """Returns where the lines of that screen go.

    Empty rows: two before a section on a tall screen, one on a middling, none on a low one. Rate
    limits stand in the middle of those below the totals.
    """
    gap = 2 if shape.rows >= TWO_GAPS_FROM else int(shape.rows > NO_GAPS_TO)
    limits = min(wanted.limits, LIMITS_TALL if shape.tall else LIMITS_SHORT)
    one = min(gap, 1)
    above = one if limits else gap
    rows = shape.rows - 3 - (0 if not shape.tabs else 2 if shape.tall else 1)
    room = rows - 2 - above - (limits + one if limits else 0)
    table = _table(room, gap, wanted.table, tall=shape.tall)
    lower = room - table - gap if table < room else 0
    both = lower - gap - WENT_LINES
    chart = CHART_LINES + one
    fits = shape.columns >= BESIDE_FROM and lower >= chart + wanted.agents
    agents = wanted.agents if fits else 0
    return Layout(
        totals=2 + above,
        limits=limits + one if limits else 0,
        table=table + (gap if lower else 0),
        lower=lower,
        models=gap + min(wanted.models, both) if both >= MODELS_LEAST else lower,
        days=chart if agents else lower,
        agents=agents,
    )


def _table(room: int, gap: int, wanted: int, *, tall: bool) -> int:
    """The lines of the sessions: all of the room where it is too little for more."""
    for lower in (LOWER_TALL, LOWER_SHORT) if tall else (LOWER_SHORT,):
        left = room - gap - lower
        if left >= min(wanted, KEPT_TABLE):
            return min(wanted, left)
    return room
