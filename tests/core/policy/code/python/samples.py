"""Pieces of Python from the files beside this one: each below a line of `%%` and its title."""

from __future__ import annotations

import shlex
from pathlib import Path

from tests.core.policy.calls import judge_command
from watchgate.core.model.assessment import Assessment

Sample = tuple[str, str]


def samples(name: str) -> list[Sample]:
    """The titles and codes of a file."""
    text = Path(__file__).with_name(name).read_text("utf-8")
    parts = [part.partition("\n") for part in ("\n" + text).split("\n%%")[1:]]
    return [(title.strip(), code.rstrip("\n")) for title, _, code in parts]


def judged(code: str) -> Assessment:
    """The word on `python3 -c` with this code."""
    return judge_command(f"python3 -c {shlex.quote(code)}")
