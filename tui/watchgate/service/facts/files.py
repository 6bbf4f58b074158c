"""Turns looks into facts: one short phrase for each thing that would be touched or lost."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

_MANY = 100_000


class Held(msgspec.Struct):
    """Counts of what lies at some paths, and its bytes; `cut` where not everything was counted."""

    files: int = 0
    folders: int = 0
    size_bytes: int = 0
    missing: list[str] = []
    cut: bool = False


def held(folder: str, words: Sequence[str], late: Callable[[], bool]) -> Held:
    """Counts what lies at these paths and below, links not followed. Stops when it is `late`."""
    counts = Held()
    for word in words:
        try:
            path = Path(folder, Path(word).expanduser())
            mode = path.lstat()
        except (OSError, ValueError, RuntimeError):  # no such user, or a name that none can have
            counts.missing.append(word)
            continue
        if not stat.S_ISDIR(mode.st_mode):
            counts.files += 1
            counts.size_bytes += mode.st_size
            continue
        counts.folders += 1
        for entry in _below(path, late, counts):
            counts.files += 1
            counts.size_bytes += entry
    return counts


def _below(root: Path, late: Callable[[], bool], counts: Held) -> Iterator[int]:
    """Yields the sizes of all files below a folder."""
    folders = [str(root)]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if late() or counts.files >= _MANY:
                        counts.cut = True
                        return
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        yield entry.stat(follow_symlinks=False).st_size
        except OSError:
            counts.cut = True


def there(folder: str, words: Sequence[str]) -> list[str]:
    """Returns the words that name something that exists."""
    return [word for word in words if os.path.lexists(Path(folder, word))]


def command_line(pid: str) -> str:
    """Returns the beginning of a process's command; empty where there is none to read."""
    try:
        line = Path("/proc", pid, "cmdline").read_bytes()
    except OSError:
        return ""
    return line.replace(b"\0", b" ").strip()[:80].decode(errors="replace")


def size(size_bytes: int) -> str:
    """Returns a size as it is read: `912 B`, `4.1 kB`, `38 MB`."""
    amount = float(size_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1_000 or unit == "GB":
            break
        amount /= 1_000
    return f"{amount:.0f} {unit}" if unit == "B" or amount >= 10 else f"{amount:.1f} {unit}"
