"""The bundled table of prices: finds the model that is meant, and what it charges.

Source of the look-up: genai-prices, `DataSnapshot.find_provider_model` and `ModelInfo.calc_price`.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Any

from genai_prices import types
from genai_prices.data import providers as bundled
from genai_prices.data_snapshot import DataSnapshot, find_provider_by_id

from watchgate.service.prices.price_files import TableError
from watchgate.service.prices.tariffs import Schedule, schedule

US = "us"
US_SURCHARGE = (11, 10)
"""The price of a token that must be processed in the United States, as parts of the usual one.

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


class RateTable:
    """The providers and models of genai-prices; making one takes some 0.3 s of processor time."""

    def __init__(self, raw: Any = None) -> None:
        """Takes the table that comes with genai-prices, or one that was fetched and decoded.

        Raises `TableError` for one that is none.
        """
        providers = bundled if raw is None else _fetched(raw)
        self._snapshot = DataSnapshot(providers, from_auto_update=raw is not None)

    def schedule(self, provider: str, model: str, words: str) -> Schedule | None:
        """Returns the model's prices with these words of context; None: the table has no price.

        A provider that the table does not know counts as none told.
        """
        if not model or model.startswith("<") or len(model) > _LONGEST_NAME:
            return None
        known = find_provider_by_id(self._snapshot.providers, provider) if provider else None
        try:
            owner, entry = self._snapshot.find_provider_model(
                model, None, known.id if known else None, None
            )
            theirs = any(entry is each for each in owner.models)
            us = US in words.split() and owner.id == _SURCHARGED
            return schedule(entry, context(words) if theirs else {}, US_SURCHARGE if us else None)
        except (*_ODD, re.error):
            return None

    def newest_start(self, until: date) -> date | None:
        """Returns the latest day up to `until` from which the table has a price."""
        starts = [
            start
            for provider in self._snapshot.providers
            for model in provider.models
            if isinstance(model.prices, list)
            for price in model.prices
            if (start := getattr(price.constraint, "start_date", None)) and start <= until
        ]
        return max(starts, default=None)

    def check(self) -> None:
        """Raises `TableError` where a model has a price that cannot be one."""
        for provider in self._snapshot.providers:
            for model in provider.models:
                try:
                    schedule(model, {})
                except _ODD as fault:
                    raise TableError(f"{provider.id} {model.id}: {fault}") from fault

    @property
    def size(self) -> int:
        """Returns the number of models."""
        return sum(len(provider.models) for provider in self._snapshot.providers)

    @property
    def providers(self) -> frozenset[str]:
        """Returns the names of the providers."""
        return frozenset(provider.id for provider in self._snapshot.providers)


def context(words: str) -> dict[str, str]:
    """Turns words of context into those of the table; a word that it does not know is dropped.

    `fast` is Anthropic's speed and OpenAI's service tier of this name.
    """
    fields: dict[str, str] = {}
    for word in words.split():
        if word == "fast":
            fields["speed"] = word
        if word in _TIERS:
            fields["service_tier"] = word
        if word == "batch":
            fields["processing"] = word
    return fields


def _fetched(raw: Any) -> list[types.Provider]:
    # The library has no public way from a decoded table to its providers but its own download.
    read = getattr(types, "_providers_from_raw", None)
    if read is None:
        raise TableError("this version of genai-prices cannot read a fetched table")
    if not isinstance(raw, list):
        raise TableError("it is no list of providers")
    try:
        providers: list[types.Provider] = read(raw)
    except _ODD as fault:
        raise TableError("it is not built as a table of prices is") from fault
    return providers
