"""Fetches newer prices: only when asked for, checked before they are used, kept whole.

Source: the address from which genai-prices itself updates (`DEFAULT_UPDATE_URL`).
"""

from __future__ import annotations

import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from watchgate.service.prices.price_files import (
    FETCHED,
    MAX_BYTES,
    FetchedTable,
    TableError,
    read_fetched,
    write_fetched,
)

if TYPE_CHECKING:
    from watchgate.link.paths import Paths
    from watchgate.service.prices.price_table import RateTable

TIMEOUT_S = 20.0
"""So long a download may take in all."""
FRESH_US = 24 * 3_600 * 1_000_000
"""Prices are fetched no more often than this by themselves."""
_HALF = 2
_EXPECTED = frozenset({"anthropic", "google", "openai"})


class UpdateError(Exception):
    """Prices that were not fetched; nothing has changed. The message says why."""


def fetch_prices(
    path: Path, now_us: int, *, url: str | None = None, timeout_s: float = TIMEOUT_S
) -> FetchedTable:
    """Fetches the newest table and keeps it at `path`; slow, so not on an event loop.

    Raises `UpdateError`, after which everything is as it was.
    """
    address = url or str(import_module("genai_prices.update_prices").DEFAULT_UPDATE_URL)
    content = _download(address, timeout_s)
    try:
        _check(content)
    except (TableError, ValueError, RecursionError) as fault:
        raise UpdateError(f"what {address} gave is no table of prices: {fault}") from fault
    fetched = FetchedTable(fetched_us=now_us, url=address, providers=msgspec.Raw(content))
    try:
        write_fetched(path, fetched)
    except OSError as fault:
        raise UpdateError(f"{path} cannot be written: {fault.strerror}") from fault
    return fetched


def fetch_if_old(
    paths: Paths, now_us: int, *, url: str | None = None, timeout_s: float = TIMEOUT_S
) -> str:
    """Fetches prices if those fetched are older than a day; returns what to say about it, or ""."""
    path = paths.data_dir / FETCHED
    try:
        fetched = read_fetched(path)
    except (OSError, ValueError):
        fetched = None
    if fetched is not None and 0 <= now_us - fetched.fetched_us < FRESH_US:
        return ""
    try:
        fetch_prices(path, now_us, url=url, timeout_s=timeout_s)
    except UpdateError as fault:
        return f"prices were not updated: {fault}"
    return "prices were updated"


def _download(url: str, timeout_s: float) -> bytes:
    """Downloads a URL within a total time: a slow sender would pass a limit for each wait."""
    http = import_module("httpx2")
    until_s = time.monotonic() + timeout_s
    content = bytearray()
    try:
        with http.stream("GET", url, timeout=http.Timeout(timeout_s)) as answer:
            if answer.status_code != 200:
                raise UpdateError(f"{url} answered {answer.status_code}")
            for chunk in answer.iter_bytes():
                content += chunk
                if len(content) > MAX_BYTES // _HALF:
                    raise UpdateError(f"{url} sends more than a table of prices has")
                if time.monotonic() > until_s:
                    raise UpdateError(f"{url} took longer than {timeout_s:g} s")
    except (http.HTTPError, http.InvalidURL) as fault:
        why = str(fault) or type(fault).__name__
        raise UpdateError(f"{url} cannot be reached: {why}") from fault
    return bytes(content)


def _check(content: bytes) -> None:
    """Raises `TableError` or `ValueError` unless this is a table as good as the one we have."""
    make: type[RateTable] = import_module("watchgate.service.prices.price_table").RateTable
    ours, theirs = make(), make(msgspec.json.decode(content))
    missing = _EXPECTED - theirs.providers
    if missing:
        raise TableError(f"it lacks {', '.join(sorted(missing))}")
    if theirs.size * _HALF < ours.size:
        raise TableError(f"it has {theirs.size} models, the one in use {ours.size}")
    theirs.check()
