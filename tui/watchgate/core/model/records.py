"""Records: everything that happens, in the order in which it happened.

A `Draft` is what the engine emits; the chain seals it into a `Record` with a gapless sequence
number and the hash of the record before it. `data` is one of the structs below (or the plain
object they encode to): the journal stores a view of it, consoles receive it whole.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from watchgate.core.model.actor import Actor
from watchgate.core.model.assessment import Finding, Risk, Segment
from watchgate.core.model.events import Conduct, Counts, OwnRules, Question, Sub, Terms, Tool
from watchgate.core.model.standing_grant import Width
from watchgate.core.model.usage_records import Limit
from watchgate.core.model.verdicts import TraceRow

RECORD_VERSION = 1

Word = Literal[
    "allowed-by-operator",
    "allowed-by-grant",
    "allowed-by-rule",
    "answered-by-operator",
    "denied-by-operator",
    "denied-by-rule",
    "denied-by-timeout",
    "denied-no-approver",
    "denied-no-journal",
    "denied-core-stopped",
    "denied-failure",
    "denied-paused",
    "edited-by-operator",
    "withdrawn",
    "answered-elsewhere",
    "handed-back",
    "handed-back-by-operator",
    "handed-back-by-timeout",
]
"""The end of a question: each cause has its own word, on screen, on disk and for the model."""

Silence = Literal["deny", "handback"]
Asks = Literal["approval", "question", "plan"]
"""Subject of a request: whether a call may run, a person's answers, whether a plan is good."""

Gate = Literal[
    "held", "denied", "handback", "allowed", "carried", "joined", "recorded", "withdrawn"
]


