"""The symbolic links that a call's paths lead through, as they are on the disk now.

A link that is made after the call was judged is not seen. To look takes the loop of the core, so
that a file system that does not answer would stop every session. What lies on one that may not is
not looked at, and not known. An answer with a limit of time would not do: each new path to it would
cost everybody that limit, and a thread that is never given back.

- File systems that may not answer: those of a network, or of another program.
"""

from __future__ import annotations

import fnmatch
import os
import posixpath
import re
import stat
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from watchgate.core.model.events import Tool
from watchgate.core.policy.inputs.places import within
from watchgate.core.policy.inputs.subject import NOBODY, UNKNOWN, Links
from watchgate.core.policy.judging.call_paths import paths_named

TABLE = Path("/proc/self/mountinfo")
# A machine may have hundreds of mounts, and each call wants to know. What is mounted meanwhile is
# asked, as a local disk is: that may take long, and lets nothing through.
CACHE_S = 1.0

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
        if self._read_s is None or now_s - self._read_s >= CACHE_S:
            self._points, self._read_s = _read(self._table), now_s
        return self._points


class SilentMounts(msgspec.Struct, frozen=True):
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


def silent_mounts(mounts: tuple[str, ...], *tops: str) -> SilentMounts:
    """Returns the places that are not asked for a session whose folders are these.

    Without them it could not run, and neither without the root.
    """
    return SilentMounts(
        mounts, ("/", *("/" + posixpath.normpath(top).strip("/") for top in tops if top))
    )


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


MAX_LOOKS = 300
MAX_ENTRIES = 2_000
MAX_PATH_CHARS = 4_096
# No system follows more of them along one path.
MAX_HOPS = 40

# They lead each process elsewhere, and are no links on a disk.
_OF_A_PROCESS = ("/proc/", "/dev/")
_WILD = re.compile(r"[*?[]")


class LinkFinder:
    """Finds the links of calls; opens nothing, and what cannot be looked at is no link."""

    def __init__(self, home: str, mounts: Callable[[], tuple[str, ...]] | None = None) -> None:
        """Looks at nothing yet; `mounts` gives mounts that may not answer, else the machine's."""
        self._home = home
        self._mounts = mounts or MountTable()

    def __call__(self, tool: Tool, cwd: str) -> Links:
        """Returns the links that the call's paths lead through, as a `Subject` has them."""
        walk = _Walk(cwd, self._home, silent_mounts(self._mounts(), cwd, self._home))
        try:
            for path in paths_named(tool, cwd, self._home):
                if len(path) <= MAX_PATH_CHARS and "\0" not in path:
                    walk.go(path)
        except _TooManyError:
            return UNKNOWN
        return walk.links()


class _TooManyError(Exception):
    pass


