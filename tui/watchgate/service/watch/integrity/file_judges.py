"""Judges the files that the gate rests on: the fault, its consequence, and the mend.

- Variables that can keep a hook from running, or hide what its agent does. A hook is `/bin/sh`,
  then an interpreter: the loader reads `LD_*` before either says a word, bash in the place of sh
  reads the next ones. The last ones move an agent's own files to where nobody looks. Sources:
  ld.so(8), dyld(1), bash(1), python3(1), and where agents document that they keep files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from typing import Any, Final

import msgspec

from watchgate.agents.base import Adapter, Silencers
from watchgate.core.model.records import TamperedData
from watchgate.service.setup.agent_files import setup_of
from watchgate.service.setup.forms.form_editor import FormError
from watchgate.service.setup.forms.json_edit import scan
from watchgate.service.setup.manifest import (
    BOM,
    FileContent,
    InstalledFile,
    Measured,
    is_bytecode,
    is_uninstaller,
    measure_client,
    measure_hooks,
)

PREFIXES: Final = ("LD_", "DYLD_", "BASH_FUNC_", "PYTHON")
NAMES: Final = frozenset(
    {
        *("BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "GLIBC_TUNABLES"),
        *("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "GEMINI_DATA_DIR", "QWEN_DATA_DIR"),
    }
)
_USUAL_IN_DOTENV: Final = "PYTHON"
"""Projects put `PYTHONPATH` there for themselves; hooks run `python3 -I`, which reads none."""

_KEY: Final = re.compile(r'"([A-Za-z_][\w%()]{0,100})"\s*:')
_LINE: Final = re.compile(r"(?:export[ \t]+)?([A-Za-z_][\w.%()-]*)[ \t]*[=:](.*)")


def reaching(variables: Mapping[str, Any]) -> list[str]:
    """The names of those that can reach hooks, in their order.

    `ENV` names a file for shells; a word like `production` in it is none.
    """
    return [name for name, value in variables.items() if _reaches(name, value)]


def of_settings(settings: Any) -> list[str]:
    """The names that an agent's settings set under `env` and that can reach hooks."""
    variables = settings.get("env") if isinstance(settings, dict) else None
    return reaching(variables) if isinstance(variables, dict) else []


def of_unreadable(text: str) -> list[str]:
    """The same for settings that are no JSON to us, and may be for a more lenient agent."""
    return reaching(dict.fromkeys(_KEY.findall(text), ""))


def of_dotenv(text: str) -> list[str]:
    """The names that a `.env` file sets and that can reach hooks."""
    lines = (_LINE.match(line.strip()) for line in text.splitlines())
    variables = reaching({each[1]: each[2] for each in lines if each is not None})
    return [name for name in variables if not name.startswith(_USUAL_IN_DOTENV)]


def _reaches(name: str, value: Any) -> bool:
    if name == "ENV":
        return any(mark in str(value) for mark in "/$`~")
    return name in NAMES or name.startswith(PREFIXES)


FileJudge = Callable[[FileContent], TamperedData | None]
"""Judges one file as a look found it."""

_NAMED = 3
"""Events that are named; of more only the number is told."""


def hooks_judge(entry: InstalledFile, agent: Adapter | None, home: str) -> FileJudge:
    """Builds the judge of an agent's file: it must still have the entries that were installed."""
    shown = _shown(entry.path, home)
    title = agent.title if agent is not None else entry.agent
    install = reinstall_commands((entry,), home)

    def report(what: str, digest: str = "", mend: str = install) -> TamperedData:
        return TamperedData(
            part="hooks",
            path=entry.path,
            agent=entry.agent,
            what=what,
            mend=mend,
            digest=digest,
            was=entry.digest,
        )

    def judge(looked: FileContent) -> TamperedData | None:
        if agent is None:
            what = f"no adapter is called {entry.agent} any more: its hooks in {shown}"
            what = f"{what} are answered closed, and what they say cannot be checked"
            return report(what, mend=f"bring the adapter of {entry.agent} back")
        if looked.fault:
            return report(*_unreadable(shown, title, looked.fault, install))
        if looked.content is None:
            what = f"{shown}, which held the gate entries of {title}, is gone"
            return report(f"{what}: its calls run ungated")
        setup = setup_of(agent)
        measured = measure_hooks(setup, entry.path, looked.content)
        if measured.fault:
            return report(*_unreadable(shown, title, measured.fault, install, measured.digest))
        if measured.digest != entry.digest:
            return report(_changed(entry, measured, title, shown), measured.digest)
        if setup.form == "scripts" and not looked.runs:
            what = f"{shown} may not be run any more"
            return report(
                f"{what}: {title} passes over it, and its calls run ungated", measured.digest
            )
        return None

    return judge


def client_judge(entry: InstalledFile, mend: str, home: str) -> FileJudge:
    """Builds the judge of the hook client: it must be the one installed; `mend` reinstalls it."""
    shown = _shown(entry.path, home)

    def report(what: str, digest: str = "", mend: str = mend) -> TamperedData:
        return TamperedData(
            part="client", path=entry.path, what=what, mend=mend, digest=digest, was=entry.digest
        )

    def judge(looked: FileContent) -> TamperedData | None:
        if looked.fault:
            what = f"the hook client {shown} cannot be read ({looked.fault})"
            what = f"{what}: hooks fail, and calls may run ungated"
            return report(what, mend=f"mend or remove {shown}, then {mend}")
        if looked.content is None and (is_bytecode(entry.path) or is_uninstaller(entry.path)):
            return None  # hooks compile the client then, or do without
        if looked.content is None:
            return report(f"the hook client {shown} is gone: hooks fail, and calls may run ungated")
        digest = measure_client(looked.content).digest
        if digest == entry.digest:
            return None
        what = f"the hook client {shown} is not the one that was installed"
        if is_uninstaller(entry.path):
            what = f"{shown} is not the one that was installed"
            return report(f"{what}: who takes hooks out with it runs what else is in it", digest)
        if is_bytecode(entry.path):
            what = f"{shown} is not what the installed hook client compiles to"
        return report(f"{what}: every hook runs what somebody else wrote there", digest)

    return judge


