"""Where a path leads, worked out from text alone: symlinks are not followed."""

from __future__ import annotations

import posixpath

import msgspec

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


def within(path: str, folder: str) -> bool:
    """Whether an absolute path is the folder or lies below it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


class Place(msgspec.Struct, frozen=True):
    """Where a call runs: the session's folder, the home, and the folder it is in by now.

    All are absolute, or empty where they are not known. `own` are the absolute paths of our own
    files and of the settings that put us in the agents' way.
    """

    session: str
    home: str
    cwd: str
    own: tuple[str, ...] = ()

    def moved(self, path: str) -> Place:
        """The place after changing to this folder."""
        return msgspec.structs.replace(self, cwd=self.resolve(path))

    def resolve(self, path: str) -> str:
        """The normalised path; as it is written if the folder it starts from is not known."""
        for names, value in ((_HOMES, self.home), (_HERE, self.cwd)):
            for name in names:
                if value and (path == name or path.startswith(name + "/")):
                    path = value + path[len(name) :]
        if path.startswith(_ELSEWHERE):
            return path
        normal = posixpath.normpath(posixpath.join(self.cwd, path))
        return "/" + normal.lstrip("/") if normal.startswith("/") else normal

    def outside(self, path: str) -> bool:
        """Whether a path leaves the session's folder; a name below an unknown folder does not."""
        resolved = self.resolve(path)
        if resolved.startswith("/"):
            return not self.session or not within(resolved, posixpath.normpath(self.session))
        return resolved.startswith(("..", *_ELSEWHERE))

    def temporary(self, path: str) -> bool:
        """Whether a path lies below a folder for temporary files."""
        resolved = self.resolve(path)
        return any(resolved != top and within(resolved, top) for top in TEMPORARY)

    def spills(self, path: str) -> bool:
        """Whether writing here leaves the session's folder; temporary and device files do not."""
        device = within(self.resolve(path), "/dev")
        return self.outside(path) and not device and not self.temporary(path)

    def sweeping(self, path: str) -> bool:
        """Whether removing this path takes a home, the root or something outside the session."""
        resolved = self.resolve(path)
        if posixpath.basename(resolved) in ("*", ".*", ".[!.]*"):
            resolved = posixpath.dirname(resolved) or "."
        if resolved in ("/", self.home):
            return True
        return self.outside(resolved) and not self.temporary(resolved)

    def is_own(self, path: str) -> bool:
        """Whether a path is one of our own files or lies in one of our folders."""
        resolved = self.resolve(path)
        return any(within(resolved, own) for own in self.own)

    def holds_own(self, path: str) -> bool:
        """Whether our own files lie below this path; the home and what holds it do not count."""
        resolved = self.resolve(path)
        if self.home and within(self.home, resolved):
            return False
        return resolved != "/" and any(within(own, resolved) for own in self.own)
