"""One view of all usage: the rows that were asked for, and the sums of what they are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from watchgate.cli.costs.parts import call_rows, turn_rows
from watchgate.cli.costs.rows import By, CostRow, grouped, totals
from watchgate.cli.costs.used import used
from watchgate.core.ledger.figures import CountedCall, LedgerRow
from watchgate.core.ledger.ledger import Key, Ledger
from watchgate.core.ledger.summed import rows_of
from watchgate.core.usage.session import Told

FactsOf = Callable[[Key], tuple[int, str]]
"""How many lines of a session could not be read, and its working directory."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """The wanted view: of one session or agent if named, and from a moment (UTC µs) or day on."""

    by: By
    key: Key | None = None
    agent: str = ""
    since_us: int = 0
    first_day: int = 0


class View(msgspec.Struct, frozen=True):
    """The rows, and the sum of each source."""

    rows: list[CostRow]
    sums: list[CostRow]


class NoSessionError(ValueError):
    """No session, or more than one, goes by the name."""


def view(asked: Asked, ledger: Ledger, reported: dict[Key, Told], facts_of: FactsOf) -> View:
    """Return the wanted view, of what is known now."""
    rows = [row for row in ledger.rows(asked.key) if asked.agent in {"", row.agent}]
    reporting = {
        key: each
        for key, each in reported.items()
        if asked.agent in {"", key[0]} and asked.key in {None, key}
    }
    within: list[LedgerRow] | None = None
    if asked.since_us:
        within = rows_of(_calls(asked, ledger))
    parts = used(rows, reporting, within=within, first_day=asked.first_day)
    sums = totals(grouped(parts, "agent"))
    if asked.by == "turn":
        return View(turn_rows(_calls(asked, ledger)), sums)
    if asked.by == "call":
        return View(call_rows(_calls(asked, ledger)), sums)
    keys = {(each.agent, each.session) for each in parts}
    return View([_marked(row, keys, facts_of) for row in grouped(parts, asked.by)], sums)


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


def _calls(asked: Asked, ledger: Ledger) -> Iterator[CountedCall]:
    for counted in ledger.calls(asked.key):
        if asked.agent not in {"", counted.agent}:
            continue
        if counted.owner.at_us >= asked.since_us and counted.day >= asked.first_day:
            yield counted


def _marked(row: CostRow, keys: set[Key], facts_of: FactsOf) -> CostRow:
    """The row with how many lines of its files could not be read, and where its session ran."""
    if row.by == "session":
        unreadable, cwd = facts_of((row.agent, row.session))
        return msgspec.structs.replace(row, unreadable=unreadable, cwd=cwd)
    if row.by == "agent":
        unreadable = sum(facts_of(key)[0] for key in keys if key[0] == row.agent)
        return msgspec.structs.replace(row, unreadable=unreadable)
    return row
