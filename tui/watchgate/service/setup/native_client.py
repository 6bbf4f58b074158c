"""The native hook client, which some wheels carry: taken only where it proves itself."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from watchgate.link.paths import Paths
from watchgate.service.setup import files

NAME = "hook-client"
MODE = 0o700
_PATIENCE_S = 10


def packaged() -> bytes | None:
    """The one that this package carries; None in a wheel for every platform."""
    try:
        return resources.files("watchgate").joinpath(NAME).read_bytes()
    except FileNotFoundError:
        return None


def works(places: Paths, python: Path) -> bool:
    """Whether this package carries one, and it denies here as the client in Python does.

    It is tried beside the data directory, as programs may not run in every place, and with no core
    to be found; nothing of that stays.
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
                words = (str(Path(at, "none", "ingest.sock")), "none", "gate", "-", "5", "@")
                said = _said([own, *words])
                return said == _said([python, "-I", "-S", reference, *words]) and said[0] == 2
    except (OSError, subprocess.SubprocessError):
        return False


def write(places: Paths) -> None:
    """Brings the copy that hooks run up to date, whole or not at all."""
    content, path = packaged(), places.native_client
    if content is None:
        return
    if not path.exists() or path.read_bytes() != content:
        files.replace(path, content, MODE)
    path.chmod(MODE)


def _said(words: Sequence[str | Path]) -> tuple[int, bytes, bytes]:
    done = subprocess.run(words, input=b"{}", capture_output=True, timeout=_PATIENCE_S, check=False)
    return done.returncode, done.stdout, done.stderr


def _existing(path: Path) -> Path:
    return next(each for each in (path, *path.parents) if each.is_dir())
