"""File systems that may not answer: those of a network, or of another program."""

from __future__ import annotations

import posixpath
import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from watchgate.core.policy.places import within

TABLE = Path("/proc/self/mountinfo")
# A machine may have hundreds of mounts, and each call wants to know. What is mounted meanwhile is
# asked, as a local disk is: that may take long, and lets nothing through.
KEPT_S = 1.0

_KINDS = frozenset(
    "9p afs autofs beegfs ceph cifs coda davfs fuse gfs2 gpfs lustre ncpfs nfs nfs4 ocfs2 orangefs"
    " pvfs2 smb3 smbfs virtiofs".split()
)
# Where such file systems are mounted on systems that have no table to read.
_USUAL = ("/Network", "/Volumes", "/net")
_ESCAPED = re.compile(r"\\([0-7]{3})")


class MountTable:
    """The mount points of such file systems; reading them asks none of these."""

    def __init__(self, table: Path = TABLE, timer: Callable[[], float] = time.monotonic) -> None:
        """Reads nothing yet; `timer` counts seconds."""
        self._table = table
        self._timer = timer
        self._points: tuple[str, ...] = ()
        self._read_s: float | None = None

    def __call__(self) -> tuple[str, ...]:
        """Returns the mount points as the table says now, or said a moment ago."""
        now_s = self._timer()
        if self._read_s is None or now_s - self._read_s >= KEPT_S:
            self._points, self._read_s = _read(self._table), now_s
        return self._points


class Silent(msgspec.Struct, frozen=True):
    """The places that are not asked, as they lie at or below `mounts` that may not answer.

    Those that the `tops` (absolute folders) are on are asked all the same.
    """

    mounts: tuple[str, ...]
    tops: tuple[str, ...]

    def holder(self, place: str) -> str:
        """Returns the mount for which a place is not asked; empty where it is."""
        mount = self._on(place) if self.mounts else ""
        if not mount or any(within(top, place) for top in self.tops):
            return ""
        return "" if mount in map(self._on, self.tops) else mount

    def _on(self, place: str) -> str:
        return max((each for each in self.mounts if within(place, each)), key=len, default="")


def silent(mounts: tuple[str, ...], *tops: str) -> Silent:
    """Returns the places that are not asked for a session whose folders are these.

    Without them it could not run, and neither without the root.
    """
    return Silent(mounts, ("/", *("/" + posixpath.normpath(top).strip("/") for top in tops if top)))


def _read(table: Path) -> tuple[str, ...]:
    try:
        text = table.read_text("utf-8", "surrogateescape")
    except OSError:
        return _USUAL
    return tuple(_points(text.split("\n")))


def _points(lines: Iterable[str]) -> Iterable[str]:
    for line in lines:
        before, _, behind = line.partition(" - ")
        kind = behind.partition(" ")[0]
        if kind in _KINDS or kind.startswith("fuse."):
            yield _ESCAPED.sub(lambda code: chr(int(code[1], 8)), before.split(" ")[4])
