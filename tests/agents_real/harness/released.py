"""The tools of a released agent, as it offers them to its model and as its program names them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from tests.agents_real.harness.npm import folder
from tests.agents_real.harness.packages import PACKAGES
from tests.agents_real.harness.session import AnySession, Session
from watchgate.service.crashtest.agent_driver import AgentDriver
from watchgate.service.crashtest.model.conversation import Json

A = TypeVar("A", bound=AgentDriver)

# Tools that are only found by a search would not be offered by themselves.
_SETTINGS: Final[dict[str, Json]] = {
    "claude": {"env": {"ENABLE_TOOL_SEARCH": "false"}},
    "qwen": {"tools": {"toolSearch": {"enabled": False}}},
}
_OPTIONS: Final = {
    "codex": ("--enable", "code_mode", "--enable", "multi_agent_v2"),
}
_GIVEN: Final = re.compile(rb'[,; ({]([\w$]{1,4})="([A-Za-z][A-Za-z_]{1,40})"')


class _Program(msgspec.Struct, frozen=True):
    """The files of a program that name its tools, and the pattern whose group is a name.

    With `variable` the group is a variable that holds the name; its value stands elsewhere. Where
    `within` is given, only what fits it is looked at.
    """

    files: str
    pattern: bytes
    variable: bool = False
    within: bytes = b""


PROGRAMS: Final = {
    "claude": _Program(
        "@anthropic-ai/claude-code-*/claude",
        rb'registryToolId:"[0-9a-f-]{36}",name:([\w$]+),'
        rb'|[{,]name:([\w$]+),registryToolId:"[0-9a-f-]{36}"',
        variable=True,
    ),
    "gemini": _Program("@google/gemini-cli/bundle/*.js", rb'\b[A-Z_]+_TOOL_NAME = "([a-z_]+)"'),
    "opencode": _Program(
        "opencode-linux-*/bin/opencode",
        rb'=[\w$]{1,3}\("([a-z_]+)",[\w$]{1,3}\.gen\(function\*\(\)\{',
    ),
    "qwen": _Program(
        "@qwen-code/qwen-code/chunks/*.js",
        rb'^  [A-Z_]+: "([a-z_]+)",?$',
        within=rb"\bToolNames = \{\n(?:  [^\n]*\n)*",
    ),
}
"""The programs that are no compressed archive, and say in their code which tools they have."""

RUNS_CODE: Final = b"enablesCodeExecution:!0"
"""What Claude Code's program says of a tool that runs commands or code."""


def offered(session: AnySession, tools: dict[str, Json]) -> dict[str, list[str]]:
    """Runs the agent until it has asked its model once, and gives each tool's fields by its name.

    `tools` is where its model keeps what it was offered.
    """
    offer_every_tool(session)
    session.start(options=_OPTIONS.get(session.agent.name, ()))
    session.finish()
    return {name: sorted(schema.get("properties", {})) for name, schema in sorted(tools.items())}


def offer_every_tool(session: Session[A]) -> None:
    """Has the agent offer its model at once what it would else find by a search."""
    settings = _SETTINGS.get(session.agent.name)
    if settings:
        file = session.agent.hook_file(session.place)
        known: Json = json.loads(file.read_text()) if file.exists() else {}
        session.place.write(file, json.dumps(known | settings))


def named(agent: str) -> list[frozenset[str]]:
    """Each tool that the program names; several names where it cannot be told which one is it."""
    return [names for names, _ in _declared(agent)]


def running_code(agent: str) -> list[frozenset[str]]:
    """Those of which the program itself says that they run code, as `named`."""
    return [names for names, behind in _declared(agent) if RUNS_CODE in behind]


def _declared(agent: str) -> Iterator[tuple[frozenset[str], bytes]]:
    """Each declaration of a tool: what it may be called, and what follows up to the next one."""
    program = PROGRAMS[agent]
    for text in _texts(agent, program):
        values = _values(text) if program.variable else {}
        for match in re.finditer(program.pattern, text, re.MULTILINE):
            found = next(group for group in match.groups() if group)
            names = values.get(found, set()) if program.variable else {found.decode()}
            behind = text[match.end() : match.end() + 400].partition(b"registryToolId")[0]
            yield frozenset(names), behind


def _texts(agent: str, program: _Program) -> Iterator[bytes]:
    files: list[Path] = sorted((folder(PACKAGES[agent]) / "node_modules").glob(program.files))
    assert files, f"{agent}: no file {program.files}"
    for file in files:
        text = file.read_bytes()
        if program.within:
            yield from (match[0] for match in re.finditer(program.within, text))
        else:
            yield text


def _values(text: bytes) -> dict[bytes, set[str]]:
    """The words that each variable may hold: short ones are used again elsewhere in a program."""
    found: dict[bytes, set[str]] = {}
    for each in _GIVEN.finditer(text):
        found.setdefault(each[1], set()).add(each[2].decode())
    return found
