"""How one core is going to die, as its test says to the process that starts it."""

from __future__ import annotations

from typing import Literal

import msgspec


class Fate(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One death; with none of the fields the core lives until its test kills it.

    `side` of the step `step`, taken for the `number`th time: see `steps.py`. After `after_s`, at
    whatever it is doing. In the middle of the write that makes a file longer than `torn_at_bytes`.
    A step that was not taken after all is waited for in `tries` lives more.
    """

    step: str = ""
    number: int = 1
    side: Literal["before", "after"] = "before"
    after_s: float | None = None
    torn_at_bytes: int | None = None
    tries: int = 0


UNHARMED = Fate()


class Birth(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One core to start: where it lives, on which day after the real one, and how it dies.

    With `tells_steps` it names each step that it takes in `steps` beside its state directory.
    `flaw` is one of `flaws.py`.
    """

    place: str
    name: str
    day: int = 0
    fate: Fate = UNHARMED
    tells_steps: bool = False
    flaw: str = ""


KILL = b"kill"
"""The other line that the process understands: kill the core that is out, if it still lives."""
