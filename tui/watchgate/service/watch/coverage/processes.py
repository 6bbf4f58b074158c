"""The agent processes of this user: since when, where, with which hooks, under which limits."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from watchgate.agents.base import Adapter, Setup
from watchgate.core.base.bounded import Recent
from watchgate.service.setup.hook_checks import Check
from watchgate.service.setup.running_agents import process_names, program_name
from watchgate.service.system.process_table import PROC, parse_stat

EVERY = 6
"""Every so many looks each process is looked at again: one may run another program by now."""
_CMD_BYTES = 4_096
_SETTINGS_BYTES = 1_048_576

_EDITORS: Final = frozenset({"code", "code-insiders", "cursor", "Cursor", "windsurf"})
"""Programs that run without their agent, too: that one runs says nothing of what is gated."""

_NO_AGENT: Final = frozenset(
    {
        *("--version", "-v", "-V", "--help", "-h", "help", "version", "completion"),
        *("mcp", "mcp-server", "login", "logout", "auth", "setup-token", "config", "plugin"),
        *("doctor", "install", "uninstall", "update", "upgrade", "migrate"),
    }
)
"""First arguments with which an agent's program runs no agent, however long it runs."""

_ALL_OFF: Final = re.compile(r'"(disableAllHooks)"\s*:\s*true')
"""The setting that switches all hooks off; settings may also be given as an argument."""

_OURS: Final = "watchgate"
_LAUNCHERS = 4
"""An agent that launches itself anew is followed up so many processes."""


class AgentProcess(msgspec.Struct, frozen=True, kw_only=True):
    """One process of an agent; `start` is its start in clock ticks since the machine's."""

    agent: str
    pid: int
    start: int
    cwd: str
    parent: int = 0
    hooks_off: str = ""


class ProcessScan:
    """Scans `/proc`; processes known to be no agent are read again only at every sixth look."""

    def __init__(self, adapters: Mapping[str, Adapter], proc: Path = PROC) -> None:
        self._names = {
            name: adapter.name
            for adapter in adapters.values()
            if adapter.setup is not None
            for name in process_names(adapter)
            if name not in _EDITORS
        }
        self._hooks_off = {
            adapter.name: adapter.setup.hooks_off for adapter in adapters.values() if adapter.setup
        }
        self._proc = proc
        self._others: set[str] = set()
        self._present: set[str] = set()
        self._fresh: set[str] = set()
        self._looks = 0

    def look(self) -> list[AgentProcess]:
        """Returns the agents that run; empty where the system has no `/proc`."""
        present = self._names_now()
        self._looks += 1
        known = self._others if self._looks % EVERY else set()
        agents = []
        others = known & present
        for name in present - known:
            process = self._read(name)
            if process is None:
                others.add(name)
            else:
                agents.append(process)
        self._others = others
        return sorted(agents, key=lambda each: each.pid)

    def newcomers(self) -> list[AgentProcess]:
        """Returns the agents that were started since the last call.

        A process is looked at twice: the first time it may not be the program yet that it will be.
        """
        present = self._names_now()
        fresh = present - self._present
        twice, self._fresh, self._present = fresh | (self._fresh & present), fresh, present
        processes = (self._read(name) for name in twice)
        return [each for each in processes if each is not None]

    def _names_now(self) -> set[str]:
        try:
            return {each.name for each in self._proc.iterdir() if each.name.isdecimal()}
        except OSError:
            return set()

    def _below_us(self, pid: int) -> bool:
        """Decides whether a proxy of ours started the agent: its calls pass our gate there."""
        try:
            for _ in range(_LAUNCHERS):
                directory = self._proc / str(pid)
                program = program_name(_words(directory))
                if program not in self._names:
                    return program == _OURS
                pid = parse_stat((directory / "stat").read_bytes()).parent
        except (OSError, ValueError, IndexError):
            return False
        return False

    def _read(self, name: str) -> AgentProcess | None:
        directory = self._proc / name
        try:
            if directory.stat().st_uid != os.geteuid():
                return None
            words = _words(directory)
            agent = self._names.get(program_name(words))
            if agent is None or _first_argument(words) in _NO_AGENT:
                return None
            stat = parse_stat((directory / "stat").read_bytes())
            if self._below_us(stat.parent):
                return None
            cwd = str((directory / "cwd").readlink())
        except (OSError, ValueError, IndexError):
            return None
        off = _switch(words, self._hooks_off.get(agent, ()))
        return AgentProcess(
            agent=agent,
            pid=int(name),
            start=int(stat.start),
            cwd=cwd,
            parent=stat.parent,
            hooks_off=off,
        )


def _switch(words: list[str], switches: tuple[str, ...]) -> str:
    """Returns the argument, or the key in settings given as one, that switches hooks off."""
    for word in words:
        if word in switches:
            return word
        if match := _ALL_OFF.search(word):
            return match[1]
    return ""


