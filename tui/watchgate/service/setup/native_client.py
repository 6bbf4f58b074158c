"""The native hook client, which some wheels carry: used only where it proves itself."""

from __future__ import annotations

import struct
import subprocess
import tempfile
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from watchgate.link.paths import Paths
from watchgate.service.setup import files
from watchgate.service.setup.command import PASSED

NAME = "hook-client"
MODE = 0o700
_PATIENCE_S = 10
_WORD_BYTES, _FIRST, _PRIME = 8, 0xCBF29CE484222325, 0x100000001B3


def packaged() -> bytes | None:
    """Returns the one that this package carries, sealed; None in a wheel for every platform."""
    try:
        return sealed(resources.files("watchgate").joinpath(NAME).read_bytes())
    except FileNotFoundError:
        return None


def sealed(program: bytes) -> bytes:
    """Returns the program with its checksum behind it, as native/whole.c adds it.

    Both are read in words of eight bytes.
    """
    program += bytes(-len(program) % _WORD_BYTES)
    checksum = _FIRST
    for (word,) in struct.iter_unpack("=Q", program):
        checksum = (checksum ^ word) * _PRIME % 2**64
    return program + struct.pack("=Q", checksum)


def works(places: Paths, python: Path) -> bool:
    """Returns whether this package carries one that answers here as the one in Python does.

    Both must deny and hand back alike. It is tried beside the data directory, as programs may not
    run in every place, and with no core to be found; nothing of that stays.
    """
    content = packaged()
    if content is None:
        return False
    try:
        with tempfile.TemporaryDirectory(
            prefix=".watchgate-", dir=_existing(places.data_dir)
        ) as at:
            own = Path(at, NAME)
            files.replace(own, content, MODE)
            with resources.as_file(resources.files("watchgate").joinpath("client.py")) as reference:
                start: tuple[str | Path, ...] = python, "-I", "-S", reference
                for lane, template, status in (("gate", "@", 2), ("relay", "", PASSED)):
                    nowhere = str(Path(at, "none", "ingest.sock"))
                    words = nowhere, "none", lane, "-", "5", template, "2", "", str(PASSED)
                    answer = _answer([own, *words])
                    if answer != _answer([*start, *words]) or answer[0] != status:
                        return False
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def write(places: Paths) -> None:
    """Brings the copy that hooks run up to date, whole or not at all."""
    content, path = packaged(), places.native_client
    if content is None:
        return
    if not path.exists() or path.read_bytes() != content:
        files.replace(path, content, MODE)
    path.chmod(MODE)


def _answer(words: Sequence[str | Path]) -> tuple[int, bytes, bytes]:
    done = subprocess.run(words, input=b"{}", capture_output=True, timeout=_PATIENCE_S, check=False)
    return done.returncode, done.stdout, done.stderr


def _existing(path: Path) -> Path:
    return next(each for each in (path, *path.parents) if each.is_dir())
