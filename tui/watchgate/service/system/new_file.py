"""A file for its owner alone, there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


class NewFileError(Exception):
    """A file that is not written; the message says why and what to do."""


@contextmanager
def new_file(path: Path, *, force: bool = False) -> Iterator[BinaryIO]:
    """Writes beside the path; the file takes its name when all of it is on the disk.

    With `force` it takes the place of an older file. Raises `NewFileError`; after that, and after
    whatever the caller raises, everything is as it was.
    """
    _check(path, force=force)
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            _check(path, force=force)
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise NewFileError(f"cannot write {path}: {error.strerror or error}") from error


def _check(path: Path, *, force: bool) -> None:
    if path.is_file():
        if not force:
            raise NewFileError(f"{path} is there already: --force takes its place")
    elif os.path.lexists(path):
        raise NewFileError(f"{path} is not a plain file: name another")
