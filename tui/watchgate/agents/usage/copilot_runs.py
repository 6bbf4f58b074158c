"""A run of a session has answers while it goes on, and totals at its end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from watchgate.agents.usage.reading import key_of
from watchgate.agents.usage.typed_lines import Count
from watchgate.core.ledger.call import UsageCall
from watchgate.core.ledger.ledger import RecordKey

MOST_REQUESTS: Final = 4_096
"""Into so many calls at most the totals of one model are spread."""


class _Requests(msgspec.Struct, gc=False):
    count: Count | None = None


class _Usage(msgspec.Struct, gc=False):
    """Counts: `input` includes cache reads and writes, `output` the reasoning."""

    input: Count | None = msgspec.field(default=None, name="inputTokens")
    output: Count | None = msgspec.field(default=None, name="outputTokens")
    cache_read: Count | None = msgspec.field(default=None, name="cacheReadTokens")
    cache_write: Count | None = msgspec.field(default=None, name="cacheWriteTokens")
    reasoning: Count | None = msgspec.field(default=None, name="reasoningTokens")


class Used(msgspec.Struct):
    """The use of one model in a run, and its number of requests."""

    usage: _Usage | None = None
    requests: _Requests | None = None

    @property
    def tokens(self) -> tuple[int, ...]:
        """Uncached input, answers, cache reads and writes, reasoning; empty where all is 0."""
        usage = self.usage or _Usage()
        read, write, output = usage.cache_read or 0, usage.cache_write or 0, usage.output or 0
        fresh = usage.input or 0
        # A figure below its own parts excludes them.
        fresh -= read + write if fresh >= read + write else 0
        reasoning = min(usage.reasoning or 0, output)
        counts = (fresh, output - reasoning, read, write, reasoning)
        return counts if any(counts) else ()

    @property
    def parts(self) -> int:
        """The requests that there were, as far as they are told."""
        return min(max(1, (self.requests.count if self.requests else None) or 1), MOST_REQUESTS)


class Run:
    """The answers of a run that goes on."""

    def __init__(self) -> None:
        self._calls: dict[RecordKey, UsageCall] = {}

    def add(self, call: UsageCall) -> UsageCall:
        """Keeps an answer, in place of the one with the same key."""
        self._calls[key_of(call)] = call
        return call

    def calls(self) -> list[UsageCall]:
        """Returns the answers, the oldest first."""
        return list(self._calls.values())

    def without_model(self) -> list[UsageCall]:
        """Returns the answers of which no model was named so far."""
        return [call for call in self._calls.values() if not call.model]


def spread(
    used: dict[str, Used], run: Run, named: str, at_us: int, session: str
) -> Iterator[UsageCall]:
    """Yields a run's totals as the calls that they are of: evenly, and at the times of its answers.

    A price goes by the size of one request and a day by its time, so that the totals as one call
    would be priced too high and on the day of the end. The sums stay exactly what was reported.

    Args:
        used: the totals by model.
        run: the answers of the run.
        named: the name of the run, with which its calls' ids begin.
        at_us: the end of the run (UTC µs), for one without answers.
        session: the session that the run is of.
    """
    times = [call.at_us for call in run.calls()] or [at_us]
    for model, each in used.items():
        parts = each.parts
        for place in range(parts):
            share = [total * (place + 1) // parts - total * place // parts for total in each.tokens]
            call_id = f"{named} {model} {place}"
            call = UsageCall(
                id=call_id,
                at_us=times[place * len(times) // parts],
                session=session,
                model=model,
                input=share[0],
                output=share[1] + share[4],
                cache_read=share[2],
                cache_5m=share[3],
                reasoning=share[4],
                request=call_id,
            )
            if call.tokens:
                yield call
