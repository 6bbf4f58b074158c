"""One finding of the doctor."""

from __future__ import annotations

from typing import Literal

import msgspec

Status = Literal["ok", "warn", "fail"]


class Check(msgspec.Struct, frozen=True):
    """What was looked at, how it stands, and how to mend it where that is needed."""

    check: str
    status: Status
    text: str
    mend: str = ""
