"""Checks an agent's hook entries, and the settings that could silence them."""

from __future__ import annotations

from typing import Literal

import msgspec

Status = Literal["ok", "warn", "fail"]


class Check(msgspec.Struct, frozen=True):
    """One finding: its subject, its status, and the mend where one is needed."""

    check: str
    status: Status
    text: str
    mend: str = ""
