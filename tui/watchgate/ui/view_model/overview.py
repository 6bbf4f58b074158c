"""Values of the strip and the sidebar for a state, and the line left in the shell.

Nothing here draws.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from watchgate.core.base.amounts import count, plural
from watchgate.core.base.text import safe_text
from watchgate.core.model.agent_state import WITHOUT_CORE, WithoutCore
from watchgate.core.model.session_view import SessionView, SubView
from watchgate.core.model.sessions import SessionState, unknown_state_words
from watchgate.core.model.views import GateView, PendingView, Totals
from watchgate.core.state.gate_folds import is_off
from watchgate.core.state.state import State
from watchgate.ui.approval.consequences import seconds_left, silence
from watchgate.ui.base.formats import ago, clock, cut, person
from watchgate.ui.base.theme import RISK_RANK
from watchgate.ui.costs.budget_words import today as today_budget
from watchgate.ui.costs.cost_sums import today_words
from watchgate.ui.fleet.fleet_words import host_chips, hosts_words
from watchgate.ui.source.core_bridge import Link

MINUTE_S = 60
URGENT_S = 10
LABEL_CELLS = 16
CHIP_CELLS = 58
_URGENCY = {SessionState.WAITING: 0, SessionState.NEEDS_THERE: 1}
BARS = "▁▂▃▄▅▆▇█"
BINS = 8
SCALE_MIN = 4
"""Calls in a bin that fill a bar when no session is busier: a single call stays a low bar."""


class StripView(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of the strip: counts as words, and the one most urgent thing.

    `hosts` says how many of several machines answer, `away` that something is wrong with one.
    `over_budget` and `near_budget`: the day's budget is used up, or nearly, as the words of the
    cost say.
    `none_gated` says that no session passes the gate; `ungated` calls are known to have run without
    passing one.
    `locked` says that this terminal may let nothing run until it is unlocked.
    `tampered` counts the files that the gate rests on and that are not what they were; with
    `attempted` what no proven person tried is among them.
    `alert` chooses the right end: `pending` (with `worst`, `pending` and `consequence`), `lost`
    (with `since`), `off` (with `until`), or `quiet` (with `quiet`).
    """

    profile: str = "guard"
    demo: bool = False
    hosts: str = ""
    away: bool = False
    sessions: int = 0
    none_gated: bool = False
    per_minute: str = "0"
    cost: str = "$0.00"
    cost_wide: str = "$0.00"
    over_budget: bool = False
    near_budget: bool = False
    ungated: int = 0
    tampered: int = 0
    attempted: bool = False
    locked: bool = False
    alert: Literal["pending", "lost", "off", "quiet"] = "quiet"
    worst: str = "low"
    pending: int = 0
    consequence: str = ""
    urgent: bool = False
    since: str = ""
    picture_of: str = ""
    until: str = ""
    quiet: str = "nothing pending"


def live_sessions(state: State) -> list[SessionView]:
    """The sessions that have not ended: first who needs a person, then by host and as they came."""
    live = [view for view in state.sessions.values() if view.state is not SessionState.GONE]
    order = {name: place for place, name in enumerate(state.hosts)}
    live.sort(key=lambda view: (_URGENCY.get(view.shown, 2), order.get(view.host, len(order))))
    return live


def awaits_first_call(state: State) -> bool:
    """Returns whether a session is there whose calls pass the gate, as far as is known."""
    return any(view.gated is not False for view in live_sessions(state))


def worst_risk(pending: list[PendingView]) -> str:
    """The highest risk among open requests; nothing when they only ask a person something."""
    risks = (view.data.risk for view in pending if view.data.asks == "approval")
    return max(risks, key=lambda risk: RISK_RANK.get(risk, 2), default="")


def pause_words(state: State, now_us: int, *, whole: bool) -> str:
    """Says which session is paused and how long, the one paused longest; the `whole` of it why.

    A paused session asked for more than a person can read: what it would ask is denied meanwhile.
    """
    paused = [view for view in live_sessions(state) if view.paused_until > now_us]
    if not paused:
        return ""
    view = max(paused, key=lambda view: view.paused_until)
    others = f" and {plural(len(paused) - 1, 'other')}" if len(paused) > 1 else ""
    left = person((view.paused_until - now_us) / 1_000_000)
    label = safe_text(view.label[:LABEL_CELLS])
    words = f"{label}{others} paused {left}"
    return "".join(cut(f"{words}: {safe_text(view.paused_why)}", CHIP_CELLS)) if whole else words


