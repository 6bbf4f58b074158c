"""The table of prices: which of its models is meant, and what that one charges.

Source of the look-up: genai-prices, `DataSnapshot.find_provider_model` and `ModelInfo.calc_price`.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Any

from genai_prices import types
from genai_prices.data import providers as bundled
from genai_prices.data_snapshot import DataSnapshot, find_provider_by_id

from watchgate.service.prices.files import TableError
from watchgate.service.prices.schedule import Schedule, schedule

US = "us"
US_SURCHARGE = (11, 10)
"""What a token costs that must be processed in the United States, as parts of what it costs else.

Source: the price page of Anthropic, `inference_geo`.
"""
_SURCHARGED = "anthropic"
_TIERS = ("default", "fast", "flex", "priority")
_LONGEST_NAME = 200
_ODD = (
    AssertionError,
    AttributeError,
    LookupError,
    RecursionError,
    StopIteration,
    TypeError,
    ValueError,
)


class Table:
    """The providers and models of genai-prices; making one takes some 0.3 s of processor time."""

    def __init__(self, raw: Any = None) -> None:
        """Take the table that comes with genai-prices, or one that was fetched and decoded.

        Raises `TableError` for one that is none.
        """
        providers = bundled if raw is None else _fetched(raw)
        self._snapshot = DataSnapshot(providers, from_auto_update=raw is not None)

    def schedule(self, provider: str, model: str, words: str) -> Schedule | None:
        """What the model charges with these words of context; None: the table has no price.

        A provider that the table does not know counts as none told.
        """
        if not model or model.startswith("<") or len(model) > _LONGEST_NAME:
            return None
        known = find_provider_by_id(self._snapshot.providers, provider) if provider else None
        try:
            owner, found = self._snapshot.find_provider_model(
                model, None, known.id if known else None, None
            )
            theirs = any(found is each for each in owner.models)
            us = US in words.split() and owner.id == _SURCHARGED
            return schedule(found, context(words) if theirs else {}, US_SURCHARGE if us else None)
        except (*_ODD, re.error):
            return None

    def newest_start(self, until: date) -> date | None:
        """The latest day until which a price of the table is known to have been entered."""
        found = [
            start
            for provider in self._snapshot.providers
            for model in provider.models
            if isinstance(model.prices, list)
            for price in model.prices
            if (start := getattr(price.constraint, "start_date", None)) and start <= until
        ]
        return max(found, default=None)

    def check(self) -> None:
        """Raise `TableError` where a model has a price that cannot be one."""
        for provider in self._snapshot.providers:
            for model in provider.models:
                try:
                    schedule(model, {})
                except _ODD as fault:
                    raise TableError(f"{provider.id} {model.id}: {fault}") from fault

    @property
    def size(self) -> int:
        """How many models it has."""
        return sum(len(provider.models) for provider in self._snapshot.providers)

    @property
    def providers(self) -> frozenset[str]:
        """The names of the providers it has."""
        return frozenset(provider.id for provider in self._snapshot.providers)


def context(words: str) -> dict[str, str]:
    """The context that the table knows by these words; a word that it does not know says nothing.

    `fast` is Anthropic's speed and OpenAI's service tier of this name.
    """
    found: dict[str, str] = {}
    for word in words.split():
        if word == "fast":
            found["speed"] = word
        if word in _TIERS:
            found["service_tier"] = word
        if word == "batch":
            found["processing"] = word
    return found


def _fetched(raw: Any) -> list[types.Provider]:
    # The library has no public way from a decoded table to its providers but its own download.
    read = getattr(types, "_providers_from_raw", None)
    if read is None:
        raise TableError("this version of genai-prices cannot read a fetched table")
    if not isinstance(raw, list):
        raise TableError("it is no list of providers")
    try:
        found: list[types.Provider] = read(raw)
    except _ODD as fault:
        raise TableError("it is not built as a table of prices is") from fault
    return found
