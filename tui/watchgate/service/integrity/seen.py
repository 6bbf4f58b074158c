"""`integrity.json` in the state directory: what the newest core knew, for the one after it.

A change that is made while no core runs shows against it, also when the list of what was installed
goes the same way.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from watchgate.core import decoding
from watchgate.core.json_faults import JSON_FAULTS
from watchgate.core.records import TamperedData
from watchgate.service import own_file
from watchgate.service.integrity.manifest import Entry


class Seen(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A core's knowledge: entries installed, alarms reported, digests of the policy in force."""

    version: Literal[1] = 1
    entries: tuple[Entry, ...] = ()
    reported: tuple[TamperedData, ...] = msgspec.field(name="told", default=())
    policy: dict[str, str] = {}


def load(path: Path) -> tuple[Seen, str]:
    """Reads what an earlier core knew, empty where there was none; and why it cannot be read."""
    try:
        return decoding.decode(own_file.read(path), Seen), ""
    except FileNotFoundError:
        return Seen(), ""
    except OSError as fault:
        return Seen(), f"{path}: {fault.strerror or fault}"
    except JSON_FAULTS as fault:
        return Seen(), f"{path}: {fault}"


def save(path: Path, snapshot: Seen) -> None:
    """Writes it for the next core. Raises `OSError`."""
    own_file.replace(path, msgspec.json.format(msgspec.json.encode(snapshot)))