def journal_words(gate: GateView, *, whole: bool) -> str:
    """Says that the journal cannot be written; the `whole` of it also what that means and why."""
    if gate.journal == "ok":
        return ""
    words = "journal lost"
    why = safe_text(gate.journal)
    return "".join(cut(f"{words}, acting calls denied: {why}", CHIP_CELLS)) if whole else words


def policy_words(gate: GateView, *, whole: bool) -> str:
    """Returns the fault in the rules in force; the `whole` of it names what mends it.

    The command loads changed files, and says of broken ones where and how to mend them.
    """
    if gate.policy:
        broken = gate.policy_broken
        words = "policy broken, all is asked" if broken else "policy changed, not in force"
    elif gate.project_fault:
        words = "project policy bad, not in force"
    else:
        return ""
    return f"{words}: watchgate policy reload" if whole else words.partition(",")[0]


def silence_words(view: PendingView, now_us: int) -> str:
    """Returns the words for what silence does to a request, and when."""
    return silence(view.data, view.agent, seconds_left(view.data, now_us))


def strip_view(state: State, link: Link, now_us: int, *, demo: bool) -> StripView:
    """The strip of this moment; `now_us` is the core's clock."""
    live = live_sessions(state)
    budget = today_budget(state, now_us)
    cost, cost_wide = today_words(state, now_us, budget)
    view = StripView(
        profile=state.gate.profile,
        demo=demo,
        hosts=hosts_words(state, now_us),
        away=bool(host_chips(state, now_us)),
        sessions=len(live),
        none_gated=bool(live) and not awaits_first_call(state),
        per_minute=_per_minute(live, now_us),
        cost=cost,
        cost_wide=cost_wide,
        over_budget=budget is not None and budget.level == "used-up",
        near_budget=budget is not None and budget.level == "warned",
        ungated=sum(view.ran - view.passed for view in live),
        tampered=len(state.gate.tampered),
        attempted=state.gate.is_attempted,
        quiet="nothing pending" if state.sessions else "listening",
    )
    if link.lost:
        since = person((now_us - link.since_us) / 1_000_000)
        picture_of = clock(link.since_us) if state.seq else ""
        return msgspec.structs.replace(view, alert="lost", since=since, picture_of=picture_of)
    if link.state == "connecting":
        return msgspec.structs.replace(view, quiet="connecting")
    pending = state.by_deadline()
    if is_off(state.gate, now_us):
        until = _on_again(state.gate, now_us)
        return msgspec.structs.replace(view, alert="off", until=until, pending=len(pending))
    if not pending:
        return view
    left = seconds_left(pending[0].data, now_us)
    return msgspec.structs.replace(
        view,
        alert="pending",
        worst=worst_risk(pending),
        pending=len(pending),
        consequence=silence_words(pending[0], now_us),
        urgent=left is not None and left <= URGENT_S,
    )


class Waiting(msgspec.Struct, frozen=True):
    """The requests that are open at a core: how many, the highest risk, what silence does when."""

    count: int = 0
    worst: str = ""
    consequence: str = ""


def waiting_view(state: State, now_us: int) -> Waiting:
    """Returns the summary of the requests that wait at a core not on the screen."""
    pending = state.by_deadline()
    if not pending:
        return Waiting()
    return Waiting(len(pending), worst_risk(pending), silence_words(pending[0], now_us))


def session_word(view: SessionView, waiting_since: int | None, now_us: int) -> str:
    """Returns the word for a session's state, with the duration where that is of use."""
    if view.shown is SessionState.WAITING:
        return f"waiting {person((now_us - (waiting_since or view.since)) / 1_000_000)}"
    if view.shown is SessionState.NEEDS_THERE:
        return str(view.shown)
    if view.paused_until > now_us:
        return f"paused {person((view.paused_until - now_us) / 1_000_000)}"
    if view.gated is False:
        return "NOT GATED"
    guess = view.at(now_us)
    if guess.state is SessionState.IDLE:
        if guess.why:
            return "interrupted?"
        return f"idle {ago((now_us - view.since) / 1_000_000)}"
    if guess.state is SessionState.UNKNOWN:
        silent_s = (now_us - view.seen_at) / 1_000_000
        return f"silent {ago(silent_s)}" if view.calls or guess.why else unknown_state_words(0)
    return f"{guess.state}?" if guess.why else str(guess.state)