class _Walk:
    """Walks along the paths of one call, and looks at each place on the way once.

    The session's folder is taken as it is called, also where a link leads to it.
    """

    def __init__(self, cwd: str, home: str, silent: SilentMounts) -> None:
        self._links: dict[tuple[str, str], None] = {}
        self._unchecked: dict[tuple[str, str], None] = {}
        self._silent = silent
        self._cwd = "/" + posixpath.normpath(cwd).strip("/")
        self._home = home
        self._looks = 0
        self._entries = 0
        self._leads: dict[str, str | None] = {}
        self._gone: set[str] = set()

    def go(self, path: str) -> None:
        """Notes the links along an absolute path."""
        if path not in self._gone:
            self._gone.add(path)
            start, names = self._split(path)
            self._along(start, start, names)

    def links(self) -> Links:
        """Returns the links found, by the names that the session's folder and the home go by."""
        if not self._links:
            return tuple(self._unchecked)
        tops = [(os.path.realpath(top), top) for top in (self._cwd, self._home) if top]
        named: dict[tuple[str, str], None] = {}
        for link, target in self._links:
            real, name = next((top for top in tops if within(target, top[0])), ("", ""))
            by_name = name + target[len(real) :]
            if by_name != link and not self._is_the_systems(link, target):
                named[link, by_name] = None
        return (*named, *self._unchecked)

    def _is_the_systems(self, link: str, target: str) -> bool:
        """Returns whether it is a link in the root, as /bin for /usr/bin, to nobody's home."""
        home = self._home
        return link.rfind("/") == 0 and not (within(home, target) or within(target, home))

    def _split(self, path: str) -> tuple[str, list[str]]:
        """Splits a path into the part that is not looked at, and the names behind it."""
        if within(path, self._cwd) and self._cwd != "/":
            return self._cwd, path[len(self._cwd) :].split("/")
        return "", path.split("/")

    def _along(self, real: str, written: str, names: list[str], hops: int = 0) -> str | None:
        """Returns the place to which names lead from a folder; None if nothing gets there.

        The root is empty. `written` is that folder as the call names it; links are noted by it
        where no others, of which there were `hops`, lead here.
        """
        turned = False
        for index, name in enumerate(names):
            if name in ("", "."):
                continue
            if name == "..":
                real, written = _above(self._real(real)), _above(written)
                turned = turned or real != written
                continue
            written = f"{written}/{name}"
            if not hops and _WILD.search(name):
                self._matching(real, written, names[index:])
                return None
            leads = self._look(f"{real}/{name}", hops)
            if leads is None:
                return None
            if not hops and leads != f"{real}/{name}":
                self._note(written, leads)
            real = leads
        if turned and not hops:
            self._note(written, real)
        return real

    def _matching(self, real: str, written: str, names: list[str]) -> None:
        """Goes along all entries of a folder that a name with wildcards may become."""
        fits = re.compile(fnmatch.translate(names[0])).match
        for entry in self._entries_of(real):
            if not fits(entry) or (entry[0] == "." != names[0][0]):
                continue
            leads = self._look(f"{real}/{entry}", 0)
            if leads is None:
                continue
            if leads != f"{real}/{entry}":
                self._note(written, leads)
            if len(names) > 1:
                self._along(leads, written, names[1:])

    def _entries_of(self, folder: str) -> list[str]:
        try:
            entries = os.listdir(folder or "/")  # noqa: PTH208 - texts of paths, not yet normal
        except OSError:
            return []
        self._entries += len(entries)
        if self._entries > MAX_ENTRIES:
            raise _TooManyError
        return entries

    def _note(self, written: str, leads: str) -> None:
        if written != leads:
            self._links[written or "/", leads or "/"] = None

    def _is_silent(self, place: str) -> bool:
        mount = self._silent.holder(place)
        if mount:
            self._unchecked[mount, NOBODY] = None
        return bool(mount)

    def _look(self, at: str, hops: int) -> str | None:
        """Returns the target of one place; itself, if it is no link or cannot be looked at."""
        if at in self._leads:
            return self._leads[at]
        self._looks += 1
        if self._looks > MAX_LOOKS:
            raise _TooManyError
        if self._is_silent(at):
            self._leads[at] = None
            return None
        try:
            linked = stat.S_ISLNK(os.lstat(at).st_mode)
            target = os.readlink(at) if linked else None  # noqa: PTH115 - many of them, for each call
        except OSError:
            target = None
        if target is None or at.startswith(_OF_A_PROCESS):
            self._leads[at] = at
            return at
        # Whoever comes here once more goes in circles.
        self._leads[at] = None
        if hops < MAX_HOPS:
            start, names = self._split(posixpath.join(posixpath.dirname(at), target))
            self._leads[at] = self._along(start, start, names, hops + 1)
        return self._leads[at]

    def _real(self, folder: str) -> str:
        """Resolves the session's folder, the only one whose own path was not walked along."""
        return os.path.realpath(folder).rstrip("/") if folder == self._cwd else folder


def _above(folder: str) -> str:
    return folder.rpartition("/")[0]
