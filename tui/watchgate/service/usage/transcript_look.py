"""Reads all transcripts of this disk once, the newest first, and adds up what sessions cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from watchgate.agents.transcripts import CALL_READERS, TranscriptPlace
from watchgate.agents.transcripts.opencode_transcript import OpenCodeCalls
from watchgate.agents.usage import UsagePlace
from watchgate.core.lookback.lookback_fold import Lookback
from watchgate.core.lookback.lookback_report import ModelCost
from watchgate.core.lookback.transcript_call import TranscriptCall
from watchgate.core.usage.cost_choice import cost_is_lower_bound, cost_of, source_of
from watchgate.core.usage.ledger import Ledger
from watchgate.core.usage.ledger_entries import LedgerRow, rows_of
from watchgate.core.usage.usage_calls import in_nano
from watchgate.core.usage.usage_summary import total_figures
from watchgate.service.prices.prices import Prices
from watchgate.service.usage import opencode_parts
from watchgate.service.usage.transcript_files import (
    TranscriptFile,
    UnreadableError,
    chat_folder,
    read_pieces,
    read_whole,
    transcript_files,
)
from watchgate.service.usage.usage_files import UsageFiles


def lookback_cost(
    places: Sequence[UsagePlace], prices: Prices, since_us: int, day_of: Callable[[int], int]
) -> ModelCost:
    """Sums the costs of all model calls since then; `prices` must keep nothing on the disk.

    Of each session counts the agent's own figure or the computed one, never both. `day_of` gives
    the local day of a moment (UTC µs).
    """
    ledger = Ledger(prices.tariff_of, day_of)
    book = UsageFiles(places, ledger, since_us=since_us)
    book.look()
    book.refresh()
    rows = rows_of(each for each in ledger.calls() if each.owner.at_us >= since_us)
    return _total_cost(rows, prices.words() if rows else "")


def _total_cost(rows: list[LedgerRow], words: str) -> ModelCost:
    sessions: dict[tuple[str, str], list[LedgerRow]] = defaultdict(list)
    for row in rows:
        sessions[row.agent, row.session].append(row)
    pico, priced, is_lower_bound, unpriced = 0, False, False, set()
    for mine in sessions.values():
        figures = total_figures(mine)
        source = source_of(figures)
        cost = cost_of(figures, source)
        if cost is not None:
            pico, priced = pico + cost, True
        if source != "reported":
            unpriced |= {row.model for row in mine if row.figures.unpriced and row.figures.tokens}
        is_lower_bound = is_lower_bound or cost is None or cost_is_lower_bound(figures, source)
    return ModelCost(
        usd_nano=in_nano(pico) if priced else None,
        is_lower_bound=is_lower_bound and priced,
        calls=sum(row.figures.calls for row in rows),
        tokens=sum(row.figures.tokens for row in rows),
        unpriced=tuple(sorted(unpriced)),
        prices=words,
    )


class TranscriptLook:
    """Reads into a `Lookback`; it may be stopped anywhere, and what was taken in stays right."""

    def __init__(self, places: Iterable[TranscriptPlace], fold: Lookback, *, since_us: int) -> None:
        self.files = transcript_files(places, since_us)
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

    def _calls(self, file: TranscriptFile) -> Iterator[list[TranscriptCall]]:
        if file.form == "rows":
            rows = OpenCodeCalls()
            try:
                yield from opencode_parts.call_batches(file.path, rows, self._since_us)
            finally:
                self.unreadable_lines += rows.unreadable
        elif file.form == "part":
            yield self._part(file.path)
        else:
            yield from self._transcript(file)

    def _transcript(self, file: TranscriptFile) -> Iterator[list[TranscriptCall]]:
        reader = CALL_READERS[file.agent](file.path.stem, chat_folder(file))
        try:
            if file.form == "whole":
                yield reader.read(read_whole(file.path))
                return
            for chunk, too_long in read_pieces(file.path):
                self.unreadable_lines += too_long
                yield reader.read(chunk)
        finally:
            self.unreadable_lines += reader.unreadable

    def _part(self, path: Path) -> list[TranscriptCall]:
        """Reads one part of OpenCode's older store, whose sessions are files beside it."""
        storage = path.parents[2]
        reader = self._sessions_of.get(storage)
        if reader is None:
            reader = self._sessions_of[storage] = OpenCodeCalls()
            for session in storage.glob("session/*/*.json"):
                reader.session(read_whole(session))
        before = reader.unreadable
        calls = reader.read(read_whole(path))
        self.unreadable_lines += reader.unreadable - before
        return calls
