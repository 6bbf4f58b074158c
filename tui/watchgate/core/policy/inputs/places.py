"""Resolution of paths by their text and the symbolic links that are known."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

import msgspec

from watchgate.core.policy.inputs.subject import EVERYTHING, Links

TEMPORARY = (
    "/tmp",
    "/var/tmp",
    "/private/tmp",
    "/var/folders",
    "/private/var/folders",
    "/dev/shm",
)
_HOMES = ("${HOME}", "$HOME", "~")
_HERE = ("${PWD}", "$PWD")
_ELSEWHERE = ("~", "$HOME", "${HOME}")
_UNKNOWN = ("~", "$")
_STREAM = re.compile(r"/dev/(?:null|zero|full|u?random|std(?:in|out|err)|tty|fd/\d+)")
_RAW_DEVICE = re.compile(
    r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|r?disk\d|mapper/|dm-|md\d|loop\d|zvol/|mem$|kmem$)"
)


PLAIN_NAMES = re.compile(r"[\w-][\w.+-]*(?:/[\w-][\w.+-]*)*")
"""Names below a folder that are written as a normalised path has them."""


def within(path: str, folder: str) -> bool:
    """Returns whether an absolute path is the folder or lies below it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


class Place(msgspec.Struct, frozen=True, gc=False):
    """The place where a call runs: the session's folder, the home, and the current folder.

    All are absolute, or empty where they are not known. `own` are the absolute paths of our own
    files and of the settings that put us in the agents' way. `links` are those of the `Subject`,
    `changed` those too with what the call itself writes.
    """

    session: str
    home: str
    cwd: str
    own: tuple[str, ...] = ()
    links: Links = ()
    changed: frozenset[str] = frozenset()

    def resolve(self, path: str) -> str:
        """Returns the normalised path; as written if the folder it starts from is not known."""
        if PLAIN_NAMES.fullmatch(path) and _is_normal(self.cwd):
            return f"{self.cwd}/{path}"
        for names, value in ((_HOMES, self.home), (_HERE, self.cwd)):
            for name in names:
                if value and (path == name or path.startswith(name + "/")):
                    path = value + path[len(name) :]
        if path.startswith(_UNKNOWN):
            return path
        normal = posixpath.normpath(posixpath.join(self.cwd, path))
        return "/" + normal.lstrip("/") if normal.startswith("/") else normal

    def leads_to(self, path: str, *, itself: bool = True) -> tuple[str, ...]:
        """Returns the targets of the links in the path; of its last name only with `itself`.

        Who removes or renames a link does that to the link, and not to what it leads to.
        """
        if not self.links:
            return ()
        resolved = self.resolve(path)
        if not itself:
            itself = path.endswith(("/", "/."))
        return tuple(dict.fromkeys(_led(_targets(self.links), resolved, itself=itself)))

    def forms(self, path: str) -> tuple[str, ...]:
        """Returns the path as it is written, and all that it leads to."""
        return (path, *self.leads_to(path))

    def outside(self, path: str) -> bool:
        """Returns whether a path leaves the session's folder; not below an unknown folder."""
        resolved = self.resolve(path)
        if resolved.startswith("/"):
            if _STREAM.fullmatch(resolved):
                return False
            return not self.session or not within(resolved, posixpath.normpath(self.session))
        return resolved.startswith(("..", *_ELSEWHERE))

    def inside(self, path: str) -> bool:
        """Returns whether a path is known to lie in the session's folder, or is that folder."""
        resolved = self.resolve(path)
        if resolved.startswith("/"):
            return bool(self.session) and within(resolved, posixpath.normpath(self.session))
        return not resolved.startswith(("..", *_UNKNOWN))

    def temporary(self, path: str) -> bool:
        """Returns whether a path lies below a folder for temporary files.

        The session's folder and a home are work wherever they lie: a container may have both there.
        """
        resolved = self.resolve(path)
        if self.session and within(resolved, posixpath.normpath(self.session)):
            return False
        if self.home and (within(resolved, self.home) or within(self.home, resolved)):
            return False
        return any(resolved != top and within(resolved, top) for top in TEMPORARY)

    def device(self, path: str) -> bool:
        """Returns whether a path is a disk, a partition or memory itself."""
        return bool(_RAW_DEVICE.match(self.resolve(path)))

    def sweeping(self, path: str) -> bool:
        """Returns whether removing the path takes a home, the root or what is not the session's."""
        resolved = self.resolve(path)
        if self.temporary(resolved):
            return False
        if posixpath.basename(resolved) in ("*", ".*", ".[!.]*"):
            resolved = posixpath.dirname(resolved) or "."
        if resolved in ("/", self.home):
            return True
        return self.outside(resolved)

    def is_own(self, path: str) -> bool:
        """Returns whether a path is one of our own files or below one; letter case is ignored."""
        if not self.own:
            return False
        resolved = self.resolve(path).casefold()
        whole, below, _ = _index(self.own)
        return resolved in whole or resolved.startswith(below)

    def is_changed(self, path: str) -> bool:
        """Returns whether the session has written this file."""
        return self.resolve(path) in self.changed or self.changed == EVERYTHING

    def holds_own(self, path: str) -> bool:
        """Returns whether our own files lie below this path; homes and what holds them never."""
        if not self.own:
            return False
        resolved = self.resolve(path).casefold()
        whole, _, holders = _index(self.own)
        if resolved == "/" or not (resolved in whole or resolved.rstrip("/") in holders):
            return False
        return not (self.home and within(self.home.casefold(), resolved))


def _led(targets: Mapping[str, list[str]], path: str, *, itself: bool) -> Iterator[str]:
    """Yields the path with each of its beginnings that is a link replaced by the link's target."""
    ends = [at for at, char in enumerate(path) if char == "/"]
    for end in (*ends, len(path)) if itself else ends:
        for target in targets.get(path[:end] or "/", ()):
            led = target.rstrip("/") + ("" if path == "/" else path[end:])
            if (led or "/") != path:
                yield led or "/"


@lru_cache(maxsize=4)
def _targets(links: Links) -> dict[str, list[str]]:
    targets: dict[str, list[str]] = {}
    for link, target in links:
        targets.setdefault(link, []).append(target)
    return targets


@lru_cache(maxsize=16)
def _is_normal(folder: str) -> bool:
    absolute = len(folder) > 1 and folder[0] == "/" != folder[1]
    return absolute and posixpath.normpath(folder) == folder


@lru_cache(maxsize=4)
def _index(own: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...], frozenset[str]]:
    """Returns these paths, the prefixes of paths below them, and the folders that hold them.

    All without case, as a file system may have them.
    """
    own = tuple(path.casefold() for path in own)
    below = tuple(path.rstrip("/") + "/" for path in own)
    holders = (path[:at] for path in own for at, char in enumerate(path) if char == "/")
    return frozenset(own), below, frozenset(holders)
