"""The record of an off switch that a core finds in force at its start."""

from __future__ import annotations

from pathlib import Path

from watchgate.core.clock import Instant
from watchgate.core.gate_folds import is_off
from watchgate.core.records import CoreData
from watchgate.core.views import GateView
from watchgate.service import off_switch


def found(path: Path, earlier: GateView, now: Instant) -> CoreData | None:
    """Returns the data of a new core's `policy.off` record; None where the gate is on.

    `earlier` is the gate as the records before this core left it: they say who switched it off,
    unless a core was killed in between.
    """
    switch = off_switch.read(path, now)
    if switch is None:
        return None
    until_us = (switch.until_s or 0) * 1_000_000
    if is_off(earlier, now.wall_us):
        return CoreData(what="the gate is still switched off", until=until_us, name=earlier.off_by)
    return CoreData(
        what="the gate was found switched off", detail="by whom is not on record", until=until_us
    )
