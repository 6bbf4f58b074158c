"""An agent's protocol as data: what its payloads mean, what it can be told, where its hooks live.

An agent whose hooks are one JSON object in and one answer out needs no more than a `Table`. The
built-in ones are Python values, one file each; a user's own are TOML files of the same shape.
"""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.agents.base import HookEntry, Setup
from watchgate.core.model.events import Counts, Kind, OwnRules, ToolClass

Paths = tuple[str, ...]
"""Places of a value in a payload: keys joined by dots; the first place that has one wins.

A number is a position in a list: `workspace_roots.0`. Null and an empty text are no value.
"""


class Fields(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """The places in payloads of what every event has, and of what every event about a tool has.

    `input` may also be JSON in a string. `failed` are places that hold something only when a call
    failed, and say why; `interrupted` those that are true when a person cut it short. `calls` are
    the list of calls of a batch, each read by the places of a tool. `exit_pattern` finds the exit
    status of a shell call in the words of its result, as the group of its last match.
    """

    event: Paths = ("hook_event_name",)
    session: Paths = ("session_id",)
    cwd: Paths = ("cwd",)
    turn: Paths = ()
    mode: Paths = ("permission_mode",)
    model: Paths = ("model",)
    transcript: Paths = ("transcript_path",)
    sub_id: Paths = ("agent_id",)
    sub_type: Paths = ("agent_type",)
    tool: Paths = ("tool_name",)
    input: Paths = ("tool_input",)
    call_id: Paths = ("tool_use_id",)
    result: Paths = ("tool_response",)
    failed: Paths = ("error",)
    interrupted: Paths = ("is_interrupt",)
    exit_code: Paths = ()
    exit_pattern: str = ""
    took_ms: Paths = ("duration_ms",)
    calls: Paths = ("tool_calls",)


class HookOutput(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """The hook's output and exit status for one reply.

    `stdout` is a JSON value, None for nothing. A string in it that is exactly `{reason}`,
    `{input}`, `{context}` or `{event}` stands for that value; a key whose value is `{context}` is
    left out where there is none. `stderr` may be `{reason}`, and is nothing where it is empty.
    """

    stdout: Any = None
    stderr: str = ""
    exit: int = 0


class EventAnswers(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """The possible answers to one event of the agent; None where it cannot be told so.

    `modify` lets the call run with another input, `stop` denies it and ends the turn, `nothing`
    leaves it to the agent's own rules, `context` does so beside words for the model. `merges` says
    that the agent lays another input over the call's own: an edit that drops a key is denied then.
    """

    deny: HookOutput | None = None
    allow: HookOutput | None = None
    modify: HookOutput | None = None
    stop: HookOutput | None = None
    context: HookOutput | None = None
    nothing: HookOutput = HookOutput()
    merges: bool = False


class EventRule(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """The meaning of one event of the agent.

    `tool` names the tool where the event's own name says which one runs; `{place}` in it stands for
    the text there. `input` gathers the call's input from the payload then, key by key. `text` are
    the places of its words, joined by a colon; without any, all of the payload's own fields are
    kept. `what` is a session change in a word, with `{place}` as in `tool`, and `text` its details.
    `usage` gives the places of token counts by the names of `Usage`; the event is about nothing
    else then; `counts` and `cached_within` say what they are of, as there, and `reasoning_beside`
    that the agent's `output` lacks its `reasoning`. Places that `fields` gives otherwise than the
    defaults are those of this event alone.
    `every_call` marks a permission event that comes whether or not the agent would ask. A
    `question` about no tool of the agent's own becomes a call of one named after the event.
    """

    kind: Kind
    tool: str = ""
    input: dict[str, str] = {}
    text: Paths = ()
    what: str = ""
    usage: dict[str, Paths] = {}
    counts: Counts = "each"
    cached_within: bool = False
    reasoning_beside: bool = False
    every_call: bool = False
    fields: Fields | None = None
    answers: EventAnswers | None = None


def alike(kind: Kind, *natives: str, **rule: Any) -> dict[str, EventRule]:
    """Returns one rule for several events: two names of one event, or two of one meaning."""
    return dict.fromkeys(natives, EventRule(kind=kind, **rule))


class Modes(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """The agent's permission modes: those without a person, and those that run a call unasked.

    A payload that names no mode may be of any of them, so what we hand back may simply run; with
    `always_unasked` it may in every mode, because the gate hook is no part of the agent's asking.
    `own_rules` say what the agent does after an allow and after a handback where that is known
    better than from these and from what it can be told; the empty name is for any other mode.
    """

    autonomous: tuple[str, ...] = ()
    unasked: tuple[str, ...] = ()
    always_unasked: bool = False
    own_rules: dict[str, OwnRules] = {}


class Table(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """One agent.

    `classes` gives each of its tools a class, `names` those that go by another name to every rule
    (every shell is `Bash` already); `mcp` is how it names the tools of MCP servers, such as
    `mcp__{server}__{tool}`. `no_session` is used where payloads name no session. `races_dialog`
    says that it shows its own dialog while the permission hook runs. `hooks` are installed in this
    order; an entry on a lane that waits is put on the observe lane by the profile `watch`.
    """

    name: str
    title: str
    experimental: bool = True
    fields: Fields = Fields()
    events: dict[str, EventRule]
    classes: dict[str, ToolClass] = {}
    names: dict[str, str] = {}
    mcp: tuple[str, ...] = ("mcp__{server}__{tool}",)
    no_session: str = ""
    races_dialog: bool = False
    modes: Modes = Modes()
    hooks: tuple[HookEntry, ...] = ()
    setup: Setup | None = None
