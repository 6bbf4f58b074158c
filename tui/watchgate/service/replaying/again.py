"""Decides a whole recording again, and compares the outcomes that can be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from watchgate.agents.base import Adapter
from watchgate.agents.traits import traits_in
from watchgate.core.budget import Budgets
from watchgate.core.config import Config
from watchgate.core.handlers import Handler
from watchgate.core.records import Record
from watchgate.service.replaying.doubtful import Doubtful
from watchgate.service.replaying.judge import Judge
from watchgate.service.replaying.outcomes import Outcome, differing, outcome, shown
from watchgate.service.replaying.player import Played, Player
from watchgate.service.replaying.rebuilt import NOT_KEPT
from watchgate.service.replaying.recording import Recording

_CALLS = ("tool.pre", "tool.permission", "question")
_CROWDED = "MiB wait already"
_HANGS_ON = "it is held against a call that cannot be decided again"


class Difference(msgspec.Struct, frozen=True):
    """One event that is decided otherwise this time; `recorded` and `again` are its outcomes."""

    seq: int
    at: int
    agent: str
    session: str
    call: str | None
    request: str | None
    tool: str
    summary: str
    differs: tuple[str, ...]
    recorded: dict[str, Any]
    again: dict[str, Any]


class Again(msgspec.Struct, frozen=True):
    """Every difference, oldest first; how many events were decided again, and why others not."""

    differences: tuple[Difference, ...]
    decided: int
    left_out: dict[str, int]


def decide_again(
    records: Iterable[Record],
    config: Config,
    judge: Callable[[], Judge],
    handlers: Iterable[Handler],
    adapters: Mapping[str, Adapter],
) -> Again:
    """Decides a recording again.

    A core that was started anew remembered nothing but how budgets stood, so the records of each
    core are played by themselves.

    Args:
        records: The recording, in order.
        config: The configuration to decide by.
        judge: Makes a policy gate that remembers nothing.
        handlers: The handlers to decide by; none of them is run.
        adapters: The agents by name.
    """
    lives: dict[str, list[Record]] = {}
    for record in records:
        lives.setdefault(record.core, []).append(record)
    handlers = tuple(handlers)
    differences: list[Difference] = []
    decided, left_out = 0, Counter[str]()
    budgets: Budgets = {}
    for life in lives.values():
        if purged := sum(record.kind in _CALLS and not record.data for record in life):
            left_out[NOT_KEPT] += purged
        recording = Recording(life, adapters)
        gate = judge()
        gate.budgets = budgets
        player = Player(recording, config, gate, handlers, traits_in(adapters))
        player.run()
        doubtful = Doubtful()
        compared: list[tuple[Played, Outcome, Outcome]] = []
        for played in player.played:
            if played.came.call is None and played.trace is None:
                continue
            then, now = _then(played, recording), _now(played, player)
            why = played.why_not or _unkept(played) or _crowded(then)
            if why:
                left_out[why] += 1
                doubtful.add(played.came, then, now)
            else:
                compared.append((played, then, now))
        for played, then, now in compared:
            differs = differing(then, now)
            if differs and doubtful.touches(played.came, then, now, differs):
                left_out[_HANGS_ON] += 1
                continue
            decided += 1
            if differs:
                differences.append(_difference(played, differs, then, now))
    differences.sort(key=lambda each: each.seq)
    return Again(tuple(differences), decided, dict(left_out))


def _then(played: Played, recording: Recording) -> Outcome:
    request = played.came.record.request
    asked = recording.asked.get(request or "")
    return outcome(played.came.call, asked, recording.word(request), played.trace)


def _now(played: Played, player: Player) -> Outcome:
    asked = player.asked.get(played.request or "")
    word = player.words.get(played.request or "") or None
    return outcome(played.call, asked, word, played.traced)


def _unkept(played: Played) -> str:
    """Returns why its trace cannot be compared: a verdict without a say is stored as its reason."""
    rows = () if played.trace is None else played.trace.rows
    return NOT_KEPT if any(row.ignored and not row.detail for row in rows) else ""


def _crowded(then: Outcome) -> str:
    """Returns the reason if other sessions decided about the event; else ""."""
    full = then.word == "denied-failure" and then.reason.endswith(_CROWDED)
    return "too many other calls waited" if full else ""


def _difference(
    played: Played, differs: tuple[str, ...], then: Outcome, now: Outcome
) -> Difference:
    record, call, trace = played.came.record, played.came.call, played.trace
    return Difference(
        seq=record.seq,
        at=record.at,
        agent=record.agent or "",
        session=record.session or "",
        call=record.call,
        request=record.request,
        tool=call.tool.name if call is not None else trace.tool if trace is not None else "",
        summary=call.summary if call is not None else trace.summary if trace is not None else "",
        differs=differs,
        recorded=shown(then, differs),
        again=shown(now, differs),
    )