def silencer_judge(agent: Adapter, silencers: Silencers, path: str, home: str) -> FileJudge:
    """Builds the judge of a settings file: it must not switch the agent's hooks off."""
    shown = _shown(path, home)

    def judge(looked: FileContent) -> TamperedData | None:
        try:
            text = (looked.content or b"").removeprefix(BOM).decode()
            comments = setup_of(agent).comments
            settings = _settings(text, comments)
        except (FormError, ValueError):
            return None  # the agent cannot read it either, so it silences nothing
        for key, (value, what) in silencers.keys.items():
            if _at(settings, key) is value:
                return TamperedData(
                    part="hooks",
                    path=path,
                    agent=agent.name,
                    what=f'"{key}" in {shown} {what}: the calls of {agent.title} run ungated',
                    mend=f'take "{key}" out of {shown}',
                    digest=sha256(f"{key} {value}".encode()).hexdigest(),
                )
        return None

    return judge


def variables_judge(agent: Adapter, path: str, home: str, *, dotenv: bool) -> FileJudge:
    """Builds the judge of a file that may set variables which keep hooks from running."""
    shown = _shown(path, home)

    def judge(looked: FileContent) -> TamperedData | None:
        text = (looked.content or b"").removeprefix(BOM).decode(errors="replace")
        try:
            comments = setup_of(agent).comments
            names = of_dotenv(text) if dotenv else of_settings(_settings(text, comments))
        except (FormError, ValueError):
            names = of_unreadable(text)
        if not names:
            return None
        listed = _names(names) if len(names) <= _NAMED else f"{_names(names[:_NAMED])} and others"
        return TamperedData(
            part="hooks",
            path=path,
            agent=agent.name,
            what=f"{shown} sets {listed}, which can end every hook of {agent.title} before it asks:"
            " its calls may run ungated",
            mend=f"take {listed} out of {shown}, then start {agent.title} again",
            digest=sha256(text.encode()).hexdigest(),
        )

    return judge


def _settings(text: str, comments: bool) -> Any:
    return scan(text, comments=comments).load(text) if text.strip() else {}


def list_gone(path: str, fault: str, entries: Iterable[InstalledFile], home: str) -> TamperedData:
    """Reports that the list of what was installed is gone or unreadable, though there was one."""
    why = f"cannot be read ({fault})" if fault else "is gone"
    what = f"the list of what was installed, {_shown(path, home)}, {why}"
    return TamperedData(
        part="hooks",
        path=path,
        what=f"{what}: what the last core knew is watched instead",
        mend=reinstall_commands(entries, home),
    )


def reinstall_commands(entries: Iterable[InstalledFile], home: str) -> str:
    """Returns the commands that install these once more, each where it was installed."""
    places = sorted({(entry.root, entry.agent) for entry in entries if entry.agent})
    agents = [agent for root, agent in places if not root]
    commands = [f"watchgate install {' '.join(agents)}"] if agents else []
    commands += [
        f"watchgate install {agent} --scope project, in {_shown(root, home)}"
        for root, agent in places
        if root
    ]
    return "; ".join(commands)


def mended_alarm(alarm: TamperedData) -> TamperedData:
    """Reports that a file is again what it was."""
    what = f"{alarm.path} is again as it was installed, or nothing of it is installed any more"
    if alarm.part == "client":
        what = f"{alarm.path} is again the hook client that was installed"
    return msgspec.structs.replace(alarm, what=what, mend="", digest=alarm.was, was=alarm.digest)


def first_fault_of(judges: list[FileJudge]) -> FileJudge:
    """Builds the judge that gives the first fault of these judges: one file, one alarm."""

    def judge(looked: FileContent) -> TamperedData | None:
        return next((fault for each in judges if (fault := each(looked)) is not None), None)

    return judge


def _unreadable(
    shown: str, title: str, fault: str, install: str, digest: str = ""
) -> tuple[str, str, str]:
    """Builds the report about a file that cannot be read: text, digest and mend.

    Args:
        shown: The path, with `~` for the home.
        title: The agent's title.
        fault: Why it cannot be read.
        install: The command that installs its hooks again.
        digest: The digest of its content, empty where there is none.
    """
    what = f"{shown} cannot be read, and {title} may not read it either ({fault})"
    return f"{what}: its calls may run ungated", digest, f"mend or remove {shown}, then {install}"


def _changed(entry: InstalledFile, measured: Measured, title: str, shown: str) -> str:
    lost = [event for event in entry.events if event not in measured.events]
    if lost and not measured.events:
        return f"the gate entries of {title} were removed from {shown}: its calls run ungated"
    if lost:
        return f"{shown} lost the gate entries of {title} for {_names(lost)}: those run ungated"
    what = f"the gate entries of {title} in {shown} are not those that were installed"
    return f"{what}: its calls may run ungated"


def _names(events: list[str]) -> str:
    if len(events) > _NAMED:
        return f"{len(events)} events"
    return ", ".join(events)


def _shown(path: str, home: str) -> str:
    return f"~{path[len(home) :]}" if home and path.startswith(f"{home}/") else path


def _at(settings: Any, key: str) -> Any:
    for part in key.split("."):
        settings = settings.get(part) if isinstance(settings, dict) else None
    return settings
