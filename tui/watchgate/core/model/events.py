"""Canonical events: what any agent's hook, stream or log line becomes.

The vocabulary of `Kind` is shared by records, configuration and the filter language. An event is
a common header plus one `Body` of a tagged union; what we do not know decodes to `Unknown` and is
shown, never dropped.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec

from watchgate.core.base.clock import Instant
from watchgate.core.model.usage_records import Limit

Kind = Literal[
    "session.start",
    "session.end",
    "session.change",
    "prompt.submit",
    "turn.end",
    "turn.error",
    "turn.interrupt",
    "tool.pre",
    "tool.permission",
    "tool.permission.resolved",
    "tool.post",
    "tool.error",
    "tool.batch",
    "agent.start",
    "agent.stop",
    "compact.pre",
    "compact.post",
    "notice",
    "question",
    "task.created",
    "task.done",
    "message",
    "model.request",
    "model.response",
    "usage",
    "unknown",
]

Name = Annotated[str, msgspec.Meta(max_length=512)]
"""The name of a session, call or tool: kept for long and often compared, so bounded."""

Folder = Annotated[str, msgspec.Meta(max_length=8_192)]
"""A path that an agent names; no system has longer ones."""

ToolClass = Literal["shell", "read", "edit", "fetch", "mcp", "agent", "question", "plan", "other"]


class Lane(StrEnum):
    """The way in which an event may be answered, and the meaning of silence there."""

    GATE = "gate"
    GATE_READ = "gate-read"
    RELAY = "relay"
    OBSERVE = "observe"

    @property
    def waits(self) -> bool:
        """Returns whether the agent waits for an answer on this lane."""
        return self is not Lane.OBSERVE


class Tool(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One tool call as the agent described it.

    `name` is what a person reads, `native_name` what the agent called it; `input_hash` covers only
    the fields that say what will run (command, path, contents), so that the two lanes of one call
    compare equal although agents add descriptions to one of them.
    """

    name: str
    native_name: str
    cls: ToolClass
    input: dict[str, Any]
    input_hash: str
    call_id: str | None = None