def living(view: SessionView) -> list[SubView]:
    """The sub-agents of a session that have not ended, in the order in which they came."""
    return [sub for sub in view.subs if sub.state is not SessionState.GONE]


def waiting_since(state: State) -> dict[tuple[str, str], int]:
    """Returns the time of the oldest open request (UTC µs) of every session that has one."""
    since: dict[tuple[str, str], int] = {}
    for view in state.pending.values():
        key = (view.agent, view.session)
        since[key] = min(since.get(key, view.at), view.at)
    return since


def calls_per_bin(view: SessionView, now_us: int) -> list[int]:
    """The calls of the last minute in eight bins, the oldest first."""
    bins = [0] * BINS
    for second, calls in view.recent:
        age = now_us // 1_000_000 - second
        if 0 <= age < MINUTE_S:
            bins[BINS - 1 - age * BINS // MINUTE_S] += calls
    return bins


def sparklines(views: list[SessionView], now_us: int) -> list[str]:
    """Draws a bar line per session, all on the same scale so that they can be compared."""
    bins = [calls_per_bin(view, now_us) for view in views]
    top = max((max(line) for line in bins), default=0)
    scale = max(top, SCALE_MIN)
    steps = len(BARS) - 1
    return ["".join(BARS[-(-calls * steps // scale)] for calls in line) for line in bins]


def day_words(totals: Totals) -> str:
    """Says from when on the day's counters count: a core that starts late may not know it all."""
    return f"since {clock(totals.since)[:5]}" if totals.since else "today"


def today(totals: Totals) -> list[tuple[str, str, str]]:
    """The day's counters as (glyph, words, number); rare ones only when they are not zero."""
    rows = [
        ("+", "allowed by you", totals.allowed_by_operator),
        ("x", "denied by you", totals.denied_by_operator),
        ("x", "denied by rule", totals.denied_by_rule),
        ("T", "denied, nobody answered", totals.denied_by_timeout),
        ("=", "allowed by your rules", totals.allowed_by_grant),
        ("b", "handed back", totals.handed_back),
        ("", "no opinion", totals.no_opinion),
    ]
    if totals.denied_other:
        rows.insert(4, ("x", "denied, other causes", totals.denied_other))
    if totals.alarms:
        rows.append(("#", "ran against the gate", totals.alarms))
    return [(glyph, words, count(number)) for glyph, words, number in rows]


def _per_minute(live: list[SessionView], now_us: int) -> str:
    oldest = now_us // 1_000_000 - MINUTE_S
    return count(sum(calls for view in live for second, calls in view.recent if second > oldest))


def _on_again(gate: GateView, now_us: int) -> str:
    if not gate.off_until:
        return "until this machine restarts"
    return f"on again in {person((gate.off_until - now_us) / 1_000_000)}"


def farewell(
    state: State,
    link: Link,
    *,
    demo: bool,
    hosted: bool = False,
    calls: WithoutCore = "unknown",
) -> str:
    """Returns the parting words: what goes on without the console, and the day so far.

    Args:
        state: The core's state.
        link: The link to it.
        demo: True for a demo, which leaves nothing behind.
        hosted: True where the core ended with the console.
        calls: What the hooks on this machine do without a core.
    """
    if demo:
        return "watchgate: the demo leaves nothing behind; `watchgate install` connects an agent"
    if link.state != "attached":
        return f"watchgate: no core runs: {WITHOUT_CORE[calls]}; `watchgate` starts one"
    totals = state.totals
    denied = totals.denied_by_operator + totals.denied_by_rule
    denied += totals.denied_by_timeout + totals.denied_other
    silent = f" ({totals.denied_by_timeout} in silence)" if totals.denied_by_timeout else ""
    waiting = f"; {plural(len(state.pending), 'request')} still open" if state.pending else ""
    after = "the core goes on, `watchgate` attaches again"
    if hosted:
        after = f"its core ended with it: {WITHOUT_CORE[calls]} until `watchgate` runs again"
    counted = f"{day_words(totals)} {totals.allowed_by_operator} allowed, {denied} denied{silent}"
    return f"watchgate: {counted}{waiting}; {after}"
