"""Hooks that misbehave: commands for most agents, plugins for OpenCode."""

from __future__ import annotations

from typing import Final

from watchgate.service.crashtest.odd import OddHook, OddHooks

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
