"""Decides a whole recording again, and compares the outcomes that can be compared.

- Builds what a core on this machine would decide with now: its policy and handlers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from watchgate.agents.agent_facts import traits_in
from watchgate.agents.base import Adapter
from watchgate.core.config.config import Config
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.gate.raised_risk import RETRY
from watchgate.core.model.records import CallData, Record, RequestData, TraceData
from watchgate.core.model.verdicts import TraceRow
from watchgate.core.usage.budget import Budgets
from watchgate.link.paths import Paths
from watchgate.service.hub.components import build_components
from watchgate.service.hub.core_environment import real_environment
from watchgate.service.policies.link_finder import LinkFinder
from watchgate.service.policies.policy_store import read_policies
from watchgate.service.replaying.inferred_inputs import ReplayGate
from watchgate.service.replaying.recorded_run import CONTENT_MISSING, ArrivedEvent, RecordedRun
from watchgate.service.replaying.recording_player import PlayedEvent, RecordingPlayer
from watchgate.service.runners.child_pool import ChildPool


def replay_gates(
    paths: Paths, config: Config, *, policy: Path | None = None
) -> Callable[[], ReplayGate]:
    """Returns a maker of gates with the policy in force, or with `policy` as the user's file.

    Raises `PolicyFault` for a file that cannot be used: nothing is decided by half a policy.
    """
    policies = read_policies(paths, user=policy)
    if policies.fault:
        raise PolicyFault(policies.fault)
    stage = real_environment(paths)
    links = LinkFinder(stage.home)
    return lambda: ReplayGate(
        config.profile,
        policies,
        home=stage.home,
        own=stage.protected,
        links=links,
        auto_allow=config.policy.auto_allow,
    )


class PolicyFault(ValueError):
    """The policy cannot be used; the message says where and why."""


def replay_handlers(
    paths: Paths, config: Config, environ: Mapping[str, str]
) -> tuple[Handler, ...]:
    """Returns the configured handlers, none of which is run; raises `ComponentError`."""
    pool = ChildPool()
    try:
        return build_components(config, paths, environ, pool, prints=False).handlers
    finally:
        pool.close()


_SPAN_OF_TIME: Final = re.compile(r"\b\d+(?:\.\d+)? ?(ms|s|min|h)\b")
_ROW: Final = ("handler", "role", "kind", "status", "why", "verdict", "detail", "ignored", "times")


class ReplayOutcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """The outcome of one event; `word` is how its request ended, or why there was none.

    `findings` and `trace` are plain objects, without anything that tells a time.
    """

    gate: str = ""
    word: str | None = None
    risk: str = ""
    rule: str = ""
    reason: str = ""
    findings: list[dict[str, Any]] = []
    trace: dict[str, Any] | None = None


def outcome_of(
    call: CallData | None,
    asked: RequestData | None,
    word: str | None,
    trace: TraceData | None,
) -> ReplayOutcome:
    """Builds the outcome that these records report."""
    trace_fields = None if trace is None else _trace(trace)
    if call is None:
        return ReplayOutcome(trace=trace_fields)
    held = call.gate == "held"
    return ReplayOutcome(
        gate=call.gate,
        word=word if held else call.word,
        risk=call.risk,
        rule=call.rule,
        reason=_timeless(call.reason),
        findings=[_plain(each) for each in asked.findings] if held and asked is not None else [],
        trace=trace_fields,
    )


def differing(recorded: ReplayOutcome, again: ReplayOutcome) -> tuple[str, ...]:
    """Returns the names of the fields in which two outcomes differ.

    Where the recording ends before a request or a trace did, nothing can differ from it.
    """
    unended = recorded.gate == again.gate == "held" and recorded.word is None
    skipped = {"word"} if unended else set()
    skipped |= {"trace"} if recorded.trace is None else set()
    return tuple(
        name
        for name in ReplayOutcome.__struct_fields__
        if name not in skipped and getattr(recorded, name) != getattr(again, name)
    )


def printed_outcome(outcome: ReplayOutcome, differs: tuple[str, ...]) -> dict[str, Any]:
    """Returns the outcome to print: its long parts only where they differ."""
    long = {"findings", "trace"} - set(differs)
    fields: dict[str, Any] = msgspec.to_builtins(outcome)
    return {name: value for name, value in fields.items() if name not in long}


def _trace(trace: TraceData) -> dict[str, Any]:
    return {
        "decision": trace.decision,
        "decided_by": trace.decided_by,
        "reason": _timeless(trace.reason),
        "effect": trace.effect,
        "rows": [_row(each) for each in trace.rows],
    }


def _row(row: TraceRow) -> dict[str, Any]:
    columns = {name: getattr(row, name) for name in _ROW}
    return {**columns, "detail": _timeless(row.detail)}


def _plain(finding: Any) -> dict[str, Any]:
    fields: Mapping[str, Any] = msgspec.to_builtins(finding)
    return {**fields, "reason": _timeless(str(fields["reason"]))}


def _timeless(text: str) -> str:
    """Returns the text with each span of time made equal: a retry says how long ago it was."""
    return _SPAN_OF_TIME.sub(r"N \1", text)


class UndecidedCalls:
    """The calls that were left out: what depends on one of them is as doubtful as that."""

    def __init__(self) -> None:
        self._calls: set[tuple[str, str, str | None]] = set()
        self._denied: set[tuple[str, str]] = set()

    def add(self, came: ArrivedEvent, then: ReplayOutcome, now: ReplayOutcome) -> None:
        """Notes an event that was left out."""
        event, record = came.event, came.record
        self._calls.add((event.agent, event.session, record.call))
        if any((each.word or "").startswith("denied") for each in (then, now)):
            self._denied.add((event.agent, event.session))

    def touches(
        self, came: ArrivedEvent, then: ReplayOutcome, now: ReplayOutcome, differs: tuple[str, ...]
    ) -> bool:
        """Returns whether an event may depend on such a call: its own, its retry, or a breaker."""
        event, record = came.event, came.record
        if (event.agent, event.session, record.call) in self._calls:
            return True
        if self._calls and (_rested(then) or _rested(now)):
            return True
        # Where a handler or the end of the core decided, a retry may show in the risk alone.
        retried = _retried(then) or _retried(now) or differs == ("risk",)
        return retried and (event.agent, event.session) in self._denied


def _retried(outcome: ReplayOutcome) -> bool:
    return RETRY in (outcome.rule, *(each["rule"] for each in outcome.findings))


def _rested(outcome: ReplayOutcome) -> bool:
    """Returns whether a breaker kept a handler from running, which counts over all calls."""
    rows = [] if outcome.trace is None else outcome.trace["rows"]
    return any(row["why"] == "breaker" for row in rows)


_CALLS = ("tool.pre", "tool.permission", "question")
_CROWDED = "MiB wait already"
_HANGS_ON = "it is held against a call that cannot be decided again"


class ReplayDifference(msgspec.Struct, frozen=True):
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


class ReplayResult(msgspec.Struct, frozen=True):
    """Every difference, oldest first; how many events were decided again, and why others not."""

    differences: tuple[ReplayDifference, ...]
    decided: int
    left_out: dict[str, int]


def decide_again(
    records: Iterable[Record],
    config: Config,
    judge: Callable[[], ReplayGate],
    handlers: Iterable[Handler],
    adapters: Mapping[str, Adapter],
) -> ReplayResult:
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
    differences: list[ReplayDifference] = []
    decided, left_out = 0, Counter[str]()
    budgets: Budgets = {}
    for life in lives.values():
        if purged := sum(record.kind in _CALLS and not record.data for record in life):
            left_out[CONTENT_MISSING] += purged
        recording = RecordedRun(life, adapters)
        gate = judge()
        gate.budgets = budgets
        player = RecordingPlayer(recording, config, gate, handlers, traits_in(adapters))
        player.run()
        doubtful = UndecidedCalls()
        compared: list[tuple[PlayedEvent, ReplayOutcome, ReplayOutcome]] = []
        for played in player.played:
            if played.came.call is None and played.trace is None:
                continue
            then, now = _then(played, recording), _now(played, player)
            why = played.why_not or _missing_detail(played) or _crowded(then)
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
    return ReplayResult(tuple(differences), decided, dict(left_out))


def _then(played: PlayedEvent, recording: RecordedRun) -> ReplayOutcome:
    request = played.came.record.request
    asked = recording.asked.get(request or "")
    return outcome_of(played.came.call, asked, recording.word(request), played.trace)


def _now(played: PlayedEvent, player: RecordingPlayer) -> ReplayOutcome:
    asked = player.asked.get(played.request or "")
    word = player.words.get(played.request or "") or None
    return outcome_of(played.call, asked, word, played.traced)


def _missing_detail(played: PlayedEvent) -> str:
    """Returns the reason its trace cannot be compared: ignored verdicts are stored as reasons."""
    rows = () if played.trace is None else played.trace.rows
    return CONTENT_MISSING if any(row.ignored and not row.detail for row in rows) else ""


def _crowded(then: ReplayOutcome) -> str:
    """Returns the reason if other sessions decided about the event; else ""."""
    full = then.word == "denied-failure" and then.reason.endswith(_CROWDED)
    return "too many other calls waited" if full else ""


def _difference(
    played: PlayedEvent, differs: tuple[str, ...], then: ReplayOutcome, now: ReplayOutcome
) -> ReplayDifference:
    record, call, trace = played.came.record, played.came.call, played.trace
    return ReplayDifference(
        seq=record.seq,
        at=record.at,
        agent=record.agent or "",
        session=record.session or "",
        call=record.call,
        request=record.request,
        tool=call.tool.name if call is not None else trace.tool if trace is not None else "",
        summary=call.summary if call is not None else trace.summary if trace is not None else "",
        differs=differs,
        recorded=printed_outcome(then, differs),
        again=printed_outcome(now, differs),
    )
