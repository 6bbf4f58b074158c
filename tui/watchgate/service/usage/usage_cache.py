"""Caches the calls of files, so that a start need not read all of them again.

One file of the cache holds the files of one folder. It is believed for a file whose device, inode,
size and time of change are the same, and only if these very readers wrote it; what is broken is as
good as none. Files that are gone are not asked for, so they are not counted.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path

import msgspec

import watchgate
from watchgate.agents.usage import FileFacts
from watchgate.core.base import decoding
from watchgate.core.usage.usage_calls import UsageCall
from watchgate.service.usage.file_reading import NotOursError, open_own
from watchgate.service.usage.followed_file import Stamp

FORMAT = 2
PACK_BYTES = 256 * 1024 * 1024
"""A larger file of the cache is neither written nor read."""

Folder = tuple[str, str]
"""An agent, and a folder with files of it."""


class CachedFile(msgspec.Struct, array_like=True):
    """The content of one file that was read up to its end; `calls` as in `encoded`."""

    name: bytes
    read_to: Stamp
    facts: FileFacts
    unreadable: int
    calls: msgspec.Raw

    def decode_calls(self) -> list[UsageCall] | None:
        """Decodes its calls; None if they are not as they should be."""
        try:
            return _CALLS.decode(self.calls)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None


class _Pack(msgspec.Struct, array_like=True):
    version: bytes
    agent: str
    folder: bytes
    entries: list[CachedFile]


_CALLS = msgspec.msgpack.Decoder(decoding.ready(list[UsageCall]))
_PACK = msgspec.msgpack.Decoder(decoding.ready(_Pack))
_ENCODER = msgspec.msgpack.Encoder()
_SUM_BYTES = 16


class UsageCache:
    """A folder of this user alone; whatever goes wrong with it changes nothing but the time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._packs: dict[Folder, dict[bytes, CachedFile]] = {}

    def entry(self, folder: Folder, name: bytes) -> CachedFile | None:
        """Returns the cached reading of a file in a folder; None without one."""
        if folder not in self._packs:
            self._packs[folder] = {each.name: each for each in self._read(folder)}
        return self._packs[folder].get(name)

    def save(self, folder: Folder, entries: Iterable[CachedFile]) -> None:
        """Replaces all that is cached of a folder."""
        pack = _Pack(_version(), folder[0], os.fsencode(folder[1]), list(entries))
        self._packs.pop(folder, None)
        with suppress(OSError, UnicodeEncodeError):
            content = _ENCODER.encode(pack)
            if len(content) <= PACK_BYTES:
                _replace(self._path(folder), _sum(content) + content)

    def release(self) -> None:
        """Keeps nothing in memory."""
        self._packs.clear()

    def _read(self, folder: Folder) -> list[CachedFile]:
        try:
            with open_own(str(self._path(folder))) as (descriptor, about):
                if stat.S_IMODE(about.st_mode) != 0o600 or about.st_size > PACK_BYTES:
                    return []
                content = os.read(descriptor, about.st_size)
            if _sum(content[_SUM_BYTES:]) != content[:_SUM_BYTES]:
                return []
            pack = _PACK.decode(content[_SUM_BYTES:])
        except (OSError, NotOursError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return []
        identity = (pack.version, pack.agent, pack.folder)
        return pack.entries if identity == (_version(), folder[0], os.fsencode(folder[1])) else []

    def _path(self, folder: Folder) -> Path:
        return self._folder / _sum(os.fsencode("\0".join(folder))).hex()


def encoded(calls: list[UsageCall]) -> msgspec.Raw | None:
    """Encodes the last state of each call; None if they cannot be kept."""
    last = {(call.id, call.request, call.side): call for call in calls}
    with suppress(UnicodeEncodeError):
        return msgspec.Raw(_ENCODER.encode(list(last.values())))
    return None


def _sum(content: bytes) -> bytes:
    return blake2b(content, digest_size=_SUM_BYTES).digest()


def _replace(path: Path, content: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, fresh = tempfile.mkstemp(dir=path.parent)
    try:
        # It may be lost in a power cut: then its sum is wrong, and it is not believed.
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        Path(fresh).replace(path)
    finally:
        Path(fresh).unlink(missing_ok=True)


@cache
def _version() -> bytes:
    """Returns a digest that changes whenever the code that reads calls from files changes."""
    package = Path(watchgate.__file__).parent
    sources = sorted((*package.glob("agents/usage/*.py"), package / "core/usage/usage_calls.py"))
    start = f"{FORMAT} {watchgate.__version__}".encode()
    return _sum(start + b"".join(source.read_bytes() for source in sources))
