"""The names that a filter knows a call's decision, machine and session by, on every screen."""

from __future__ import annotations

from functools import lru_cache

from watchgate.core.call_endings import ENDINGS
from watchgate.core.hosts import host_and_id

_WHO = {
    "-by-operator": "operator",
    "-by-grant": "grant",
    "-by-rule": "rule",
    "-by-timeout": "nobody",
    "-no-approver": "nobody",
}


@lru_cache(maxsize=256)
def states_of(word: str) -> tuple[str, ...]:
    """Returns the states that a word stands for: itself, that of its row, and `allowed`.

    Whether an allowed call runs still is not for this word to say.
    """
    ending = ENDINGS.get(word)
    if ending is None:
        return ()
    over = (ending.stage,) if ending.over or ending.stage == "handed back" else ()
    return (word, *over, *(("allowed",) if word.startswith("allowed-") else ()))


@lru_cache(maxsize=256)
def by_names(by: str, word: str) -> tuple[str, ...] | None:
    """Returns the names of who decided: `operator ann (console 2)` is also `operator` and `ann`.

    `grant #a41f of operator ann` is a grant, and not an operator.
    """
    who = next((name for end, name in _WHO.items() if word.endswith(end)), "")
    parts = [part.strip("(),") for part in by.split()]
    if who and who != "operator":
        parts = [part for part in parts if part != "operator"]
    names = dict.fromkeys((by, *parts, who))
    return tuple(name for name in names if name) or None


def host_of(session: str) -> str | None:
    """Returns the machine of a session, None where there is only one."""
    host, id = host_and_id(session)
    return host if id else None


def session_names(label: str, session: str) -> tuple[str, ...]:
    """Returns the names of a session: label and id, each without its machine too."""
    host, id = host_and_id(session)
    return (label, session, id, label.removeprefix(f"{host}:")) if id else (label, session)
