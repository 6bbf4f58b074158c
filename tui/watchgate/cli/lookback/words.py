"""Labels and lines that the parts of the page of a look back share."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

from watchgate.core.agent_state import AgentState
from watchgate.core.lookback.cost import Cost
from watchgate.core.lookback.report import Report

if TYPE_CHECKING:
    from watchgate.core.policy.assessment import Risk
    from watchgate.ui.theming.palettes import Token

LABEL = 12
"""Cells of the column that says what a line is about."""

INK: dict[Risk, Token] = {
    "critical": "critical",
    "high": "high",
    "unknown": "accent",
    "medium": "medium",
    "low": "low",
}


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a page; `about` are small notes below it, `agents` those of this machine.

    `shown` is how many of the grave calls are listed, `private` that none of them and no folder is,
    `tight` that there are few rows.
    """

    report: Report
    cost: Cost | None
    cells: int
    span: str
    shown: int
    private: bool = False
    tight: bool = False
    about: tuple[str, ...] = ()
    agents: tuple[AgentState, ...] = ()
    offset_s: int = 0


def day(at_us: int, offset_s: int) -> str:
    """The day of a moment (UTC µs) for people; the clock is so far ahead of UTC."""
    local = datetime.fromtimestamp(at_us / 1_000_000, UTC) + timedelta(seconds=offset_s)
    return f"{local.day} {local:%b}"


def span_of(report: Report, offset_s: int) -> str:
    """The days that a report is about, in words."""
    until = datetime.fromtimestamp(report.now_us / 1_000_000, UTC) + timedelta(seconds=offset_s)
    return f"{day(report.since_us, offset_s)} - {until.day} {until:%b %Y}"