def _words(directory: Path) -> list[str]:
    """Returns the first bytes of a process's command line, split; raises `OSError`."""
    with (directory / "cmdline").open("rb") as file:
        return [os.fsdecode(word) for word in file.read(_CMD_BYTES).split(b"\0")]


def _first_argument(words: list[str]) -> str:
    """Returns the first argument of an agent's program, or of the script that a runtime runs."""
    program = program_name(words)
    at = next((n for n, word in enumerate(words) if program_name([word]) == program), 0)
    return words[at + 1] if at + 1 < len(words) else ""


class InstalledHooks(msgspec.Struct, frozen=True):
    """Our hooks in an agent's user settings: when they last changed (UTC s), None without them.

    `disabled` says that the settings switch all hooks off. `trusted` says that an agent which skips
    hooks until somebody has reviewed them was told to trust ours.
    """

    changed_s: float | None
    disabled: bool = False
    trusted: bool = False


def read_installed_hooks(
    setup: Setup | None,
    home: Path,
    env: Mapping[str, str],
    trusts: Callable[[Path], bool] | None = None,
) -> InstalledHooks:
    """Reads our hooks in an agent's user settings; `trusts` reads whether the agent trusts them."""
    if setup is None:
        return InstalledHooks(None)
    path = _settings(setup, home, env)
    try:
        about = path.stat()
        if stat.S_ISDIR(about.st_mode):
            return InstalledHooks(about.st_mtime if any(path.glob("*watchgate*")) else None)
        if not stat.S_ISREG(about.st_mode) or about.st_size > _SETTINGS_BYTES:
            return InstalledHooks(None)
        text = path.read_text(errors="replace")
    except OSError:
        return InstalledHooks(None)
    disabled = _ALL_OFF.search(text) is not None
    if "watchgate" not in text:
        return InstalledHooks(None, disabled)
    return InstalledHooks(about.st_mtime, disabled, trusts is not None and trusts(path))


def _settings(setup: Setup, home: Path, env: Mapping[str, str]) -> Path:
    parts = Path(setup.user).parts
    if parts[0] != "~":
        return Path(setup.user)
    moved = env.get(setup.variable, "") if setup.variable else ""
    return Path(moved, *parts[2:]) if moved else Path(home, *parts[1:])


_KIB, _MIB = 1024, 1024 * 1024
_LIMITS_BYTES = 8_192
_MAX_REPORTED = 500

MINIMUMS: Final = {
    "Max stack size": (256 * _KIB, "bytes of stack"),
    "Max data size": (32 * _MIB, "bytes of data"),
    "Max address space": (64 * _MIB, "bytes of memory"),
    "Max open files": (16, "open files"),
    "Max processes": (64, "processes"),
    "Max cpu time": (2, "seconds of CPU"),
}
"""Limits with which a hook runs, with room.

/bin/sh and the client were measured to need 34 KiB of stack and
more for a large environment, 5 MiB of data, 15 MiB of memory, 5 files and 1 s. A limit of processes
counts all of a user's."""


def too_small(text: str) -> list[str]:
    """Returns in words the limits of a `/proc/PID/limits` that are too small for a hook.

    Source: proc(5): a name, then the soft limit, the hard one and the unit, in columns.
    """
    faults = []
    for line in text.splitlines():
        for name, (minimum, unit) in MINIMUMS.items():
            words = line.removeprefix(name).split()
            if not line.startswith(name) or not words or not words[0].isdecimal():
                continue
            if (soft := int(words[0])) < minimum:
                faults.append(f"{soft:,} {unit}, and a hook needs {minimum:,}")
    return faults


class ProcessLimits:
    """Reports each process once, and again when another of its limits is too small."""

    def __init__(self, proc: Path) -> None:
        self._proc = proc
        self._reported: Recent[tuple[int, int], list[str]] = Recent(_MAX_REPORTED)

    def narrow(self, processes: Iterable[AgentProcess]) -> list[tuple[AgentProcess, str]]:
        """Returns the processes whose hooks cannot run, each with the reason in words."""
        narrow = []
        for process in processes:
            key = process.pid, process.start
            words = self.of(process.pid)
            if words and self._reported.get(key) != words:
                self._reported[key] = words
                narrow.append((process, "; ".join(words)))
        return narrow

    def of(self, pid: int) -> list[str]:
        """Returns the limits of a process that are too small; empty where it cannot be read."""
        try:
            with (self._proc / str(pid) / "limits").open("rb") as file:
                return too_small(file.read(_LIMITS_BYTES).decode(errors="replace"))
        except OSError:
            return []


def check_limits(agents: Sequence[Adapter], proc: Path = PROC) -> Iterator[Check]:
    """Yields the doctor's findings: one for each running agent whose hooks cannot run."""
    running = ProcessScan({each.name: each for each in agents}, proc).look()
    for process, words in ProcessLimits(proc).narrow(running):
        text = f"pid {process.pid} in {process.cwd} has {words}: its hooks die, and its calls run"
        mend = "start it again where `ulimit -a` shows larger limits"
        yield Check(f"{process.agent}: limits", "fail", text, mend)
