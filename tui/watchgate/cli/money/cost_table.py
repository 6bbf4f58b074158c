"""Usage and cost as a table for people: what is unknown is `?`, what is a lower bound says so.

- A row of usage and cost as one JSON object, the name of what it is about first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from watchgate.cli.lookback.coloured_lines import cut
from watchgate.cli.money.cost_rows import By, UsageSum, day_text, usd
from watchgate.core.base.amounts import money, part_money, plural, tokens
from watchgate.core.base.text import safe_text
from watchgate.core.usage.usage_calls import PICO

if TYPE_CHECKING:
    from collections.abc import Collection

    from watchgate.cli.money.cost_view import CostQuery


def row_fields(row: UsageSum) -> dict[str, Any]:
    """The object; `cost_usd` is null where nobody knows the cost."""
    fields: dict[str, Any] = {row.by: row.name}
    if row.by in {"session", "turn", "call"}:
        fields["agent"] = row.agent
    if row.by in {"turn", "call"}:
        fields |= {"session": row.session, "at": row.last}
    fields |= _figures(row)
    if row.by != "model":
        fields["models"] = row.models
    if row.by in {"session", "agent"}:
        fields["unreadable"] = row.unreadable
    if row.by == "session":
        fields["cwd"] = row.cwd
        fields["subs"] = [{"sub": sub.name} | _figures(sub) for sub in row.subs]
    if row.by == "call":
        fields["tools"] = row.tools
    return fields


def _figures(row: UsageSum) -> dict[str, Any]:
    figures = row.figures
    return {
        "input": figures.input,
        "output": figures.output,
        "cache_write": figures.cache_write,
        "cache_read": figures.cache_read,
        "reasoning": figures.reasoning,
        "cost_usd": usd(row.cost),
        "source": row.source,
        "lower_bound": row.is_lower_bound,
        "unpriced": row.unpriced,
        "calls": figures.calls,
    }


ID_CHARS = 8
TOOLS_SHOWN = 3
PARTS: Final[tuple[By, ...]] = ("turn", "call")
NO_MODEL = "(model not told)"
_GAP = "  "

Cells = tuple[str, ...]
_NUMBERS = ("INPUT", "OUTPUT", "CACHE W", "CACHE R", "COST")
_HEADS: dict[By, Cells] = {
    "session": ("SESSION", "LAST"),
    "model": ("MODEL",),
    "day": ("DAY",),
    "agent": ("AGENT",),
    "turn": ("SESSION", "TURN", "LAST CALL"),
    "call": ("SESSION", "AT"),
}


def table(
    by: By, rows: Iterable[UsageSum], sums: Iterable[UsageSum], *, subs: bool, cells: int = 0
) -> list[str]:
    """A line for each row, with `subs` one for each sub-agent, and one for the sum of each source.

    Names from outside are made visible. The names of models are cut to so many `cells`; 0: never.

    Args:
        by: What a row stands for.
        rows: The rows, in their order.
        sums: The sum of each source of a cost.
        subs: Add a line for each sub-agent.
        cells: Cells that a line may take; 0 for any number.
    """
    head = (*_HEADS[by], *_NUMBERS, "", "" if by == "model" else "MODELS")
    lines = [head]
    for row in rows:
        lines.append((*_names(row), *_numbers(row), row.source, _more(row)))
        if subs:
            lines += [(*_sub_names(sub, by), *_numbers(sub), "", _models(sub)) for sub in row.subs]
    blank = ("",) * (len(_HEADS[by]) - 1)
    lines += [("total", *blank, *_numbers(each), each.source, "") for each in sums]
    return _aligned(lines, range(len(_HEADS[by]), len(head) - 2), cells)


def remarks(sums: Sequence[UsageSum], prices: str) -> list[str]:
    """Returns the remarks that one needs to read the sums."""
    notes = []
    unpriced = sorted({model for each in sums for model in each.unpriced})
    if unpriced:
        names = ", ".join(safe_text(model) or NO_MODEL for model in unpriced)
        notes.append(
            f"{plural(len(unpriced), 'model')} unpriced: {names}; "
            "a [[price]] in the configuration gives one"
        )
    if any(each.source == "computed" for each in sums):
        notes.append(f"{prices}; estimates at list prices, not your invoice")
    return notes


def nothing(asked: CostQuery, agents: Collection[str]) -> str:
    """Says why there is no row, where usage is known of these agents, and what would show some."""
    named = ", ".join(sorted({safe_text(agent) for agent in agents}))
    if not named:
        return "nothing was used, as far as the files of agents and the journal tell"
    if asked.agent and asked.agent not in agents:
        return f"nothing is known of an agent {asked.agent[:80]!r}; there is usage of {named}"
    if asked.since_us or asked.first_day:
        return "nothing was used in this time; without --since and --days all that is known counts"
    return "nothing of what is known fits these options together"


def unreadable_words(lines: int, files: int) -> str:
    """Says what the figures lack; empty where everything could be read."""
    lacking = [plural(count, noun) for count, noun in ((lines, "line"), (files, "file")) if count]
    if not lacking:
        return ""
    they = "it tells" if lines + files == 1 else "they tell"
    return f"{' and '.join(lacking)} could not be read: what {they} of is missing in the figures"


def _names(row: UsageSum) -> Cells:
    names: dict[By, Callable[[], Cells]] = {
        "session": lambda: (_session(row), day_text(row.last)),
        "model": lambda: (safe_text(row.name) or NO_MODEL,),
        "day": lambda: (row.name,),
        "agent": lambda: (safe_text(row.name),),
        "turn": lambda: (_session(row), safe_text(row.name)[:ID_CHARS] or "-", _moment(row.last)),
        "call": lambda: (_session(row), _moment(row.last)),
    }
    return names[row.by]()


def _sub_names(sub: UsageSum, by: By) -> Cells:
    blank = ("",) * (len(_HEADS[by]) - 1)
    return (f"  sub-agent {safe_text(sub.name)[:ID_CHARS]}", *blank)


def _session(row: UsageSum) -> str:
    return safe_text(f"{row.agent} {row.session[:ID_CHARS]}")


def _moment(at_us: int) -> str:
    try:
        local = datetime.fromtimestamp(at_us / 1_000_000, UTC).astimezone()
    except (OverflowError, OSError, ValueError):
        return "?"
    return local.strftime("%Y-%m-%d %H:%M:%S")


def _numbers(row: UsageSum) -> Cells:
    figures = row.figures
    counts = (figures.input, figures.output, figures.cache_write, figures.cache_read)
    return (*(tokens(count) for count in counts), cost_text(row))


def cost_text(row: UsageSum) -> str:
    """The cost of a row: `$4.10`, `>= $4.10`, `?`, or `-` where it is in the sum of its session."""
    if row.cost is None:
        return "-" if row.source == "reported" else "?"
    words = (part_money if row.by in PARTS else money)(row.cost / PICO)
    return f">= {words}" if row.is_lower_bound else words


def _more(row: UsageSum) -> str:
    if row.by == "model":
        return ""
    tools = [safe_text(tool)[-ID_CHARS:] for tool in row.tools]
    shown = " ".join(tools[:TOOLS_SHOWN]) + ("" if len(tools) <= TOOLS_SHOWN else " ...")
    return f"{_models(row)} {shown}".strip()


def _models(row: UsageSum) -> str:
    return ", ".join(safe_text(model) for model in row.models)


def _aligned(lines: Sequence[Cells], numbers: Iterable[int], cells: int) -> list[str]:
    """Columns as wide as their contents, those of numbers flush right; the last one may be cut."""
    from rich.cells import cell_len

    right = set(numbers)
    widths = [max(cell_len(line[i]) for line in lines) for i in range(len(lines[0]) - 1)]
    room = cells - sum(widths) - len(_GAP) * len(widths)
    aligned = []
    for line in lines:
        columns = [
            " " * (wide - cell_len(cell)) + cell
            if i in right
            else cell + " " * (wide - cell_len(cell))
            for i, (cell, wide) in enumerate(zip(line[:-1], widths, strict=True))
        ]
        last = cut(line[-1], room) if cells else line[-1]
        aligned.append(_GAP.join((*columns, last)).rstrip())
    return aligned
