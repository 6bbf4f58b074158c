"""Facts about files: how many a folder holds, how large one is. Only names and sizes are read."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

_MANY = 100_000


class Held(msgspec.Struct):
    """What lies at some paths: counts and bytes; `cut` where not everything was seen."""

    files: int = 0
    folders: int = 0
    size_bytes: int = 0
    missing: list[str] = []
    cut: bool = False


def held(folder: str, words: Sequence[str], late: Callable[[], bool]) -> Held:
    """What lies at these paths and below; links are not followed. Stops when it is `late`."""
    found = Held()
    for word in words:
        try:
            path = Path(folder, Path(word).expanduser())
            mode = path.lstat()
        except (OSError, ValueError, RuntimeError):  # no such user, or a name that none can have
            found.missing.append(word)
            continue
        if not stat.S_ISDIR(mode.st_mode):
            found.files += 1
            found.size_bytes += mode.st_size
            continue
        found.folders += 1
        for entry in _below(path, late, found):
            found.files += 1
            found.size_bytes += entry
    return found


def _below(root: Path, late: Callable[[], bool], found: Held) -> Iterator[int]:
    """The sizes of all files below a folder."""
    folders = [str(root)]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if late() or found.files >= _MANY:
                        found.cut = True
                        return
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        yield entry.stat(follow_symlinks=False).st_size
        except OSError:
            found.cut = True


def there(folder: str, words: Sequence[str]) -> list[str]:
    """The words that name something that exists."""
    return [word for word in words if os.path.lexists(Path(folder, word))]


def command_line(pid: str) -> str:
    """The beginning of a process's command; empty where there is none to read."""
    try:
        line = Path("/proc", pid, "cmdline").read_bytes()
    except OSError:
        return ""
    return line.replace(b"\0", b" ").strip()[:80].decode(errors="replace")


def size(size_bytes: int) -> str:
    """A size as it is read: `912 B`, `4.1 kB`, `38 MB`."""
    amount = float(size_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1_000 or unit == "GB":
            break
        amount /= 1_000
    return f"{amount:.0f} {unit}" if unit == "B" or amount >= 10 else f"{amount:.1f} {unit}"
