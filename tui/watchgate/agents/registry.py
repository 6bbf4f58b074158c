"""The adapters by name, each built when it is first asked for."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Final

from watchgate.agents.base import Adapter
from watchgate.agents.table.adapter import TableAdapter
from watchgate.core.model.events import Lane

BUILT_IN: Final = (
    "claude",
    "codex",
    "copilot",
    "gemini",
    "qwen",
    "opencode",
    "cursor",
    "goose",
    "kimi",
    "crush",
    "kiro",
    "droid",
    "cline",
    "windsurf",
    "vscode",
    "acp",
    "synaps",
)
"""Each is a module of this package with an `ADAPTER`, or with the `TABLE` that makes one."""

STREAM_TITLES: Final = {"codewhale": "CodeWhale", "sandbox-agent": "sandbox-agent"}
"""The names in a sentence of agents that have a stream and no adapter."""


class UnknownAgentError(ValueError):
    """The name of no adapter; the message lists the names there are."""


class Adapters(MutableMapping[str, Adapter]):
    """Adapters by name; a built-in one is imported when it is first used, few of them ever are."""

    def __init__(self, more: Mapping[str, Adapter] | None = None) -> None:
        """Takes in `more`, a user's own adapters by name."""
        self._made: dict[str, Adapter] = dict(more or {})
        self._names = dict.fromkeys((*BUILT_IN, *self._made))

    def __getitem__(self, name: str) -> Adapter:
        known = self._made.get(name)
        if known is None:
            if name not in self._names:
                raise KeyError(name)
            known = self._made[name] = _built(name)
        return known

    def __setitem__(self, name: str, adapter: Adapter) -> None:
        self._made[name] = adapter
        self._names[name] = None

    def __delitem__(self, name: str) -> None:
        del self._names[name]
        self._made.pop(name, None)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def adapter(name: str, known: Mapping[str, Adapter] | None = None) -> Adapter:
    """Returns the adapter of an agent, a built-in one without `known`.

    Raises `UnknownAgentError`.
    """
    known = ADAPTERS if known is None else known
    chosen = known.get(name)
    if chosen is None:
        raise UnknownAgentError(f"unknown agent {name!r}: use one of {', '.join(sorted(known))}")
    return chosen


def closed_template(agent: Adapter, native: str, lane: Lane = Lane.GATE) -> str:
    """Returns the hook client's own denial on stdout, with `@` where its reason goes."""
    template = agent.closed(native, Lane.GATE, "@").stdout.decode()
    # The client takes an empty one for "hand back" on every lane but the gate's own.
    return template if template or lane is Lane.GATE else "\n"


def closed_exit(agent: Adapter, native: str) -> int:
    """Returns the status with which the hook client leaves when it denies by itself."""
    return agent.closed(native, Lane.GATE, "@").exit_code


def handed_back(agent: Adapter, native: str) -> str:
    """Returns the stdout of a hook client that hands back by itself; empty for most agents."""
    return agent.closed(native, Lane.GATE_READ, "").stdout.decode()


def agent_titles(known: Iterable[Adapter] | None = None) -> dict[str, str]:
    """Returns the names that a screen gives these agents (the built-in ones), and streams.

    An adapter may have a `short_title` for that, as a line of 80 cells has little room.
    """
    return STREAM_TITLES | {
        adapter.name: getattr(adapter, "short_title", adapter.title)
        for adapter in (ADAPTERS.values() if known is None else known)
    }


def _built(name: str) -> Adapter:
    module = importlib.import_module(f"watchgate.agents.{name}")
    made: Adapter | None = getattr(module, "ADAPTER", None)
    return made if made is not None else TableAdapter(module.TABLE)


ADAPTERS: Final = Adapters()
"""The built-in ones."""
