"""Reads all transcripts of this disk once, the newest first, and adds up what sessions cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from watchgate.agents.transcripts import CALL_READERS
from watchgate.agents.transcripts.opencode import OpenCodeCalls
from watchgate.agents.transcripts.places import TranscriptPlace
from watchgate.core.lookback.asked import Asked
from watchgate.core.lookback.fold import Lookback
from watchgate.service.lookback import opencode
from watchgate.service.lookback.files import Found, UnreadableError, found_files, pieces, whole

_FOLDER_BYTES = 8_192


class Look:
    """Reads into a `Lookback`; it may be stopped anywhere, and what was taken in stays right."""

    def __init__(self, places: Iterable[TranscriptPlace], fold: Lookback, *, since_us: int) -> None:
        self.files = found_files(places, since_us)
        self.read = 0
        self.unreadable_lines = 0
        self.unreadable_files = 0
        self._fold = fold
        self._since_us = since_us
        self._sessions_of: dict[Path, OpenCodeCalls] = {}

    def run(self, on_progress: Callable[[int, int], None] = lambda _files, _calls: None) -> None:
        """Reads every file; `on_progress` gets the numbers of files done and of calls read."""
        for file in self.files:
            try:
                for asked in self._calls(file):
                    self._fold.take(asked)
                    on_progress(self.read, self._fold.count)
            except UnreadableError:
                self.unreadable_files += 1
            self.read += 1
            on_progress(self.read, self._fold.count)

    def _calls(self, file: Found) -> Iterator[list[Asked]]:
        if file.form == "rows":
            rows = OpenCodeCalls()
            try:
                yield from opencode.batches(file.path, rows, self._since_us)
            finally:
                self.unreadable_lines += rows.unreadable
        elif file.form == "part":
            yield self._part(file.path)
        else:
            yield from self._transcript(file)

    def _transcript(self, file: Found) -> Iterator[list[Asked]]:
        reader = CALL_READERS[file.agent](file.path.stem, _folder_of(file))
        try:
            if file.form == "whole":
                yield reader.read(whole(file.path))
                return
            for chunk, too_long in pieces(file.path):
                self.unreadable_lines += too_long
                yield reader.read(chunk)
        finally:
            self.unreadable_lines += reader.unreadable

    def _part(self, path: Path) -> list[Asked]:
        """Reads one part of OpenCode's older store, whose sessions are files beside it."""
        storage = path.parents[2]
        reader = self._sessions_of.get(storage)
        if reader is None:
            reader = self._sessions_of[storage] = OpenCodeCalls()
            for session in storage.glob("session/*/*.json"):
                reader.session(whole(session))
        before = reader.unreadable
        calls = reader.read(whole(path))
        self.unreadable_lines += reader.unreadable - before
        return calls


def _folder_of(file: Found) -> str:
    """Returns the folder that a chat of Gemini is about, which its project keeps in a file."""
    if file.agent != "gemini":
        return ""
    chats = next((each for each in file.path.parents if each.name == "chats"), None)
    if chats is None:
        return ""
    try:
        content = whole(chats.parent / ".project_root")[:_FOLDER_BYTES]
    except UnreadableError:
        return ""
    return content.decode("utf-8", "replace").strip()
