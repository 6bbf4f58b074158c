"""The state of several machines in words: how many answer, and what is wrong with one of them."""

from __future__ import annotations

from watchgate.core.base.amounts import plural
from watchgate.core.base.text import safe_text
from watchgate.core.model.views import GateView
from watchgate.core.state.gate_folds import is_off
from watchgate.core.state.hosts import HostView
from watchgate.core.state.state import State
from watchgate.ui.base.formats import cut
from watchgate.ui.base.tamper_words import tampered_words

WHY_CELLS = 180
NAME_CELLS = 24
REASON_CELLS = 30
CHIPS = 3
"""Machines that are named one by one; of more only the number is shown."""


def hosts_words(state: State, now_us: int) -> str:
    """Counts the machines that answer, and those that hold nothing; empty with a single core."""
    if not state.hosts:
        return ""
    every, here = len(state.hosts), [host for host in state.hosts.values() if host.here]
    words = plural(every, "host")
    if len(here) < every:
        words = f"{len(here)} of {words}"
    off = sum(1 for host in here if is_off(host.gate, now_us) or host.gate.profile == "watch")
    return f"{words}, {off} NOT GATING" if off else words


def host_chips(state: State, now_us: int) -> list[tuple[str, str]]:
    """Says what is wrong with each machine, whole and in short; the unreachable come first."""
    all_chips = [chip for host in state.hosts.values() if (chip := _chip(host, now_us))]
    all_chips.sort(key=lambda chip: chip[0])
    chips = [(whole, short) for _, whole, short in all_chips]
    if len(chips) > CHIPS:
        more = f"{len(chips) - CHIPS + 1} hosts more"
        chips = [*chips[: CHIPS - 1], (more, more)]
    return chips


def why_lost(state: State) -> list[str]:
    """Returns the reason each lost machine does not answer, as ssh or the core words it."""
    lost = (host for host in state.hosts.values() if host.state == "lost")
    return [f"{_name(host)}: {''.join(cut(safe_text(_why(host.why)), WHY_CELLS))}" for host in lost]


def _why(why: str) -> str:
    """The reason without the words before it that only say what is plain to see."""
    if why.startswith("no core at "):
        return why.partition(": ")[2] or why
    return why.removeprefix("the core is gone: ")


def _chip(host: HostView, now_us: int) -> tuple[int, str, str] | None:
    name = _name(host)
    if host.state == "connecting":
        return 2, f"{name} connecting", f"{name} connecting"
    if host.state == "lost":
        short, parts = f"{name} lost", [f"{name} lost"]
        if host.waiting:
            verb = "waits" if host.waiting == 1 else "wait"
            parts.append(f"{plural(host.waiting, 'request')} {verb} there")
        elif host.why:
            parts = [f"{short}: {''.join(cut(safe_text(_why(host.why)), REASON_CELLS))}"]
        parts.append(f"next try in {max(0, host.retry_at - now_us) / 1_000_000:.0f} s")
        return 0, ", ".join(parts), short
    return _gate_chip(name, host.gate, now_us)


def _gate_chip(name: str, gate: GateView, now_us: int) -> tuple[int, str, str] | None:
    if is_off(gate, now_us):
        return 1, f"{name} GATE OFF: nothing is held there", f"{name} GATE OFF"
    if gate.journal != "ok":
        return 1, f"{name} journal {safe_text(gate.journal)}: allows are refused", f"{name} journal"
    if gate.tampered:
        there = f"{name} {tampered_words(gate, whole=True)} there"
        return 1, there, f"{name} {tampered_words(gate, whole=False)}"
    if gate.profile == "watch":
        return 1, f"{name} watch, NOT GATING", f"{name} NOT GATING"
    if gate.policy:
        what = "policy broken, all is asked" if gate.policy_broken else "policy changed"
        return 3, f"{name} {what}: watchgate policy reload there", f"{name} policy"
    if gate.project_fault:
        return 3, f"{name} project policy bad, not in force", f"{name} policy"
    return None


def _name(host: HostView) -> str:
    return "".join(cut(safe_text(host.name), NAME_CELLS))


def off_here(state: State, now_us: int) -> bool:
    """Returns whether the gate of this machine is off, whatever is so on the others."""
    return any(is_off(host.gate, now_us) for host in state.hosts.values() if host.local)
