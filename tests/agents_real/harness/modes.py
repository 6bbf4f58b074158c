"""The modes of each agent: how it is started in one, and what it does there by itself."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from watchgate.service.crashtest.agent_driver import MODEL
from watchgate.service.crashtest.agent_drivers import PROVIDER
from watchgate.service.crashtest.model.conversation import PROMPT, Json

RUNS: Final = "runs it at once, nothing else asks"
EDITED: Final = "An operator edited this call"
CONFINED: Final = "runs it, in its sandbox if any"
MAY_ASK: Final = "may run it, or ask by its own rules"
ESCALATED: Final[Json] = {"sandbox_permissions": "require_escalated", "justification": "it must"}


class Mode(msgspec.Struct, frozen=True, kw_only=True):
    """One mode of an agent.

    `promise` is what the card has to say of an allow, `allowed` and `handed_back` what the released
    program was seen to do then (empty: its dialog needs its vendor's server). `extra` are arguments
    of the model's calls. With `relayed` the agent asks before its gate does, without `writes` its
    sandbox lets no command write, and without `edits` its gate takes no other input; by
    `tells_edit` its model reads that another one ran. `asks` is its own dialog, `yes` the keys that
    allow there, and `opening` a question at its start with the keys that answer it.
    """

    agent: str
    name: str
    arguments: tuple[str, ...]
    promise: str = RUNS
    allowed: Literal["ran", "asked"] = "ran"
    handed_back: Literal["ran", "asked", "refused", ""] = "asked"
    extra: Json = {}
    environment: dict[str, str] = {}
    permission: str = ""
    relayed: bool = False
    tells_edit: str = EDITED
    writes: bool = True
    edits: bool = True
    asks: str = ""
    yes: tuple[str, ...] = ("Enter",)
    opening: tuple[str, tuple[str, ...]] | None = None

    @property
    def id(self) -> str:
        """What its tests are called by."""
        return f"{self.agent}-{self.name}"


def _claude(name: str, **more: object) -> Mode:
    facts = {"asks": "Do you want to proceed", "yes": ("1",), **more}
    arguments = ("--permission-mode", name, PROMPT)
    return msgspec.convert({"agent": "claude", "name": name, "arguments": arguments, **facts}, Mode)


def _codex(sandbox: str, approval: str, *, escalates: bool = False, **more: object) -> Mode:
    screen = ("--no-alt-screen", "--no-daemon", "-m", MODEL)
    facts: dict[str, object] = {
        "agent": "codex",
        "name": f"{sandbox}-{approval}{'-escalated' if escalates else ''}",
        "arguments": (*screen, "-s", sandbox, "-a", approval, PROMPT),
        "extra": ESCALATED if escalates else {},
        "promise": CONFINED,
        "handed_back": "asked" if escalates else "ran",
        "writes": escalates or sandbox != "read-only",
        "asks": "Would you like to run",
        "yes": ("y",),
    }
    return msgspec.convert({**facts, **more}, Mode)


def _gemini(name: str, **more: object) -> Mode:
    arguments = ("--skip-trust", "--approval-mode", name, "-i", PROMPT)
    facts: dict[str, object] = {"promise": MAY_ASK, "allowed": "asked"}
    facts |= {"asks": "Allow execution of", "tells_edit": "modified by a hook", **more}
    return msgspec.convert({"agent": "gemini", "name": name, "arguments": arguments, **facts}, Mode)


def _qwen(name: str, **more: object) -> Mode:
    arguments = (*PROVIDER, "--approval-mode", name, "-i", PROMPT)
    facts = {"asks": "Allow execution of", "tells_edit": "Command: echo edited-word", **more}
    return msgspec.convert({"agent": "qwen", "name": name, "arguments": arguments, **facts}, Mode)


def _copilot(name: str, *options: str, **more: object) -> Mode:
    arguments = ("--no-color", "--no-auto-update", *options, "-i", PROMPT)
    facts = {"asks": "Do you want to run this command", **more}
    return msgspec.convert(
        {"agent": "copilot", "name": name, "arguments": arguments, **facts}, Mode
    )


def _opencode(permission: str, **more: object) -> Mode:
    facts = {"permission": permission, "asks": "Permission required", **more}
    arguments = ("--prompt", PROMPT)
    return msgspec.convert(
        {"agent": "opencode", "name": permission, "arguments": arguments, **facts}, Mode
    )


MODES: Final = (
    _claude("default"),
    _claude("acceptEdits"),
    _claude("plan", promise=MAY_ASK, allowed="asked", yes=("Down", "Enter")),
    _claude("auto", handed_back=""),
    _claude(
        "bypassPermissions",
        handed_back="ran",
        environment={"IS_SANDBOX": "1"},
        opening=("Yes, I accept", ("Down", "Enter")),
    ),
    _claude("dontAsk", handed_back="refused"),
    *(
        _codex(sandbox, approval)
        for sandbox in ("read-only", "workspace-write", "danger-full-access")
        for approval in ("on-request", "never")
    ),
    _codex("workspace-write", "on-request", escalates=True),
    _copilot("default"),
    _copilot("allow-all-tools", "--allow-all-tools", handed_back="ran"),
    _gemini("default"),
    _gemini("auto_edit"),
    _gemini("yolo", allowed="ran", handed_back="ran"),
    _qwen("default", relayed=True),
    _qwen("auto-edit", relayed=True),
    _qwen("yolo", handed_back="ran", edits=False),
    _opencode("ask"),
    _opencode("allow", handed_back="ran"),
)
"""Every mode that a released program has and in which its calls come to a gate.

Gemini's and Qwen's plan modes let no command come so far, and Qwen's auto mode asks its vendor.
"""
