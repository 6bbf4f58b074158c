"""The off switch: one small file that the hook client honours as handback.

Its line is the Unix second at which it expires, or `boot <boot id>`. A file that others own or
could have touched is no switch, here as in the client.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from watchgate.core.base.clock import Instant

UNTIL_REBOOT = "until-reboot"
LONGEST_S = 7 * 86_400
_UNITS_S = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_SPAN = re.compile(r"([0-9]{1,9})([smhd])", re.ASCII)
_LINE_BYTES = 99


class OffSwitch(msgspec.Struct, frozen=True):
    """A switch in force: until a moment (Unix seconds), or until this machine starts again."""

    until_s: int | None

    def words(self) -> str:
        """Returns the end of the switch for a person; times are local."""
        if self.until_s is None:
            return "until reboot"
        try:
            until = datetime.fromtimestamp(self.until_s, UTC).astimezone()
        except (OverflowError, ValueError, OSError):
            return "for longer than the calendar goes"
        return f"until {until:%Y-%m-%d %H:%M}"


def off_seconds(text: str) -> int:
    """Returns a time to be off in seconds: `30m`, `2h`, `1d`, and 0 for `until-reboot`.

    Raises `ValueError` that names what is allowed.
    """
    if text == UNTIL_REBOOT:
        return 0
    match = _SPAN.fullmatch(text)
    seconds = int(match[1]) * _UNITS_S[match[2]] if match else 0
    if not 0 < seconds <= LONGEST_S:
        raise ValueError(
            f"{text!r} is not a time to be off: give a number with s, m, h or d of at most 7 days "
            f"(30m, 2h), or {UNTIL_REBOOT}"
        )
    return seconds


def write_switch(path: Path, until_s: int | None) -> None:
    """Switches off until a moment (Unix seconds) or reboot; replaces the file in one step.

    Raises `OSError`.
    """
    line = f"boot {boot_id()}\n" if until_s is None else f"{until_s}\n"
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    # Exclusive, so that nothing that was put there is written through.
    descriptor = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        os.fchmod(descriptor, 0o600)
        os.write(descriptor, line.encode())
    finally:
        os.close(descriptor)
    fresh.replace(path)


def read_switch(path: Path, now: Instant) -> OffSwitch | None:
    """Returns the switch that is in force at `now`, or None."""
    line = _own_line(path)
    if line is None:
        return None
    if line.isdecimal():
        until_s = int(line)
        return OffSwitch(until_s) if now.wall_us < until_s * 1_000_000 else None
    with suppress(OSError):
        if line == f"boot {boot_id()}":
            return OffSwitch(None)
    return None


def remove_switch(path: Path) -> None:
    """Switches on again; no switch is fine. Raises `OSError`."""
    path.unlink(missing_ok=True)


def boot_id() -> str:
    """Returns an id that differs after every start of this machine; raises `OSError`."""
    if sys.platform == "darwin":
        asked = subprocess.run(
            ["/usr/sbin/sysctl", "-n", "kern.bootsessionuuid"],
            capture_output=True,
            text=True,
            check=False,
        )
        if asked.returncode != 0 or not asked.stdout.strip():
            raise OSError("sysctl kern.bootsessionuuid gave no boot id")
        return asked.stdout.strip()
    return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()


def _own_line(path: Path) -> str | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        if status.st_mode != stat.S_IFREG | 0o600 or status.st_uid != os.geteuid():
            return None
        return os.read(descriptor, _LINE_BYTES).decode("ascii", "replace").strip()
    finally:
        os.close(descriptor)
