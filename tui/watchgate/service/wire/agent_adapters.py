"""The adapters of all agents: built-in ones, a user's own, and those of other packages."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from watchgate.agents.base import Adapter
from watchgate.agents.registry import ADAPTERS, Adapters, closed_exit
from watchgate.agents.table.adapter import TableAdapter
from watchgate.agents.table.table_file import load_table
from watchgate.core.base.config_text import ConfigError
from watchgate.core.config.config import Config
from watchgate.core.model.events import Lane
from watchgate.core.policy.rules.profiles import PROFILES
from watchgate.link.paths import Paths
from watchgate.service.system import safe_files
from watchgate.service.system.error_boundary import contain_errors
from watchgate.service.system.runtime_dir import RuntimeDirError, check_config

GROUP = "watchgate.agents"
FOLDER = "agents.d"

_STATUSES = (0, 2)
"""The exit statuses that an installed hook's guard lets pass; any other it takes for a crash."""

_PARTS = ("can", "decode", "answer", "closed", "entries", "kinds", "title", "experimental", "setup")


class AgentsError(ValueError):
    """An agent cannot be loaded; the message says how to mend it."""


def adapters(paths: Paths, config: Config) -> Mapping[str, Adapter]:
    """Returns the adapters by name: built in, from `agents.d`, and of other packages.

    Code of another package is loaded only where the configuration names it. Raises `AgentsError`.
    """
    more: dict[str, tuple[Adapter, str]] = {}
    for path in _files(paths.config.with_name(FOLDER)):
        _add(more, table_adapter(path), str(path))
    for name in config.agents.python:
        _add(more, _from_package(name), f"{paths.config}: [agents] python = {name!r}")
    return Adapters({name: each for name, (each, _) in more.items()}) if more else ADAPTERS


def table_adapter(path: Path) -> TableAdapter:
    """Returns the adapter that a TOML file describes; raises `AgentsError`."""
    try:
        check_config(path)
        return TableAdapter(load_table(safe_files.read_regular_file(path).decode(), str(path)))
    except (ConfigError, RuntimeDirError) as fault:
        raise AgentsError(str(fault)) from None
    except UnicodeDecodeError as fault:
        raise AgentsError(f"{path}: not valid TOML: it is no UTF-8 ({fault})") from None
    except OSError as fault:
        raise AgentsError(f"{path}: cannot be read: {fault.strerror}") from None


def _files(folder: Path) -> list[Path]:
    try:
        if not folder.exists():
            return []
        check_config(folder)
        return sorted(folder.glob("*.toml"))
    except RuntimeDirError as fault:
        raise AgentsError(str(fault)) from None
    except OSError as fault:
        raise AgentsError(f"{folder}: cannot be read: {fault.strerror}") from None


def _add(more: dict[str, tuple[Adapter, str]], adapter: Adapter, origin: str) -> None:
    name = adapter.name
    if name in ADAPTERS:
        raise AgentsError(f"{origin}: the name {name!r} is that of a built-in agent; use another")
    if name in more:
        other = more[name][1]
        raise AgentsError(f"{origin}: the name {name!r} is taken by {other}; use another")
    more[name] = (adapter, origin)


def _from_package(name: str) -> Adapter:
    package_points = entry_points(group=GROUP)
    points = tuple(package_points.select(name=name))
    if not points:
        known = ", ".join(sorted(package_points.names)) or "none"
        raise AgentsError(
            f"[agents] python names {name!r}, but no installed package has this entry point of the"
            f" group {GROUP} (there are: {known}): install it beside watchgate, or remove the name"
        )
    if len(points) > 1:
        raise AgentsError(
            f"[agents] python names {name!r}, and several installed packages have an entry point of"
            f" that name ({', '.join(point.value for point in points)}): remove all but one"
        )
    return _loaded(points[0])


def _loaded(point: EntryPoint) -> Adapter:
    made: list[object] = []
    faults: list[str] = []
    with contain_errors(faults.append):
        loaded = point.load()
        made.append(loaded() if isinstance(loaded, type) else loaded)
    for fault in faults:
        raise AgentsError(f"the entry point {point.name} = {point.value} cannot be loaded: {fault}")
    adapter = made[0]
    lacks = [part for part in ("name", *_PARTS) if not hasattr(adapter, part)]
    if lacks or getattr(adapter, "name", None) != point.name:
        why = f"lacks {', '.join(lacks)}" if lacks else "has another name than its entry point"
        raise AgentsError(
            f"the entry point {point.name} = {point.value} is no adapter, it {why}:"
            " see watchgate.agents.base.Adapter"
        )
    _demand_statuses(adapter, point)  # type: ignore[arg-type]  # it was looked at part by part
    return adapter  # type: ignore[return-value]


def _demand_statuses(adapter: Adapter, point: EntryPoint) -> None:
    """Raises where an installed hook would deny with a status that its guard takes for a crash."""
    wrong: list[tuple[str, int]] = []
    # One that fails even here is contained wherever it is used, and gates closed.
    with contain_errors(lambda _: None):
        for entry in (each for profile in PROFILES for each in adapter.entries(profile)):
            status = closed_exit(adapter, entry.event)
            if entry.lane in (Lane.GATE, Lane.GATE_READ) and status not in _STATUSES:
                wrong.append((entry.event, status))
    for native, status in wrong:
        raise AgentsError(
            f"the entry point {point.name} = {point.value} cannot be used: it denies {native} with"
            f" exit status {status}, which its installed hook takes for a crash; let it be 0 or 2"
        )
