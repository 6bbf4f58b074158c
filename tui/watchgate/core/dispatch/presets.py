"""Dispatch policies: everything in which one hook system's dispatch differs from another's.

The loop in `dispatch` reads these fields and knows no system by name. Each preset below is one row
of data; how its commands talk is the protocol that it names (`core.hooks`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from watchgate.core.model.verdicts import FailureCause, VerdictTag

Means = Literal["open", "closed"]
FailureMap = Mapping[FailureCause, Means]
ProtocolName = Literal[
    "console",
    "codex-fork-v1",
    "codex-fork-v2",
    "codex",
    "codex-notify",
    "sandbox-env",
    "codewhale",
]
PresetName = Literal[
    "console",
    "codewhale-sinks",
    "codex-fork-v1",
    "codex-fork-v2",
    "codex-permission",
    "sandbox-lifecycle",
    "synaps-chain",
    "sdk-first-match",
]


class DispatchPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """One preset: the fields that the dispatch loop reads.

    `select` first_match: the first gate that returns ends the chain, whatever it says.
    `order`: the order in which gates run and in which verdicts are folded; `parallel` is how many
    run at once (their fold keeps the configuration's order). `stop_on`: the verdicts that end the
    chain; `modify`, `payload_view`: which rewrite counts, and what the gates after it see.
    `injects` and `joined_by`: whether texts for the model are collected, and what is between them;
    `inject_each_cap` and `inject_cap` bound one and all, in characters. `allowed`: the verdicts
    that count for a kind; `takes`: those that count for a kind that is not named (None: all).
    `failure`: what each cause of a gate's failure means, closed where it is not named; a handler
    that says `on_failure` or `continue_on_failure` itself has its own way.
    `after_open_failure` end: the event then passes at once.
    `continue_on_failure`: whether a failed handler of a lifecycle list lets the list go on; None
    where there is no such thing. `confirm`: an operator is asked, or it blocks, or the word is
    returned and nobody waits; `confirm_unattended`: what becomes of it with no console.
    `no_match`: the decision when no gate had an opinion. `gates`: the kinds at which the outcome
    decides what runs (None: all); at others it changes only what is shown. `events`: the native
    events that are dispatched at all (None: all). `hides`: a denial where nothing is decided hides
    the event (elsewhere it does nothing). `observers_at_once` run, `observers_waiting` wait for
    their turn, the rest is dropped. `handler_timeout_s` is for handlers that name
    none, `total_timeout_s` bounds the whole chain; an operator's wait is not part of it.
    """

    name: str
    select: Literal["all", "first_match"] = "all"
    order: Literal["registration", "priority"] = "priority"
    parallel: int = 1
    stop_on: frozenset[VerdictTag] = frozenset({"block", "abort"})
    fold: Literal["first_decision", "deny_overrides"] = "deny_overrides"
    modify: Literal["last_wins", "first_wins"] = "last_wins"
    payload_view: Literal["original", "threaded"] = "threaded"
    injects: bool = True
    joined_by: str = "\n\n"
    inject_each_cap: int = 8_192
    inject_cap: int = 16_384
    allowed: Mapping[str, frozenset[VerdictTag]] = {}
    takes: frozenset[VerdictTag] | None = None
    on_disallowed: Literal["ignore", "block"] = "ignore"
    modify_without_payload: Literal["block", "ignore"] = "block"
    failure: FailureMap = {}
    after_open_failure: Literal["next", "end"] = "next"
    continue_on_failure: bool | None = None
    confirm: Literal["broker", "block", "return"] = "broker"
    confirm_unattended: Literal["hold", "block"] = "hold"
    no_match: Literal["none", "allow"] = "none"
    gates: frozenset[str] | None = None
    events: frozenset[str] | None = None
    hides: bool = False
    observers_at_once: int = 10
    observers_waiting: int = 32
    handler_timeout_s: float = 5.0
    total_timeout_s: float = 30.0
    protocol: ProtocolName = "console"

    def __post_init__(self) -> None:
        """Refuses what would make an outcome depend on which handler finishes first."""
        if self.parallel > 1 and (
            self.stop_on or self.payload_view == "threaded" or self.select == "first_match"
        ):
            raise ValueError(f"{self.name}: handlers that run at once can neither stop nor thread")

    def effect(self, kind: str) -> Literal["gate", "view"]:
        """Returns `gate` where an outcome for this kind decides what runs, else `view`."""
        return "gate" if self.gates is None or kind in self.gates else "view"


_ALL_OPEN: Final[FailureMap] = {
    "spawn": "open",
    "exit": "open",
    "timeout": "open",
    "parse": "open",
    "protocol": "open",
    "crash": "open",
    "malformed": "open",
    "oversized": "open",
    "crowded": "open",
}
_PASS: Final[frozenset[VerdictTag]] = frozenset({"allow", "defer"})
_ALL_BUT_REWRITES: Final[frozenset[VerdictTag]] = frozenset(
    {"allow", "block", "confirm", "inject", "abort", "defer", "failed"}
)
_SYNAPS_ALLOWED: Final[Mapping[str, frozenset[VerdictTag]]] = {
    "tool.pre": _PASS | {"block", "abort", "confirm", "modify"},
    "tool.post": _PASS,
    "tool.error": _PASS,
    "prompt.submit": _PASS | {"inject"},
    "message": _PASS,
    "compact.post": _PASS,
    "session.start": _PASS,
    "session.end": _PASS,
}

_DECIDES: Final = frozenset({"tool.pre", "tool.permission", "prompt.submit"})
"""Kinds at which an agent has not acted yet; at others nothing can be prevented any more."""

CONSOLE = DispatchPolicy(name="console", gates=_DECIDES)

CODEWHALE_SINKS = DispatchPolicy(
    name="codewhale-sinks",
    order="registration",
    stop_on=frozenset(),
    payload_view="original",
    injects=False,
    takes=_PASS,
    failure=_ALL_OPEN,
    no_match="allow",
    gates=frozenset(),
    observers_at_once=2,
    handler_timeout_s=30.0,
    protocol="codewhale",
)

CODEX_FORK_V1 = DispatchPolicy(
    name="codex-fork-v1",
    order="registration",
    stop_on=frozenset({"block"}),
    payload_view="original",
    injects=False,
    failure={
        "spawn": "open",
        "parse": "open",
        "exit": "closed",
        "timeout": "closed",
        "oversized": "closed",
        "malformed": "closed",
        "crash": "closed",
    },
    no_match="allow",
    gates=frozenset({"tool.pre", "tool.permission"}),
    handler_timeout_s=30.0,
    total_timeout_s=300.0,
    protocol="codex-fork-v1",
)

CODEX_FORK_V2 = DispatchPolicy(
    name="codex-fork-v2",
    order="registration",
    parallel=10,
    stop_on=frozenset(),
    payload_view="original",
    failure={**_ALL_OPEN, "timeout": "closed", "malformed": "closed"},
    no_match="allow",
    gates=_DECIDES,
    handler_timeout_s=600.0,
    total_timeout_s=600.0,
    protocol="codex-fork-v2",
)

CODEX_PERMISSION = DispatchPolicy(
    name="codex-permission",
    order="registration",
    parallel=64,
    stop_on=frozenset(),
    payload_view="original",
    injects=False,
    allowed={"tool.permission": _ALL_BUT_REWRITES},
    on_disallowed="block",
    failure={**_ALL_OPEN, "malformed": "closed"},
    gates=_DECIDES,
    handler_timeout_s=600.0,
    total_timeout_s=600.0,
    protocol="codex",
)

SANDBOX_LIFECYCLE = DispatchPolicy(
    name="sandbox-lifecycle",
    order="registration",
    stop_on=frozenset({"block", "abort"}),
    payload_view="original",
    injects=False,
    takes=_PASS | {"block", "abort"},
    failure=_ALL_OPEN,
    continue_on_failure=True,
    no_match="allow",
    gates=frozenset({"prompt.submit"}),
    handler_timeout_s=30.0,
    total_timeout_s=300.0,
    protocol="sandbox-env",
)

SYNAPS_CHAIN = DispatchPolicy(
    name="synaps-chain",
    order="registration",
    stop_on=frozenset({"block", "abort", "modify", "confirm"}),
    payload_view="original",
    allowed=_SYNAPS_ALLOWED,
    takes=_PASS,
    failure={**_ALL_OPEN, "malformed": "closed"},
    confirm_unattended="block",
    no_match="allow",
    gates=frozenset({"tool.pre", "prompt.submit"}),
    handler_timeout_s=5.0,
)

SDK_FIRST_MATCH = DispatchPolicy(
    name="sdk-first-match",
    select="first_match",
    order="registration",
    fold="first_decision",
    payload_view="original",
    injects=False,
    failure={**_ALL_OPEN, "malformed": "closed"},
    gates=frozenset(),
    hides=True,
    events=frozenset(
        {
            "item.started/command_execution",
            "item.completed/command_execution",
            "item.completed/file_change",
            "item.completed/agent_message",
            "turn.completed",
            "turn.failed",
        }
    ),
    handler_timeout_s=5.0,
)

PRESETS: Final[dict[PresetName, DispatchPolicy]] = {
    "console": CONSOLE,
    "codewhale-sinks": CODEWHALE_SINKS,
    "codex-fork-v1": CODEX_FORK_V1,
    "codex-fork-v2": CODEX_FORK_V2,
    "codex-permission": CODEX_PERMISSION,
    "sandbox-lifecycle": SANDBOX_LIFECYCLE,
    "synaps-chain": SYNAPS_CHAIN,
    "sdk-first-match": SDK_FIRST_MATCH,
}


def preset_of(name: PresetName, total_timeout_s: float | None = None) -> DispatchPolicy:
    """Returns a preset, with the configuration's own limit on a whole chain where it gives one."""
    preset = PRESETS[name]
    if total_timeout_s is None:
        return preset
    return msgspec.structs.replace(preset, total_timeout_s=total_timeout_s)
