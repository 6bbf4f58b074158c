"""Writes the tables of docs/dispatch.md from the presets and from what the loop makes of verdicts.

`python scripts/dispatch_tables.py`. Between its marks a table belongs to this script, the words
around them to whoever edits the document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, get_args

from watchgate.core.dispatch.handlers import Handler
from watchgate.core.dispatch.presets import PRESETS, DispatchPolicy
from watchgate.core.dispatch.verdict_rules import fold_decision, judge_verdict
from watchgate.core.model.verdicts import (
    Abort,
    Allow,
    Block,
    Confirm,
    Defer,
    Failed,
    FailureCause,
    Inject,
    Modify,
    Verdict,
)

DOCUMENT: Final = Path(__file__).resolve().parent.parent / "docs" / "dispatch.md"
GATE: Final = Handler(id="gate", on=frozenset({"tool.pre"}))
CALL: Final = "tool.pre"
VERDICTS: Final[dict[str, Verdict]] = {
    "allow": Allow(),
    "block": Block("reason"),
    "modify": Modify({"command": "other"}),
    "modify without an input": Modify(None),
    "confirm": Confirm("question"),
    "inject": Inject("text"),
    "abort": Abort("reason"),
    "defer": Defer(),
}
MEANS: Final = {"deny": "denies", "confirm": "asks", "allow": "allows", "none": "no opinion"}
_MARKED = re.compile(r"(<!-- (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def written(document: str) -> str:
    """The document with every marked table as the code has it now."""
    return _MARKED.sub(lambda found: f"{found[1]}\n{TABLES[found[2]]()}\n\n{found[3]}", document)


def presets() -> str:
    """One row a preset, in the words of a reader."""
    head = ("preset", "gates run", "chain ends at", "a rewrite", "texts", "nobody spoke", "decides")
    rows = [
        (
            f"`{policy.name}`",
            _runs(policy),
            _ends(policy),
            _rewrites(policy),
            "collected" if policy.injects else "ignored",
            policy.no_match,
            _gates(policy),
        )
        for policy in PRESETS.values()
    ]
    return _table(head, rows)


def limits() -> str:
    """The times and sizes of each preset."""
    head = ("preset", "one handler", "all together", "one text", "all texts")
    rows = [
        (
            f"`{policy.name}`",
            f"{policy.handler_timeout_s:g} s",
            f"{policy.total_timeout_s:g} s",
            f"{policy.inject_each_cap:,}" if policy.injects else "-",
            f"{policy.inject_cap:,}" if policy.injects else "-",
        )
        for policy in PRESETS.values()
    ]
    return _table(head, rows)


def verdicts() -> str:
    """What a gate's verdict on a call amounts to, under each preset."""
    return _by_preset("verdict", VERDICTS)


def failures() -> str:
    """What a gate's failure on a call amounts to when it says nothing itself."""
    causes = get_args(FailureCause)
    return _by_preset("failure", {cause: Failed(cause) for cause in causes})


TABLES: Final[dict[str, Callable[[], str]]] = {
    "presets": presets,
    "limits": limits,
    "verdicts": verdicts,
    "failures": failures,
}


def meaning(policy: DispatchPolicy, verdict: Verdict) -> str:
    """What one verdict of a gate on a call amounts to, in a word or two."""
    judged = judge_verdict(policy, GATE, CALL, verdict)
    if judged.ignored:
        return "goes on" if isinstance(verdict, Failed) else "ignored"
    if isinstance(judged.verdict, Inject):
        said = "text"
    elif isinstance(judged.verdict, Modify):
        said = "rewrites"
    else:
        said = MEANS[fold_decision(policy, [("gate", judged.verdict)])[0]]
        if isinstance(judged.verdict, Abort):
            said = "denies, ends the turn"
    return f"{said}, last" if judged.ends else said


def _by_preset(first: str, verdicts: dict[str, Verdict]) -> str:
    head = (first, *(f"`{name}`" for name in PRESETS))
    rows = [
        (name, *(meaning(policy, verdict) for policy in PRESETS.values()))
        for name, verdict in verdicts.items()
    ]
    return _table(head, rows)


def _runs(policy: DispatchPolicy) -> str:
    if policy.parallel > 1:
        return f"{policy.parallel} at once"
    return "by priority" if policy.order == "priority" else "in order"


def _ends(policy: DispatchPolicy) -> str:
    if policy.select == "first_match":
        return "the first answer"
    ends: list[str] = sorted(policy.stop_on)
    if policy.continue_on_failure is not None:
        ends.append("a failure that may not go on")
    return ", ".join(ends) or "never"


def _rewrites(policy: DispatchPolicy) -> str:
    if meaning(policy, VERDICTS["modify"]) == "ignored":
        return "ignored"
    seen = "it" if policy.payload_view == "threaded" else "the original"
    return f"{policy.modify.replace('_', ' ')}; others see {seen}"


def _gates(policy: DispatchPolicy) -> str:
    if policy.gates is None:
        return "everywhere"
    return ", ".join(f"`{kind}`" for kind in sorted(policy.gates)) or "nothing: a view"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


if __name__ == "__main__":
    DOCUMENT.write_text(written(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