class Draft(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A record before it has a number: what happened, to which call, when (`at`, UTC µs)."""

    kind: str
    at: int
    data: Any
    agent: str | None = None
    session: str | None = None
    sub: str | None = None
    call: str | None = None
    request: str | None = None


class Record(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One immutable line of history.

    `seq` is gapless per journal, `core` names the core that wrote it, `at` is UTC in microseconds,
    `call` the agent's id of the tool call (or ours, beginning with `~`, where it has none),
    `request` the approval request. `prev` and `hash` chain the journal's view of the record.
    """

    v: int
    seq: int
    core: str
    at: int
    kind: str
    agent: str | None = None
    session: str | None = None
    sub: str | None = None
    call: str | None = None
    request: str | None = None
    data: dict[str, Any] = {}
    prev: str = ""
    hash: str = ""


COUNTED = "usage.counted"
"""The kind of what a session's files add up to."""


def is_session_event(record: Record) -> bool:
    """Returns whether the record happened in its session, and so makes it known."""
    if record.kind in (COUNTED, "policy.budget", "policy.refused"):
        return False
    return record.agent is not None and record.session is not None


class CallData(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """`tool.pre`, `tool.permission`: the call, what the policy says, and what the gate did.

    `word` says why a call was denied without being asked about. `raw` is what the agent sent, kept
    where the journal's content is "full": a replay decodes it again. `terms` are what else the
    event says that a decision depends on.
    """

    native: str
    lane: str
    tool: Tool
    summary: str
    gate: Gate
    word: Word | None = None
    risk: str = "unknown"
    rule: str = ""
    reason: str = ""
    cwd: str = ""
    mode: str | None = None
    autonomous: bool = False
    sub: Sub | None = None
    raw: str = ""
    terms: Terms | None = None


class ResultData(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """`tool.post`, `tool.error`: how the call ended.

    `left_out_chars` counts what is not in `result`, of which a record holds the beginning.
    """

    native: str
    tool: Tool
    summary: str
    ok: bool
    result: str = ""
    took_ms: int | None = None
    interrupted: bool = False
    ungated: bool = False
    exit_code: int | None = None
    numbering: str = ""
    left_out_chars: int = 0


class NoteData(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Any other event: the agent's own event name and its words, or what nobody could decode.

    `tools` are the calls that it tells of, without their inputs. `left_out_chars` counts what is
    not in the text, of which a record holds the beginning. `asks_there` says that the agent asks a
    person in its own terminal now.
    """

    native: str
    text: str = ""
    undecoded: str = ""
    detail: str = ""
    cwd: str = ""
    mode: str | None = None
    autonomous: bool = False
    model: str | None = None
    sub: Sub | None = None
    numbering: str = ""
    tools: tuple[Tool, ...] = ()
    left_out_chars: int = 0
    asks_there: bool = False


class UsageData(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """`usage`: tokens and money as the agent reported them; each field as in `Usage`."""

    native: str
    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    total_cost_usd: float | None = None
    model: str | None = None
    counts: Counts = "each"
    cached_within: bool = False
    ref: str = ""
    context_used: int | None = None
    context_size: int | None = None
    reasoning: int | None = None
    total: int | None = None
    limits: tuple[Limit, ...] = ()


class BudgetData(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """`policy.budget`: how a budget stands, told whenever its level changes.

    `scope` is the local day (`day`: days since 1970) or the record's session. `asks` says that what
    the policy would allow by itself is asked meanwhile, `least` that more may have been spent.
    """

    scope: Literal["day", "session"]
    level: Literal["free", "warned", "used-up"]
    spent_usd: float
    limit_usd: float
    day: int = 0
    asks: bool = False
    is_lower_bound: bool = msgspec.field(name="least", default=False)


class RequestData(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """`approval.requested`: everything a person needs to decide, and what silence will do.

    `digest` covers agent, session, sub-agent, tool, input and cwd as the agent sent them;
    `deadline_at` is UTC µs, `timeout_s` the whole wait; `unattended` says that it is longer, as no
    console that may allow was attached when the request came. `offered` are the decisions that
    would be accepted, and `stop` where a denial can end the agent's turn; `scopes` those of an
    allow. `own_rules` say what the agent does after an allow and after a handback, `runs_unasked`
    that a handback may let it run at once, `races` that the agent shows its own dialog all the
    while; `asks_again` is in records of earlier versions alone. `asks` says what kind of item it
    is; the `questions` of one are answered in their order. `raised` says why the risk is above what
    the rules alone say. `before` is the input as the agent sent it where a handler or an operator
    (`edited_from` is the id of the request that was edited) changed it; `tool.input` is what would
    run. `asked` and `asked_risk` are the line and the risk of the call as it was sent, where that
    is another one.
    """

    digest: str
    lane: str
    native: str
    tool: Tool
    summary: str
    risk: Risk
    rule: str
    reason: str
    findings: tuple[Finding, ...] = ()
    opaque: bool = False
    segments: tuple[Segment, ...] = ()
    raised: str = ""
    before: dict[str, Any] | None = None
    edited_from: str = ""
    asked: str = ""
    asked_risk: str = "unknown"
    cwd: str = ""
    mode: str | None = None
    sub: Sub | None = None
    offered: tuple[str, ...] = ("allow", "deny", "handback")
    scopes: tuple[str, ...] = ("once",)
    silence: Silence = "deny"
    own_rules: OwnRules = OwnRules()
    asks_again: bool = False
    runs_unasked: bool = False
    races: bool = False
    deadline_at: int = 0
    timeout_s: float = 0.0
    unattended: bool = False
    agent_pid: int | None = None
    env: dict[str, str] = {}
    asks: Asks = "approval"
    questions: tuple[Question, ...] = ()

    @property
    def once_allowed(self) -> Conduct:
        """Returns the agent's conduct after an allow, as far as anybody can tell."""
        return "runs-or-asks" if self.asks_again else self.own_rules.allowed


class DecisionData(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """`approval.decided`: how the question ended, who ended it, and after how long.

    `by` is a name fit to be read ("operator alice (console 2)", "program etl (token)", "somebody
    (pid 4711, unproven)", "nobody", "watchgate"), and `actor` the process that decided.
    """

    word: Word
    by: str
    waited_s: float
    reason: str = ""
    digest: str = ""
    scope: str = "once"
    width: Width | None = None
    answers: tuple[tuple[str, ...], ...] = ()
    actor: Actor | None = None


class Fact(msgspec.Struct, frozen=True, omit_defaults=True):
    """A thing that a call would touch, seen without running anything of it: one short phrase.

    `segment` is the number of the part it is about; `grave` marks what would be lost for good.
    """

    text: str
    segment: int | None = None
    grave: bool = False


class FactsData(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """`approval.facts`: what a pending call would touch; it never lowers a risk.

    `cut` says that the time for looking ran out before everything was seen.
    """

    facts: tuple[Fact, ...]
    cut: bool = False


class DeadlineData(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`approval.extended`, `approval.timeout`: the deadline (UTC µs) that now holds or passed."""

    deadline_at: int
    by: str = ""
    actor: Actor | None = None


class EffectData(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """`effect.sent`, `.undelivered`, `.confirmed`, `.contradicted`, `.refused`: what came of it.

    `word` is how the request ended; for the last three what the agent had been told: allow, deny.
    """

    word: str
    what: str = ""
    alarm: Literal["DENIED BUT RAN", "RAN ALTERED", ""] = ""


class UngatedData(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """`effect.ungated`, `policy.ungated`: what ran without a gate, one call or all of a session.

    `why` is the likely cause in words (`Cause` in one word); it is an inference. One that is no
    `alarm` has a harmless explanation. `count` is how many calls of the session ran so for this
    cause, this one included, and `first` the `call` of the first of them.
    """

    what: str
    cause: str
    why: str
    alarm: bool = True
    cwd: str = ""
    count: int = 1
    first: str = ""


class PausedData(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """`policy.paused`: nobody is asked about a session's calls until then (UTC µs), and why."""

    why: str
    until: int


class InferredData(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """`policy.inferred`: a state of a session that no event told, and what it is inferred from."""

    state: str
    why: str


class TraceData(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """`hook.trace`: the handlers of one dispatch, one row (`TraceRow`) each.

    `at` of the record is when the dispatch began, `took_ms` how long its gates took. `kind` is the
    event's kind, `reason` that of the decision, `tool` and `summary` the call's where there is one.
    `effect` "view": the decision changed only what is shown, never what ran. `shown` is then the
    call in the words of a rewrite, where the preset lets a handler write what is shown.
    """

    native: str
    kind: str
    decision: str
    preset: str = "console"
    decided_by: str | None = None
    reason: str = ""
    effect: str = "gate"
    took_ms: float = 0.0
    tool: str = ""
    summary: str = ""
    shown: str = ""
    rows: tuple[TraceRow, ...] = ()


class CoreData(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """`policy.*`, `console.*` and `notice` of the core itself: what changed and what it means.

    `tier` is that of a policy file, where it is about one; `utc_offset_s` says which days are the
    core's local ones, where one started. `actor` is the process that asked for it.
    """

    what: str
    detail: str = ""
    profile: str | None = None
    until: int | None = None
    name: str = ""
    tier: str = ""
    utc_offset_s: int | None = None
    actor: Actor | None = None


class CheckpointData(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """`policy.checkpoint`: the records up to `removed_to` (`hash` is its own) leave the journal.

    `count` of them were still there; `since` and `until` are when the first and the last of them
    were made (UTC µs). `why` names the limit that they were over, in words.
    """

    removed_to: int
    hash: str
    count: int
    since: int
    until: int
    why: str


class PurgedData(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """`policy.purged`: the payloads of a session were dropped from the journal, by whom.

    `count` records up to `upto` lost theirs; their digests stay. The record is the core's own, so
    that a session of the past does not come to life by it.
    """

    agent: str
    session: str
    count: int
    upto: int
    by: str
    actor: Actor | None = None


ATTEMPT = "attempt"
"""The part that stands for what was tried and refused."""


class TamperedData(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """`policy.tampered`, `policy.intact`: a file that the gate rests on is not what it was.

    `part` is "hooks", "client", "policy", "journal", "PIN" or "tokens", `agent` whose hooks they
    are; `ATTEMPT` stands for no file but for an attempt to get by the gate. `what` says
    what changed and what it means, `mend` what to do about it; `digest` is that of the part as it
    is now, `was` as it was known, each empty where there is none.
    """

    part: str
    path: str
    what: str
    mend: str = ""
    agent: str = ""
    digest: str = ""
    was: str = ""


class EscalatedData(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """`approval.escalated`: somebody else was told of a request that waits, or could not be.

    `to` is a name of the configuration; `detail` says why nobody was told, empty where it was.
    """

    to: str
    waited_s: float
    detail: str = ""
