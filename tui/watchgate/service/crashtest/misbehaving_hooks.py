"""Hooks that misbehave: commands for most agents, plugins for OpenCode."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Final

import msgspec

from watchgate.service.crashtest.model.conversation import Json

SCRIPT_NAME = "hook"
"""The file, in the place of the test, that a hook's command runs."""

TRACE_NAME = "hook-ran"
"""The file that a hook leaves as soon as it runs."""


class OddHook(msgspec.Struct, frozen=True, kw_only=True):
    """A misbehaving hook, and the consequence if a call runs in spite of it.

    `command` is what the agent is told to run, `script` what is in the file that it names; in both
    `@...@` stands for what `fill_in` puts there. `ran` is the consequence where the call runs, and
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


def fill_in(text: str, top: Path, deny: Json, reason: str) -> str:
    """Fills in this test's paths and words, each as a shell or a plugin takes it."""
    words = {
        "TOP": shlex.quote(str(top)),
        "SCRIPT": shlex.quote(str(top / SCRIPT_NAME)),
        "TRACE": shlex.quote(str(top / TRACE_NAME)),
        "JS_TRACE": json.dumps(str(top / TRACE_NAME)),
        "DENY": shlex.quote(json.dumps(deny)),
        "REASON": shlex.quote(reason),
        "JS_REASON": json.dumps(reason),
    }
    for name, word in words.items():
        text = text.replace(f"@{name}@", word)
    return text


_BEFORE: Final = """\
import { writeFileSync } from "node:fs"
export const Odd = async () => ({
  "tool.execute.before": async () => {
    writeFileSync(@JS_TRACE@, "")
    %s
  },
})
"""
_WHOLE: Final = "a second plugin beside it throws then, as it is not the one that was installed"
_THROWS: Final = "its plugin throws whatever is not an allow or a handback of its core"

PLUGINS: Final = OddHooks(
    denies=OddHook(
        id="throws",
        label="handler throws",
        command=_BEFORE % "throw new Error(@JS_REASON@)",
        ran="the only way in which a plugin can deny does not deny",
        watchgate=_THROWS,
    ),
    hooks=(
        OddHook(
            id="no-parse",
            label="plugin does not parse",
            command="export const Odd = async () => ({",
            traced=False,
            ran="a plugin with a slip in it is left out, and every call runs",
            watchgate=_WHOLE,
        ),
        OddHook(
            id="no-import",
            label="plugin imports what is missing",
            command='import "./no-such-module.js"\n' + _BEFORE % "throw new Error(@JS_REASON@)",
            traced=False,
            ran="a plugin whose module is gone is left out, and every call runs",
            watchgate="its plugin imports nothing but what the runtime has",
        ),
        OddHook(
            id="start-throws",
            label="plugin throws as it starts",
            command="export const Odd = async () => { throw new Error(@JS_REASON@) }",
            traced=False,
            ran="a plugin that fails as it starts is left out, and every call runs",
            watchgate=_WHOLE,
        ),
        OddHook(
            id="throws-undefined",
            label="handler throws undefined",
            command=_BEFORE % "throw undefined",
            ran="a denial that is no error is not heard",
            watchgate="it throws errors with a reason",
        ),
        OddHook(
            id="not-awaited",
            label="handler denies in a promise that it does not await",
            command=_BEFORE
            % "void new Promise((_, no) => setTimeout(no, 100, new Error(@JS_REASON@)))",
            ran="a denial that nobody awaits comes too late",
            watchgate="its plugin awaits the client's answer",
        ),
        OddHook(
            id="returns-deny",
            label="handler returns a denial",
            command=_BEFORE % 'return { permissionDecision: "deny", decision: "deny" }',
            ran="what a handler returns is not read: a plugin can only throw",
            watchgate=_THROWS,
        ),
        OddHook(
            id="returns-garbage",
            label="handler returns garbage",
            command=_BEFORE % 'return "no json {{{"',
            ran="what a handler returns is not read: a plugin can only throw",
            watchgate=_THROWS,
        ),
        OddHook(
            id="never-answers",
            label="handler never answers",
            command=_BEFORE % "await new Promise(() => {})",
            hangs=True,
            ran="a plugin that hangs lets the call run",
            watchgate="its client has a deadline of its own, and denies then",
        ),
    ),
)


_GUARD: Final = "its command is guarded in the shell: whatever is not its own answer ends in exit 2"
_THREEFOLD: Final = "it denies by JSON, a reason on stderr and exit 2 at once"
_ALONE: Final = "it prints its one answer and nothing else, beside exit 2"
_LIMIT: Final = (
    "its guard does not start either then, and nothing of it can deny: the agent decides"
)
_RAN: Final = ": >@TRACE@; cat >/dev/null; "

