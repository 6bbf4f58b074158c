"""Writes docs/agents.md, what each agent can be told, and the README's table of agents.

`python -m scripts.agents_table [--check]`. Everything comes from the adapters, and the versions
from the table that the tests of real agents install by.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from scripts.marked import as_table, replaced, written
from tests.agents_real.harness.packages import ACP, PACKAGES, Package
from watchgate.agents.base import Adapter, HookEntry, Setup
from watchgate.agents.registry import ADAPTERS
from watchgate.agents.table.adapter import TableAdapter
from watchgate.agents.usage.usage_readers import READERS
from watchgate.core.model.events import Conduct, Lane

ROOT: Final = Path(__file__).resolve().parent.parent
DOCUMENT: Final = ROOT / "docs" / "agents.md"
README: Final = ROOT / "README.md"
NOT_RUN: Final = "not run: built from documents"
LEFT_TO: Final = {
    Lane.GATE: "its own rules",
    Lane.GATE_READ: "its own rules",
    Lane.RELAY: "its own dialog",
}
NO_HOOK: Final = {
    "acp": ("session/request_permission", "elicitation/create"),
    "claude": ("can_use_tool",),
}
"""What comes through a proxy of ours: what the agent would ask its editor or its host."""
NOT_DRIVEN: Final = {
    ("acp", "elicitation/create"),
    ("claude", "Elicitation"),
    ("opencode", "question.asked"),
}
"""Questions that no test makes a real agent ask."""
OFF_HOOKS: Final = {
    "acp": "tokens and money: `usage_update`",
    "claude": "money: the status line",
    "codex": "tokens: `watchgate tap codex`",
    "opencode": "tokens and money: its events",
}
"""What agents say of costs outside of their hooks, where Watchgate listens to it."""
ALLOWED: Final[dict[Conduct, str]] = {
    "runs": "yes",
    "confined": "yes, in its sandbox if any",
    "asks": "after a second yes there",
    "runs-or-asks": "it may, or ask again",
    "runs-or-refuses": "it may, or refuse",
    "refuses": "no",
}
"""Whether an allow of a held call runs it."""
HEAD: Final = """# Agents

What Watchgate can do with each agent. `make agents-table` writes this file from the adapters and
from the versions that `make test-agents` installs and drives.

A gate holds every call before the agent's own rules; silence there denies. A relay takes what the
agent would ask a person itself; silence there leaves the question to the agent.
"""
TOLD: Final = """## What an agent can be told

`handed back` under allow: the agent cannot be told yes there, so an allow leaves the call to its
own rules, and it may ask once more. Under ask: who decides a call that is handed back. `-` means
that the agent cannot be told this; a call that was rewritten is denied then. A question that is
handed back is asked in the agent's own terminal alone.

The last column names the released programs that are driven there: an allow runs the call, a denial
prevents it and reaches the model, a handback leaves it to the agent. The other columns are what the
adapters say.
"""
LIVES: Final = """## Where the hooks live

`watchgate install AGENT` writes them there, `watchgate uninstall AGENT` takes exactly them away.
The longest wait is the limit that the installer writes; Watchgate denies by itself before it.
"""
SPECIAL: Final = "## What is left to do after an installation\n"
Row = tuple[str, ...]


def render(adapters: Mapping[str, Adapter], packages: Mapping[str, Package]) -> str:
    """The document."""
    every = list(adapters.values())
    told = [row for each in every for row in _told(each, packages)]
    lives = [_lives(each, setup) for each in every if (setup := each.setup)]
    after = [f"- {each.title}: {setup.after}" for each in every if (setup := _left(each))]
    head = "agent", "lane", "event", "allow", "deny", "ask", "modify", "question", "cost"
    where = "agent", "file", "in a project", "moved by", "longest wait", "fails closed by"
    parts = [
        HEAD,
        TOLD,
        as_table((*head, "allow, deny and handback verified with"), told),
        LIVES,
        as_table((*where, "runs also the hooks of"), lives),
        SPECIAL,
        "\n".join(after),
    ]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def summary(adapters: Mapping[str, Adapter], packages: Mapping[str, Package]) -> str:
    """The README's table: a line for each agent."""
    head = "agent", "holds a call", "your yes runs it", "its questions", "cost", "tried with"
    return as_table(head, [_summed(each, packages) for each in adapters.values()])


