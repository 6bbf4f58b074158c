"""Hooks that misbehave: commands for most agents, plugins for OpenCode."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import msgspec

from watchgate.service.crashtest.model.conversation import Json

SCRIPT = "hook"
"""The file, in the place of the test, that a hook's command runs."""

TRACE = "hook-ran"
"""The file that a hook leaves as soon as it runs."""


class OddHook(msgspec.Struct, frozen=True, kw_only=True):
    """A misbehaving hook, and the consequence if a call runs in spite of it.

    `command` is what the agent is told to run, `script` what is in the file that it names; in both
    `@...@` stands for what `filled` puts there. `ran` is the consequence where the call runs, and
    `watchgate` what its own hook does about it. A hook that is not `traced` never runs. One that
    `hangs` gets the short limit.
    """

    id: str
    label: str
    command: str = "exec /bin/sh @SCRIPT@"
    script: str = ""
    ran: str
    watchgate: str
    traced: bool = True
    hangs: bool = False


class OddHooks(msgspec.Struct, frozen=True):
    """The hooks that one kind of agent is tried with; `denies` has to block, or nothing counts."""

    denies: OddHook
    hooks: tuple[OddHook, ...]


def filled(text: str, top: Path, deny: Json, reason: str) -> str:
    """Fills in this test's paths and words, each as a shell or a plugin takes it."""
    words = {
        "TOP": shlex.quote(str(top)),
        "SCRIPT": shlex.quote(str(top / SCRIPT)),
        "TRACE": shlex.quote(str(top / TRACE)),
        "JS_TRACE": json.dumps(str(top / TRACE)),
        "DENY": shlex.quote(json.dumps(deny)),
        "REASON": shlex.quote(reason),
        "JS_REASON": json.dumps(reason),
    }
    for name, word in words.items():
        text = text.replace(f"@{name}@", word)
    return text
