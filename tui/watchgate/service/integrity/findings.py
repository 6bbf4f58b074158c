"""What is wrong with one of the files that the gate rests on: what that means, and the mend."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import msgspec

from watchgate.agents.base import Adapter, Silencers
from watchgate.core.records import TamperedData
from watchgate.service.integrity.manifest import Entry
from watchgate.service.integrity.measure import Measured, is_bytecode, of_client, of_hooks
from watchgate.service.setup.forms.editor import FormError
from watchgate.service.setup.forms.json_scan import scan
from watchgate.service.setup.targets import setup_of

Judge = Callable[[bytes | None], TamperedData | None]
"""Looks at what a file holds; None in place of it where there is no such file."""

_NAMED = 3
"""Events that are named; of more only the number is told."""


def hooks_judge(entry: Entry, agent: Adapter | None, home: str) -> Judge:
    """Whether an agent's file still has the entries that were installed."""
    shown = _shown(entry.path, home)
    title = agent.title if agent is not None else entry.agent

    def told(what: str, digest: str = "") -> TamperedData:
        return TamperedData(
            part="hooks",
            path=entry.path,
            agent=entry.agent,
            what=what,
            mend=f"watchgate install {entry.agent}",
            digest=digest,
            was=entry.digest,
        )

    def judge(content: bytes | None) -> TamperedData | None:
        if content is None:
            what = f"{shown}, which held the gate entries of {title}, is gone"
            return told(f"{what}: its calls run ungated")
        if agent is None:
            what = f"no adapter is called {entry.agent} any more: its hooks in {shown}"
            return told(f"{what} are answered closed, and what they say cannot be checked")
        found = of_hooks(setup_of(agent), entry.path, content)
        if found.digest == entry.digest:
            return None
        return told(_changed(entry, found, title, shown), found.digest)

    return judge


def client_judge(entry: Entry, agents: str, home: str) -> Judge:
    """Whether the hook client is the one that was installed; `agents` are those that run it."""
    shown = _shown(entry.path, home)

    def told(what: str, digest: str = "") -> TamperedData:
        return TamperedData(
            part="client",
            path=entry.path,
            what=what,
            mend=f"watchgate install {agents}".rstrip(),
            digest=digest,
            was=entry.digest,
        )

    def judge(content: bytes | None) -> TamperedData | None:
        if content is None and is_bytecode(entry.path):
            return None  # the next hook makes it anew
        if content is None:
            return told(f"the hook client {shown} is gone: hooks fail, and calls may run ungated")
        digest = of_client(entry.path, content).digest
        if digest == entry.digest:
            return None
        what = f"the hook client {shown} is not the one that was installed"
        if is_bytecode(entry.path):
            what = f"{shown} is not what the installed hook client compiles to"
        return told(f"{what}: every hook runs what somebody else wrote there", digest)

    return judge


def silencer_judge(agent: Adapter, silencers: Silencers, path: str, home: str) -> Judge:
    """Whether a settings file switches the agent's hooks off, ours with them."""
    shown = _shown(path, home)

    def judge(content: bytes | None) -> TamperedData | None:
        try:
            text = (content or b"").decode()
            comments = setup_of(agent).comments
            settings = scan(text, comments=comments).load(text) if text.strip() else {}
        except (UnicodeDecodeError, FormError):
            return None  # the agent cannot read it either, so it silences nothing
        for key, (value, what) in silencers.keys.items():
            if _at(settings, key) is value:
                return TamperedData(
                    part="hooks",
                    path=path,
                    agent=agent.name,
                    what=f'"{key}" in {shown} {what}: the calls of {agent.title} run ungated',
                    mend=f'take "{key}" out of {shown}',
                    digest=sha256(content or b"").hexdigest(),
                )
        return None

    return judge


def list_gone(path: str, fault: str, agents: str, home: str) -> TamperedData:
    """That the list of what was installed is gone or cannot be read, though there was one."""
    why = f"cannot be read ({fault})" if fault else "is gone"
    what = f"the list of what was installed, {_shown(path, home)}, {why}"
    return TamperedData(
        part="hooks",
        path=path,
        what=f"{what}: what the last core knew is watched instead",
        mend=f"watchgate install {agents}".rstrip(),
    )


def mended(told: TamperedData) -> TamperedData:
    """That a file is again what it was."""
    whose = f"the hooks of {told.agent}" if told.agent else f"the {told.part}"
    what = f"{whose} in {told.path} are again as they were installed, or no longer installed"
    if told.part == "client":
        what = f"{told.path} is again the hook client that was installed"
    return msgspec.structs.replace(told, what=what, mend="", digest=told.was, was=told.digest)


def first_of(judges: list[Judge]) -> Judge:
    """What the first of these finds wrong: one file, one alarm."""

    def judge(content: bytes | None) -> TamperedData | None:
        return next((found for each in judges if (found := each(content)) is not None), None)

    return judge


def _changed(entry: Entry, found: Measured, title: str, shown: str) -> str:
    if found.fault:
        what = f"{shown} cannot be read, and {title} may not read it either ({found.fault})"
        return f"{what}: its calls may run ungated"
    lost = [event for event in entry.events if event not in found.events]
    if lost and not found.events:
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
