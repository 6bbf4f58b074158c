"""Finds the transcripts on this disk, and reads their whole lines, piece by piece."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from watchgate.agents.transcripts import TranscriptForm, TranscriptPlace
from watchgate.service.usage.file_reading import LINE_BYTES, NotOursError, behind_hole, open_own

SLICE_BYTES = 8 * 1024 * 1024
_FOLDER_BYTES = 8_192


class UnreadableError(Exception):
    """A file cannot be read: it is no file of ours, or a part of it is too large."""


class TranscriptFile(msgspec.Struct, frozen=True):
    """One file of an agent, changed last at `mtime_ns`."""

    agent: str
    path: Path
    form: TranscriptForm
    mtime_ns: int


def transcript_files(places: Iterable[TranscriptPlace], since_us: int) -> list[TranscriptFile]:
    """Returns the files that were changed since then, the newest first; each once."""
    files: dict[Path, TranscriptFile] = {}
    for place in places:
        for path in _matching(Path(place.root), place.pattern):
            try:
                about = path.lstat()
            except OSError:
                continue
            # What is written to a database may wait in a file beside it for long.
            recent = place.form == "rows" or about.st_mtime_ns >= since_us * 1_000
            if recent and not stat.S_ISDIR(about.st_mode):
                files.setdefault(
                    path, TranscriptFile(place.agent, path, place.form, about.st_mtime_ns)
                )
    return sorted(files.values(), key=lambda each: (-each.mtime_ns, str(each.path)))


def _matching(root: Path, pattern: str) -> Iterator[Path]:
    try:
        yield from root.glob(pattern)
    except OSError:
        return


def read_pieces(path: Path) -> Iterator[tuple[bytes, int]]:
    """Yields whole lines of a file, and how many lines were passed over because of their size.

    A last line without an end comes as it is. Raises `UnreadableError`.
    """
    rest, too_long = b"", False
    for block in _slices(path):
        head, end, tail = block.rpartition(b"\n")
        if not end:
            too_long = too_long or len(rest) + len(block) > LINE_BYTES
            rest = b"" if too_long else rest + block
            continue
        if too_long:
            head = head.partition(b"\n")[2]
        yield rest + head + end, int(too_long)
        rest, too_long = tail, False
    if rest or too_long:
        yield rest, int(too_long)


def read_whole(path: Path) -> bytes:
    """Reads all of a file; raises `UnreadableError`, also for one longer than a line may be."""
    parts: list[bytes] = []
    for block in _slices(path):
        parts.append(block)
        if len(parts) * SLICE_BYTES > LINE_BYTES:
            raise UnreadableError(str(path))
    return b"".join(parts)


def chat_folder(file: TranscriptFile) -> str:
    """Returns the folder that a chat of Gemini is about, which its project keeps in a file."""
    chats = [each for each in file.path.parents if each.name == "chats"]
    if file.agent != "gemini" or not chats:
        return ""
    try:
        content = read_whole(chats[0].parent / ".project_root")[:_FOLDER_BYTES]
    except UnreadableError:
        return ""
    return content.decode("utf-8", "replace").strip()


def _slices(path: Path) -> Iterator[bytes]:
    try:
        with open_own(str(path)) as (descriptor, about):
            at = 0
            while block := os.pread(descriptor, SLICE_BYTES, at):
                yield block
                at += len(block)
                # Of a hole so much is read that its line is too long, and no more.
                at = max(at, behind_hole(descriptor, at, about.st_size) - LINE_BYTES - 1)
    except (OSError, ValueError, NotOursError):
        raise UnreadableError(str(path)) from None