def _summed(adapter: Adapter, packages: Mapping[str, Package]) -> Row:
    gates = [entry.event for entry in _waiting(adapter) if entry.lane is Lane.GATE]
    before = "before its own rules" if gates else "when it would ask"
    return (
        f"{adapter.title} (`{adapter.name}`)",
        before,
        _allows(adapter, gates),
        _questions(adapter),
        "counted" if adapter.name in READERS else "as told" if _cost(adapter) != "-" else "-",
        verified(adapter.name, packages).replace(NOT_RUN, "experimental"),
    )


def _allows(adapter: Adapter, gates: Sequence[str]) -> str:
    """Whether an allow of a held call runs it: a gate's word counts before that of a relay.

    What is so in the agent's usual mode comes first, then the modes in which it is otherwise.
    """
    modes = {mode: rules.allowed for mode, rules in adapter.own_rules.items()}
    if modes:
        usual = next(iter(modes.values()))
        others = [
            f"; {mode}: {ALLOWED[conduct]}"
            for mode, conduct in modes.items()
            if mode and conduct != usual
        ]
        return ALLOWED[usual] + "".join(others)
    events = [*(entry.event for entry in _waiting(adapter)), *NO_HOOK.get(adapter.name, ())]
    if any(adapter.can(event).allow for event in gates or events):
        return "yes"
    relayed = any(adapter.can(event).allow for event in events)
    return "its own rules do, or a second yes" if relayed else "its own rules do"


def verified(name: str, packages: Mapping[str, Package]) -> str:
    """The released versions that the tests drive, or that there is none."""
    if name == "acp":
        return ", ".join(f"{each} {packages[each].version}" for each in ACP if each in packages)
    if package := packages.get(name):
        return package.version
    return NOT_RUN


def _told(adapter: Adapter, packages: Mapping[str, Package]) -> Iterator[Row]:
    name = f"{adapter.title} (`{adapter.name}`)"
    versions = verified(adapter.name, packages)
    lanes: dict[str, list[Lane]] = {}
    for entry in _waiting(adapter):
        lanes.setdefault(entry.event, []).append(entry.lane)
    lanes |= {event: [Lane.RELAY] for event in NO_HOOK.get(adapter.name, ())}
    for event, on in lanes.items():
        can = adapter.can(event)
        yield (
            name,
            ", ".join(dict.fromkeys(on)),
            f"`{event}`",
            "yes" if can.allow else "handed back",
            _yes(able=can.deny),
            LEFT_TO[on[0]],
            _yes(able=can.modify),
            _questions(adapter),
            _cost(adapter),
            "-" if (adapter.name, event) in NOT_DRIVEN else versions,
        )


def _lives(adapter: Adapter, setup: Setup) -> Row:
    closing = ", ".join(f"`{key}: {_word(value)}`" for key, value in setup.closing.items())
    return (
        adapter.title,
        f"`{setup.user}`",
        f"`{setup.project}`" if setup.project else "-",
        f"`{setup.variable}`" if setup.variable else "-",
        _longest(_waiting(adapter)),
        closing or "our deadline",
        ", ".join(ADAPTERS[name].title for name in setup.also_loads) or "-",
    )


def _waiting(adapter: Adapter) -> list[HookEntry]:
    return [entry for entry in adapter.entries("strict") if entry.lane.waits]


def _longest(entries: Iterable[HookEntry]) -> str:
    limits = sorted({entry.timeout_s for entry in entries})
    return f"{limits[-1]:,} s" if limits else "-"


def _questions(adapter: Adapter) -> str:
    events = [entry.event for entry in _waiting(adapter)]
    if any(adapter.can(each).answer for each in (*events, *NO_HOOK.get(adapter.name, ()))):
        return "answered"
    return "handed back" if "question" in adapter.kinds else "-"


def _cost(adapter: Adapter) -> str:
    rules = adapter.table.events if isinstance(adapter, TableAdapter) else {}
    hooked = [f"tokens: `{event}`" for event, rule in rules.items() if rule.usage]
    beside = OFF_HOOKS.get(adapter.name)
    counted = ["its files"] if adapter.name in READERS else []
    return ", ".join([*counted, *hooked, *([beside] if beside else [])]) or "-"


def _left(adapter: Adapter) -> Setup | None:
    return adapter.setup if adapter.setup and adapter.setup.after else None


def _yes(*, able: bool) -> str:
    return "yes" if able else "-"


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def main(check: bool) -> int:
    """Writes both, or with `check` say which is not what the adapters say."""
    readme = README.read_text(encoding="utf-8")
    short = replaced(readme, "agents", "agents-table", summary(ADAPTERS, PACKAGES))
    wanted = {DOCUMENT: render(ADAPTERS, PACKAGES), README: short}
    return written(wanted, "agents-table", check=check)


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
