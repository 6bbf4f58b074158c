"""One view of all usage: the rows that were asked for, and the sums of what they are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import msgspec

from watchgate.cli.money.cost_rows import By, UsageSum, distinct, grouped, totals, used
from watchgate.core.usage.cost_choice import cost_is_lower_bound, cost_of, source_of
from watchgate.core.usage.ledger import Key, Ledger
from watchgate.core.usage.ledger_entries import Sums, rows_of
from watchgate.core.usage.session_usage import ReportedUsage
from watchgate.core.usage.usage_calls import CountedCall


def turn_rows(calls: Iterable[CountedCall]) -> list[UsageSum]:
    """The turns, the oldest first; calls of which no turn is told are one row of their session."""
    turns: dict[tuple[str, str, str], list[CountedCall]] = {}
    for counted in calls:
        owner = counted.owner
        turns.setdefault((counted.agent, owner.session, owner.turn), []).append(counted)
    rows = [_part(own, "turn", turn) for (*_, turn), own in turns.items()]
    return sorted(rows, key=lambda row: (row.last, *row.key))


def call_rows(calls: Iterable[CountedCall]) -> list[UsageSum]:
    """The calls, the oldest first."""
    rows = [_part([each], "call", each.call.id, each.call.tools) for each in calls]
    return sorted(rows, key=lambda row: (row.last, *row.key))


def _part(calls: list[CountedCall], by: By, name: str, tools: tuple[str, ...] = ()) -> UsageSum:
    sums = Sums()
    for counted in calls:
        sums.add(counted)
    figures = sums.figures()
    source = source_of(figures)
    unpriced = source != "reported" and figures.unpriced > 0
    return UsageSum(
        by=by,
        name=name,
        source=source,
        agent=calls[0].agent,
        session=calls[0].session,
        figures=figures,
        cost=cost_of(figures, source),
        is_lower_bound=unpriced or cost_is_lower_bound(figures, source),
        unpriced=distinct(each.call.model for each in calls if unpriced and each.computed is None),
        models=distinct(each.call.model for each in calls if each.call.model),
        last=max(each.owner.at_us for each in calls),
        tools=tools,
    )


FactsOf = Callable[[Key], tuple[int, str]]
"""Function that returns the number of a session's unreadable lines, and its working directory."""


class CostQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The wanted view: of one session or agent if named, and from a moment (UTC µs) or day on."""

    by: By
    key: Key | None = None
    agent: str = ""
    since_us: int = 0
    first_day: int = 0


class CostView(msgspec.Struct, frozen=True):
    """The rows, and the sum of each source."""

    rows: list[UsageSum]
    sums: list[UsageSum]


class NoSessionError(ValueError):
    """No session, or more than one, goes by the name."""


def view(
    asked: CostQuery, ledger: Ledger, reported: dict[Key, ReportedUsage], facts_of: FactsOf
) -> CostView:
    """Returns the wanted view, of what is known now."""
    rows = [row for row in ledger.rows(asked.key) if asked.agent in {"", row.agent}]
    reporting = {
        key: each
        for key, each in reported.items()
        if asked.agent in {"", key[0]} and asked.key in {None, key}
    }
    within = rows_of(_calls(asked, ledger)) if asked.since_us else None
    parts = used(rows, reporting, within=within, first_day=asked.first_day)
    sums = totals(grouped(parts, "agent"))
    if asked.by == "turn":
        return CostView(turn_rows(_calls(asked, ledger)), sums)
    if asked.by == "call":
        return CostView(call_rows(_calls(asked, ledger)), sums)
    keys = {(each.agent, each.session) for each in parts}
    return CostView([_marked(row, keys, facts_of) for row in grouped(parts, asked.by)], sums)


def find(prefix: str, keys: set[Key]) -> Key:
    """The session with this id or the only one whose id begins so; raises `NoSessionError`.

    `AGENT:ID` names the agent too.
    """
    agent, colon, rest = prefix.partition(":")
    matches = [key for key in keys if key[1] == prefix] or [
        key
        for key in keys
        if key[1].startswith(prefix) or (colon and key[0] == agent and key[1].startswith(rest))
    ]
    if not matches:
        raise NoSessionError(f"no session that used anything begins with {prefix[:80]!r}")
    if len(matches) > 1:
        named = ", ".join(f"{key[0]}:{key[1]}" for key in sorted(matches)[:5])
        raise NoSessionError(
            f"{len(matches)} sessions begin with {prefix[:80]!r}: {named}; say more"
        )
    return matches[0]


def _calls(asked: CostQuery, ledger: Ledger) -> Iterator[CountedCall]:
    for counted in ledger.calls(asked.key):
        if asked.agent not in {"", counted.agent}:
            continue
        if counted.owner.at_us >= asked.since_us and counted.day >= asked.first_day:
            yield counted


def _marked(row: UsageSum, keys: set[Key], facts_of: FactsOf) -> UsageSum:
    """The row with how many lines of its files could not be read, and where its session ran."""
    if row.by == "session":
        unreadable, cwd = facts_of((row.agent, row.session))
        return msgspec.structs.replace(row, unreadable=unreadable, cwd=cwd)
    if row.by == "agent":
        unreadable = sum(facts_of(key)[0] for key in keys if key[0] == row.agent)
        return msgspec.structs.replace(row, unreadable=unreadable)
    return row