class Can(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answers that the agent understands for this event.

    `allow` false means that an operator's allow can only be handed back; what the agent does then
    say its `OwnRules`. `answer` says that the answers to its questions can be told.
    """

    allow: bool = False
    deny: bool = False
    modify: bool = False
    stop: bool = False
    answer: bool = False


Conduct = Literal["runs", "confined", "asks", "runs-or-asks", "runs-or-refuses", "refuses"]
"""The fate of a call: `confined` runs as far as the agent's own sandbox lets it, and the two
with `or` say that nobody can tell from here."""


class OwnRules(msgspec.Struct, frozen=True, omit_defaults=True):
    """An agent's own rules in one mode: the fate of a call that is allowed or handed back."""

    allowed: Conduct = "runs"
    handed_back: Conduct = "asks"

    @property
    def may_run_unasked(self) -> bool:
        """Tells whether a call that is handed back may run without anybody being asked."""
        return self.handed_back not in ("asks", "refuses")


class Choice(msgspec.Struct, frozen=True, omit_defaults=True):
    """One answer that a question offers; `value` is what the agent is told in place of `label`."""

    label: str
    description: str = ""
    value: str = ""


class Question(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that an agent asks a person.

    `key` is what the agent knows the question by, `multiple` whether more than one choice may be
    taken, `free_text` whether the answer may be in the person's own words, and `required` whether
    it must be answered at all. `type` is how a free text is to be read.
    """

    text: str
    key: str = ""
    header: str = ""
    choices: tuple[Choice, ...] = ()
    multiple: bool = False
    free_text: bool = True
    required: bool = True
    type: Literal["string", "number", "integer", "boolean"] = "string"


class ToolCall(msgspec.Struct, frozen=True, tag="call", omit_defaults=True, gc=False):
    """A call that is about to run, or that the agent asks permission for.

    `questions` are what it asks a person, on events of the kind `question`; a plan has none, its
    text is in the tool's input. `allowed` says on `tool.permission.resolved` that the call goes on;
    of one that the agent refused by itself `why` are the words for that.
    """

    tool: Tool
    questions: tuple[Question, ...] = ()
    allowed: bool = False
    why: str = ""


class ToolResult(msgspec.Struct, frozen=True, tag="result", omit_defaults=True, gc=False):
    """A call that ran: `ok` false when the agent reports a failure, `exit_code` where it does."""

    tool: Tool
    ok: bool
    text: str = ""
    took_ms: int | None = None
    interrupted: bool = False
    exit_code: int | None = None


class ToolBatch(msgspec.Struct, frozen=True, tag="batch"):
    """Several calls of one model turn that have ended, however they ended."""

    tools: tuple[Tool, ...]


class Text(msgspec.Struct, frozen=True, tag="text", omit_defaults=True):
    """A prompt, message, notice or error in the agent's own words.

    `asks_there` says that the agent asks a person in its own terminal now.
    """

    text: str
    asks_there: bool = False


class SessionChange(msgspec.Struct, frozen=True, tag="session", omit_defaults=True):
    """A session that began, ended or changed; `what` is the agent's own word for it."""

    what: str
    detail: str = ""
    model: str | None = None
    transcript: str | None = None


Counts = Literal["each", "total", "newest"]


class Usage(msgspec.Struct, frozen=True, tag="usage", omit_defaults=True):
    """Tokens and money as the agent reported them; None is unknown, never zero.

    `total_cost_usd` is what the session has cost so far. `counts` says what the tokens are of: of
    this call or turn alone ("each": they add up), of the session so far ("total"), or of its newest
    call, told again and again ("newest"). `cached_within`: `input` includes `cache_read` and
    `cache_write`. `ref` names what they are of: what comes with the same one is the same again.
    `reasoning` is a part of `output`. `total` are tokens of which nobody says what they were, told
    in place of the others. `context_used` tokens of `context_size` are in the model's context now.
    `limits` are those of the agent's account.
    """

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


class Unknown(msgspec.Struct, frozen=True, tag="unknown"):
    """Bytes that no decoder recognised, as text, with the reason."""

    why: str
    text: str


Body = ToolCall | ToolResult | ToolBatch | Text | SessionChange | Usage | Unknown


_WITH_TOOL = (ToolCall, ToolResult)


class Sub(msgspec.Struct, frozen=True):
    """The sub-agent that an event belongs to."""

    id: str
    type: str = ""


class Terms(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The terms of an event beside its call that a decision may depend on; each as in `Event`."""

    can: Can = Can()
    turn: str | None = None
    deadline_s: float | None = None
    numbering: str = ""
    runs_unasked: bool = False
    races_dialog: bool = False
    asks_every_call: bool = False
    env: dict[str, str] = {}
    own_rules: OwnRules | None = None


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One thing that an agent did or asks for.

    `native` is the agent's own event name. `autonomous` says that nobody sits in front of the agent
    (headless, auto or bypass mode). `runs_unasked` says that the agent would simply run the call
    if we hand it back without having asked anybody, `own_rules` what it does after a decision where
    its adapter knows that better, `races_dialog` that it shows its own dialog while the hook waits.
    `deadline_s` is how long the hook client waits, None where nothing waits; `agent_pid` the
    process that runs the hook, where the kernel could tell, `asker_pid` the agent above whose
    requests count together with these, where that is another. `numbering` names whose ids of
    calls it carries where these are not those of the agent's hooks, `no_gate` says that its stream
    is watched without a gate on purpose. `asks_every_call` says of a permission event that it comes
    for every call, also for those that nobody would be asked about. `teller_pid` is the process
    that told of what nobody waits for, where that was looked up. `raw` is what the agent sent,
    where that is to be kept.
    """

    kind: Kind
    native: str
    agent: str
    session: str
    lane: Lane
    at: Instant
    body: Body
    turn: str | None = None
    sub: Sub | None = None
    cwd: str = ""
    mode: str | None = None
    autonomous: bool = False
    runs_unasked: bool = False
    own_rules: OwnRules | None = None
    races_dialog: bool = False
    can: Can = Can()
    deadline_s: float | None = None
    agent_pid: int | None = None
    asker_pid: int | None = None
    teller_pid: int | None = None
    env: dict[str, str] = {}
    numbering: str = ""
    asks_every_call: bool = False
    no_gate: bool = False
    raw: str = ""

    @property
    def tool(self) -> Tool | None:
        """The tool of the event's call, if it has exactly one."""
        body = self.body
        # Asked several times for every event; a tuple is checked faster than a union.
        return body.tool if isinstance(body, _WITH_TOOL) else None

    @property
    def sub_id(self) -> str | None:
        """The sub-agent's id, if the event belongs to one."""
        return self.sub.id if self.sub else None

    @property
    def terms(self) -> Terms:
        """Returns the terms beside its call; the environment only for decoding again."""
        return Terms(
            self.can,
            self.turn,
            self.deadline_s,
            self.numbering,
            self.runs_unasked,
            self.races_dialog,
            self.asks_every_call,
            self.env if self.raw else {},
            self.own_rules,
        )