COMMANDS: Final = OddHooks(
    denies=OddHook(
        id="deny-0",
        label="deny JSON, exit 0",
        script=_RAN + "echo @DENY@",
        ran="a denial in the agent's own form does not deny",
        watchgate=_THREEFOLD,
    ),
    hooks=(
        OddHook(
            id="missing",
            label="command is missing (127)",
            command="@TOP@/no-such-hook",
            traced=False,
            ran="a hook whose file is gone, after an update or a move, lets every call run",
            watchgate=_GUARD,
        ),
        OddHook(
            id="not-executable",
            label="not executable (126)",
            command="@SCRIPT@",
            script="#!/bin/sh\necho @DENY@",
            traced=False,
            ran="a hook that lost its execute bit, as in a copy, lets every call run",
            watchgate=_GUARD,
        ),
        OddHook(
            id="killed",
            label="dies by SIGKILL",
            script=": >@TRACE@; kill -9 $$",
            ran="a hook that is killed, as when memory runs out, lets the call run",
            watchgate="the shell around its client ends in exit 2 then; a killed shell does not",
        ),
        OddHook(
            id="no-stack",
            label="its shell dies by SIGSEGV (no stack)",
            command=": >@TRACE@; ulimit -s 8; exec /bin/sh @SCRIPT@",
            script=_RAN + "echo @DENY@",
            ran="a limit on the agent's stack, which any process of yours can set, "
            "lets every call run",
            watchgate=_LIMIT,
        ),
        OddHook(
            id="no-files",
            label="its shell cannot start (no descriptor, 127)",
            command=": >@TRACE@; ulimit -n 3; exec /bin/sh @SCRIPT@",
            script=_RAN + "echo @DENY@",
            ran="a limit on the agent's open files lets every call run",
            watchgate=_LIMIT,
        ),
        OddHook(
            id="no-memory",
            label="its shell cannot start (no memory, 127)",
            command=": >@TRACE@; ulimit -v 2048; exec /bin/sh @SCRIPT@",
            script=_RAN + "echo @DENY@",
            ran="a limit on the agent's memory lets every call run",
            watchgate=_LIMIT,
        ),
        OddHook(
            id="no-fork",
            label="its shell cannot fork (bash, 254)",
            script=_RAN + "echo fork: Resource temporarily unavailable >&2; exit 254",
            ran="a user with no process left has every call run where /bin/sh is bash",
            watchgate=_GUARD,
        ),
        OddHook(
            id="exit-1",
            label="crashes, exit 1",
            script=_RAN + "echo boom >&2; exit 1",
            ran="a hook that crashes, as any script does with an exception, lets the call run",
            watchgate=_GUARD,
        ),
        OddHook(
            id="exit-3",
            label="crashes, exit 3",
            script=_RAN + "echo boom >&2; exit 3",
            ran="a hook that fails with a status of its own lets the call run",
            watchgate=_GUARD,
        ),
        OddHook(
            id="hangs",
            label="hangs past its timeout",
            script=": >@TRACE@; while test -d @TOP@; do sleep 0.2; done",
            hangs=True,
            ran="a hook that hangs lets the call run: "
            "the deadline in the hook must be shorter than the agent's",
            watchgate="its own deadline is shorter than the limit that it installs; it denies then",
        ),
        OddHook(
            id="garbage",
            label="garbage on stdout, exit 0",
            script=_RAN + "echo 'no json {{{'",
            ran="an answer that cannot be read counts as none, and the call runs",
            watchgate="it prints what its core made, or a fixed denial; exit 2 stands beside it",
        ),
        OddHook(
            id="empty-object",
            label="empty object, exit 0",
            script=_RAN + "echo '{}'",
            ran="an answer without a decision is no objection, and the call runs",
            watchgate="it says nothing only where its core handed the call back; no answer denies",
        ),
        OddHook(
            id="deny-1",
            label="deny JSON, exit 1",
            script=_RAN + "echo @DENY@; exit 1",
            ran="a denial is thrown away when the hook fails after printing it",
            watchgate=_THREEFOLD,
        ),
        OddHook(
            id="deny-3",
            label="deny JSON, exit 3",
            script=_RAN + "echo @DENY@; exit 3",
            ran="a denial is thrown away when the hook ends in a status of its own",
            watchgate=_THREEFOLD,
        ),
        OddHook(
            id="text-before",
            label="a line of text before deny JSON",
            script=_RAN + "echo loading; echo @DENY@",
            ran="one stray line, as of a shell profile or a debug print, makes a denial an allow",
            watchgate=_ALONE,
        ),
        OddHook(
            id="deny-stderr",
            label="deny JSON on stderr",
            script=_RAN + "echo @DENY@ >&2",
            ran="a denial on the wrong stream is not heard",
            watchgate=_ALONE,
        ),
        OddHook(
            id="exit-2",
            label="exit 2 with a reason",
            script=_RAN + "echo @REASON@ >&2; exit 2",
            ran="exit 2, which most agents document as a denial, does not deny",
            watchgate=_THREEFOLD,
        ),
        OddHook(
            id="exit-2-silent",
            label="exit 2, no reason",
            script=_RAN + "exit 2",
            ran="exit 2 denies only together with a reason on stderr",
            watchgate="every denial of its carries a reason",
        ),
        OddHook(
            id="threefold",
            label="deny JSON, reason and exit 2",
            script=_RAN + "echo @DENY@; echo @REASON@ >&2; exit 2",
            ran="the form in which Watchgate denies does not deny",
            watchgate="this is its form",
        ),
        OddHook(
            id="held-stdout",
            label="deny JSON, a child keeps stdout open",
            script=_RAN + "echo @DENY@; sleep 4 &",
            ran="a denial is lost while a child of the hook keeps its output open",
            watchgate="it starts no children",
        ),
        OddHook(
            id="guarded",
            label="missing || exit 2 with a reason",
            script=": >@TRACE@; @TOP@/no-such-hook || { echo @REASON@ >&2; exit 2; }",
            ran="a guard in the shell around the hook does not help",
            watchgate="this is what its guard comes to",
        ),
    ),
)
